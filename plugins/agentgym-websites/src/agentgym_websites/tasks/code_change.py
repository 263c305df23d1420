"""Changes on the code host."""

import random
from collections.abc import Iterator
from datetime import timedelta

from agentgym_envs.envs.web.embedded import choose, click, fill, goto, search, stop
from agentgym_websites.code.data import ME, MINE
from agentgym_websites.site import ORIGINS, TODAY
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.code import (
    CODE,
    ISSUES,
    PROJECTS,
    open_issue,
    open_project,
    open_tab,
)
from agentgym_websites.tasks.template import Made, World, becomes, each, template

each(
    "code",
    "change",
    "Star the project {project}.",
    "code",
    PROJECTS + "1",
    check=lambda p: becomes(
        "code", f"SELECT count(*) FROM stars WHERE project_id = {p['id']} AND person_id = {ME}", 1
    ),
    steps=lambda p: [*open_project(p["project"]), click("Star", "button"), stop()],
)


@template(
    "code",
    "change",
    "Open an issue in {project} with the title “{title}”, the description “{body}” and the label “{label}”.",
)
def _new_issue(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "code", PROJECTS + "1"):
        title = rng.choice(
            (
                "Typo on the start page",
                "Please add a changelog",
                "Build fails on macOS",
                "Dark mode is too dark",
            )
        )
        body = rng.choice(
            ("Found it yesterday.", "Happy to help with this.", "See the screenshot.")
        )
        label = rng.choice(("bug", "feature", "documentation", "performance", "security"))
        steps = [
            *open_tab(p["name"], "Issues"), click("New issue"), fill("Title", title), fill("Description", body), choose("Label", label),
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
            (
                "I see this on Debian as well.",
                "Fixed on my branch.",
                "Is anybody working on this?",
                "Could you attach a log?",
            )
        )
        steps = [*open_issue(i), fill("Add a comment", text), click("Comment", "button"), stop()]
        sql = f"SELECT body FROM comments WHERE issue_id = {i['id']} AND author_id = {ME}"
        yield Made(
            {"title": i["title"], "project": i["project"], "text": text},
            becomes("code", sql, text),
            steps,
        )


def _settle(intent: str, merge: int, button: str, state: str) -> None:
    """Adds a template that presses a button of an issue or a merge request."""
    each(
        "code",
        "change",
        intent,
        "code",
        ISSUES + f"merge = {merge} AND i.state = 'open' AND p.name IN {MINE}",
        check=lambda i: becomes("code", f"SELECT state FROM issues WHERE id = {i['id']}", state),
        steps=lambda i: [*open_issue(i), click(button, "button"), stop()],
    )


_settle("Close the issue “{title}” in my project {project}.", 0, "Close issue", "closed")


_settle("Merge the merge request “{title}” in my project {project}.", 1, "Merge", "merged")


@template(
    "code",
    "change",
    "Assign the issue “{title}” in my project {project} to {person} and put it into the milestone {milestone}.",
)
def _assign(world: World, rng: random.Random) -> Iterator[Made]:
    for i in world.mixed(
        rng,
        "code",
        ISSUES + f"merge = 0 AND i.state = 'open' AND p.name IN {MINE} AND assignee_id IS NULL",
    ):
        who = rng.choice(
            world.rows(
                "code",
                "SELECT a.* FROM members JOIN people a ON a.id = person_id WHERE project_id = ? ORDER BY a.id",
                i["project_id"],
            )
        )
        milestone = rng.choice(
            world.rows(
                "code", "SELECT * FROM milestones WHERE project_id = ? ORDER BY id", i["project_id"]
            )
        )
        steps = [
            *open_issue(i),
            choose("Assignee", who["name"]),
            choose("Milestone", milestone["title"]),
            click("Save", "button"),
            stop(),
        ]
        values = {
            "title": i["title"],
            "project": i["project"],
            "person": who["name"],
            "milestone": milestone["title"],
        }
        sql = f"SELECT assignee_id || ' ' || milestone_id FROM issues WHERE id = {i['id']}"
        yield Made(values, becomes("code", sql, f"{who['id']} {milestone['id']}"), steps)


@template("code", "change", "Give the issue “{title}” in my project {project} the label “{label}”.")
def _label(world: World, rng: random.Random) -> Iterator[Made]:
    for i in world.mixed(rng, "code", ISSUES + f"merge = 0 AND p.name IN {MINE}"):
        sql = "SELECT * FROM labels WHERE project_id = ? AND id NOT IN (SELECT label_id FROM issue_labels WHERE issue_id = ?) ORDER BY id"
        label = rng.choice(world.rows("code", sql, i["project_id"], i["id"]))
        steps = [
            *open_issue(i),
            choose("Label", label["name"]),
            click("Add or remove label", "button"),
            stop(),
        ]
        sql = f"SELECT count(*) FROM issue_labels WHERE issue_id = {i['id']} AND label_id = {label['id']}"
        yield Made(
            {"title": i["title"], "project": i["project"], "label": label["name"]},
            becomes("code", sql, 1),
            steps,
        )


