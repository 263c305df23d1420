"""The code host's general pages: projects, people, search results."""

from typing import Any

from flask import Flask, jsonify, render_template, request, url_for

from agentgym_websites.code import files, issues, pipelines, plans, repository, wiki
from agentgym_websites.code.common import ISSUE, ISSUES, PROJECT, PROJECTS, written
from agentgym_websites.code.common import SITE as SITE  # imported by the host
from agentgym_websites.code.projects import first_readme
from agentgym_websites.code.repository import MAIN
from agentgym_websites.site import (
    TODAY,
    back,
    database,
    field,
    make_app,
    page,
    row,
    rows,
    run,
    user,
    value,
    where,
)

ORDERS = {"stars": "stars DESC, p.name", "name": "p.name", "created": "p.created DESC"}
SUGGESTIONS = 5  # limit per kind


def create_app() -> Flask:
    """Returns the application."""
    app = make_app(SITE)
    app.jinja_env.globals["labels_of"] = lambda key: rows(
        "SELECT l.* FROM issue_labels JOIN labels l ON l.id = label_id WHERE issue_id = ?", key
    )
    app.jinja_env.filters["written"] = written
    # Addresses contain only the names of other branches.
    app.jinja_env.globals["given"] = lambda ref: None if ref == MAIN else ref
    _explore(app)
    _people(app)
    files.add_pages(app)
    issues.add_pages(app)
    plans.add_pages(app)
    pipelines.add_pages(app)
    wiki.add_pages(app)
    return app


def _explore(app: Flask) -> None:
    @app.route("/")
    @app.route("/projects")
    def projects() -> str:
        condition, values = where(
            {
                "language = ?": request.args.get("language"),
                "p.name LIKE ?": f"%{request.args.get('name', '')}%",
            }
        )
        order = ORDERS.get(request.args.get("sort", "stars"), ORDERS["stars"])
        languages = [r[0] for r in rows("SELECT DISTINCT language FROM projects ORDER BY language")]
        return render_template(
            "code/projects.html",
            found=page(PROJECT, PROJECTS + condition, order, values, size=12),
            languages=languages,
        )

    @app.route("/search")
    def search() -> str:
        words = f"%{request.args.get('q', '').strip()}%"
        return render_template(
            "code/search.html",
            projects=rows(
                f"SELECT {PROJECT} FROM {PROJECTS} (p.name || ' ' || description) LIKE ? ORDER BY p.name",
                words,
            ),
            issues=rows(
                f"SELECT {ISSUE} FROM {ISSUES} i.title LIKE ? ORDER BY i.opened DESC LIMIT 30",
                words,
            ),
            people=rows(
                "SELECT * FROM people WHERE (name || ' ' || login) LIKE ? ORDER BY name LIMIT 20",
                words,
            ),
        )

    @app.route("/suggest")
    def suggest() -> Any:
        words = f"%{request.args.get('q', '').strip()}%"
        projects = rows(
            "SELECT name FROM projects WHERE name LIKE ? ORDER BY name LIMIT ?", words, SUGGESTIONS
        )
        people = rows(
            "SELECT name, login FROM people WHERE name LIKE ? ORDER BY name LIMIT ?",
            words,
            SUGGESTIONS,
        )
        titles = rows(
            f"SELECT {ISSUE} FROM {ISSUES} i.title LIKE ? ORDER BY i.opened DESC, i.id LIMIT ?",
            words,
            SUGGESTIONS,
        )
        return jsonify(
            [
                *(
                    {"text": p["name"], "address": url_for("project", name=p["name"])}
                    for p in projects
                ),
                *(
                    {"text": p["name"], "address": url_for("person", login=p["login"])}
                    for p in people
                ),
                *(
                    {
                        "text": f"{i['title']} · {i['project']}",
                        "address": url_for("issue", name=i["project"], place=i["number"]),
                    }
                    for i in titles
                ),
            ]
        )

    @app.route("/my/issues")
    def my_issues() -> str:
        found = page(
            ISSUE, ISSUES + "assignee_id = ? AND i.state = 'open'", "i.opened DESC", (user(),)
        )
        return render_template("code/my_issues.html", found=found)


def _people(app: Flask) -> None:
    @app.route("/u/<login>")
    def person(login: str) -> str:
        found = row("SELECT * FROM people WHERE login = ?", login)
        own = rows(f"SELECT {PROJECT} FROM {PROJECTS} owner_id = ? ORDER BY p.name", found["id"])
        part = rows(
            "SELECT p.name, role FROM members m JOIN projects p ON p.id = m.project_id WHERE person_id = ? ORDER BY p.name",
            found["id"],
        )
        commits = value("SELECT count(*) FROM commits WHERE author_id = ?", found["id"])
        return render_template(
            "code/person.html", person=found, own=own, part=part, commits=commits
        )

    @app.route("/profile", methods=["GET", "POST"])
    def profile() -> Any:
        if request.method == "POST":
            run(
                "UPDATE people SET bio = ?, status = ? WHERE id = ?",
                field("bio", 300),
                field("status", 100),
                user(),
            )
            return back("Your profile has been saved.", "profile")
        return render_template(
            "code/profile.html", person=row("SELECT * FROM people WHERE id = ?", user())
        )

    @app.route("/projects/new", methods=["GET", "POST"])
    def new_project() -> Any:
        if request.method == "POST":
            name = field("name", 40).lower().replace(" ", "-")
            if not name or value("SELECT 1 FROM projects WHERE name = ?", name):
                return back("A project needs a name that is not taken.", "new_project")
            sql = "INSERT INTO projects (name, owner_id, description, language, visibility, created) VALUES (?, ?, ?, '–', ?, ?)"
            key = run(
                sql, name, user(), field("description"), field("visibility") or "Public", str(TODAY)
            )
            run("INSERT INTO members VALUES (?, ?, 'Owner')", key, user())
            if field("readme"):
                db, text = database(), first_readme(name, field("description"))
                with db:
                    first = repository.commit(
                        db, key, None, user(), "Initial commit", str(TODAY), {"README.md": text}
                    )
                    db.execute("INSERT INTO branches VALUES (?, ?, ?)", (key, MAIN, first))
            return back("The project has been created.", "project", name=name)
        return render_template("code/new_project.html")
