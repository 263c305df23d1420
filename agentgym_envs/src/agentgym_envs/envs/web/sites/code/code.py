"""The code host's pages."""

import sqlite3
from typing import Any

from flask import Flask, render_template, request

from agentgym_envs.envs.web.sites.code.data import ME
from agentgym_envs.envs.web.sites.code.projects import ROLES
from agentgym_envs.envs.web.sites.site import TODAY, Site, back, field, make_app, number, page, row, rows, run, user, value, where

SITE = Site(
    name="code",
    title="Forgeline",
    colour="#1d4ed8",
    tables="code",
    people="SELECT id, name, login, password FROM people",
    places=(("Projects", "projects"), ("My issues", "my_issues"), ("New project", "new_project"), ("Profile", "profile")),
    user=ME,
)
ORDERS = {"stars": "stars DESC, p.name", "name": "p.name", "created": "p.created DESC"}
PROJECT = "p.*, o.name AS owner, o.login AS owner_login, (SELECT count(*) FROM stars WHERE project_id = p.id) AS stars"
PROJECTS = "projects p JOIN people o ON o.id = owner_id WHERE "
ISSUE = "i.*, a.name AS author, s.name AS assignee, m.title AS milestone, p.name AS project"
ISSUES = (
    "issues i JOIN people a ON a.id = author_id JOIN projects p ON p.id = i.project_id LEFT JOIN people s ON s.id = assignee_id"
    " LEFT JOIN milestones m ON m.id = milestone_id WHERE "
)


def create_app() -> Flask:
    """Returns the application."""
    app = make_app(SITE)
    app.jinja_env.globals["labels_of"] = lambda key: rows(
        "SELECT l.* FROM issue_labels JOIN labels l ON l.id = label_id WHERE issue_id = ?", key
    )
    _explore(app)
    _people(app)
    _project(app)
    _issue_lists(app)
    _issues(app)
    _plans(app)
    _settings(app)
    return app


def _find(name: str) -> sqlite3.Row:
    return row(f"SELECT {PROJECT} FROM {PROJECTS} p.name = ?", name)


def _may_write(project: sqlite3.Row) -> bool:
    role = value("SELECT role FROM members WHERE project_id = ? AND person_id = ?", project["id"], user())
    return role in ("Developer", "Maintainer", "Owner")


def _explore(app: Flask) -> None:
    @app.route("/")
    @app.route("/projects")
    def projects() -> str:
        condition, values = where(
            {"language = ?": request.args.get("language"), "p.name LIKE ?": f"%{request.args.get('name', '')}%"}
        )
        order = ORDERS.get(request.args.get("sort", "stars"), ORDERS["stars"])
        languages = [r[0] for r in rows("SELECT DISTINCT language FROM projects ORDER BY language")]
        return render_template(
            "code/projects.html", found=page(PROJECT, PROJECTS + condition, order, values, size=12), languages=languages
        )

    @app.route("/search")
    def search() -> str:
        words = f"%{request.args.get('q', '').strip()}%"
        return render_template(
            "code/search.html",
            projects=rows(f"SELECT {PROJECT} FROM {PROJECTS} (p.name || ' ' || description) LIKE ? ORDER BY p.name", words),
            issues=rows(f"SELECT {ISSUE} FROM {ISSUES} i.title LIKE ? ORDER BY i.opened DESC LIMIT 30", words),
            people=rows("SELECT * FROM people WHERE (name || ' ' || login) LIKE ? ORDER BY name LIMIT 20", words),
        )

    @app.route("/my/issues")
    def my_issues() -> str:
        found = page(ISSUE, ISSUES + "assignee_id = ? AND i.state = 'open'", "i.opened DESC", (user(),))
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
        return render_template("code/person.html", person=found, own=own, part=part, commits=commits)

    @app.route("/profile", methods=["GET", "POST"])
    def profile() -> Any:
        if request.method == "POST":
            run("UPDATE people SET bio = ?, status = ? WHERE id = ?", field("bio", 300), field("status", 100), user())
            return back("Your profile has been saved.", "profile")
        return render_template("code/profile.html", person=row("SELECT * FROM people WHERE id = ?", user()))

    @app.route("/projects/new", methods=["GET", "POST"])
    def new_project() -> Any:
        if request.method == "POST":
            name = field("name", 40).lower().replace(" ", "-")
            if not name or value("SELECT 1 FROM projects WHERE name = ?", name):
                return back("A project needs a name that is not taken.", "new_project")
            sql = "INSERT INTO projects (name, owner_id, description, language, visibility, created) VALUES (?, ?, ?, '–', ?, ?)"
            key = run(sql, name, user(), field("description"), field("visibility") or "Public", str(TODAY))
            run("INSERT INTO members VALUES (?, ?, 'Owner')", key, user())
            if field("readme"):
                run(
                    "INSERT INTO files (project_id, path, content) VALUES (?, 'README.md', ?)",
                    key,
                    f"# {name}\n\n{field('description')}\n",
                )
            return back("The project has been created.", "project", name=name)
        return render_template("code/new_project.html")


