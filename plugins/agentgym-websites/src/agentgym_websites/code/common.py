"""Shared parts of the code host's pages."""

import re
import sqlite3
from typing import Any

from flask import abort, request
from markupsafe import Markup

from agentgym_websites.code import repository
from agentgym_websites.code.projects import ME
from agentgym_websites.code.repository import MAIN
from agentgym_websites.site import Site, database, marked, row, rows, user, value

SITE = Site(
    name="code",
    title="Forgeline",
    colour="#1d4ed8",
    tables="code",
    people="SELECT id, name, login, password FROM people",
    places=(("Projects", "projects"), ("My issues", "my_issues")),
    user=ME,
)
PROJECT = "p.*, o.name AS owner, o.login AS owner_login, (SELECT count(*) FROM stars WHERE project_id = p.id) AS stars"
PROJECTS = "projects p JOIN people o ON o.id = owner_id WHERE "
ISSUE = (
    "i.*, a.name AS author, a.login, s.name AS assignee, m.title AS milestone, p.name AS project"
)
ISSUES = (
    "issues i JOIN people a ON a.id = author_id JOIN projects p ON p.id = i.project_id LEFT JOIN people s ON s.id = assignee_id"
    " LEFT JOIN milestones m ON m.id = milestone_id WHERE "
)
COMMIT = "c.*, a.name AS author, a.login FROM commits c JOIN people a ON a.id = author_id WHERE "


def find(name: str) -> sqlite3.Row:
    """Returns a project."""
    return row(f"SELECT {PROJECT} FROM {PROJECTS} p.name = ?", name)


def may_write(project: sqlite3.Row) -> bool:
    """Returns whether the signed-in person can change a project."""
    role = value(
        "SELECT role FROM members WHERE project_id = ? AND person_id = ?", project["id"], user()
    )
    return role in ("Developer", "Maintainer", "Owner")


def branches(project: sqlite3.Row) -> list[str]:
    """Returns the names of a project's branches, the main one first."""
    found = rows(
        "SELECT name FROM branches WHERE project_id = ? ORDER BY name <> ?, name",
        project["id"],
        MAIN,
    )
    return [r[0] for r in found]


def tags(project: sqlite3.Row) -> list[str]:
    """Returns the names of a project's tags, the newest first."""
    return [
        r[0]
        for r in rows(
            "SELECT name FROM tags WHERE project_id = ? ORDER BY commit_id DESC", project["id"]
        )
    ]


def ref() -> str:
    """Returns the branch or tag that the address names."""
    return request.args.get("ref") or MAIN


def head(project: sqlite3.Row, name: str) -> int:
    """Returns the last commit of a branch or a tag; answers "404 Not Found" without one."""
    found = repository.head(database(), project["id"], name)
    if found is None:
        abort(404)
    return found


def commit(key: int) -> sqlite3.Row:
    """Returns a commit with its author."""
    return row(f"SELECT {COMMIT} c.id = ?", key)


def commits(keys: list[int]) -> list[sqlite3.Row]:
    """Returns commits, in the order of their keys."""
    found = {
        r["id"]: r for r in rows(f"SELECT {COMMIT} c.id IN ({', '.join('?' * len(keys))})", *keys)
    }
    return [found[key] for key in keys]


def written(text: str, project: str) -> Markup:
    """Renders people's Markdown: #7 links to an issue, a relative address to a file."""
    text = re.sub(r"(?<![\w&#/])#(\d{1,9})\b", rf"[#\1](/p/{project}/issues/\1)", text)
    return marked(re.sub(r"\]\((?![a-z]+:|/|#)", f"](/p/{project}/file/", text))


def context(project: sqlite3.Row, current: str) -> dict[str, Any]:
    """Returns the data that all pages about files show: the branches and tags to switch to."""
    return {
        "project": project,
        "ref": current,
        "branches": branches(project),
        "tags": tags(project),
        "writable": may_write(project),
    }
