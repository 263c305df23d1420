"""Tasks on the code host without a name to search for: languages, dates, labels and counts."""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from agentgym_envs.envs.web.embedded import Step, back, choose, click, fill, stop
from agentgym_websites.code import repository
from agentgym_websites.code.data import ME, MINE
from agentgym_websites.site import TODAY, day
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.code import CODE, PROJECTS
from agentgym_websites.tasks.template import Made, World, becomes, ends_at, template

PAGE = 12  # projects per page of a list
ALL = "code:SELECT name FROM projects"
ISSUES = "SELECT i.*, a.name AS author FROM issues i JOIN people a ON a.id = author_id WHERE project_id = ? AND merge = ? AND state = ?"
MILESTONES = "code:SELECT DISTINCT title FROM milestones"


def _language(world: World, language: str, order: str = "Most stars") -> list[Any]:
    """Returns the projects in a language, in the order of their list."""
    sort = {"Most stars": "stars DESC, p.name", "Newest": "p.created DESC"}[order]
    return world.rows("code", PROJECTS + f"p.language = ? ORDER BY {sort}", language)


def _in_language(language: str, order: str = "", pages: int = 0) -> list[Step]:
    sort = [choose("Sort by", order)] if order else []
    return [
        choose("Language", language),
        *sort,
        click("Apply", "button"),
        *[click("Next page")] * pages,
    ]


