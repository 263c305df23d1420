"""Tasks on the code host."""

import random
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, search, stop
from agentgym_websites.code.projects import ROLES
from agentgym_websites.site import ORIGINS
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.template import (
    Made,
    World,
    asks,
    each_of,
    ends_at,
    template,
)

CODE = ORIGINS["code"]
PROJECTS = "SELECT p.*, p.name AS project, o.name AS owner, (SELECT count(*) FROM stars WHERE project_id = p.id) AS stars FROM projects p JOIN people o ON o.id = owner_id WHERE "
ISSUES = (
    "SELECT i.*, iif(merge, 'merge request', 'issue') AS kind, p.name AS project, a.name AS author, s.name AS assignee, m.title AS milestone FROM issues i JOIN projects p ON p.id = i.project_id"
    " JOIN people a ON a.id = author_id LEFT JOIN people s ON s.id = assignee_id LEFT JOIN milestones m ON m.id = milestone_id"
    " WHERE "
)
BRANCH_NAMES = "code:SELECT name FROM branches UNION SELECT source FROM issues"
# Groups of the sidebar, which are closed at first.
GROUPS = {
    "Manage": ("Members", "Labels"),
    "Plan": ("Board", "Milestones"),
    "Code": ("Repository", "Branches", "Commits", "Tags", "Compare revisions"),
}
# Files of the first release, which the first templates ask about.
FIRST = (
    "SELECT p.name AS project, path, content FROM files JOIN projects p ON p.id = project_id"
    " WHERE (path IN ('CHANGELOG.md', 'LICENSE', 'README.md') OR path LIKE 'src/%' AND path NOT LIKE 'src/%/%') AND path LIKE '{}' ORDER BY p.id, path"
)


def open_project(name: str) -> list[Step]:
    """Opens a project by name."""
    return [search(name), click(name)]


def open_tab(name: str, tab: str) -> list[Step]:
    """Opens a page of a project's sidebar."""
    group = next((g for g, tabs in GROUPS.items() if tab in tabs), None)
    return [*open_project(name), *([click(group, "button")] if group else []), click(tab)]


def open_path(path: str) -> list[Step]:
    """Opens a file of the shown project, folder by folder."""
    return [click(part) for part in path.split("/")]


def open_issue(issue: Any) -> list[Step]:
    """Opens an issue or a merge request by title."""
    return [*_found(issue), click(issue["title"])]


def _found(issue: Any) -> list[Step]:
    """Opens a project by its name."""
    tab = "Merge requests" if issue["merge"] else "Issues"
    state = [choose("State", "All")] if issue["state"] != "open" else []
    return [
        *open_tab(issue["project"], tab),
        *state,
        fill("Title", issue["title"]),
        click("Filter", "button"),
    ]


asks(
    "code",
    "code",
    (
        "How many stars does the project {project} have? Answer with the number.",
        PROJECTS + "1",
        "stars",
        answer.number,
        lambda p: [search(p["project"])],
    ),
    (
        "Who owns the project {project}?",
        PROJECTS + "1",
        "owner",
        answer.developer,
        lambda p: [search(p["project"])],
    ),
)


def _readme(world: World, rng: random.Random, pattern: str) -> Iterator[Made]:
    """Opens a page of a project's sidebar."""
    for r in world.mixed(rng, "code", FIRST.format("README.md")):
        found = re.search(pattern, r["content"])
        assert found is not None
        yield Made(
            {"project": r["project"]},
            answer.codes(found[1]),
            [*open_project(r["project"]), stop(found[1])],
        )


@template("code", "find", "Which port does {project} use by default?")
def _port(world: World, rng: random.Random) -> Iterator[Made]:
    """Opens a file of the shown project, folder by folder."""
    yield from _readme(world, rng, r"default port is (\d+)")


@template(
    "code", "find", "Which version of {project} should one download, according to its README?"
)
def _version(world: World, rng: random.Random) -> Iterator[Made]:
    """Opens an issue or a merge request by its title."""
    yield from _readme(world, rng, r"Download version (\S+),")


@template(
    "code",
    "find",
    "What is the value of the limit in {path} of the project {project}? Answer with the number.",
)
def _limit(world: World, rng: random.Random) -> Iterator[Made]:
    for r in world.mixed(rng, "code", FIRST.format("src/%")):
        found = re.search(r"(?i)\blimit\b[^=\n]*= (\d+)", r["content"])
        assert found is not None
        steps = [*open_project(r["project"]), *open_path(r["path"]), stop(found[1])]
        yield Made({"project": r["project"], "path": r["path"]}, answer.number(found[1]), steps)


