"""What there is to do on the code host."""

import random
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from agentgym_envs.envs.web.sites.code import repository
from agentgym_envs.envs.web.sites.code.data import ME, MINE
from agentgym_envs.envs.web.sites.code.projects import ROLES
from agentgym_envs.envs.web.sites.site import ORIGINS, TODAY
from agentgym_envs.envs.web.sites.tasks import answer
from agentgym_envs.envs.web.sites.tasks.template import Made, World, becomes, each, ends_at, template
from agentgym_envs.envs.web.steps import Step, choose, click, fill, goto, search, stop

CODE = ORIGINS["code"]
PROJECTS = "SELECT p.*, p.name AS project, o.name AS owner, (SELECT count(*) FROM stars WHERE project_id = p.id) AS stars FROM projects p JOIN people o ON o.id = owner_id WHERE "
ISSUES = (
    "SELECT i.*, iif(merge, 'merge request', 'issue') AS kind, p.name AS project, a.name AS author, s.name AS assignee, m.title AS milestone FROM issues i JOIN projects p ON p.id = i.project_id"
    " JOIN people a ON a.id = author_id LEFT JOIN people s ON s.id = assignee_id LEFT JOIN milestones m ON m.id = milestone_id"
    " WHERE "
)
BRANCH_NAMES = "code:SELECT name FROM branches UNION SELECT source FROM issues"
GROUPS = {  # of the sidebar, closed at first
    "Manage": ("Members", "Labels"),
    "Plan": ("Board", "Milestones"),
    "Code": ("Repository", "Branches", "Commits", "Tags", "Compare revisions"),
}
# Files of the first release, which the first templates ask about.
FIRST = (
    "SELECT p.name AS project, path, content FROM files JOIN projects p ON p.id = project_id"
    " WHERE (path IN ('CHANGELOG.md', 'LICENSE', 'README.md') OR path LIKE 'src/%' AND path NOT LIKE 'src/%/%') AND path LIKE '{}' ORDER BY p.id, path"
)


def _project(name: str) -> list[Step]:
    return [search(name), click(name)]


def _tab(name: str, tab: str) -> list[Step]:
    group = next((g for g, tabs in GROUPS.items() if tab in tabs), None)
    return [*_project(name), *([click(group, "button")] if group else []), click(tab)]


def _path(path: str) -> list[Step]:
    return [click(part) for part in path.split("/")]


def _issue(issue: Any) -> list[Step]:
    return [*_found(issue), click(issue["title"])]


def _found(issue: Any) -> list[Step]:
    tab = "Merge requests" if issue["merge"] else "Issues"
    state = [choose("State", "All")] if issue["state"] != "open" else []
    return [*_tab(issue["project"], tab), *state, fill("Title", issue["title"]), click("Filter", "button")]


each(
    "code",
    "find",
    "How many stars does the project {project} have? Answer with the number.",
    "code",
    PROJECTS + "1",
    check=lambda p: answer.number(p["stars"]),
    steps=lambda p: [search(p["project"]), stop(p["stars"])],
)
each(
    "code",
    "find",
    "Who owns the project {project}?",
    "code",
    PROJECTS + "1",
    check=lambda p: answer.name(p["owner"], answer.DEVELOPERS),
    steps=lambda p: [search(p["project"]), stop(p["owner"])],
)


def _readme(world: World, rng: random.Random, pattern: str) -> Iterator[Made]:
    for r in world.mixed(rng, "code", FIRST.format("README.md")):
        found = re.search(pattern, r["content"])
        assert found is not None
        yield Made({"project": r["project"]}, answer.codes(found[1]), [*_project(r["project"]), stop(found[1])])


@template("code", "find", "Which port does {project} use by default?")
def _port(world: World, rng: random.Random) -> Iterator[Made]:
    yield from _readme(world, rng, r"default port is (\d+)")


@template("code", "find", "Which version of {project} should one download, according to its README?")
def _version(world: World, rng: random.Random) -> Iterator[Made]:
    yield from _readme(world, rng, r"Download version (\S+),")


