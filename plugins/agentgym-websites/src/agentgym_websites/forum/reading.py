"""The forum's pages for reading: lists, communities, posts, people."""

from typing import Any

from flask import Flask, render_template, request, url_for

from agentgym_websites.forum.feed import TABLES, columns, feed, moderates, viewer
from agentgym_websites.site import marked, page, row, rows, user, value

COMMENT_ORDERS = {
    "top": ("Best first", "score DESC, k.id"),
    "new": ("Newest first", "written DESC, k.id"),
    "old": ("Oldest first", "written, k.id"),
}
LOW = 0  # a comment with fewer points is folded
KEPT = "EXISTS (SELECT 1 FROM saved s WHERE s.person_id = {me} AND s.comment_id = k.id) AS kept"


def side(community: Any) -> dict[str, Any]:
    """Returns the contents of the side panel of a community's pages."""
    key = community["id"]
    return {
        "community": community,
        "members": value("SELECT count(*) FROM subscriptions WHERE community_id = ?", key),
        "joined": value("SELECT 1 FROM subscriptions WHERE community_id = ? AND person_id = ?", key, viewer()),
        "moderators": rows("SELECT id, name, since FROM moderators JOIN people ON id = person_id WHERE community_id = ? ORDER BY since", key),
        "rules": rows("SELECT * FROM rules WHERE community_id = ? ORDER BY number", key),
        "flairs": flairs(key),
    }  # fmt: skip


def flairs(community: int) -> list[str]:
    """Returns the flairs of a community."""
    return [
        r["name"]
        for r in rows("SELECT name FROM flairs WHERE community_id = ? ORDER BY rowid", community)
    ]


def names() -> list[str]:
    """Returns the names of all communities."""
    return [r["name"] for r in rows("SELECT name FROM communities ORDER BY name")]


def add_reading(app: Flask) -> None:
    """Adds the pages to an application."""
    _lists(app)
    _community(app)
    _post(app)
    _person(app)


def _lists(app: Flask) -> None:
    @app.context_processor
    def mine() -> dict[str, Any]:
        sql = "SELECT name FROM communities JOIN subscriptions ON community_id = id WHERE person_id = ? ORDER BY name"
        return {"all_names": names(), "my_names": [r["name"] for r in rows(sql, viewer())]}

    @app.route("/")
    def home() -> str:
        return feed("forum/home.html", {}, first="hot")

    @app.route("/search")
    def search() -> str:
        texts = request.args.get("in") == "texts"
        conditions: dict[str, Any] = {}
        for n, word in enumerate(request.args.get("q", "").split()):
            sought = "title || ' ' || body" if texts else "title"
            conditions[f"{sought} LIKE ? /* {n} */"] = f"%{word}%"
        conditions["c.name = ?"] = request.args.get("community")
        return feed("forum/search.html", conditions, names=names())

    @app.route("/suggest")
    def suggest() -> Any:
        words = request.args.get("q", "").split()[:8]
        if not words:
            return []
        places = rows(
            "SELECT name FROM communities WHERE name LIKE ? ORDER BY name LIMIT 3", f"{words[0]}%"
        )
        condition = " AND ".join(["title LIKE ?"] * len(words))
        sql = f"SELECT id, title FROM posts WHERE removed = 0 AND {condition} ORDER BY score DESC, id LIMIT 6"
        return [
            *(
                {"text": f"c/{r['name']}", "address": url_for("community", name=r["name"])}
                for r in places
            ),
            *(
                {"text": r["title"], "address": url_for("post", key=r["id"])}
                for r in rows(sql, *(f"%{w}%" for w in words))
            ),
        ]

    @app.route("/preview", methods=["POST"])
    def preview() -> str:
        return str(marked(request.form.get("text", "")[:4000]))

    @app.route("/help/markdown")
    def markdown_help() -> str:
        return render_template("forum/help.html")


def _community(app: Flask) -> None:
    @app.route("/communities")
    def communities() -> str:
        found = rows(
            "SELECT c.*, (SELECT count(*) FROM posts WHERE community_id = c.id) AS posts,"
            " (SELECT count(*) FROM subscriptions WHERE community_id = c.id) AS members,"
            " EXISTS (SELECT 1 FROM subscriptions WHERE community_id = c.id AND person_id = ?) AS joined"
            " FROM communities c ORDER BY name",
            viewer(),
        )
        return render_template("forum/communities.html", communities=found)

    @app.route("/c/<name>")
    def community(name: str) -> str:
        found = row("SELECT * FROM communities WHERE name = ?", name)
        return feed(
            "forum/community.html",
            {"community_id = ?": found["id"]},
            pinned="pinned DESC, ",
            **side(found),
        )

    @app.route("/c/<name>/flairs")
    def choices(name: str) -> Any:
        found = row("SELECT * FROM communities WHERE name = ?", name)
        return {"flairs": flairs(found["id"]), "rules": [r["text"] for r in side(found)["rules"]]}

    @app.route("/c/<name>/wiki")
    def wiki(name: str) -> str:
        found = row("SELECT * FROM communities WHERE name = ?", name)
        pages = rows(
            "SELECT w.*, p.name AS editor FROM wiki w JOIN people p ON p.id = editor_id WHERE community_id = ? ORDER BY title",
            found["id"],
        )
        return render_template("forum/wiki.html", pages=pages, **side(found))

    @app.route("/c/<name>/wiki/<slug>")
    def wiki_page(name: str, slug: str) -> str:
        found = row("SELECT * FROM communities WHERE name = ?", name)
        text = row(
            "SELECT w.*, p.name AS editor FROM wiki w JOIN people p ON p.id = editor_id WHERE community_id = ? AND slug = ?",
            found["id"],
            slug,
        )
        pages = rows(
            "SELECT slug, title FROM wiki WHERE community_id = ? ORDER BY title", found["id"]
        )
        return render_template(
            "forum/wiki_page.html",
            text=text,
            pages=pages,
            moderates=moderates(found["id"]),
            **side(found),
        )


