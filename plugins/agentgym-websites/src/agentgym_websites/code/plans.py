"""Pages about a project's milestones, labels, members and settings."""

from typing import Any

from flask import Flask, render_template, request

from agentgym_websites.code.common import find, may_write
from agentgym_websites.code.projects import ROLES
from agentgym_websites.site import back, field, rows, run, user


def add_pages(app: Flask) -> None:
    """Adds the pages."""
    _plans(app)
    _settings(app)


def _plans(app: Flask) -> None:
    @app.route("/p/<name>/milestones", methods=["GET", "POST"])
    def milestones(name: str) -> Any:
        found = find(name)
        if request.method == "POST":
            if not may_write(found) or not field("title"):
                return back(
                    "A milestone needs a title, and you must be a developer of the project.",
                    "milestones",
                    name=name,
                )
            if field("how") == "close":
                run(
                    "UPDATE milestones SET state = 'closed' WHERE project_id = ? AND title = ?",
                    found["id"],
                    field("title"),
                )
                return back(f"The milestone {field('title')} is closed.", "milestones", name=name)
            run(
                "INSERT INTO milestones (project_id, title, due) VALUES (?, ?, ?)",
                found["id"],
                field("title"),
                field("due"),
            )
            return back(f"The milestone {field('title')} has been added.", "milestones", name=name)
        listed = rows(
            "SELECT m.*, (SELECT count(*) FROM issues WHERE milestone_id = m.id AND state = 'open') AS open,"
            " (SELECT count(*) FROM issues WHERE milestone_id = m.id AND state <> 'open') AS closed FROM milestones m WHERE project_id = ? ORDER BY due", found["id"],
        )  # fmt: skip
        return render_template(
            "code/milestones.html", project=found, milestones=listed, writable=may_write(found)
        )

    @app.route("/p/<name>/labels", methods=["GET", "POST"])
    def labels(name: str) -> Any:
        found = find(name)
        if request.method == "POST":
            if not may_write(found) or not field("label"):
                return back(
                    "A label needs a name, and you must be a developer of the project.",
                    "labels",
                    name=name,
                )
            run(
                "INSERT INTO labels (project_id, name, colour) VALUES (?, ?, '#555f6e')",
                found["id"],
                field("label", 40),
            )
            return back(f"The label {field('label', 40)} has been added.", "labels", name=name)
        sql = "SELECT l.*, (SELECT count(*) FROM issue_labels WHERE label_id = l.id) AS uses FROM labels l WHERE project_id = ? ORDER BY name"
        return render_template(
            "code/labels.html",
            project=found,
            labels=rows(sql, found["id"]),
            writable=may_write(found),
        )


def _settings(app: Flask) -> None:
    @app.route("/p/<name>/members", methods=["GET", "POST"])
    def members(name: str) -> Any:
        found = find(name)
        if request.method == "POST":
            who = rows(
                "SELECT * FROM people WHERE login = ? OR name = ?", field("person"), field("person")
            )
            if found["owner_id"] != user() or not who or field("role") not in (*ROLES, "Remove"):
                return back(
                    "Only the owner can change members, and the person must exist.",
                    "members",
                    name=name,
                )
            run(
                "DELETE FROM members WHERE project_id = ? AND person_id = ?",
                found["id"],
                who[0]["id"],
            )
            if field("role") != "Remove":
                run(
                    "INSERT INTO members VALUES (?, ?, ?)", found["id"], who[0]["id"], field("role")
                )
            return back("The members have been changed.", "members", name=name)
        listed = rows(
            "SELECT a.*, role FROM members m JOIN people a ON a.id = person_id WHERE m.project_id = ? ORDER BY a.name",
            found["id"],
        )
        return render_template(
            "code/members.html",
            project=found,
            members=listed,
            roles=ROLES,
            mine=found["owner_id"] == user(),
        )

    @app.route("/p/<name>/settings", methods=["GET", "POST"])
    def settings(name: str) -> Any:
        found = find(name)
        if found["owner_id"] != user():
            return back("Only the owner can change the settings.", "project", name=name)
        if request.method == "POST":
            if field("visibility") not in ("Public", "Internal", "Private"):
                return back("Choose who can see the project.", "settings", name=name)
            run(
                "UPDATE projects SET description = ?, visibility = ? WHERE id = ?",
                field("description"),
                field("visibility"),
                found["id"],
            )
            return back("The settings have been saved.", "settings", name=name)
        return render_template("code/settings.html", project=found)