@template("code", "find", "What is the value of the limit in {path} of the project {project}? Answer with the number.")
def _limit(world: World, rng: random.Random) -> Iterator[Made]:
    for r in world.mixed(rng, "code", FIRST.format("src/%")):
        found = re.search(r"(?i)\blimit\b[^=\n]*= (\d+)", r["content"])
        assert found is not None
        steps = [*_project(r["project"]), *_path(r["path"]), stop(found[1])]
        yield Made({"project": r["project"], "path": r["path"]}, answer.number(found[1]), steps)


each(
    "code",
    "find",
    "Who opened the {kind} “{title}” of {project}?",
    "code",
    ISSUES + "1",
    check=lambda i: answer.name(i["author"], answer.DEVELOPERS),
    steps=lambda i: [*_found(i), stop(i["author"])],
)
each(
    "code",
    "find",
    "Who is assigned to the issue “{title}” of {project}?",
    "code",
    ISSUES + "assignee_id IS NOT NULL AND merge = 0",
    check=lambda i: answer.name(i["assignee"], answer.DEVELOPERS),
    steps=lambda i: [*_found(i), stop(i["assignee"])],
)
each(
    "code",
    "find",
    "From which branch does the merge request “{title}” of {project} come?",
    "code",
    ISSUES + "merge = 1",
    check=lambda i: answer.name(i["source"], BRANCH_NAMES),
    steps=lambda i: [*_issue(i), stop(i["source"])],
)
each(
    "code",
    "find",
    "How many open issues of {project} have the label “{label}”? Answer with the number.",
    "code",
    "SELECT p.name AS project, l.name AS label, count(*) AS n FROM issue_labels JOIN issues i ON i.id = issue_id JOIN labels l ON l.id = label_id"
    " JOIN projects p ON p.id = i.project_id WHERE state = 'open' AND merge = 0 GROUP BY l.id HAVING n > 1",
    check=lambda r: answer.number(r["n"]),
    steps=lambda r: [*_tab(r["project"], "Issues"), choose("Label", r["label"]), click("Filter", "button"), stop(r["n"])],
)
each(
    "code",
    "find",
    "How many commits has {person} made to {project}? Answer with the number.",
    "code",
    "SELECT p.name AS project, a.name AS person, count(*) AS n FROM history c JOIN people a ON a.id = author_id"
    " JOIN projects p ON p.id = project_id GROUP BY p.id, a.id HAVING n > 2",
    check=lambda r: answer.number(r["n"]),
    steps=lambda r: [*_tab(r["project"], "Commits"), choose("Author", r["person"]), click("Filter", "button"), stop(r["n"])],
)


