"""Pages about files: folders, contents, blame, commits, branches, tags, comparisons."""

import json
import re
from itertools import pairwise
from typing import Any

from flask import Flask, abort, redirect, render_template, request, url_for

from agentgym_websites.code import repository
from agentgym_websites.code.common import (
    branches,
    commit,
    commits,
    context,
    find,
    head,
    may_write,
    ref,
    tags,
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

NAME = re.compile(r"[\w.-]+(/[\w.-]+)*")  # name of a branch or a file


def crumbs(path: str) -> list[tuple[str, str]]:
    """Returns the names and paths of the folders above a path, and of the path itself."""
    parts = path.split("/")
    return [(part, "/".join(parts[: n + 1])) for n, part in enumerate(parts)] if path else []


def listing(tree: dict[str, repository.Entry], folder: str) -> list[tuple[str, str, bool, int]]:
    """Returns the contents of a folder, folders first.

    Each entry has the name, the path, whether it is a folder, and its last commit.
    """
    found: dict[str, tuple[str, str, bool, int]] = {}
    for path, entry in tree.items():
        if path.startswith(folder):
            name, deeper, _ = path[len(folder) :].partition("/")
            last = max(entry.commit, found[name][3] if name in found else 0)
            found[name] = (name, folder + name, bool(deeper), last)
    return sorted(found.values(), key=lambda f: (not f[2], f[0]))


def save(project: Any, branch: str, path: str, text: str | None) -> None:
    """Commits a file to a branch; None deletes it."""
    db, last = database(), repository.head(database(), project["id"], branch)
    message = field("message", 100) or f"{'Delete' if text is None else 'Update'} {path}"
    with db:
        key = repository.commit(db, project["id"], last, user(), message, str(TODAY), {path: text})
        db.execute("INSERT OR REPLACE INTO branches VALUES (?, ?, ?)", (project["id"], branch, key))


def content() -> str:
    """Returns the file that a form holds, with line feeds and one at the end."""
    text = request.form.get("content", "")[:100_000].replace("\r\n", "\n")
    return text if not text or text.endswith("\n") else text + "\n"


def add_pages(app: Flask) -> None:
    """Adds the pages."""
    _folders(app)
    _files(app)
    _commits(app)
    _branches(app)


def _folders(app: Flask) -> None:
    def folder(name: str, path: str) -> str:
        found = find(name)
        db, last = database(), repository.head(database(), found["id"], ref())
        if last is None and ref() != MAIN:
            head(found, ref())
        tree = repository.tree(db, last)
        entries = listing(tree, path + "/" if path else "")
        if path and not entries:
            abort(404)
        by = {c["id"]: c for c in commits([*dict.fromkeys(e[3] for e in entries)])}
        readme = f"{path}/README.md" if path else "README.md"
        return render_template(
            "code/project.html",
            **context(found, ref()),
            entries=[(*e[:3], by[e[3]]) for e in entries],
            last=(by[max(by)] if path else commit(last)) if by and last else None,
            crumbs=crumbs(path),
            readme=repository.load(db, tree[readme].blob) if readme in tree else "",
            starred=value(
                "SELECT 1 FROM stars WHERE project_id = ? AND person_id = ?", found["id"], user()
            ),
            counts={
                "commit": len(repository.line(db, last)),
                "branch": value("SELECT count(*) FROM branches WHERE project_id = ?", found["id"]),
                "tag": value("SELECT count(*) FROM tags WHERE project_id = ?", found["id"]),
            },
        )

    @app.route("/p/<name>")
    def project(name: str) -> str:
        return folder(name, "")

    @app.route("/p/<name>/tree/<path:path>")
    def tree(name: str, path: str) -> str:
        return folder(name, path)

    @app.route("/p/<name>/find")
    def find_file(name: str) -> str:
        found = find(name)
        return render_template(
            "code/find.html",
            **context(found, ref()),
            paths=list(repository.tree(database(), head(found, ref()))),
        )

    @app.route("/p/<name>/star", methods=["POST"])
    def star(name: str) -> Any:
        key = find(name)["id"]
        if value("SELECT 1 FROM stars WHERE project_id = ? AND person_id = ?", key, user()):
            run("DELETE FROM stars WHERE project_id = ? AND person_id = ?", key, user())
            return back(f"You no longer star {name}.", "project", name=name)
        run("INSERT INTO stars VALUES (?, ?)", key, user())
        return back(f"You have starred {name}.", "project", name=name)


def _files(app: Flask) -> None:
    @app.route("/p/<name>/file/<path:path>", methods=["GET", "POST"])
    def file(name: str, path: str) -> Any:
        found = find(name)
        db, last = database(), head(found, ref())
        entry = repository.tree(db, last).get(path)
        if entry is None:
            abort(404)
        text = repository.load(db, entry.blob)
        here = {"name": name, "path": path, "ref": request.args.get("ref")}
        if request.method == "POST":
            if not may_write(found) or ref() not in branches(found):
                return back("You may not change this.", "file", **here)
            if field("how") == "delete":
                save(found, ref(), path, None)
                return back(
                    "The file has been deleted.", "project", name=name, ref=request.args.get("ref")
                )
            if content() == text:
                return back("Nothing has been changed.", "file", **here)
            save(found, ref(), path, content())
            return back("The file has been changed.", "file", **here)
        return render_template(
            "code/file.html", **context(found, ref()), path=path, text=text, last=commit(entry.commit), crumbs=crumbs(path),
            edit=request.args.get("edit") and ref() in branches(found),
        )  # fmt: skip

    @app.route("/p/<name>/blame/<path:path>")
    def blame(name: str, path: str) -> str:
        found = find(name)
        db, last = database(), head(found, ref())
        if path not in repository.tree(db, last):
            abort(404)
        runs = repository.authors(db, last, path)
        by = {c["id"]: c for c in commits([*dict.fromkeys(key for key, _ in runs)])}
        starts = [1]
        for _, lines in runs:
            starts.append(starts[-1] + len(lines))
        shown = [
            (by[key], lines, start)
            for (key, lines), (start, _) in zip(runs, pairwise(starts), strict=True)
        ]
        return render_template(
            "code/blame.html", **context(found, ref()), path=path, crumbs=crumbs(path), runs=shown
        )

    @app.route("/p/<name>/new", methods=["GET", "POST"])
    def new_file(name: str) -> Any:
        found = find(name)
        path = field("path", 120)
        if request.method == "POST":
            last = repository.head(database(), found["id"], ref())
            if not may_write(found) or not (last is None or ref() in branches(found)):
                return back("You may not change this.", "project", name=name)
            if not NAME.fullmatch(path) or path in repository.tree(database(), last):
                return back(
                    "A file needs a path that is not taken.",
                    "new_file",
                    name=name,
                    ref=request.args.get("ref"),
                )
            save(found, ref(), path, content())
            return back(
                "The file has been added.",
                "file",
                name=name,
                path=path,
                ref=request.args.get("ref"),
            )
        return render_template("code/new_file.html", **context(found, ref()))


def _commits(app: Flask) -> None:
    @app.route("/p/<name>/commits")
    def commit_list(name: str) -> str:
        found = find(name)
        path = request.args.get("path")
        db, last = database(), repository.head(database(), found["id"], ref())
        keys = (
            [c for c, _ in repository.versions(db, last, path)]
            if path and last
            else repository.line(db, last)
        )
        listed = "json_each(?) k JOIN commits c ON c.id = k.value JOIN people a ON a.id = author_id"
        authors = rows(
            f"SELECT DISTINCT a.id, a.name FROM {listed} ORDER BY a.name", json.dumps(keys)
        )
        by, values = where({"author_id = ?": number("author")})
        shown = page(
            "c.*, a.name AS author, a.login",
            f"{listed} WHERE {by}",
            "k.key",
            (json.dumps(keys), *values),
        )
        return render_template(
            "code/commits.html", **context(found, ref()), found=shown, authors=authors, path=path
        )

    @app.route("/p/<name>/commit/<sha>")
    def commit_page(name: str, sha: str) -> str:
        found = find(name)
        this = commit(
            row("SELECT id FROM commits WHERE project_id = ? AND sha = ?", found["id"], sha)["id"]
        )
        diffs = repository.differences(database(), this["parent"], this["id"])
        parent = commit(this["parent"]) if this["parent"] else None
        return render_template(
            "code/commit.html", project=found, commit=this, parent=parent, diffs=diffs
        )


def _branches(app: Flask) -> None:
    @app.route("/p/<name>/branches", methods=["GET", "POST"])
    def branch_list(name: str) -> Any:
        found = find(name)
        if request.method == "POST":
            return _change_branch(found)
        db, main = database(), repository.head(database(), found["id"], MAIN)
        there = rows(
            "SELECT name, head FROM branches WHERE project_id = ? ORDER BY name <> ?, head DESC, name",
            found["id"],
            MAIN,
        )
        by = {c["id"]: c for c in commits([*dict.fromkeys(r["head"] for r in there)])}
        ours = dict.fromkeys(repository.line(db, main))
        merges = {
            r["source"]: r["number"]
            for r in rows(
                "SELECT source, number FROM issues WHERE project_id = ? AND merge", found["id"]
            )
        }
        shown = []
        for name_, key in there:
            line = repository.line(db, key)
            ahead = next((n for n, c in enumerate(line) if c in ours), len(line))
            shown.append((name_, by[key], ahead, len(ours) - len(line) + ahead, merges.get(name_)))
        return render_template("code/branches.html", **context(found, MAIN), shown=shown)

    @app.route("/p/<name>/tags")
    def tag_list(name: str) -> str:
        found = find(name)
        shown = [(tag, commit(head(found, tag))) for tag in tags(found)]
        return render_template("code/tags.html", project=found, shown=shown)

    @app.route("/p/<name>/compare")
    def compare(name: str) -> Any:
        found = find(name)
        ours, theirs = request.args.get("from", MAIN), request.args.get("to", MAIN)
        if ours == theirs:
            return render_template(
                "code/compare.html",
                **context(found, MAIN),
                ours=ours,
                theirs=theirs,
                listed=[],
                diffs=[],
            )
        db = database()
        old, new = head(found, ours), head(found, theirs)
        start = repository.fork(db, old, new)
        keys = repository.line(db, new)
        listed = commits(keys[: keys.index(start)] if start in keys else keys)
        diffs = repository.differences(db, start, new)
        return render_template(
            "code/compare.html",
            **context(found, MAIN),
            ours=ours,
            theirs=theirs,
            listed=listed,
            diffs=diffs,
        )


def _change_branch(found: Any) -> Any:
    """Creates or deletes a branch."""
    name = field("name", 60)
    if not may_write(found):
        return back("You must be a developer of the project.", "branch_list", name=found["name"])
    if field("how") == "delete":
        if name != MAIN:
            run("DELETE FROM branches WHERE project_id = ? AND name = ?", found["id"], name)
        return back(f"The branch {name} has been deleted.", "branch_list", name=found["name"])
    if not NAME.fullmatch(name) or repository.head(database(), found["id"], name) is not None:
        return back(
            "A branch needs a name without blanks that is not taken.",
            "branch_list",
            name=found["name"],
        )
    run(
        "INSERT INTO branches VALUES (?, ?, ?)",
        found["id"],
        name,
        head(found, field("start") or MAIN),
    )
    return redirect(url_for("project", name=found["name"], ref=name))
