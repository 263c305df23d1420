"""Fills the forum's database: people, communities, posts, comments and votes.

The data is always the same.
"""

import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agentgym_websites.forum.lore import COMMUNITIES, FLAIRS, GROUPS, LORE, RULE_POOL
from agentgym_websites.forum.texts import (
    Comment,
    Post,
    biography,
    titles,
    wiki_pages,
    write_texts,
)
from agentgym_websites.people import FIRST
from agentgym_websites.site import TODAY, add, password

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, password TEXT, bio TEXT, joined TEXT, email TEXT);
CREATE TABLE communities (id INTEGER PRIMARY KEY, name TEXT, about TEXT, since TEXT);
CREATE TABLE posts (id INTEGER PRIMARY KEY, community_id INT, author_id INT, title TEXT, body TEXT, written TEXT, score INT, pinned INT DEFAULT 0,
  locked INT DEFAULT 0, removed INT DEFAULT 0, comments INT DEFAULT 0, flair TEXT DEFAULT '', downs INT DEFAULT 0);
CREATE TABLE comments (id INTEGER PRIMARY KEY, post_id INT, parent_id INT, author_id INT, body TEXT, written TEXT, score INT);
CREATE TABLE votes (person_id INT, post_id INT, comment_id INT, vote INT);
CREATE TABLE saved (person_id INT, post_id INT, comment_id INT);
CREATE TABLE subscriptions (person_id INT, community_id INT, PRIMARY KEY (person_id, community_id)) WITHOUT ROWID;
CREATE TABLE moderators (person_id INT, community_id INT, since TEXT);
CREATE TABLE rules (community_id INT, number INT, text TEXT, PRIMARY KEY (community_id, number)) WITHOUT ROWID;
CREATE TABLE flairs (community_id INT, name TEXT);
CREATE TABLE wiki (community_id INT, slug TEXT, title TEXT, body TEXT, editor_id INT, edited TEXT, PRIMARY KEY (community_id, slug)) WITHOUT ROWID;
CREATE TABLE facts (post_id INT, comment_id INT, name TEXT, value TEXT);
CREATE INDEX comments_of ON comments (post_id);
CREATE INDEX comments_by ON comments (author_id);
CREATE INDEX posts_of ON posts (community_id);
CREATE INDEX posts_by ON posts (author_id);
"""
# The signed-in person and the communities that this person moderates.
ME, MINE = 1, ("coffee", "diy")
ENDINGS = [
    "reads",
    "rides",
    "_maker",
    "42",
    "_outside",
    "sings",
    "1987",
    "_at_home",
    "builds",
    "_north",
    "walks",
    "77",
]
PEOPLE, POSTS = 390, 132  # the number of people, and of posts per community


def fill(db: sqlite3.Connection) -> None:
    """Creates the tables and their rows."""
    rng = random.Random("forum")
    db.executescript(SCHEMA)
    names = _people(db, rng)
    posts = list(_posts(rng, len(names)))
    add(
        db,
        "communities",
        *[(place, name, about) for place, (name, (about, _)) in enumerate(COMMUNITIES.items(), 1)],
    )
    add(
        db,
        "moderators",
        *[(ME, place) for place, name in enumerate(COMMUNITIES, 1) if name in MINE],
    )
    add(db, "subscriptions", *[(ME, n) for n in (1, 2, 12, 18)])
    for person in range(2, len(names) + 1):
        add(
            db,
            "subscriptions",
            *[(person, n) for n in rng.sample(range(1, len(COMMUNITIES) + 1), rng.randint(1, 7))],
        )
    _write(db, posts, dict(enumerate(names, 1)))
    _furnish(db, posts)
    db.commit()


def _people(db: sqlite3.Connection, rng: random.Random) -> list[str]:
    """Adds people; returns their names."""
    drawn = (rng.choice(FIRST).lower() + rng.choice(ENDINGS) for _ in range(2 * PEOPLE))
    names = ["juniper_fox", *dict.fromkeys(drawn)][:PEOPLE]
    made = []
    for n, name in enumerate(names, 1):
        joined = TODAY - timedelta(days=rng.randint(30, 2000))
        bio = rng.choice(("", "", "yes", "yes", "yes", "yes"))
        made.append(
            (
                n,
                name,
                "harbor2026" if n == ME else password(name),
                bio,
                str(joined),
                f"{name}@mail.test",
            )
        )
    add(db, "people", *made)
    return names


def _posts(rng: random.Random, people: int) -> Iterator[Post]:
    """Yields posts with their comments, without texts."""
    post = comment = 0
    for place, name in enumerate(COMMUNITIES, 1):
        known = titles(name)
        for title in rng.sample(sorted(known), POSTS):
            post += 1
            author = rng.randint(2, people) if rng.random() > 0.006 else ME
            written = datetime(TODAY.year, TODAY.month, TODAY.day) - timedelta(
                minutes=rng.randint(60, 500_000)
            )
            comments: list[Comment] = []
            for _ in range(rng.choice((0, 1, 2, 3, 4, 5, 6, 9))):
                comment += 1
                after = (written + timedelta(minutes=rng.randint(5, 50))).isoformat(" ", "minutes")
                parent = rng.choice(comments).id if comments and rng.random() < 0.4 else None
                comments.append(
                    Comment(
                        comment,
                        parent,
                        rng.randint(2, people),
                        after,
                        int(rng.lognormvariate(1, 1)) - 1,
                    )
                )
            score = int(rng.lognormvariate(2.6, 1.1)) - 3
            yield Post(
                post,
                place,
                author,
                title,
                written.isoformat(" ", "minutes"),
                score,
                known[title],
                comments,
            )


def _write(db: sqlite3.Connection, posts: Sequence[Post], names: Mapping[int, str]) -> None:
    """Adds the posts and their comments with their texts."""
    bodies, said, found = list[Any](), list[Any](), list[Any]()
    for post, written in zip(posts, write_texts(posts, names), strict=True):
        bodies.append(
            (
                post.id,
                post.community,
                post.author,
                post.title,
                written.body,
                post.written,
                post.score,
                0,
                0,
                0,
                len(post.comments),
            )
        )
        for k, text in zip(post.comments, written.comments, strict=True):
            said.append((k.id, post.id, k.parent, k.author, text, k.written, k.score))
        found += [(post.id, *fact) for fact in written.facts]
    add(db, "posts", *bodies)
    add(db, "comments", *said)
    add(db, "facts", *found)


def _unseen(seen: set[str], make: Callable[[], str]) -> str:
    """Returns the first new text of ``make``."""
    while (text := make()) in seen:
        pass
    seen.add(text)
    return text


def _furnish(db: sqlite3.Connection, posts: Sequence[Post]) -> None:
    """Adds the other contents of communities, and people's biographies.

    A community has rules, moderators, flairs and a wiki beside its posts.
    """
    rng = random.Random("forum furniture")
    people = [r["id"] for r in db.execute("SELECT id FROM people WHERE id <> ? ORDER BY id", (ME,))]
    for place, (name, (about, _)) in enumerate(COMMUNITIES.items(), 1):
        since = TODAY - timedelta(days=rng.randint(2100, 3600))
        db.execute("UPDATE communities SET since = ? WHERE id = ?", (str(since), place))
        for number, text in enumerate(
            [*rng.sample(RULE_POOL, rng.choice((2, 3))), *LORE[name].rules], 1
        ):
            add(db, "rules", (place, number, text))
        add(
            db,
            "flairs",
            *[(place, flair) for flair in (*dict.fromkeys(FLAIRS), *LORE[name].flairs)],
        )
        guides = rng.sample(people, 2)
        add(db, "moderators", *[(person, place) for person in guides])
        for person in (*guides, ME):
            day = str(TODAY - timedelta(days=rng.randint(40, 2000)))
            db.execute(
                "UPDATE moderators SET since = ? WHERE person_id = ? AND community_id = ?",
                (day, person, place),
            )
        for slug, title, body in wiki_pages(rng, name, about):
            add(
                db,
                "wiki",
                (
                    place,
                    slug,
                    title,
                    body,
                    rng.choice(guides),
                    str(TODAY - timedelta(days=rng.randint(2, 700))),
                ),
            )
    marked = []
    for post in posts:
        group = GROUPS[post.topic.kind]
        own = group == "tells" and rng.random() < 0.35
        flair = rng.choice(LORE[post.topic.community].flairs) if own else FLAIRS[post.topic.kind]
        downs = max(0, -post.score) + int(
            rng.lognormvariate(1.4 if group == "thinks" else 0.5, 1.2)
        )
        marked.append((flair, downs, post.id))
    db.executemany("UPDATE posts SET flair = ?, downs = ? WHERE id = ?", marked)
    seen: set[str] = set()
    sql = "SELECT c.name FROM communities c JOIN subscriptions ON community_id = c.id WHERE person_id = ? ORDER BY c.id"
    for person in db.execute("SELECT id FROM people WHERE bio <> '' ORDER BY id").fetchall():
        homes = [r["name"] for r in db.execute(sql, (person["id"],))]
        bio = _unseen(seen, lambda homes=homes: biography(rng, rng.choice(homes)))  # type: ignore[misc]
        db.execute("UPDATE people SET bio = ? WHERE id = ?", (bio, person["id"]))
    add(db, "saved", *[(ME, key, 0) for key in sorted(rng.sample(range(1, len(posts) + 1), 9))])