@template(
    "code",
    "change",
    "Create the {visibility} project {name} with the description “{text}” and a README.",
)
def _create(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        name = f"{rng.choice(('paper', 'river', 'cloud', 'stone', 'field'))}-{rng.choice(('box', 'line', 'works', 'kit', 'log'))}"
        visibility, text = (
            rng.choice(("Internal", "Private")),
            rng.choice(
                (
                    "Notes of the team",
                    "Scripts for the office",
                    "An experiment",
                    "Slides and handouts",
                )
            ),
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
        who, role = (
            rng.choice(world.rows("code", sql, project["id"])),
            rng.choice(("Guest", "Reporter", "Developer", "Maintainer")),
        )
        steps = [
            *open_tab(project["name"], "Members"),
            fill("Name or user name", who["login"]),
            choose("Role", role),
            click("Save member", "button"),
            stop(),
        ]
        sql = f"SELECT role FROM members WHERE project_id = {project['id']} AND person_id = {who['id']}"
        yield Made(
            {"person": who["name"], "project": project["name"], "role": role},
            becomes("code", sql, role),
            steps,
        )


@template("code", "change", "Add the milestone {title}, due on {due}, to my project {project}.")
def _milestone(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        project, title, due = (
            rng.choice(MINE),
            f"{rng.randint(4, 9)}.{rng.randint(0, 9)}",
            str(TODAY + timedelta(days=rng.randint(20, 300))),
        )
        steps = [
            *open_tab(project, "Milestones"),
            fill("Title", title),
            fill("Due (YYYY-MM-DD)", due),
            click("Add milestone", "button"),
            stop(),
        ]
        sql = f"SELECT due FROM milestones m JOIN projects p ON p.id = project_id WHERE p.name = '{project}' AND title = '{title}'"
        yield Made(
            {"project": project, "title": title, "due": due}, becomes("code", sql, due), steps
        )


@template("code", "unachievable", "How many stars does the project {project} have?")
def _no_project(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        name = f"{rng.choice(('amber', 'silver', 'willow', 'north', 'hollow'))}{rng.choice(('gate', 'fish', 'lamp', 'bridge', 'mill'))}"
        yield Made(
            {"project": name},
            answer.nothing("There is no such project."),
            [search(name), stop("N/A")],
        )


@template(
    "code forum",
    "change",
    "Set the status of my profile to the title of the post with the most points in the forum's c/{community}.",
)
def _status(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "forum", "SELECT * FROM communities"):
        best = world.rows(
            "forum",
            "SELECT * FROM posts WHERE community_id = ? ORDER BY score DESC LIMIT 2",
            c["id"],
        )
        if best[0]["score"] > best[1]["score"]:
            steps = [
                goto(ORIGINS["forum"]), click("Communities"), click(f"c/{c['name']}"), choose("Sort by", "Highest score"), click("Sort", "button"),
                goto(CODE), click("Mika Sorel’s menu", "button"), click("Profile"), fill("Status", best[0]["title"]), click("Save", "button"), stop(),
            ]  # fmt: skip
            yield Made(
                {"community": c["name"]},
                becomes("code", f"SELECT status FROM people WHERE id = {ME}", best[0]["title"]),
                steps,
            )


@template(
    "code shop",
    "change",
    "Open an issue in my project {project} whose title is the name of the most expensive product in the shop's category {category}.",
)
def _wish(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        found = world.rows(
            "shop", "SELECT * FROM products WHERE category_id = ? ORDER BY price DESC", c["id"]
        )
        if found[0]["price"] > found[1]["price"]:
            project = rng.choice(MINE)
            steps = [
                goto(ORIGINS["shop"]), click("Departments"), click(c["name"]), choose("Sort by", "Price, highest first"), click("Apply", "button"),
                goto(f"{CODE}/p/{project}/issues/new"), fill("Title", found[0]["name"]), click("Open issue", "button"), stop(),
            ]  # fmt: skip
            sql = f"SELECT p.name || '|' || title FROM issues i JOIN projects p ON p.id = project_id WHERE author_id = {ME} AND opened = '{TODAY}'"
            yield Made(
                {"project": project, "category": c["name"]},
                becomes("code", sql, f"{project}|{found[0]['name']}"),
                steps,
            )
