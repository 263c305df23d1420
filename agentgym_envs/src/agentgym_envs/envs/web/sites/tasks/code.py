"""What there is to do on the code host."""

import random
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from agentgym_envs.envs.web.sites.code.data import ME, MINE
from agentgym_envs.envs.web.sites.site import ORIGINS, TODAY
from agentgym_envs.envs.web.sites.tasks.template import Made, World, answer, becomes, each, ends_at, holds, nothing, template
from agentgym_envs.envs.web.steps import Step, choose, click, fill, goto, search, stop

CODE = ORIGINS["code"]
PROJECTS = "SELECT p.*, p.name AS project, o.name AS owner, (SELECT count(*) FROM stars WHERE project_id = p.id) AS stars FROM projects p JOIN people o ON o.id = owner_id WHERE "
ISSUES = (
    "SELECT i.*, iif(merge, 'merge request', 'issue') AS kind, p.name AS project, a.name AS author, s.name AS assignee, m.title AS milestone FROM issues i JOIN projects p ON p.id = i.project_id"
    " JOIN people a ON a.id = author_id LEFT JOIN people s ON s.id = assignee_id LEFT JOIN milestones m ON m.id = milestone_id"
    " WHERE "
)
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
    check=lambda p: answer(p["stars"]),
    steps=lambda p: [search(p["project"]), stop(p["stars"])],
)
each(
    "code",
    "find",
    "Who owns the project {project}?",
    "code",
    PROJECTS + "1",
    check=lambda p: holds(p["owner"]),
    steps=lambda p: [search(p["project"]), stop(p["owner"])],
)


def _readme(world: World, rng: random.Random, pattern: str) -> Iterator[Made]:
    for r in world.mixed(rng, "code", FIRST.format("README.md")):
        found = re.search(pattern, r["content"])
        assert found is not None
        yield Made({"project": r["project"]}, holds(found[1]), [*_project(r["project"]), stop(found[1])])


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
        yield Made({"project": r["project"], "path": r["path"]}, answer(found[1]), steps)


each(
    "code",
    "find",
    "Who opened the {kind} “{title}” of {project}?",
    "code",
    ISSUES + "1",
    check=lambda i: holds(i["author"]),
    steps=lambda i: [*_found(i), stop(i["author"])],
)
each(
    "code",
    "find",
    "Who is assigned to the issue “{title}” of {project}?",
    "code",
    ISSUES + "assignee_id IS NOT NULL AND merge = 0",
    check=lambda i: holds(i["assignee"]),
    steps=lambda i: [*_found(i), stop(i["assignee"])],
)
each(
    "code",
    "find",
    "From which branch does the merge request “{title}” of {project} come?",
    "code",
    ISSUES + "merge = 1",
    check=lambda i: holds(i["source"]),
    steps=lambda i: [*_issue(i), stop(i["source"])],
)
each(
    "code",
    "find",
    "How many open issues of {project} have the label “{label}”? Answer with the number.",
    "code",
    "SELECT p.name AS project, l.name AS label, count(*) AS n FROM issue_labels JOIN issues i ON i.id = issue_id JOIN labels l ON l.id = label_id"
    " JOIN projects p ON p.id = i.project_id WHERE state = 'open' AND merge = 0 GROUP BY l.id HAVING n > 1",
    check=lambda r: answer(r["n"]),
    steps=lambda r: [*_tab(r["project"], "Issues"), choose("Label", r["label"]), click("Filter", "button"), stop(r["n"])],
)
each(
    "code",
    "find",
    "How many commits has {person} made to {project}? Answer with the number.",
    "code",
    "SELECT p.name AS project, a.name AS person, count(*) AS n FROM history c JOIN people a ON a.id = author_id"
    " JOIN projects p ON p.id = project_id GROUP BY p.id, a.id HAVING n > 2",
    check=lambda r: answer(r["n"]),
    steps=lambda r: [*_tab(r["project"], "Commits"), choose("Author", r["person"]), click("Filter", "button"), stop(r["n"])],
)


@template("code", "find", "How many lines did the last commit of {project} add? Answer with the number.")
def _added(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        last = world.rows("code", "SELECT * FROM history WHERE project_id = ? AND depth = 0", p["id"])[0]
        yield Made(
            {"project": p["name"]}, answer(last["added"]), [*_project(p["name"]), click(last["message"]), stop(last["added"])]
        )


each(
    "code",
    "find",
    "When is the milestone {milestone} of {project} due? Answer like 2026-06-02.",
    "code",
    "SELECT p.name AS project, m.title AS milestone, due FROM milestones m JOIN projects p ON p.id = project_id",
    check=lambda m: holds(m["due"]),
    steps=lambda m: [*_tab(m["project"], "Milestones"), stop(m["due"])],
)
each(
    "code",
    "find",
    "What role does {person} have in {project}?",
    "code",
    "SELECT p.name AS project, a.name AS person, role FROM members JOIN people a ON a.id = person_id JOIN projects p ON p.id = project_id",
    check=lambda r: answer(r["role"]),
    steps=lambda r: [*_tab(r["project"], "Members"), stop(r["role"])],
)


@template("code", "find", "What is the title of the oldest open issue of {project}?")
def _oldest(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        title = world.value(
            "code", "SELECT title FROM issues WHERE project_id = ? AND merge = 0 AND state = 'open' ORDER BY opened, id", p["id"]
        )
        steps = [*_tab(p["name"], "Issues"), choose("Sort by", "Oldest"), click("Filter", "button"), stop(title)]
        yield Made({"project": p["name"]}, holds(title), steps)


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


for _merge, _button, _state, _intent in (
    (0, "Close issue", "closed", "Close the issue “{title}” in my project {project}."),
    (1, "Merge", "merged", "Merge the merge request “{title}” in my project {project}."),
):
    each(
        "code",
        "change",
        _intent,
        "code",
        ISSUES + f"merge = {_merge} AND i.state = 'open' AND p.name IN {MINE}",
        check=lambda i, state=_state: becomes("code", f"SELECT state FROM issues WHERE id = {i['id']}", state),
        steps=lambda i, button=_button: [*_issue(i), click(button, "button"), stop()],
    )


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
        yield Made({"project": name}, nothing("There is no such project."), [search(name), stop("N/A")])


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