def _project(app: Flask) -> None:
    @app.route("/p/<name>")
    def project(name: str) -> str:
        found = _find(name)
        files = rows("SELECT * FROM files WHERE project_id = ? ORDER BY path", found["id"])
        starred = value("SELECT 1 FROM stars WHERE project_id = ? AND person_id = ?", found["id"], user())
        readme = next((f["content"] for f in files if f["path"] == "README.md"), "")
        last = rows(
            "SELECT c.*, a.name AS author FROM commits c JOIN people a ON a.id = author_id WHERE project_id = ? ORDER BY made DESC, c.id DESC LIMIT 1",
            found["id"],
        )
        return render_template("code/project.html", project=found, files=files, starred=starred, readme=readme, last=last)

    @app.route("/p/<name>/star", methods=["POST"])
    def star(name: str) -> Any:
        key = _find(name)["id"]
        if value("SELECT 1 FROM stars WHERE project_id = ? AND person_id = ?", key, user()):
            run("DELETE FROM stars WHERE project_id = ? AND person_id = ?", key, user())
            return back(f"You no longer star {name}.", "project", name=name)
        run("INSERT INTO stars VALUES (?, ?)", key, user())
        return back(f"You have starred {name}.", "project", name=name)

    @app.route("/p/<name>/file/<path:path>", methods=["GET", "POST"])
    def file(name: str, path: str) -> Any:
        found = _find(name)
        content = row("SELECT * FROM files WHERE project_id = ? AND path = ?", found["id"], path)
        if request.method == "POST":
            if not _may_write(found):
                return back("You may not change this project.", "file", name=name, path=path)
            run("UPDATE files SET content = ? WHERE id = ?", request.form.get("content", "").replace("\r\n", "\n"), content["id"])
            return back("The file has been changed.", "file", name=name, path=path)
        return render_template(
            "code/file.html", project=found, file=content, writable=_may_write(found), edit=request.args.get("edit")
        )

    @app.route("/p/<name>/commits")
    def commits(name: str) -> str:
        found = _find(name)
        authors = rows(
            "SELECT DISTINCT a.id, a.name FROM commits c JOIN people a ON a.id = author_id WHERE project_id = ? ORDER BY a.name",
            found["id"],
        )
        condition, values = where({"project_id = ?": found["id"], "author_id = ?": number("author")})
        listed = page(
            "c.*, a.name AS author, a.login",
            f"commits c JOIN people a ON a.id = author_id WHERE {condition}",
            "made DESC, c.id DESC",
            values,
        )
        return render_template("code/commits.html", project=found, found=listed, authors=authors)

    @app.route("/p/<name>/commit/<sha>")
    def commit(name: str, sha: str) -> str:
        found = _find(name)
        sql = "SELECT c.*, a.name AS author, a.login FROM commits c JOIN people a ON a.id = author_id WHERE project_id = ? AND sha = ?"
        return render_template("code/commit.html", project=found, commit=row(sql, found["id"], sha))


def _choices(key: int) -> dict[str, Any]:
    """Returns what an issue of a project can be given."""
    return {
        "labels": rows("SELECT id, name FROM labels WHERE project_id = ? ORDER BY name", key),
        "milestones": rows("SELECT id, title FROM milestones WHERE project_id = ? ORDER BY title", key),
        "members": rows("SELECT id, name FROM members JOIN people ON id = person_id WHERE project_id = ? ORDER BY name", key),
    }