def singled_projects(
    world: World, rng: random.Random
) -> Iterator[tuple[Any, dict[str, str], list[Step]]]:
    """Yields projects that are identified by language and first day.

    The plan opens the project.
    """
    for p in world.mixed(
        rng,
        "code",
        PROJECTS
        + "1 = (SELECT count(*) FROM projects o WHERE o.language = p.language AND o.created = p.created)",
    ):
        place = [o["id"] for o in _language(world, p["language"])].index(p["id"])
        values = {"language": p["language"], "day": day(p["created"])}
        yield p, values, [*_in_language(p["language"], pages=place // PAGE), click(p["name"])]


THE = "the {language} project that was created on {day}"


@template("code", "find", f"Who owns {THE}?")
def _owner(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in singled_projects(world, rng):
        yield Made(values, answer.name(p["owner"], answer.DEVELOPERS), [*steps, stop(p["owner"])])


@template("code", "find", f"Who made the last commit on the branch main of {THE}?")
def _last(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in singled_projects(world, rng):
        head = repository.head(world.database("code"), p["id"], "main")
        who = world.value(
            "code",
            "SELECT name FROM people a JOIN commits c ON c.author_id = a.id WHERE c.id = ?",
            head,
        )
        yield Made(values, answer.name(who, answer.DEVELOPERS), [*steps, stop(who)])


@template("code", "find", f"How many members of {THE} are {{role}}s? Answer with the number.")
def _roles(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in singled_projects(world, rng):
        found = world.rows(
            "code",
            "SELECT role, count(*) AS n FROM members WHERE project_id = ? GROUP BY role ORDER BY role",
            p["id"],
        )
        r = rng.choice([r for r in found if r["role"] != "Owner"] or found)
        more = [click("Manage", "button"), click("Members"), stop(r["n"])]
        yield Made({**values, "role": r["role"].lower()}, answer.number(r["n"]), [*steps, *more])


@template(
    "code",
    "find",
    f"What is the title of the {{age}} open issue of {THE} that has the label “{{label}}”?",
)
def _labelled(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        ISSUES
        + " AND i.id IN (SELECT issue_id FROM issue_labels JOIN labels l ON l.id = label_id WHERE l.name = ?) ORDER BY opened"
    )
    for p, values, steps in singled_projects(world, rng):
        for (label,) in world.mixed(
            rng, "code", "SELECT name FROM labels WHERE project_id = ?", p["id"]
        )[:3]:
            age, order = rng.choice((("newest", "Newest"), ("oldest", "Oldest")))
            found = world.rows("code", sql + " DESC" * (age == "newest"), p["id"], 0, "open", label)
            if len(found) > 1 and found[0]["opened"] != found[1]["opened"]:
                more = [
                    click("Issues"),
                    choose("Label", label),
                    choose("Sort by", order),
                    click("Filter", "button"),
                    stop(found[0]["title"]),
                ]
                check = answer.name(found[0]["title"], answer.ISSUES)
                yield Made({**values, "age": age, "label": label}, check, [*steps, *more])
                break


@template("code", "find", f"Which milestone of {THE} has the most open issues and merge requests?")
def _milestone(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        "SELECT m.title, (SELECT count(*) FROM issues i WHERE milestone_id = m.id AND i.state = 'open') AS n FROM milestones m"
        " WHERE project_id = ? ORDER BY n DESC"
    )
    for p, values, steps in singled_projects(world, rng):
        found = world.rows("code", sql, p["id"])
        if len(found) > 1 and found[0]["n"] > found[1]["n"]:
            title = found[0]["title"]
            yield Made(
                values,
                answer.name(title, MILESTONES),
                [*steps, click("Plan", "button"), click("Milestones"), stop(title)],
            )


def _singled(world: World, rng: random.Random) -> Iterator[tuple[Any, dict[str, str], list[Step]]]:
    """Yields the only project of a language with a certain property.

    The plan lists the language's projects.
    """
    kinds = (
        ("has the most stars", "stars", "Most stars", 0), ("has the fewest stars", "stars", "Most stars", -1),
        ("was created last", "created", "Newest", 0), ("was created first", "created", "Newest", -1),
    )  # fmt: skip
    languages = [
        r[0]
        for r in world.rows(
            "code",
            "SELECT language FROM projects GROUP BY language HAVING count(*) > 1 ORDER BY language",
        )
    ]
    choices = [(language, *kind) for language in languages for kind in kinds]
    for language, what, key, order, place in rng.sample(choices, len(choices)):
        found = _language(world, language, order)
        p = found[place]
        if sum(o[key] == p[key] for o in found) == 1:
            pages = (len(found) - 1) // PAGE if place else 0
            yield p, {"language": language, "what": what}, _in_language(language, order, pages)


@template("code", "find", "Which project in {language} {what}?")
def _which(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in _singled(world, rng):
        yield Made(values, answer.name(p["name"], ALL), [*steps, stop(p["name"])])


@template("code", "change", "Star the project in {language} that {what}.")
def _star(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in _singled(world, rng):
        sql = f"SELECT count(*) FROM stars WHERE project_id = {p['id']} AND person_id = {ME}"
        if not world.value("code", sql):
            yield Made(
                values,
                becomes("code", sql, 1),
                [*steps, click(p["name"]), click("Star", "button"), stop()],
            )


def my_projects() -> list[Step]:
    """Lists my own projects."""
    return [click("Mika Sorel’s menu", "button"), click("Profile"), click("See what others see")]


@template(
    "code", "find", "Which of my own projects has the most {state} issues with the label “{label}”?"
)
def _most_labelled(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        "SELECT p.name, (SELECT count(*) FROM issues i JOIN issue_labels ON issue_id = i.id JOIN labels l ON l.id = label_id"
        " WHERE i.project_id = p.id AND merge = 0 AND state = ? AND l.name = ?) AS n FROM projects p WHERE owner_id = ? ORDER BY p.name"
    )
    labels = [r[0] for r in world.rows("code", "SELECT DISTINCT name FROM labels ORDER BY name")]
    choices = [(state, label) for state in ("open", "closed") for label in labels]
    for state, label in rng.sample(choices, len(choices)):
        found = world.rows("code", sql, state, label, ME)
        counts = [r["n"] for r in found]
        if counts.count(max(counts)) == 1 and len(found) <= 4:
            best = found[counts.index(max(counts))]["name"]
            look = [
                choose("State", state.capitalize()),
                choose("Label", label),
                click("Filter", "button"),
                back(),
                back(),
                back(),
            ]
            steps = [step for r in found for step in (click(r["name"]), click("Issues"), *look)][
                :-3
            ]
            yield Made(
                {"state": state, "label": label},
                answer.name(best, ALL),
                [*my_projects(), *steps, stop(best)],
            )


@template("code", "navigate", f"Show the last commit on the branch main of {THE}.")
def _last_commit(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in singled_projects(world, rng):
        head = repository.head(world.database("code"), p["id"], "main")
        c = world.rows("code", "SELECT * FROM commits WHERE id = ?", head)[0]
        yield Made(
            values,
            ends_at(f"{CODE}/p/{p['name']}/commit/{c['sha']}"),
            [*steps, click(c["message"]), stop()],
        )


@template("code", "change", f"Comment “{{text}}” on the {{age}} open merge request of {THE}.")
def _comment(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in singled_projects(world, rng):
        text = rng.choice(
            (
                "Can this wait until July?",
                "Thank you, I have been waiting for this.",
                "Please add a test.",
                "Works on my machine.",
            )
        )
        age, order = rng.choice((("newest", "Newest"), ("oldest", "Oldest")))
        found = world.rows(
            "code", ISSUES + " ORDER BY opened" + " DESC" * (age == "newest"), p["id"], 1, "open"
        )
        if len(found) > 1 and found[0]["opened"] != found[1]["opened"]:
            more = [
                click("Merge requests"), choose("Sort by", order), click("Filter", "button"), click(found[0]["title"]), fill("Add a comment", text),
                click("Comment", "button"), stop(),
            ]  # fmt: skip
            sql = f"SELECT body FROM comments WHERE issue_id = {found[0]['id']} AND author_id = {ME} AND written = '{TODAY}'"
            yield Made(
                {**values, "text": text, "age": age}, becomes("code", sql, text), [*steps, *more]
            )


@template(
    "code",
    "change",
    "Close the oldest open issue with the label “{label}” of my project {project}.",
)
def _close(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        "SELECT i.* FROM issues i JOIN issue_labels ON issue_id = i.id JOIN labels l ON l.id = label_id JOIN projects p ON p.id = i.project_id"
        " WHERE p.name = ? AND l.name = ? AND merge = 0 AND state = 'open' ORDER BY opened"
    )
    choices = [
        (p, r[0])
        for p in MINE
        for r in world.rows("code", "SELECT DISTINCT name FROM labels ORDER BY name")
    ]
    for project, label in rng.sample(choices, len(choices)):
        found = world.rows("code", sql, project, label)
        if len(found) > 1 and found[0]["opened"] != found[1]["opened"]:
            steps = [
                *my_projects(), click(project), click("Issues"), choose("Label", label), choose("Sort by", "Oldest"), click("Filter", "button"),
                click(found[0]["title"]), click("Close issue", "button"), stop(),
            ]  # fmt: skip
            check = becomes(
                "code", f"SELECT state FROM issues WHERE id = {found[0]['id']}", "closed"
            )
            yield Made({"label": label, "project": project}, check, steps)


@template("code", "unachievable", f"Who owns {THE}?")
def _no_project(world: World, rng: random.Random) -> Iterator[Made]:
    found = world.rows("code", "SELECT language, created FROM projects ORDER BY id")
    taken, languages = {tuple(p) for p in found}, sorted({p["language"] for p in found})
    while True:
        language, created = (
            rng.choice(languages),
            str(date(2022, 7, 1) + timedelta(days=rng.randint(0, 900))),
        )
        if (language, created) not in taken:
            steps = [*_in_language(language, "Newest"), stop("N/A")]
            yield Made(
                {"language": language, "day": day(created)},
                answer.nothing("No such project was created on that day."),
                steps,
            )