def _post(app: Flask) -> None:
    @app.route("/post/<int:key>")
    def post(key: int) -> str:
        found = row(f"SELECT {columns()} FROM {TABLES} p.id = ?", key)
        order = COMMENT_ORDERS.get(request.args.get("sort", "top"), COMMENT_ORDERS["top"])[1]
        comments = rows(
            f"SELECT k.*, a.name AS author, {KEPT.format(me=viewer())} FROM comments k JOIN people a ON a.id = author_id"
            f" WHERE post_id = ? ORDER BY {order}",
            key,
        )
        below: dict[int | None, list[Any]] = {}
        for comment in comments:
            below.setdefault(comment["parent_id"], []).append(comment)
        sizes: dict[int, int] = {}
        # Answers come before the comments that they answer.
        for comment in sorted(comments, key=lambda k: -int(k["id"])):
            sizes[comment["id"]] = sum(1 + sizes[k["id"]] for k in below.get(comment["id"], ()))
        votes = {
            r["comment_id"]: r["vote"]
            for r in rows("SELECT * FROM votes WHERE person_id = ? AND post_id = ?", user(), key)
        }
        place = row("SELECT * FROM communities WHERE id = ?", found["community_id"])
        return render_template(
            "forum/post.html", post=found, below=below, sizes=sizes, votes=votes, orders=COMMENT_ORDERS, low=LOW,
            moderates=moderates(found["community_id"]), **side(place),
        )  # fmt: skip


def _person(app: Flask) -> None:
    def facts(name: str) -> dict[str, Any]:
        found = row("SELECT * FROM people WHERE name = ?", name)
        key = found["id"]
        return {
            "person": found,
            "karma": value("SELECT coalesce(sum(score), 0) FROM posts WHERE author_id = ?", key),
            "posts": value("SELECT count(*) FROM posts WHERE removed = 0 AND author_id = ?", key),
            "comments": value("SELECT count(*) FROM comments WHERE author_id = ?", key),
            "guides": rows(
                "SELECT name FROM moderators JOIN communities ON id = community_id WHERE person_id = ? ORDER BY name",
                key,
            ),
        }

    def remarks(condition: str, order: str, *values: Any, size: int = 15) -> Any:
        tables = f"comments k JOIN posts p ON p.id = k.post_id JOIN people a ON a.id = k.author_id WHERE p.removed = 0 AND {condition}"
        chosen = f"k.*, p.title, a.name AS author, {KEPT.format(me=viewer())}"
        return page(chosen, tables, order, values, size=size)

    @app.route("/u/<name>")
    def person(name: str) -> str:
        shown = facts(name)
        key = shown["person"]["id"]
        latest = rows(
            f"SELECT {columns()} FROM {TABLES} author_id = ? ORDER BY written DESC, p.id LIMIT 4",
            key,
        )
        said = remarks("k.author_id = ?", "k.written DESC, k.id", key, size=4).rows
        return render_template("forum/person.html", latest=latest, said=said, **shown)

    @app.route("/u/<name>/posts")
    def person_posts(name: str) -> str:
        shown = facts(name)
        return feed("forum/person_posts.html", {"author_id = ?": shown["person"]["id"]}, **shown)

    @app.route("/u/<name>/comments")
    def person_comments(name: str) -> str:
        shown = facts(name)
        order = (
            "k.score DESC, k.id" if request.args.get("sort") == "top" else "k.written DESC, k.id"
        )
        found = remarks("k.author_id = ?", order, shown["person"]["id"])
        return render_template("forum/person_comments.html", found=found, **shown)

    @app.route("/saved")
    def saved() -> str:
        name = row("SELECT name FROM people WHERE id = ?", user())["name"]
        said = remarks(
            "k.id IN (SELECT comment_id FROM saved WHERE person_id = ?)",
            "k.written DESC, k.id",
            user(),
        ).rows
        kept = {
            "p.id IN (SELECT post_id FROM saved WHERE comment_id = 0 AND person_id = ?)": user()
        }
        return feed("forum/saved.html", kept, said=said, **facts(name))

    @app.route("/me")
    def my_page() -> str:
        return person(row("SELECT name FROM people WHERE id = ?", user())["name"])
