"""Pages about issues and merge requests."""

import re
import sqlite3
from typing import Any

from flask import Flask, render_template, request

from agentgym_websites.code import repository
from agentgym_websites.code.common import (
    ISSUE,
    ISSUES,
    branches,
    commits,
    find,
    may_write,
)
from agentgym_websites.code.repository import MAIN
from agentgym_websites.site import (
    TODAY,
    back,
    database,
    field,
    number,
    page,
    row,
    rows,
    run,
    user,
    value,
    where,
)


def add_pages(app: Flask) -> None:
    """Adds the pages."""
    _issue_lists(app)
    _issues(app)
    _new_merge(app)


def _choices(key: int) -> dict[str, Any]:
    """Returns the choices of an issue's form."""
    return {
        "labels": rows("SELECT id, name FROM labels WHERE project_id = ? ORDER BY name", key),
        "milestones": rows(
            "SELECT id, title FROM milestones WHERE project_id = ? ORDER BY title", key
        ),
        "members": rows(
            "SELECT id, name FROM members JOIN people ON id = person_id WHERE project_id = ? ORDER BY name",
            key,
        ),
    }


def _issue_lists(app: Flask) -> None:
    def listing(name: str, merge: int) -> str:
        found = find(name)
        words = request.args.get("title")
        condition, values = where(
            {
                "i.project_id = ?": found["id"],
                "merge = ?": merge,
                "i.state = ?": request.args.get("state", "open"),
                "EXISTS (SELECT 1 FROM issue_labels WHERE issue_id = i.id AND label_id = ?)": number(
                    "label"
                ),
                "milestone_id = ?": number("milestone"),
                "assignee_id = ?": number("assignee"),
                "i.title LIKE ?": f"%{words}%" if words else None,
            }
        )
        order = (
            "i.opened, i.id" if request.args.get("sort") == "old" else "i.opened DESC, i.id DESC"
        )
        return render_template(
            "code/issues.html",
            project=found,
            found=page(ISSUE, ISSUES + condition, order, values),
            merge=merge,
            writable=may_write(found),
            **_choices(found["id"]),
        )

    @app.route("/p/<name>/issues")
    def issues(name: str) -> str:
        return listing(name, 0)

    @app.route("/p/<name>/merges")
    def merges(name: str) -> str:
        return listing(name, 1)


def _issues(app: Flask) -> None:
    @app.route("/p/<name>/issues/new", methods=["GET", "POST"])
    def new_issue(name: str) -> Any:
        found = find(name)
        if request.method == "POST":
            if not field("title"):
                return back("An issue needs a title.", "new_issue", name=name)
            last = value("SELECT max(number) FROM issues WHERE project_id = ?", found["id"]) or 0
            sql = "INSERT INTO issues (project_id, number, title, body, author_id, assignee_id, milestone_id, opened) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            key = run(
                sql,
                found["id"],
                last + 1,
                field("title", 200),
                field("body"),
                user(),
                number("assignee"),
                number("milestone"),
                str(TODAY),
            )
            if label := number("label"):
                run("INSERT INTO issue_labels VALUES (?, ?)", key, label)
            return back("The issue has been opened.", "issue", name=name, place=last + 1)
        return render_template("code/new_issue.html", project=found, **_choices(found["id"]))

    @app.route("/p/<name>/issues/<int:place>", methods=["GET", "POST"])
    def issue(name: str, place: int) -> Any:
        found = find(name)
        thing = row(
            f"SELECT {ISSUE} FROM {ISSUES} i.project_id = ? AND i.number = ?", found["id"], place
        )
        if request.method == "POST":
            return _change(found, thing)
        comments = rows(
            "SELECT c.*, a.name AS author, a.login FROM comments c JOIN people a ON a.id = author_id WHERE issue_id = ? ORDER BY written, c.id",
            thing["id"],
        )
        more = _proposal(found, thing) if thing["merge"] else {}
        return render_template(
            "code/issue.html",
            project=found,
            issue=thing,
            comments=comments,
            writable=may_write(found),
            **_choices(found["id"]),
            **more,
        )

    @app.route("/p/<name>/board")
    def board(name: str) -> str:
        found = find(name)
        sql = (
            f"SELECT {ISSUE} FROM {ISSUES} i.project_id = ? AND merge = 0 AND i.state = 'open' AND "
        )
        order = " ORDER BY i.opened DESC, i.id DESC"
        labelled = "EXISTS (SELECT 1 FROM issue_labels WHERE issue_id = i.id{})"
        columns = [("No label", rows(sql + "NOT " + labelled.format("") + order, found["id"]))]
        for label in rows(
            "SELECT id, name FROM labels WHERE project_id = ? ORDER BY name", found["id"]
        ):
            columns.append(
                (
                    label["name"],
                    rows(
                        sql + labelled.format(" AND label_id = ?") + order, found["id"], label["id"]
                    ),
                )
            )
        return render_template("code/board.html", project=found, columns=columns)


def _ends(project: sqlite3.Row, issue: sqlite3.Row) -> tuple[int | None, int | None]:
    """Returns the first and last commit of a merge request.

    They are those of the merge, or of the branch now.
    """
    db = database()
    last = repository.head(db, project["id"], issue["source"])
    if issue["state"] == "merged" or last is None:
        return issue["base"], issue["head"]
    main = repository.head(db, project["id"], MAIN)
    return (repository.fork(db, main, last) if main else None), last