asks(
    "code",
    "code",
    (
        "Who opened the {kind} “{title}” of {project}?",
        ISSUES + "1",
        "author",
        answer.developer,
        _found,
    ),
    (
        "Who is assigned to the issue “{title}” of {project}?",
        ISSUES + "assignee_id IS NOT NULL AND merge = 0",
        "assignee",
        answer.developer,
        _found,
    ),
    (
        "From which branch does the merge request “{title}” of {project} come?",
        ISSUES + "merge = 1",
        "source",
        partial(answer.name, among=BRANCH_NAMES),
        open_issue,
    ),
    (
        "How many open issues of {project} have the label “{label}”? Answer with the number.",
        "SELECT p.name AS project, l.name AS label, count(*) AS n FROM issue_labels JOIN issues i ON i.id = issue_id JOIN labels l ON l.id = label_id"
        " JOIN projects p ON p.id = i.project_id WHERE state = 'open' AND merge = 0 GROUP BY l.id HAVING n > 1",
        "n",
        answer.number,
        lambda r: [
            *open_tab(r["project"], "Issues"),
            choose("Label", r["label"]),
            click("Filter", "button"),
        ],
    ),
    (
        "How many commits has {person} made to {project}? Answer with the number.",
        "SELECT p.name AS project, a.name AS person, count(*) AS n FROM history c JOIN people a ON a.id = author_id"
        " JOIN projects p ON p.id = project_id GROUP BY p.id, a.id HAVING n > 2",
        "n",
        answer.number,
        lambda r: [
            *open_tab(r["project"], "Commits"),
            choose("Author", r["person"]),
            click("Filter", "button"),
        ],
    ),
)


@template(
    "code", "find", "How many lines did the last commit of {project} add? Answer with the number."
)
def _added(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        last = world.rows(
            "code", "SELECT * FROM history WHERE project_id = ? AND depth = 0", p["id"]
        )[0]
        yield Made(
            {"project": p["name"]},
            answer.number(last["added"]),
            [*open_project(p["name"]), click(last["message"]), stop(last["added"])],
        )


asks(
    "code",
    "code",
    (
        "When is the milestone {milestone} of {project} due? Answer like 2026-06-02.",
        "SELECT p.name AS project, m.title AS milestone, due FROM milestones m JOIN projects p ON p.id = project_id",
        "due",
        answer.day,
        lambda m: [*open_tab(m["project"], "Milestones")],
    ),
    (
        "What role does {person} have in {project}?",
        "SELECT p.name AS project, a.name AS person, role FROM members JOIN people a ON a.id = person_id JOIN projects p ON p.id = project_id",
        "role",
        partial(answer.name, among=ROLES),
        lambda r: [*open_tab(r["project"], "Members")],
    ),
)


@template("code", "find", "What is the title of the oldest open issue of {project}?")
def _oldest(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        title = world.value(
            "code",
            "SELECT title FROM issues WHERE project_id = ? AND merge = 0 AND state = 'open' ORDER BY opened, id",
            p["id"],
        )
        steps = [
            *open_tab(p["name"], "Issues"),
            choose("Sort by", "Oldest"),
            click("Filter", "button"),
            stop(title),
        ]
        yield Made({"project": p["name"]}, answer.name(title, answer.ISSUES), steps)


each_of(
    "code",
    "navigate",
    "code",
    (
        "Open the {kind} “{title}” of {project}.",
        ISSUES + "1",
        lambda i: ends_at(f"{CODE}/p/{i['project']}/issues/{i['number']}"),
        lambda i: [*open_issue(i), stop()],
    ),
    (
        "Show the file {path} of the project {project}.",
        FIRST.format("%"),
        lambda r: ends_at(f"{CODE}/p/{r['project']}/file/{r['path']}"),
        lambda r: [*open_project(r["project"]), *open_path(r["path"]), stop()],
    ),
)


@template("code", "navigate", "Show the {state} merge requests of {project}.")
def _merges(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        state = rng.choice(("closed", "merged"))
        steps = [
            *open_tab(p["name"], "Merge requests"),
            choose("State", state.capitalize()),
            click("Filter", "button"),
            stop(),
        ]
        yield Made(
            {"project": p["name"], "state": state},
            ends_at(f"{CODE}/p/{p['name']}/merges?state={state}&sort=new"),
            steps,
        )
