"""The forum's pages."""

from typing import Any

from flask import Flask, render_template, request

from agentgym_envs.envs.web.sites.forum.data import ME
from agentgym_envs.envs.web.sites.site import TODAY, Site, back, field, make_app, number, page, row, rows, run, user, value, where

SITE = Site(
    name="forum",
    title="Commonplace",
    colour="#b4471f",
    tables="forum",
    people="SELECT id, name, name AS login, password FROM people",
    places=(("Communities", "communities"), ("Submit", "submit"), ("My page", "my_page"), ("Settings", "settings")),
    user=ME,
)
ORDERS = {
    "new": ("Newest", "written DESC, p.id"),
    "top": ("Highest score", "score DESC, p.id"),
    "old": ("Oldest", "written, p.id"),
    "talk": ("Most comments", "comments DESC, p.id"),
}
POST = "p.*, a.name AS author, c.name AS community"
TABLES = "posts p JOIN people a ON a.id = author_id JOIN communities c ON c.id = community_id WHERE removed = 0 AND "
NOW = f"{TODAY} 12:00"


def create_app() -> Flask:
    """Returns the application."""
    app = make_app(SITE)
    _read(app)
    _write(app)
    _own(app)
    _moderate(app)
    return app


def _list(template: str, conditions: dict[str, Any], first: str = "new", **more: Any) -> str:
    condition, values = where(conditions)
    chosen = request.args.get("sort", first)
    order = ORDERS.get(chosen, ORDERS[first])[1]
    found = page(POST, TABLES + condition, more.pop("pinned", "") + order, values, size=15)
    return render_template(template, found=found, sorts=[(k, t) for k, (t, _) in ORDERS.items()], chosen=chosen, **more)


def _moderates(community: int) -> bool:
    return bool(value("SELECT 1 FROM moderators WHERE person_id = ? AND community_id = ?", user(), community))


def _read(app: Flask) -> None:
    @app.route("/")
    def home() -> str:
        return _list("forum/home.html", {}, first="top")

    @app.route("/search")
    def search() -> str:
        words = request.args.get("q", "").split()
        conditions: dict[str, Any] = {f"title LIKE ? /* {n} */": f"%{word}%" for n, word in enumerate(words)}
        conditions["c.name = ?"] = request.args.get("community")
        names = [r[0] for r in rows("SELECT name FROM communities ORDER BY name")]
        return _list("forum/search.html", conditions, names=names)

    @app.route("/communities")
    def communities() -> str:
        found = rows(
            "SELECT c.*, (SELECT count(*) FROM posts WHERE community_id = c.id) AS posts,"
            " (SELECT count(*) FROM subscriptions WHERE community_id = c.id) AS members FROM communities c ORDER BY name"
        )
        return render_template("forum/communities.html", communities=found)

    @app.route("/c/<name>")
    def community(name: str) -> str:
        found = row("SELECT * FROM communities WHERE name = ?", name)
        members = value("SELECT count(*) FROM subscriptions WHERE community_id = ?", found["id"])
        joined = value("SELECT 1 FROM subscriptions WHERE community_id = ? AND person_id = ?", found["id"], user())
        moderators = rows("SELECT name FROM moderators JOIN people ON id = person_id WHERE community_id = ?", found["id"])
        return _list(
            "forum/community.html", {"community_id = ?": found["id"]}, pinned="pinned DESC, ",
            community=found, members=members, joined=joined, moderators=moderators,
        )  # fmt: skip

    @app.route("/post/<int:key>")
    def post(key: int) -> str:
        found = row(f"SELECT {POST} FROM {TABLES} p.id = ?", key)
        order = "score DESC, k.id" if request.args.get("sort", "top") == "top" else "written DESC, k.id"
        comments = rows(
            f"SELECT k.*, a.name AS author FROM comments k JOIN people a ON a.id = author_id WHERE post_id = ? ORDER BY {order}",
            key,
        )
        below: dict[int | None, list[Any]] = {}
        for comment in comments:
            below.setdefault(comment["parent_id"], []).append(comment)
        votes = {r["comment_id"]: r["vote"] for r in rows("SELECT * FROM votes WHERE person_id = ? AND post_id = ?", user(), key)}
        return render_template("forum/post.html", post=found, below=below, votes=votes, moderates=_moderates(found["community_id"]))

    @app.route("/u/<name>")
    def person(name: str) -> str:
        found = row("SELECT * FROM people WHERE name = ?", name)
        karma = value("SELECT coalesce(sum(score), 0) FROM posts WHERE author_id = ?", found["id"])
        comments = rows(
            "SELECT k.*, p.title FROM comments k JOIN posts p ON p.id = post_id WHERE k.author_id = ? ORDER BY k.written DESC LIMIT 15",
            found["id"],
        )
        total = value("SELECT count(*) FROM comments WHERE author_id = ?", found["id"])
        return _list("forum/person.html", {"author_id = ?": found["id"]}, person=found, karma=karma, comments=comments, total=total)

    @app.route("/me")
    def my_page() -> str:
        return person(row("SELECT name FROM people WHERE id = ?", user())["name"])