@template("code", "find", "How many lines did the last commit of {project} add? Answer with the number.")
def _added(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        last = world.rows("code", "SELECT * FROM history WHERE project_id = ? AND depth = 0", p["id"])[0]
        yield Made(
            {"project": p["name"]},
            answer.number(last["added"]),
            [*_project(p["name"]), click(last["message"]), stop(last["added"])],
        )


each(
    "code",
    "find",
    "When is the milestone {milestone} of {project} due? Answer like 2026-06-02.",
    "code",
    "SELECT p.name AS project, m.title AS milestone, due FROM milestones m JOIN projects p ON p.id = project_id",
    check=lambda m: answer.day(m["due"]),
    steps=lambda m: [*_tab(m["project"], "Milestones"), stop(m["due"])],
)
each(
    "code",
    "find",
    "What role does {person} have in {project}?",
    "code",
    "SELECT p.name AS project, a.name AS person, role FROM members JOIN people a ON a.id = person_id JOIN projects p ON p.id = project_id",
    check=lambda r: answer.name(r["role"], ROLES),
    steps=lambda r: [*_tab(r["project"], "Members"), stop(r["role"])],
)


@template("code", "find", "What is the title of the oldest open issue of {project}?")
def _oldest(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        title = world.value(
            "code", "SELECT title FROM issues WHERE project_id = ? AND merge = 0 AND state = 'open' ORDER BY opened, id", p["id"]
        )
        steps = [*_tab(p["name"], "Issues"), choose("Sort by", "Oldest"), click("Filter", "button"), stop(title)]
        yield Made({"project": p["name"]}, answer.name(title, answer.ISSUES), steps)


each(
    "code",
    "navigate",
    "Open the {kind} “{title}” of {project}.",
    "code",
    ISSUES + "1",
    check=lambda i: ends_at(f"{CODE}/p/{i['project']}/issues/{i['number']}"),
    steps=lambda i: [*_issue(i), stop()],
)
each(
    "code",
    "navigate",
    "Show the file {path} of the project {project}.",
    "code",
    FIRST.format("%"),
    check=lambda r: ends_at(f"{CODE}/p/{r['project']}/file/{r['path']}"),
    steps=lambda r: [*_project(r["project"]), *_path(r["path"]), stop()],
)


@template("code", "navigate", "Show the {state} merge requests of {project}.")
def _merges(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        state = rng.choice(("closed", "merged"))
        steps = [*_tab(p["name"], "Merge requests"), choose("State", state.capitalize()), click("Filter", "button"), stop()]
        yield Made({"project": p["name"], "state": state}, ends_at(f"{CODE}/p/{p['name']}/merges?state={state}&sort=new"), steps)


each(
    "code",
    "change",
    "Star the project {project}.",
    "code",
    PROJECTS + "1",
    check=lambda p: becomes("code", f"SELECT count(*) FROM stars WHERE project_id = {p['id']} AND person_id = {ME}", 1),
    steps=lambda p: [*_project(p["project"]), click("Star", "button"), stop()],
)


@template(
    "code", "change", "Open an issue in {project} with the title “{title}”, the description “{body}” and the label “{label}”."
)
def _new_issue(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        title = rng.choice(("Typo on the start page", "Please add a changelog", "Build fails on macOS", "Dark mode is too dark"))
        body = rng.choice(("Found it yesterday.", "Happy to help with this.", "See the screenshot."))
        label = rng.choice(("bug", "feature", "documentation", "performance", "security"))
        steps = [
            *_tab(p["name"], "Issues"), click("New issue"), fill("Title", title), fill("Description", body), choose("Label", label),
            click("Open issue", "button"), stop(),
        ]  # fmt: skip
        sql = (
            f"SELECT title || '|' || body || '|' || l.name FROM issues i JOIN issue_labels ON issue_id = i.id JOIN labels l ON l.id = label_id"
            f" WHERE i.project_id = {p['id']} AND author_id = {ME} AND opened = '{TODAY}'"
        )
        yield Made(
            {"project": p["name"], "title": title, "body": body, "label": label},
            becomes("code", sql, f"{title}|{body}|{label}"),
            steps,
        )


@template("code", "change", "Comment “{text}” on the issue “{title}” of {project}.")
def _comment(world: World, rng: random.Random) -> Iterator[Made]:
    for i in world.mixed(rng, "code", ISSUES + "merge = 0"):
        text = rng.choice(
            ("I see this on Debian as well.", "Fixed on my branch.", "Is anybody working on this?", "Could you attach a log?")
        )
        steps = [*_issue(i), fill("Add a comment", text), click("Comment", "button"), stop()]
        sql = f"SELECT body FROM comments WHERE issue_id = {i['id']} AND author_id = {ME}"
        yield Made({"title": i["title"], "project": i["project"], "text": text}, becomes("code", sql, text), steps)


def _settle(intent: str, merge: int, button: str, state: str) -> None:
    """Adds a template that presses a button of an issue or a merge request."""
    each(
        "code",
        "change",
        intent,
        "code",
        ISSUES + f"merge = {merge} AND i.state = 'open' AND p.name IN {MINE}",
        check=lambda i: becomes("code", f"SELECT state FROM issues WHERE id = {i['id']}", state),
        steps=lambda i: [*_issue(i), click(button, "button"), stop()],
    )


_settle("Close the issue “{title}” in my project {project}.", 0, "Close issue", "closed")
_settle("Merge the merge request “{title}” in my project {project}.", 1, "Merge", "merged")


@template(
    "code", "change", "Assign the issue “{title}” in my project {project} to {person} and put it into the milestone {milestone}."
)
def _assign(world: World, rng: random.Random) -> Iterator[Made]:
    for i in world.mixed(rng, "code", ISSUES + f"merge = 0 AND i.state = 'open' AND p.name IN {MINE} AND assignee_id IS NULL"):
        who = rng.choice(
            world.rows(
                "code",
                "SELECT a.* FROM members JOIN people a ON a.id = person_id WHERE project_id = ? ORDER BY a.id",
                i["project_id"],
            )
        )
        milestone = rng.choice(world.rows("code", "SELECT * FROM milestones WHERE project_id = ? ORDER BY id", i["project_id"]))
        steps = [
            *_issue(i),
            choose("Assignee", who["name"]),
            choose("Milestone", milestone["title"]),
            click("Save", "button"),
            stop(),
        ]
        values = {"title": i["title"], "project": i["project"], "person": who["name"], "milestone": milestone["title"]}
        sql = f"SELECT assignee_id || ' ' || milestone_id FROM issues WHERE id = {i['id']}"
        yield Made(values, becomes("code", sql, f"{who['id']} {milestone['id']}"), steps)


@template("code", "change", "Give the issue “{title}” in my project {project} the label “{label}”.")
def _label(world: World, rng: random.Random) -> Iterator[Made]:
    for i in world.mixed(rng, "code", ISSUES + f"merge = 0 AND p.name IN {MINE}"):
        sql = "SELECT * FROM labels WHERE project_id = ? AND id NOT IN (SELECT label_id FROM issue_labels WHERE issue_id = ?) ORDER BY id"
        label = rng.choice(world.rows("code", sql, i["project_id"], i["id"]))
        steps = [*_issue(i), choose("Label", label["name"]), click("Add or remove label", "button"), stop()]
        sql = f"SELECT count(*) FROM issue_labels WHERE issue_id = {i['id']} AND label_id = {label['id']}"
        yield Made({"title": i["title"], "project": i["project"], "label": label["name"]}, becomes("code", sql, 1), steps)


@template("code", "change", "Create the {visibility} project {name} with the description “{text}” and a README.")
def _create(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        name = f"{rng.choice(('paper', 'river', 'cloud', 'stone', 'field'))}-{rng.choice(('box', 'line', 'works', 'kit', 'log'))}"
        visibility, text = (
            rng.choice(("Internal", "Private")),
            rng.choice(("Notes of the team", "Scripts for the office", "An experiment", "Slides and handouts")),
        )
        steps = [
            click("Create new…", "button"), click("New project"), fill("Name", name), fill("Description", text), choose("Visibility", visibility), click("Start with a README", "checkbox"),
            click("Create project", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT description || '|' || visibility || '|' || path FROM projects p JOIN files f ON f.project_id = p.id WHERE name = '{name}' AND owner_id = {ME}"
        yield Made(
            {"name": name, "visibility": visibility.lower(), "text": text},
            becomes("code", sql, f"{text}|{visibility}|README.md"),
            steps,
        )


@template("code", "change", "Add {person} to my project {project} as {role}.")
def _member(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        project = world.rows("code", PROJECTS + "p.name = ?", rng.choice(MINE))[0]
        sql = "SELECT * FROM people WHERE id NOT IN (SELECT person_id FROM members WHERE project_id = ?) ORDER BY id"
        who, role = rng.choice(world.rows("code", sql, project["id"])), rng.choice(("Guest", "Reporter", "Developer", "Maintainer"))
        steps = [
            *_tab(project["name"], "Members"),
            fill("Name or user name", who["login"]),
            choose("Role", role),
            click("Save member", "button"),
            stop(),
        ]
        sql = f"SELECT role FROM members WHERE project_id = {project['id']} AND person_id = {who['id']}"
        yield Made({"person": who["name"], "project": project["name"], "role": role}, becomes("code", sql, role), steps)


@template("code", "change", "Add the milestone {title}, due on {due}, to my project {project}.")
def _milestone(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        project, title, due = (
            rng.choice(MINE),
            f"{rng.randint(4, 9)}.{rng.randint(0, 9)}",
            str(TODAY + timedelta(days=rng.randint(20, 300))),
        )
        steps = [
            *_tab(project, "Milestones"),
            fill("Title", title),
            fill("Due (YYYY-MM-DD)", due),
            click("Add milestone", "button"),
            stop(),
        ]
        sql = f"SELECT due FROM milestones m JOIN projects p ON p.id = project_id WHERE p.name = '{project}' AND title = '{title}'"
        yield Made({"project": project, "title": title, "due": due}, becomes("code", sql, due), steps)


@template("code", "unachievable", "How many stars does the project {project} have?")
def _no_project(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        name = f"{rng.choice(('amber', 'silver', 'willow', 'north', 'hollow'))}{rng.choice(('gate', 'fish', 'lamp', 'bridge', 'mill'))}"
        yield Made({"project": name}, answer.nothing("There is no such project."), [search(name), stop("N/A")])


@template(
    "code forum",
    "change",
    "Set the status of my profile to the title of the post with the most points in the forum's c/{community}.",
)
def _status(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "forum", "SELECT * FROM communities"):
        best = world.rows("forum", "SELECT * FROM posts WHERE community_id = ? ORDER BY score DESC LIMIT 2", c["id"])
        if best[0]["score"] > best[1]["score"]:
            steps = [
                goto(ORIGINS["forum"]), click("Communities"), click(f"c/{c['name']}"), choose("Sort by", "Highest score"), click("Sort", "button"),
                goto(CODE), click("Mika Sorel’s menu", "button"), click("Profile"), fill("Status", best[0]["title"]), click("Save", "button"), stop(),
            ]  # fmt: skip
            yield Made(
                {"community": c["name"]}, becomes("code", f"SELECT status FROM people WHERE id = {ME}", best[0]["title"]), steps
            )


@template(
    "code shop",
    "change",
    "Open an issue in my project {project} whose title is the name of the most expensive product in the shop's category {category}.",
)
def _wish(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        found = world.rows("shop", "SELECT * FROM products WHERE category_id = ? ORDER BY price DESC", c["id"])
        if found[0]["price"] > found[1]["price"]:
            project = rng.choice(MINE)
            steps = [
                goto(ORIGINS["shop"]), click("Departments"), click(c["name"]), choose("Sort by", "Price, highest first"), click("Apply", "button"),
                goto(f"{CODE}/p/{project}/issues/new"), fill("Title", found[0]["name"]), click("Open issue", "button"), stop(),
            ]  # fmt: skip
            sql = f"SELECT p.name || '|' || title FROM issues i JOIN projects p ON p.id = project_id WHERE author_id = {ME} AND opened = '{TODAY}'"
            yield Made({"project": project, "category": c["name"]}, becomes("code", sql, f"{project}|{found[0]['name']}"), steps)


# What needs texts, versions of files, branches and merge requests.
SYSTEM = re.compile(r"(?m)^- System: (.+)$")
ADVICE = re.compile(r"set `(\w+)` to (\d+);|`(\w+) = (\d+)` makes|when `(\w+)` is (\d+)")
NUMBER = re.compile(r"(\w+)(?:: usize)? ?= ?(\d+);?$")
BRANCHES = "SELECT b.*, p.name AS project, c.author_id FROM branches b JOIN projects p ON p.id = b.project_id JOIN commits c ON c.id = head WHERE b.name <> 'main'"
WORDS = ("amber", "cobalt", "ember", "hazel", "indigo", "linen", "maple", "onyx", "pearl", "russet", "slate", "umber")


def _constants(text: str) -> dict[str, str]:
    """Returns the numbers that have a name in a file."""
    found = (NUMBER.search(line) for line in text.splitlines())
    return {m[1]: m[2] for m in found if m and m[1].lower() != "limit"}


def _main(world: World) -> Iterator[tuple[Any, int, str]]:
    """Yields the projects' main branches and the program files on them."""
    for b in world.rows(
        "code", "SELECT b.*, p.name AS project FROM branches b JOIN projects p ON p.id = project_id WHERE b.name = 'main'"
    ):
        for path in repository.tree(world.database("code"), b["head"]):
            if path.startswith("src/"):
                yield b, b["head"], path


def _changed_on(world: World, branch: Any) -> list[str]:
    """Returns what a branch changes."""
    db = world.database("code")
    base = repository.fork(db, repository.head(db, branch["project_id"], "main") or 0, branch["head"])
    return [d.path for d in repository.differences(db, base, branch["head"])]


def _switch(name: str) -> list[Step]:
    return [click("Switch branch or tag: main", "button"), click(name)]


def _mine(world: World, rng: random.Random) -> list[Any]:
    return world.mixed(rng, "code", BRANCHES + f" AND p.name IN {MINE} ORDER BY b.project_id, b.name")


@template("code", "find", "Which operating system does the report “{title}” of {project} name? Answer with its name and version.")
def _system(world: World, rng: random.Random) -> Iterator[Made]:
    reports = world.mixed(rng, "code", ISSUES + "merge = 0 ORDER BY i.id")
    systems = {found[1] for i in reports if (found := SYSTEM.search(i["body"]))}
    for i in reports:
        found = SYSTEM.search(i["body"])
        assert found is not None
        yield Made({"title": i["title"], "project": i["project"]}, answer.name(found[1], systems), [*_issue(i), stop(found[1])])


@template(
    "code",
    "find",
    "Which value of {setting} does somebody recommend as a workaround in the comments on “{title}” of {project}? Answer with the number.",
)
def _workaround(world: World, rng: random.Random) -> Iterator[Made]:
    for i in world.mixed(rng, "code", ISSUES + "merge = 0 ORDER BY i.id"):
        comments = world.rows("code", "SELECT body FROM comments WHERE issue_id = ? ORDER BY id", i["id"])
        advice = [m for c in comments for m in ADVICE.finditer(c["body"])]
        if len(advice) == 1:
            setting, value = (part for part in advice[0].groups() if part)
            yield Made(
                {"setting": setting, "title": i["title"], "project": i["project"]}, answer.number(value), [*_issue(i), stop(value)]
            )


@template(
    "code",
    "find",
    "Which value had {setting} in {path} of {project} before it was last changed on the branch main? Answer with the number.",
)
def _before(world: World, rng: random.Random) -> Iterator[Made]:
    db, made = world.database("code"), list[Made]()
    for b, head, path in _main(world):
        versions = repository.versions(db, head, path)
        messages = [world.value("code", "SELECT message FROM commits WHERE id = ?", c) for c, _ in versions]
        values = [_constants(repository.load(db, blob)) for _, blob in versions]
        for setting, now in values[0].items():
            place = next((n for n, v in enumerate(values) if v.get(setting) != now), None)
            old = values[place].get(setting) if place else None
            if place and old and messages.index(messages[place - 1]) == place - 1:
                steps = [
                    *_project(b["project"]), *_path(path), click("History"), click(messages[place - 1]), stop(old),
                ]  # fmt: skip
                made.append(Made({"setting": setting, "path": path, "project": b["project"]}, answer.number(old), steps))
    yield from rng.sample(made, len(made))


@template("code", "find", "Who last changed the line “{line}” in {path} of {project}?")
def _blame(world: World, rng: random.Random) -> Iterator[Made]:
    db, made = world.database("code"), list[Made]()
    for b, head, path in _main(world):
        runs = repository.authors(db, head, path)
        first, lines = min(c for c, _ in runs), [line.strip() for _, run in runs for line in run]
        for commit, run in runs:
            who = world.value("code", "SELECT name FROM people JOIN commits c ON c.author_id = people.id WHERE c.id = ?", commit)
            for line in run:
                if commit > first and len(line.strip()) > 12 and lines.count(line.strip()) == 1:
                    steps = [*_project(b["project"]), *_path(path), click("Blame"), stop(who)]
                    made.append(
                        Made(
                            {"line": line.strip(), "path": path, "project": b["project"]},
                            answer.name(who, answer.DEVELOPERS),
                            steps,
                        )
                    )
    yield from rng.sample(made, len(made))


@template("code", "find", "Only one branch of {project} contains the file {path}. Which one?")
def _contains(world: World, rng: random.Random) -> Iterator[Made]:
    db = world.database("code")
    for b in world.mixed(rng, "code", BRANCHES + " ORDER BY b.project_id, b.name"):
        there = [
            repository.tree(db, o["head"])
            for o in world.rows("code", "SELECT * FROM branches WHERE project_id = ?", b["project_id"])
        ]
        only = [p for p in repository.tree(db, b["head"]) if sum(p in tree for tree in there) == 1]
        if len(only) == 1 and only[0].startswith("src/"):
            steps = [*_tab(b["project"], "Branches"), click(f"Compare {b['name']}"), stop(b["name"])]
            yield Made({"path": only[0], "project": b["project"]}, answer.name(b["name"], BRANCH_NAMES), steps)


@template("code", "navigate", "Show the file {path} of {project} as it is on the branch {branch}.")
def _on_branch(world: World, rng: random.Random) -> Iterator[Made]:
    for b in world.mixed(rng, "code", BRANCHES + " ORDER BY b.project_id, b.name"):
        path = rng.choice(_changed_on(world, b))
        url = f"{CODE}/p/{b['project']}/file/{path}?ref={b['name']}"
        steps = [*_project(b["project"]), *_switch(b["name"]), *_path(path), stop()]
        yield Made({"path": path, "project": b["project"], "branch": b["name"]}, ends_at(url), steps)


each(
    "code",
    "navigate",
    "Compare the branch {name} of {project} with main: show what it would bring to main.",
    "code",
    BRANCHES + " ORDER BY b.project_id, b.name",
    check=lambda b: ends_at(f"{CODE}/p/{b['project']}/compare?from=main&to={b['name']}"),
    steps=lambda b: [
        *_tab(b["project"], "Compare revisions"),
        choose("Source", b["name"]),
        click("Compare", "button"),
        stop(),
    ],
)


@template("code", "change", "Create the branch {name} in my project {project}, starting from {start}.")
def _new_branch(world: World, rng: random.Random) -> Iterator[Made]:
    for b in _mine(world, rng):
        name = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}"
        steps = [
            *_tab(b["project"], "Branches"), fill("Branch name", name), choose("Create from", b["name"]), click("Create branch", "button"), stop(),
        ]  # fmt: skip
        sql = (
            "SELECT count(*) FROM branches n JOIN branches s ON s.project_id = n.project_id AND s.head = n.head"
            f" WHERE n.project_id = {b['project_id']} AND n.name = '{name}' AND s.name = '{b['name']}'"
        )
        yield Made({"name": name, "project": b["project"], "start": b["name"]}, becomes("code", sql, 1), steps)


def _content(branch: Any, path: str) -> str:
    """Returns the query that finds what a file holds on a branch and on the main one."""
    text = (
        "(WITH RECURSIVE line (id, depth) AS (SELECT head, 0 FROM branches WHERE project_id = {p} AND name = '{b}' UNION ALL SELECT parent, depth + 1"
        " FROM commits c JOIN line ON c.id = line.id WHERE parent IS NOT NULL) SELECT trim(text, char(10)) FROM line JOIN changes ON commit_id = line.id"
        " JOIN blobs ON blobs.id = blob_id WHERE path = '{f}' ORDER BY depth LIMIT 1)"
    )
    return "SELECT " + ", ".join(text.format(p=branch["project_id"], b=b, f=path) for b in (branch["name"], "main"))


@template("code", "change", "Change the file VERSION of my project {project} to {version}, on the branch {branch} only.")
def _edit(world: World, rng: random.Random) -> Iterator[Made]:
    for b in _mine(world, rng):
        now = world.rows("code", _content(b, "VERSION"))[0][1]
        version = f"{now.rpartition('.')[0]}.{rng.randint(20, 90)}"
        steps = [
            *_project(b["project"]), *_switch(b["name"]), click("VERSION"), click("Edit file"), fill("Content", version), click("Commit changes", "button"), stop(),
        ]  # fmt: skip
        sql = _content(b, "VERSION")
        yield Made(
            {"project": b["project"], "version": version, "branch": b["name"]}, becomes("code", sql, f"{version} | {now}"), steps
        )


@template(
    "code",
    "change",
    "Open a merge request with the title “{title}” that brings the branch {branch} of my project {project} to main.",
)
def _propose(world: World, rng: random.Random) -> Iterator[Made]:
    for b in _mine(world, rng):
        if world.value("code", "SELECT count(*) FROM issues WHERE project_id = ? AND source = ?", b["project_id"], b["name"]):
            continue
        title = (
            f"{rng.choice(('Bring in', 'Land', 'Add', 'Ship'))} {rng.choice(WORDS)} {rng.choice(('mode', 'support', 'handling'))}"
        )
        steps = [
            *_tab(b["project"], "Merge requests"), click("New merge request"), choose("Source branch", b["name"]), fill("Title", title),
            click("Create merge request", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT source || '|' || title FROM issues WHERE project_id = {b['project_id']} AND merge = 1 AND author_id = {ME} AND opened = '{TODAY}'"
        values = {"title": title, "branch": b["name"], "project": b["project"]}
        yield Made(values, becomes("code", sql, f"{b['name']}|{title}"), steps)


def _open_merges(world: World, rng: random.Random) -> list[Any]:
    return world.mixed(rng, "code", ISSUES + f"merge = 1 AND i.state = 'open' AND p.name IN {MINE} ORDER BY i.id")


@template("code", "change", "Approve the open merge request of my project {project} that changes the file {path}.")
def _approve(world: World, rng: random.Random) -> Iterator[Made]:
    db, found = world.database("code"), _open_merges(world, rng)
    paths = {i["id"]: [d.path for d in repository.differences(db, i["base"], i["head"])] for i in found}
    for i in found:
        others = [p for o in found if o["project_id"] == i["project_id"] and o["id"] != i["id"] for p in paths[o["id"]]]
        for path in paths[i["id"]]:
            if path not in others:
                steps = [
                    *_tab(i["project"], "Merge requests"), click(i["title"]), click("Approve", "button"), stop(),
                ]  # fmt: skip
                sql = f"SELECT issue_id FROM approvals WHERE person_id = {ME}"
                yield Made({"project": i["project"], "path": path}, becomes("code", sql, i["id"]), steps)


@template(
    "code",
    "change",
    "Merge the merge request of my project {project} that closes the issue “{title}”, and delete its source branch.",
)
def _land(world: World, rng: random.Random) -> Iterator[Made]:
    found = _open_merges(world, rng)
    for i in found:
        closes = re.search(r"Closes #(\d+)", i["body"])
        if closes is None or sum(o["project_id"] == i["project_id"] and closes[0] + "." in o["body"] for o in found) > 1:
            continue
        issue = world.rows("code", ISSUES + "i.project_id = ? AND i.number = ?", i["project_id"], int(closes[1]))[0]
        steps = [
            *_tab(i["project"], "Merge requests"), click(i["title"]), click("Delete source branch", "checkbox"), click("Merge", "button"), stop(),
        ]  # fmt: skip
        sql = (
            f"SELECT state, (SELECT count(*) FROM branches WHERE project_id = {i['project_id']} AND name = '{i['source']}')"
            f" FROM issues WHERE id = {i['id']}"
        )
        yield Made({"project": i["project"], "title": issue["title"]}, becomes("code", sql, "merged | 0"), steps)


@template("code", "unachievable", "How many lines does the file {path} of {project} have on the branch {branch}?")
def _no_branch(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1 ORDER BY p.id"):
        branch = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}"
        steps = [*_project(p["project"]), click("Switch branch or tag: main", "button"), stop("N/A")]
        yield Made(
            {"path": rng.choice(("README.md", "VERSION", "docs/guide.md")), "project": p["project"], "branch": branch},
            answer.nothing("There is no such branch."),
            steps,
        )
