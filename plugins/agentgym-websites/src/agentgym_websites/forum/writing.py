"""The forum's pages for changes: posts, comments, votes, saved posts, moderation."""

from typing import Any

from flask import Flask, render_template, request, url_for

from agentgym_websites.forum.feed import NOW, done, moderates
from agentgym_websites.forum.reading import flairs, names, side
from agentgym_websites.site import back, field, number, row, run, user, value


def add_writing(app: Flask) -> None:
    """Adds the pages to an application."""
    _write(app)
    _react(app)
    _own(app)
    _moderate(app)


def _flair(community: int) -> str:
    """Returns the flair that a form names, or "" if the community does not have it."""
    return field("flair") if field("flair") in flairs(community) else ""


def _write(app: Flask) -> None:
    @app.route("/submit", methods=["GET", "POST"])
    def submit() -> Any:
        if request.method == "POST":
            place = value("SELECT id FROM communities WHERE name = ?", field("community"))
            if not place or not field("title"):
                return back("A post needs a community and a title.", "submit")
            sql = "INSERT INTO posts (community_id, author_id, title, body, written, score, flair) VALUES (?, ?, ?, ?, ?, 1, ?)"
            key = run(sql, place, user(), field("title", 200), field("body"), NOW, _flair(place))
            return back("Your post is up.", "post", key=key)
        chosen = value(
            "SELECT id FROM communities WHERE name = ?", request.args.get("community", "")
        )
        return render_template(
            "forum/submit.html", names=names(), flairs=flairs(chosen) if chosen else []
        )

    @app.route("/post/<int:key>/comment", methods=["POST"])
    def comment(key: int) -> Any:
        found = row("SELECT * FROM posts WHERE id = ?", key)
        if found["locked"] or not field("body"):
            return back(
                "This post is locked." if found["locked"] else "A comment needs some text.",
                "post",
                key=key,
            )
        parent = value(
            "SELECT id FROM comments WHERE id = ? AND post_id = ?", number("parent"), key
        )
        sql = "INSERT INTO comments (post_id, parent_id, author_id, body, written, score) VALUES (?, ?, ?, ?, ?, 1)"
        run(sql, key, parent, user(), field("body"), NOW)
        run("UPDATE posts SET comments = comments + 1 WHERE id = ?", key)
        return back("Your comment is up.", "post", key=key)


def _toggled(table: str, **key: int) -> bool:
    """Adds a row, or removes it if it exists; returns whether it exists now."""
    condition = " AND ".join(f"{name} = ?" for name in key)
    if value(f"SELECT 1 FROM {table} WHERE {condition}", *key.values()):
        run(f"DELETE FROM {table} WHERE {condition}", *key.values())
        return False
    run(
        f"INSERT INTO {table} ({', '.join(key)}) VALUES ({', '.join('?' * len(key))})",
        *key.values(),
    )
    return True


def _react(app: Flask) -> None:
    @app.route("/post/<int:key>/vote", methods=["POST"])
    def vote(key: int) -> Any:
        which = number("comment") or 0
        table, place = ("comments", which) if which else ("posts", key)
        row(f"SELECT 1 FROM {table} WHERE id = ?", place)
        wanted = 1 if field("how") == "up" else -1
        old = (
            value(
                "SELECT vote FROM votes WHERE person_id = ? AND post_id = ? AND comment_id = ?",
                user(),
                key,
                which,
            )
            or 0
        )
        new = 0 if wanted == old else wanted
        run(
            "DELETE FROM votes WHERE person_id = ? AND post_id = ? AND comment_id = ?",
            user(),
            key,
            which,
        )
        if new:
            run("INSERT INTO votes VALUES (?, ?, ?, ?)", user(), key, which, new)
        run(f"UPDATE {table} SET score = score + ? WHERE id = ?", new - old, place)
        if not which:
            run("UPDATE posts SET downs = downs + ? WHERE id = ?", (new < 0) - (old < 0), key)
        said = "Your vote has been counted." if new else "Your vote has been taken back."
        score = value(f"SELECT score FROM {table} WHERE id = ?", place)
        return done(said, url_for("post", key=key), vote=new, score=score)

    @app.route("/post/<int:key>/save", methods=["POST"])
    def save(key: int) -> Any:
        row("SELECT 1 FROM posts WHERE id = ?", key)
        kept = _toggled("saved", person_id=user(), post_id=key, comment_id=number("comment") or 0)
        said = "It is among what you have saved." if kept else "It is not saved any more."
        return done(said, url_for("post", key=key), label="Unsave" if kept else "Save")

    @app.route("/c/<name>/subscribe", methods=["POST"])
    def subscribe(name: str) -> Any:
        place = row("SELECT id FROM communities WHERE name = ?", name)["id"]
        joined = _toggled("subscriptions", person_id=user(), community_id=place)
        said = f"You have {'joined' if joined else 'left'} {name}."
        return done(said, url_for("community", name=name), label="Leave" if joined else "Join")