def _issue_lists(app: Flask) -> None:
    def listing(name: str, merge: int) -> str:
        found = _find(name)
        words = request.args.get("title")
        condition, values = where(
            {
                "i.project_id = ?": found["id"],
                "merge = ?": merge,
                "i.state = ?": request.args.get("state", "open"),
                "EXISTS (SELECT 1 FROM issue_labels WHERE issue_id = i.id AND label_id = ?)": number("label"),
                "milestone_id = ?": number("milestone"),
                "assignee_id = ?": number("assignee"),
                "i.title LIKE ?": f"%{words}%" if words else None,
            }
        )
        order = "i.opened, i.id" if request.args.get("sort") == "old" else "i.opened DESC, i.id DESC"
        return render_template(
            "code/issues.html",
            project=found,
            found=page(ISSUE, ISSUES + condition, order, values),
            merge=merge,
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
        found = _find(name)
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
        found = _find(name)
        thing = row(f"SELECT {ISSUE} FROM {ISSUES} i.project_id = ? AND i.number = ?", found["id"], place)
        if request.method == "POST":
            return _change(found, thing)
        comments = rows(
            "SELECT c.*, a.name AS author, a.login FROM comments c JOIN people a ON a.id = author_id WHERE issue_id = ? ORDER BY written, c.id",
            thing["id"],
        )
        return render_template(
            "code/issue.html", project=found, issue=thing, comments=comments, writable=_may_write(found), **_choices(found["id"])
        )


def _change(project: sqlite3.Row, issue: sqlite3.Row) -> Any:
    """Carries out what somebody asks of an issue or a merge request."""
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
    if not _may_write(project) and issue["author_id"] != user():
        return back("You may not change this project.", **where_to)
    if how in ("open", "closed") or (how == "merged" and issue["merge"] and issue["state"] == "open"):
        run("UPDATE issues SET state = ? WHERE id = ?", how, issue["id"])
        return back(f"It is {how} now.", **where_to)
    if how == "fields":
        run(
            "UPDATE issues SET assignee_id = ?, milestone_id = ? WHERE id = ?", number("assignee"), number("milestone"), issue["id"]
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


def _plans(app: Flask) -> None:
    @app.route("/p/<name>/milestones", methods=["GET", "POST"])
    def milestones(name: str) -> Any:
        found = _find(name)
        if request.method == "POST":
            if not _may_write(found) or not field("title"):
                return back("A milestone needs a title, and you must be a developer of the project.", "milestones", name=name)
            if field("how") == "close":
                run("UPDATE milestones SET state = 'closed' WHERE project_id = ? AND title = ?", found["id"], field("title"))
                return back(f"The milestone {field('title')} is closed.", "milestones", name=name)
            run("INSERT INTO milestones (project_id, title, due) VALUES (?, ?, ?)", found["id"], field("title"), field("due"))
            return back(f"The milestone {field('title')} has been added.", "milestones", name=name)
        listed = rows(
            "SELECT m.*, (SELECT count(*) FROM issues WHERE milestone_id = m.id AND state = 'open') AS open,"
            " (SELECT count(*) FROM issues WHERE milestone_id = m.id AND state <> 'open') AS closed FROM milestones m WHERE project_id = ? ORDER BY due", found["id"],
        )  # fmt: skip
        return render_template("code/milestones.html", project=found, milestones=listed, writable=_may_write(found))

    @app.route("/p/<name>/labels", methods=["GET", "POST"])
    def labels(name: str) -> Any:
        found = _find(name)
        if request.method == "POST":
            if not _may_write(found) or not field("label"):
                return back("A label needs a name, and you must be a developer of the project.", "labels", name=name)
            run("INSERT INTO labels (project_id, name, colour) VALUES (?, ?, '#555f6e')", found["id"], field("label", 40))
            return back(f"The label {field('label', 40)} has been added.", "labels", name=name)
        sql = "SELECT l.*, (SELECT count(*) FROM issue_labels WHERE label_id = l.id) AS uses FROM labels l WHERE project_id = ? ORDER BY name"
        return render_template("code/labels.html", project=found, labels=rows(sql, found["id"]), writable=_may_write(found))


def _settings(app: Flask) -> None:
    @app.route("/p/<name>/members", methods=["GET", "POST"])
    def members(name: str) -> Any:
        found = _find(name)
        if request.method == "POST":
            who = rows("SELECT * FROM people WHERE login = ? OR name = ?", field("person"), field("person"))
            if found["owner_id"] != user() or not who or field("role") not in (*ROLES, "Remove"):
                return back("Only the owner can change members, and the person must exist.", "members", name=name)
            run("DELETE FROM members WHERE project_id = ? AND person_id = ?", found["id"], who[0]["id"])
            if field("role") != "Remove":
                run("INSERT INTO members VALUES (?, ?, ?)", found["id"], who[0]["id"], field("role"))
            return back("The members have been changed.", "members", name=name)
        listed = rows(
            "SELECT a.*, role FROM members m JOIN people a ON a.id = person_id WHERE m.project_id = ? ORDER BY a.name", found["id"]
        )
        return render_template("code/members.html", project=found, members=listed, roles=ROLES, mine=found["owner_id"] == user())

    @app.route("/p/<name>/settings", methods=["GET", "POST"])
    def settings(name: str) -> Any:
        found = _find(name)
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