def _write(app: Flask) -> None:
    @app.route("/submit", methods=["GET", "POST"])
    def submit() -> Any:
        if request.method == "POST":
            place = value("SELECT id FROM communities WHERE name = ?", field("community"))
            if not place or not field("title"):
                return back("A post needs a community and a title.", "submit")
            sql = "INSERT INTO posts (community_id, author_id, title, body, written, score) VALUES (?, ?, ?, ?, ?, 1)"
            return back("Your post is up.", "post", key=run(sql, place, user(), field("title", 200), field("body"), NOW))
        return render_template("forum/submit.html", names=[r[0] for r in rows("SELECT name FROM communities ORDER BY name")])

    @app.route("/post/<int:key>/comment", methods=["POST"])
    def comment(key: int) -> Any:
        found = row("SELECT * FROM posts WHERE id = ?", key)
        if found["locked"] or not field("body"):
            return back("This post is locked." if found["locked"] else "A comment needs some text.", "post", key=key)
        sql = "INSERT INTO comments (post_id, parent_id, author_id, body, written, score) VALUES (?, ?, ?, ?, ?, 1)"
        run(sql, key, number("parent"), user(), field("body"), NOW)
        run("UPDATE posts SET comments = comments + 1 WHERE id = ?", key)
        return back("Your comment is up.", "post", key=key)

    @app.route("/post/<int:key>/vote", methods=["POST"])
    def vote(key: int) -> Any:
        which = number("comment") or 0
        table, place = ("comments", which) if which else ("posts", key)
        wanted = 1 if field("how") == "up" else -1
        old = value("SELECT vote FROM votes WHERE person_id = ? AND post_id = ? AND comment_id = ?", user(), key, which) or 0
        new = 0 if wanted == old else wanted
        run("DELETE FROM votes WHERE person_id = ? AND post_id = ? AND comment_id = ?", user(), key, which)
        if new:
            run("INSERT INTO votes VALUES (?, ?, ?, ?)", user(), key, which, new)
        run(f"UPDATE {table} SET score = score + ? WHERE id = ?", new - old, place)
        return back("Your vote has been counted." if new else "Your vote has been taken back.", "post", key=key)


def _own(app: Flask) -> None:
    @app.route("/post/<int:key>/edit", methods=["GET", "POST"])
    def edit(key: int) -> Any:
        found = row("SELECT * FROM posts WHERE id = ? AND author_id = ?", key, user())
        if request.method == "POST" and field("how") == "delete":
            run("UPDATE posts SET removed = 1 WHERE id = ?", key)
            return back("Your post has been deleted.", "my_page")
        if request.method == "POST":
            run("UPDATE posts SET title = ?, body = ? WHERE id = ?", field("title", 200) or found["title"], field("body"), key)
            return back("Your post has been changed.", "post", key=key)
        return render_template("forum/edit.html", post=found)

    @app.route("/c/<name>/subscribe", methods=["POST"])
    def subscribe(name: str) -> Any:
        place = row("SELECT id FROM communities WHERE name = ?", name)["id"]
        if value("SELECT 1 FROM subscriptions WHERE person_id = ? AND community_id = ?", user(), place):
            run("DELETE FROM subscriptions WHERE person_id = ? AND community_id = ?", user(), place)
            return back(f"You have left {name}.", "community", name=name)
        run("INSERT INTO subscriptions VALUES (?, ?)", user(), place)
        return back(f"You have joined {name}.", "community", name=name)

    @app.route("/settings", methods=["GET", "POST"])
    def settings() -> Any:
        if request.method == "POST":
            if "@" not in field("email"):
                return back("The e-mail address is not valid.", "settings")
            run("UPDATE people SET bio = ?, email = ? WHERE id = ?", field("bio", 300), field("email"), user())
            return back("Your settings have been saved.", "settings")
        return render_template("forum/settings.html", person=row("SELECT * FROM people WHERE id = ?", user()))


def _moderate(app: Flask) -> None:
    @app.route("/post/<int:key>/moderate", methods=["POST"])
    def moderate(key: int) -> Any:
        found = row("SELECT p.*, c.name AS community FROM posts p JOIN communities c ON c.id = community_id WHERE p.id = ?", key)
        if not _moderates(found["community_id"]):
            return back("You do not moderate this community.", "post", key=key)
        if field("how") == "remove":
            run("UPDATE posts SET removed = 1 WHERE id = ?", key)
            return back("The post has been removed.", "community", name=found["community"])
        column = {"pin": "pinned", "lock": "locked"}.get(field("how"), "pinned")
        run(f"UPDATE posts SET {column} = 1 - {column} WHERE id = ?", key)
        return back(f"The post is {'not ' if found[column] else ''}{column} now.", "post", key=key)

    @app.route("/c/<name>/about", methods=["GET", "POST"])
    def about(name: str) -> Any:
        found = row("SELECT * FROM communities WHERE name = ?", name)
        if not _moderates(found["id"]):
            return back("You do not moderate this community.", "community", name=name)
        if request.method == "POST":
            run("UPDATE communities SET about = ? WHERE id = ?", field("about", 300), found["id"])
            return back("The description has been changed.", "community", name=name)
        return render_template("forum/about.html", community=found)