def _own(app: Flask) -> None:
    @app.route("/post/<int:key>/edit", methods=["GET", "POST"])
    def edit(key: int) -> Any:
        found = row("SELECT * FROM posts WHERE id = ? AND author_id = ?", key, user())
        if request.method == "POST" and field("how") == "delete":
            run("UPDATE posts SET removed = 1 WHERE id = ?", key)
            return back("Your post has been deleted.", "my_page")
        if request.method == "POST":
            values = (
                field("title", 200) or found["title"],
                field("body"),
                _flair(found["community_id"]),
                key,
            )
            run("UPDATE posts SET title = ?, body = ?, flair = ? WHERE id = ?", *values)
            return back("Your post has been changed.", "post", key=key)
        return render_template("forum/edit.html", post=found, flairs=flairs(found["community_id"]))

    @app.route("/settings", methods=["GET", "POST"])
    def settings() -> Any:
        if request.method == "POST":
            if "@" not in field("email"):
                return back("The e-mail address is not valid.", "settings")
            run(
                "UPDATE people SET bio = ?, email = ? WHERE id = ?",
                field("bio", 300),
                field("email"),
                user(),
            )
            return back("Your settings have been saved.", "settings")
        return render_template(
            "forum/settings.html", person=row("SELECT * FROM people WHERE id = ?", user())
        )


def _moderate(app: Flask) -> None:
    @app.route("/post/<int:key>/moderate", methods=["POST"])
    def moderate(key: int) -> Any:
        found = row(
            "SELECT p.*, c.name AS community FROM posts p JOIN communities c ON c.id = community_id WHERE p.id = ?",
            key,
        )
        if not moderates(found["community_id"]):
            return back("You do not moderate this community.", "post", key=key)
        if field("how") == "remove":
            run("UPDATE posts SET removed = 1 WHERE id = ?", key)
            return back("The post has been removed.", "community", name=found["community"])
        if field("how") == "flair":
            run("UPDATE posts SET flair = ? WHERE id = ?", _flair(found["community_id"]), key)
            return back("The flair has been set.", "post", key=key)
        column = {"pin": "pinned", "lock": "locked"}.get(field("how"), "pinned")
        run(f"UPDATE posts SET {column} = 1 - {column} WHERE id = ?", key)
        return back(f"The post is {'not ' if found[column] else ''}{column} now.", "post", key=key)

    @app.route("/c/<name>/about", methods=["GET", "POST"])
    def about(name: str) -> Any:
        found = row("SELECT * FROM communities WHERE name = ?", name)
        if not moderates(found["id"]):
            return back("You do not moderate this community.", "community", name=name)
        if request.method == "POST":
            run("UPDATE communities SET about = ? WHERE id = ?", field("about", 300), found["id"])
            return back("The description has been changed.", "community", name=name)
        return render_template("forum/about.html", **side(found))

    @app.route("/c/<name>/wiki/<slug>/edit", methods=["GET", "POST"])
    def wiki_edit(name: str, slug: str) -> Any:
        found = row("SELECT * FROM communities WHERE name = ?", name)
        text = row("SELECT * FROM wiki WHERE community_id = ? AND slug = ?", found["id"], slug)
        if not moderates(found["id"]):
            return back("Only moderators edit the wiki.", "wiki_page", name=name, slug=slug)
        if request.method == "POST" and field("body"):
            sql = "UPDATE wiki SET title = ?, body = ?, editor_id = ?, edited = ? WHERE community_id = ? AND slug = ?"
            run(
                sql,
                field("title", 100) or text["title"],
                field("body"),
                user(),
                NOW[:10],
                found["id"],
                slug,
            )
            return back("The page has been changed.", "wiki_page", name=name, slug=slug)
        return render_template("forum/wiki_edit.html", text=text, **side(found))