def _proposal(project: sqlite3.Row, issue: sqlite3.Row) -> dict[str, Any]:
    """Returns the data of a merge request's page that an issue's page lacks."""
    db = database()
    base, last = _ends(project, issue)
    keys = repository.line(db, last)
    approved = rows(
        "SELECT a.* FROM approvals JOIN people a ON a.id = person_id WHERE issue_id = ? ORDER BY a.name",
        issue["id"],
    )
    there = repository.head(db, project["id"], issue["source"])
    main = repository.head(db, project["id"], MAIN)
    return {
        "tab": request.args.get("tab", "overview"),
        "listed": commits(keys[: keys.index(base)] if base in keys else keys),
        "diffs": repository.differences(db, base, last) if last else [],
        "approved": approved,
        "mine": any(a["id"] == user() for a in approved),
        "there": there is not None,
        "conflicts": repository.conflicts(db, main, there)
        if main and there and issue["state"] == "open"
        else [],
    }


def _merge(project: sqlite3.Row, issue: sqlite3.Row) -> str:
    """Merges a merge request; returns the message to show."""
    db = database()
    main, last = (repository.head(db, project["id"], name) for name in (MAIN, issue["source"]))
    if main is None or last is None or repository.conflicts(db, main, last):
        return "This cannot be merged: there are conflicts, or the branch is gone."
    base = repository.fork(db, main, last)
    with db:
        key = repository.merge(
            db,
            project["id"],
            main,
            last,
            user(),
            f"Merge branch '{issue['source']}' into 'main'",
            str(TODAY),
        )
        db.execute(
            "UPDATE branches SET head = ? WHERE project_id = ? AND name = ?",
            (key, project["id"], MAIN),
        )
        db.execute(
            "UPDATE issues SET state = 'merged', base = ?, head = ? WHERE id = ?",
            (base, last, issue["id"]),
        )
        if field("remove"):
            db.execute(
                "DELETE FROM branches WHERE project_id = ? AND name = ?",
                (project["id"], issue["source"]),
            )
        for number_ in re.findall(r"Closes #(\d{1,9})", issue["body"]):
            db.execute(
                "UPDATE issues SET state = 'closed' WHERE project_id = ? AND number = ? AND merge = 0",
                (project["id"], int(number_)),
            )
    return "It is merged now."


def _approve(issue: sqlite3.Row) -> str:
    """Approves a merge request or withdraws the approval; returns the message to show."""
    if value("SELECT 1 FROM approvals WHERE issue_id = ? AND person_id = ?", issue["id"], user()):
        run("DELETE FROM approvals WHERE issue_id = ? AND person_id = ?", issue["id"], user())
        return "You no longer approve this merge request."
    run("INSERT INTO approvals VALUES (?, ?)", issue["id"], user())
    return "You have approved this merge request."


def _new_merge(app: Flask) -> None:
    @app.route("/p/<name>/merges/new", methods=["GET", "POST"])
    def new_merge(name: str) -> Any:
        found = find(name)
        source = request.values.get("source", "")
        if request.method == "POST":
            if source == MAIN or source not in branches(found) or not field("title"):
                return back(
                    "A merge request needs a title and a branch other than main.",
                    "new_merge",
                    name=name,
                )
            last = value("SELECT max(number) FROM issues WHERE project_id = ?", found["id"]) or 0
            run(
                "INSERT INTO issues (project_id, number, title, body, author_id, assignee_id, opened, merge, source) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)",
                found["id"], last + 1, field("title", 200), field("body"), user(), number("assignee"), str(TODAY), source,
            )  # fmt: skip
            return back("The merge request has been opened.", "issue", name=name, place=last + 1)
        choices = [b for b in branches(found) if b != MAIN]
        return render_template(
            "code/new_merge.html",
            project=found,
            source=source,
            choices=choices,
            **_choices(found["id"]),
        )


def _change(project: sqlite3.Row, issue: sqlite3.Row) -> Any:
    """Carries out a requested change of an issue or a merge request."""
    where_to = {"endpoint": "issue", "name": project["name"], "place": issue["number"]}
    how = field("how")
    if how == "comment":
        if not field("body"):
            return back("A comment needs some text.", **where_to)
        run(
            "INSERT INTO comments (issue_id, author_id, body, written) VALUES (?, ?, ?, ?)",
            issue["id"],
            user(),
            field("body"),
            str(TODAY),
        )
        return back("The comment has been added.", **where_to)
    if not may_write(project) and issue["author_id"] != user():
        return back("You may not change this project.", **where_to)
    if how == "merged" and issue["merge"] and issue["state"] == "open" and may_write(project):
        return back(_merge(project, issue), **where_to)
    if how == "approve" and issue["merge"] and issue["state"] == "open":
        return back(_approve(issue), **where_to)
    if how in ("open", "closed"):
        run("UPDATE issues SET state = ? WHERE id = ?", how, issue["id"])
        return back(f"It is {how} now.", **where_to)
    if how == "fields":
        run(
            "UPDATE issues SET assignee_id = ?, milestone_id = ? WHERE id = ?",
            number("assignee"),
            number("milestone"),
            issue["id"],
        )
        return back("The changes have been saved.", **where_to)
    label = number("label")
    if label is None:
        return back("Choose a label.", **where_to)
    if value("SELECT 1 FROM issue_labels WHERE issue_id = ? AND label_id = ?", issue["id"], label):
        run("DELETE FROM issue_labels WHERE issue_id = ? AND label_id = ?", issue["id"], label)
        return back("The label has been taken off.", **where_to)
    run("INSERT INTO issue_labels VALUES (?, ?)", issue["id"], label)
    return back("The label has been added.", **where_to)
