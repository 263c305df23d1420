"""Tasks with the code host's issue texts, versions of files, branches and merge requests."""

import random
import re
from collections.abc import Iterator
from typing import Any

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, stop
from agentgym_websites.code import repository
from agentgym_websites.code.data import ME, MINE
from agentgym_websites.site import TODAY
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.code import (
    BRANCH_NAMES,
    CODE,
    ISSUES,
    PROJECTS,
    open_issue,
    open_path,
    open_project,
    open_tab,
)
from agentgym_websites.tasks.template import (
    Made,
    World,
    becomes,
    each,
    ends_at,
    template,
)

# Tasks that need texts, versions of files, branches and merge requests.
SYSTEM = re.compile(r"(?m)^- System: (.+)$")


ADVICE = re.compile(r"set `(\w+)` to (\d+);|`(\w+) = (\d+)` makes|when `(\w+)` is (\d+)")


NUMBER = re.compile(r"(\w+)(?:: usize)? ?= ?(\d+);?$")


BRANCHES = "SELECT b.*, p.name AS project, c.author_id FROM branches b JOIN projects p ON p.id = b.project_id JOIN commits c ON c.id = head WHERE b.name <> 'main'"


WORDS = (
    "amber",
    "cobalt",
    "ember",
    "hazel",
    "indigo",
    "linen",
    "maple",
    "onyx",
    "pearl",
    "russet",
    "slate",
    "umber",
)


def _constants(text: str) -> dict[str, str]:
    """Returns the named numbers in a file."""
    found = (NUMBER.search(line) for line in text.splitlines())
    return {m[1]: m[2] for m in found if m and m[1].lower() != "limit"}


def _main(world: World) -> Iterator[tuple[Any, int, str]]:
    """Yields the projects' main branches and the program files on them."""
    for b in world.rows(
        "code",
        "SELECT b.*, p.name AS project FROM branches b JOIN projects p ON p.id = project_id WHERE b.name = 'main'",
    ):
        for path in repository.tree(world.database("code"), b["head"]):
            if path.startswith("src/"):
                yield b, b["head"], path


def _changed_on(world: World, branch: Any) -> list[str]:
    """Returns the files that a branch changes."""
    db = world.database("code")
    base = repository.fork(
        db, repository.head(db, branch["project_id"], "main") or 0, branch["head"]
    )
    return [d.path for d in repository.differences(db, base, branch["head"])]


def _switch(name: str) -> list[Step]:
    return [click("Switch branch or tag: main", "button"), click(name)]


def _mine(world: World, rng: random.Random) -> list[Any]:
    return world.mixed(
        rng, "code", BRANCHES + f" AND p.name IN {MINE} ORDER BY b.project_id, b.name"
    )


@template(
    "code",
    "find",
    "Which operating system does the report “{title}” of {project} name? Answer with its name and version.",
)
def _system(world: World, rng: random.Random) -> Iterator[Made]:
    reports = world.mixed(rng, "code", ISSUES + "merge = 0 ORDER BY i.id")
    systems = {found[1] for i in reports if (found := SYSTEM.search(i["body"]))}
    for i in reports:
        found = SYSTEM.search(i["body"])
        assert found is not None
        yield Made(
            {"title": i["title"], "project": i["project"]},
            answer.name(found[1], systems),
            [*open_issue(i), stop(found[1])],
        )


