"""Fills the forum's database: people, communities, posts, comments and votes. The same every time."""

import random
import sqlite3
from datetime import datetime, timedelta

from agentgym_envs.envs.web.sites.forum.topics import BODIES, COMMENTS, COMMUNITIES, TITLES
from agentgym_envs.envs.web.sites.people import FIRST
from agentgym_envs.envs.web.sites.site import TODAY, add, password

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, password TEXT, bio TEXT, joined TEXT, email TEXT);
CREATE TABLE communities (id INTEGER PRIMARY KEY, name TEXT, about TEXT);
CREATE TABLE posts (id INTEGER PRIMARY KEY, community_id INT, author_id INT, title TEXT, body TEXT, written TEXT, score INT, pinned INT DEFAULT 0,
  locked INT DEFAULT 0, removed INT DEFAULT 0, comments INT DEFAULT 0);
CREATE TABLE comments (id INTEGER PRIMARY KEY, post_id INT, parent_id INT, author_id INT, body TEXT, written TEXT, score INT);
CREATE TABLE votes (person_id INT, post_id INT, comment_id INT, vote INT);
CREATE TABLE subscriptions (person_id INT, community_id INT, PRIMARY KEY (person_id, community_id));
CREATE TABLE moderators (person_id INT, community_id INT);
CREATE INDEX comments_of ON comments (post_id);
CREATE INDEX posts_of ON posts (community_id);
"""
ME, MINE = 1, ("coffee", "diy")  # who is logged in, and the communities that they moderate
ENDINGS = ["reads", "rides", "_maker", "42", "_outside", "sings", "1987", "_at_home", "builds", "_north", "walks", "77"]


def fill(db: sqlite3.Connection) -> None:
    """Creates the tables and their rows."""
    rng = random.Random("forum")
    db.executescript(SCHEMA)
    names = ["juniper_fox", *dict.fromkeys(rng.choice(FIRST).lower() + rng.choice(ENDINGS) for _ in range(170))][:130]
    for n, name in enumerate(names, 1):
        joined = TODAY - timedelta(days=rng.randint(30, 2000))
        bio = rng.choice(
            ("", "", "Mostly here to learn.", "Curious about everything.", "Ask me about my garden.", "Slow and steady.")
        )
        add(db, "people", (n, name, "harbor2026" if n == ME else password(name), bio, str(joined), f"{name}@mail.test"))
    for place, (name, (about, subjects)) in enumerate(COMMUNITIES.items(), 1):
        add(db, "communities", (place, name, about))
        titles = [t.format(x=x) for x in subjects for t in TITLES]
        for title in rng.sample(titles, 44):
            _post(db, rng, place, title[0].upper() + title[1:], len(names))
        if name in MINE:
            add(db, "moderators", (ME, place))
    add(db, "subscriptions", *[(ME, n) for n in (1, 2, 12, 18)])
    for person in range(2, len(names) + 1):
        add(db, "subscriptions", *[(person, n) for n in rng.sample(range(1, len(COMMUNITIES) + 1), rng.randint(1, 7))])
    db.execute("UPDATE posts SET comments = (SELECT count(*) FROM comments c WHERE c.post_id = posts.id)")
    db.commit()


def _post(db: sqlite3.Connection, rng: random.Random, place: int, title: str, people: int) -> None:
    """Adds a post with its comments."""
    author = rng.randint(2, people) if rng.random() > 0.012 else ME
    written = datetime(TODAY.year, TODAY.month, TODAY.day) - timedelta(minutes=rng.randint(60, 500_000))
    post = db.execute(
        "INSERT INTO posts (community_id, author_id, title, body, written, score) VALUES (?, ?, ?, ?, ?, ?)",
        (place, author, title, rng.choice(BODIES), written.isoformat(" ", "minutes"), int(rng.lognormvariate(2.6, 1.1)) - 3),
    ).lastrowid
    replies: list[int | None] = []
    for _ in range(rng.choice((0, 1, 2, 3, 4, 5, 6, 9))):
        after = (written + timedelta(minutes=rng.randint(5, 50))).isoformat(" ", "minutes")
        parent = rng.choice(replies) if replies and rng.random() < 0.4 else None
        values = (post, parent, rng.randint(2, people), rng.choice(COMMENTS), after, int(rng.lognormvariate(1, 1)) - 1)
        sql = "INSERT INTO comments (post_id, parent_id, author_id, body, written, score) VALUES (?, ?, ?, ?, ?, ?)"
        replies.append(db.execute(sql, values).lastrowid)
