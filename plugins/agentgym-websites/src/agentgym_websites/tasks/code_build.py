"""Tasks with the code host's pipelines and wikis."""

import random
from collections.abc import Iterator

from agentgym_envs.envs.web.embedded import choose, click, fill, stop
from agentgym_websites.code.data import ME, MINE
from agentgym_websites.code.pipelines import JOBS
from agentgym_websites.site import TODAY, day
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.code_compare import THE, my_projects, singled_projects
from agentgym_websites.tasks.template import Made, World, becomes, template

PIPELINES = (
    "SELECT l.*, (SELECT sum(seconds) FROM jobs WHERE pipeline_id = l.id) AS seconds FROM pipelines l"
    " WHERE project_id = ? AND status = ? ORDER BY started DESC"
)
EDITS = (
    "SELECT w.title, e.made, a.name FROM wiki_pages w JOIN wiki_edits e ON e.id = (SELECT max(id) FROM wiki_edits WHERE page_id = w.id)"
    " JOIN people a ON a.id = author_id WHERE project_id = ? ORDER BY e.made DESC"
)
BUILD = (click("Build", "button"), click("Pipelines"))
WIKI = (click("Plan", "button"), click("Wiki"))


@template("code", "find", f"Which job made the last failed pipeline of {THE} fail?")
def _failed_job(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in singled_projects(world, rng):
        found = world.rows("code", PIPELINES, p["id"], "failed")
        if len(found) > 1 and found[0]["started"] > found[1]["started"]:
            jobs = world.rows(
                "code",
                "SELECT name FROM jobs WHERE pipeline_id = ? AND status = 'failed'",
                found[0]["id"],
            )
            if len(jobs) == 1:
                name, look = (
                    jobs[0]["name"],
                    [
                        choose("Status", "failed"),
                        click("Filter", "button"),
                        click(f"Pipeline #{found[0]['id']}"),
                    ],
                )
                yield Made(
                    values,
                    answer.name(name, [job for _, job in JOBS]),
                    [*steps, *BUILD, *look, stop(name)],
                )


@template(
    "code",
    "find",
    f"How many seconds did the last {{status}} pipeline of {THE} take? Answer with the number.",
)
def _seconds(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in singled_projects(world, rng):
        status, words = rng.choice((("success", "successful"), ("failed", "failed")))
        found = world.rows("code", PIPELINES, p["id"], status)
        if len(found) > 1 and found[0]["started"] > found[1]["started"]:
            look = [
                choose("Status", status),
                click("Filter", "button"),
                click(f"Pipeline #{found[0]['id']}"),
                stop(found[0]["seconds"]),
            ]
            yield Made(
                {**values, "status": words},
                answer.number(found[0]["seconds"]),
                [*steps, *BUILD, *look],
            )


@template("code", "find", f"Which page of the wiki of {THE} was changed last?")
def _changed_page(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in singled_projects(world, rng):
        found = world.rows("code", EDITS, p["id"])
        if len(found) > 1 and found[0]["made"] > found[1]["made"]:
            title = found[0]["title"]
            yield Made(
                values,
                answer.name(title, "code:SELECT DISTINCT title FROM wiki_pages"),
                [*steps, *WIKI, stop(title)],
            )


@template(
    "code", "find", f"Who wrote the first version of the page “{{page}}” in the wiki of {THE}?"
)
def _first_author(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT w.title, a.name, min(e.id) FROM wiki_pages w JOIN wiki_edits e ON e.page_id = w.id JOIN people a ON a.id = author_id"
    for p, values, steps in singled_projects(world, rng):
        found = world.rows(
            "code",
            f"{sql} WHERE project_id = ? GROUP BY w.id HAVING count(*) > 1 ORDER BY w.id",
            p["id"],
        )
        if found:
            page = rng.choice(found)
            look = [click(page["title"]), click("Page history"), stop(page["name"])]
            yield Made(
                {**values, "page": page["title"]},
                answer.developer(page["name"]),
                [*steps, *WIKI, *look],
            )


@template(
    "code",
    "find",
    f"When was the page “{{page}}” in the wiki of {THE} last changed? Answer like Jun 2, 2026.",
)
def _changed_day(world: World, rng: random.Random) -> Iterator[Made]:
    for p, values, steps in singled_projects(world, rng):
        page = rng.choice(world.rows("code", EDITS, p["id"]))
        yield Made(
            {**values, "page": page["title"]},
            answer.day(page["made"]),
            [*steps, *WIKI, stop(day(page["made"]))],
        )


@template(
    "code", "change", "Retry the failed pipeline of the branch {branch} in my project {project}."
)
def _retry(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        "SELECT l.id, branch, p.name AS project FROM pipelines l JOIN projects p ON p.id = project_id WHERE owner_id = ? AND status = 'failed'"
        " GROUP BY project_id, branch HAVING count(*) = 1"
    )
    for r in world.mixed(rng, "code", sql, ME):
        steps = [
            *my_projects(), click(r["project"]), *BUILD, choose("Status", "failed"), choose("Branch", r["branch"]), click("Filter", "button"),
            click(f"Pipeline #{r['id']}"), click("Retry", "button"), stop(),
        ]  # fmt: skip
        check = becomes(
            "code",
            f"SELECT count(*) FROM jobs WHERE pipeline_id = {r['id']} AND status IN ('failed', 'canceled')",
            0,
        )
        yield Made({"branch": r["branch"], "project": r["project"]}, check, steps)


@template(
    "code",
    "change",
    "Add the page “{title}” with the text “{text}” to the wiki of my project {project}.",
)
def _new_page(world: World, rng: random.Random) -> Iterator[Made]:
    titles = (
        "Glossary",
        "Holidays",
        "Who to ask",
        "Old decisions",
        "Travel",
        "Style guide",
        "Meeting notes",
    )
    texts = (
        "To be written in July.",
        "Ask in the office.",
        "Nothing is decided yet.",
        "See the release checklist.",
    )
    choices = [(project, title) for project in MINE for title in titles]
    for project, title in rng.sample(choices, len(choices)):
        text = rng.choice(texts)
        steps = [
            *my_projects(), click(project), *WIKI, click("New page"), fill("Title", title), fill("Text (Markdown)", text), click("Save page", "button"), stop(),
        ]  # fmt: skip
        sql = (
            "SELECT p.name, w.title, e.body FROM wiki_edits e JOIN wiki_pages w ON w.id = page_id JOIN projects p ON p.id = project_id"
            f" WHERE e.author_id = {ME} AND e.made = '{TODAY}'"
        )
        yield Made(
            {"title": title, "text": text, "project": project},
            becomes("code", sql, f"{project} | {title} | {text}"),
            steps,
        )