@template(
    "code",
    "find",
    "Which value of {setting} does somebody recommend as a workaround in the comments on “{title}” of {project}? Answer with the number.",
)
def _workaround(world: World, rng: random.Random) -> Iterator[Made]:
    for i in world.mixed(rng, "code", ISSUES + "merge = 0 ORDER BY i.id"):
        comments = world.rows(
            "code", "SELECT body FROM comments WHERE issue_id = ? ORDER BY id", i["id"]
        )
        advice = [m for c in comments for m in ADVICE.finditer(c["body"])]
        if len(advice) == 1:
            setting, value = (part for part in advice[0].groups() if part)
            yield Made(
                {"setting": setting, "title": i["title"], "project": i["project"]},
                answer.number(value),
                [*open_issue(i), stop(value)],
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
        messages = [
            world.value("code", "SELECT message FROM commits WHERE id = ?", c) for c, _ in versions
        ]
        values = [_constants(repository.load(db, blob)) for _, blob in versions]
        for setting, now in values[0].items():
            place = next((n for n, v in enumerate(values) if v.get(setting) != now), None)
            old = values[place].get(setting) if place else None
            if place and old and messages.index(messages[place - 1]) == place - 1:
                steps = [
                    *open_project(b["project"]), *open_path(path), click("History"), click(messages[place - 1]), stop(old),
                ]  # fmt: skip
                made.append(
                    Made(
                        {"setting": setting, "path": path, "project": b["project"]},
                        answer.number(old),
                        steps,
                    )
                )
    yield from rng.sample(made, len(made))


@template("code", "find", "Who last changed the line “{line}” in {path} of {project}?")
def _blame(world: World, rng: random.Random) -> Iterator[Made]:
    db, made = world.database("code"), list[Made]()
    for b, head, path in _main(world):
        runs = repository.authors(db, head, path)
        first, lines = min(c for c, _ in runs), [line.strip() for _, run in runs for line in run]
        for commit, run in runs:
            who = world.value(
                "code",
                "SELECT name FROM people JOIN commits c ON c.author_id = people.id WHERE c.id = ?",
                commit,
            )
            for line in run:
                if commit > first and len(line.strip()) > 12 and lines.count(line.strip()) == 1:
                    steps = [
                        *open_project(b["project"]),
                        *open_path(path),
                        click("Blame"),
                        stop(who),
                    ]
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
            for o in world.rows(
                "code", "SELECT * FROM branches WHERE project_id = ?", b["project_id"]
            )
        ]
        only = [p for p in repository.tree(db, b["head"]) if sum(p in tree for tree in there) == 1]
        if len(only) == 1 and only[0].startswith("src/"):
            steps = [
                *open_tab(b["project"], "Branches"),
                click(f"Compare {b['name']}"),
                stop(b["name"]),
            ]
            yield Made(
                {"path": only[0], "project": b["project"]},
                answer.name(b["name"], BRANCH_NAMES),
                steps,
            )


@template("code", "navigate", "Show the file {path} of {project} as it is on the branch {branch}.")
def _on_branch(world: World, rng: random.Random) -> Iterator[Made]:
    for b in world.mixed(rng, "code", BRANCHES + " ORDER BY b.project_id, b.name"):
        path = rng.choice(_changed_on(world, b))
        url = f"{CODE}/p/{b['project']}/file/{path}?ref={b['name']}"
        steps = [*open_project(b["project"]), *_switch(b["name"]), *open_path(path), stop()]
        yield Made(
            {"path": path, "project": b["project"], "branch": b["name"]}, ends_at(url), steps
        )


each(
    "code",
    "navigate",
    "Compare the branch {name} of {project} with main: show what it would bring to main.",
    "code",
    BRANCHES + " ORDER BY b.project_id, b.name",
    check=lambda b: ends_at(f"{CODE}/p/{b['project']}/compare?from=main&to={b['name']}"),
    steps=lambda b: [
        *open_tab(b["project"], "Compare revisions"),
        choose("Source", b["name"]),
        click("Compare", "button"),
        stop(),
    ],
)


@template(
    "code", "change", "Create the branch {name} in my project {project}, starting from {start}."
)
def _new_branch(world: World, rng: random.Random) -> Iterator[Made]:
    for b in _mine(world, rng):
        name = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}"
        steps = [
            *open_tab(b["project"], "Branches"), fill("Branch name", name), choose("Create from", b["name"]), click("Create branch", "button"), stop(),
        ]  # fmt: skip
        sql = (
            "SELECT count(*) FROM branches n JOIN branches s ON s.project_id = n.project_id AND s.head = n.head"
            f" WHERE n.project_id = {b['project_id']} AND n.name = '{name}' AND s.name = '{b['name']}'"
        )
        yield Made(
            {"name": name, "project": b["project"], "start": b["name"]},
            becomes("code", sql, 1),
            steps,
        )


def _content(branch: Any, path: str) -> str:
    """Returns the query for the content of a file on a branch and on the main branch."""
    text = (
        "(WITH RECURSIVE line (id, depth) AS (SELECT head, 0 FROM branches WHERE project_id = {p} AND name = '{b}' UNION ALL SELECT parent, depth + 1"
        " FROM commits c JOIN line ON c.id = line.id WHERE parent IS NOT NULL) SELECT trim(text, char(10)) FROM line JOIN changes ON commit_id = line.id"
        " JOIN blobs ON blobs.id = blob_id WHERE path = '{f}' ORDER BY depth LIMIT 1)"
    )
    return "SELECT " + ", ".join(
        text.format(p=branch["project_id"], b=b, f=path) for b in (branch["name"], "main")
    )


@template(
    "code",
    "change",
    "Change the file VERSION of my project {project} to {version}, on the branch {branch} only.",
)
def _edit(world: World, rng: random.Random) -> Iterator[Made]:
    for b in _mine(world, rng):
        now = world.rows("code", _content(b, "VERSION"))[0][1]
        version = f"{now.rpartition('.')[0]}.{rng.randint(20, 90)}"
        steps = [
            *open_project(b["project"]), *_switch(b["name"]), click("VERSION"), click("Edit file"), fill("Content", version), click("Commit changes", "button"), stop(),
        ]  # fmt: skip
        sql = _content(b, "VERSION")
        yield Made(
            {"project": b["project"], "version": version, "branch": b["name"]},
            becomes("code", sql, f"{version} | {now}"),
            steps,
        )


@template(
    "code",
    "change",
    "Open a merge request with the title “{title}” that brings the branch {branch} of my project {project} to main.",
)
def _propose(world: World, rng: random.Random) -> Iterator[Made]:
    for b in _mine(world, rng):
        if world.value(
            "code",
            "SELECT count(*) FROM issues WHERE project_id = ? AND source = ?",
            b["project_id"],
            b["name"],
        ):
            continue
        title = f"{rng.choice(('Bring in', 'Land', 'Add', 'Ship'))} {rng.choice(WORDS)} {rng.choice(('mode', 'support', 'handling'))}"
        steps = [
            *open_tab(b["project"], "Merge requests"), click("New merge request"), choose("Source branch", b["name"]), fill("Title", title),
            click("Create merge request", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT source || '|' || title FROM issues WHERE project_id = {b['project_id']} AND merge = 1 AND author_id = {ME} AND opened = '{TODAY}'"
        values = {"title": title, "branch": b["name"], "project": b["project"]}
        yield Made(values, becomes("code", sql, f"{b['name']}|{title}"), steps)


def _open_merges(world: World, rng: random.Random) -> list[Any]:
    return world.mixed(
        rng, "code", ISSUES + f"merge = 1 AND i.state = 'open' AND p.name IN {MINE} ORDER BY i.id"
    )


@template(
    "code",
    "change",
    "Approve the open merge request of my project {project} that changes the file {path}.",
)
def _approve(world: World, rng: random.Random) -> Iterator[Made]:
    db, found = world.database("code"), _open_merges(world, rng)
    paths = {
        i["id"]: [d.path for d in repository.differences(db, i["base"], i["head"])] for i in found
    }
    for i in found:
        others = [
            p
            for o in found
            if o["project_id"] == i["project_id"] and o["id"] != i["id"]
            for p in paths[o["id"]]
        ]
        for path in paths[i["id"]]:
            if path not in others:
                steps = [
                    *open_tab(i["project"], "Merge requests"), click(i["title"]), click("Approve", "button"), stop(),
                ]  # fmt: skip
                sql = f"SELECT issue_id FROM approvals WHERE person_id = {ME}"
                yield Made(
                    {"project": i["project"], "path": path}, becomes("code", sql, i["id"]), steps
                )


@template(
    "code",
    "change",
    "Merge the merge request of my project {project} that closes the issue “{title}”, and delete its source branch.",
)
def _land(world: World, rng: random.Random) -> Iterator[Made]:
    found = _open_merges(world, rng)
    for i in found:
        closes = re.search(r"Closes #(\d+)", i["body"])
        if (
            closes is None
            or sum(
                o["project_id"] == i["project_id"] and closes[0] + "." in o["body"] for o in found
            )
            > 1
        ):
            continue
        issue = world.rows(
            "code", ISSUES + "i.project_id = ? AND i.number = ?", i["project_id"], int(closes[1])
        )[0]
        steps = [
            *open_tab(i["project"], "Merge requests"), click(i["title"]), click("Delete source branch", "checkbox"), click("Merge", "button"), stop(),
        ]  # fmt: skip
        sql = (
            f"SELECT state, (SELECT count(*) FROM branches WHERE project_id = {i['project_id']} AND name = '{i['source']}')"
            f" FROM issues WHERE id = {i['id']}"
        )
        yield Made(
            {"project": i["project"], "title": issue["title"]},
            becomes("code", sql, "merged | 0"),
            steps,
        )


@template(
    "code",
    "unachievable",
    "How many lines does the file {path} of {project} have on the branch {branch}?",
)
def _no_branch(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1 ORDER BY p.id"):
        branch = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}"
        steps = [
            *open_project(p["project"]),
            click("Switch branch or tag: main", "button"),
            stop("N/A"),
        ]
        yield Made(
            {
                "path": rng.choice(("README.md", "VERSION", "docs/guide.md")),
                "project": p["project"],
                "branch": branch,
            },
            answer.nothing("There is no such branch."),
            steps,
        )
