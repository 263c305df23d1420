"""Tasks in the forum."""

import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, goto, search, stop
from agentgym_websites.forum.data import ME
from agentgym_websites.forum.feed import ORDERS
from agentgym_websites.forum.lore import COMMUNITIES
from agentgym_websites.forum.reading import LOW
from agentgym_websites.site import ORIGINS
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.template import (
    Made,
    World,
    asks,
    becomes,
    each,
    each_of,
    ends_at,
    template,
)

FORUM = ORIGINS["forum"]
# Titles that lead to one post when they are searched for.
POSTS = (
    "SELECT p.*, a.name AS author, a.joined, c.name AS community FROM posts p JOIN people a ON a.id = author_id JOIN communities c ON c.id = community_id"
    " WHERE 1 = (SELECT count(*) FROM posts o WHERE o.title = p.title) AND "
)
# People above a comment whose own comments are folded, outermost first, separated by commas. With
# the start ``id``, the comment's author is included.
FOLDED = (
    "(SELECT coalesce(group_concat(name), '') FROM (WITH RECURSIVE up AS (SELECT * FROM comments o WHERE o.id = k.{start}"
    " UNION ALL SELECT o.* FROM comments o JOIN up ON o.id = up.parent_id)"
    f" SELECT name FROM up JOIN people b ON b.id = up.author_id WHERE up.score < {LOW} ORDER BY up.id))"
)
REMARKS_OF = (
    f"SELECT k.id, k.post_id, p.title, a.name AS person, count(*) AS n, {FOLDED.format(start='parent_id')} AS above,"
    f" {FOLDED.format(start='id')} AS folded"
    " FROM comments k JOIN posts p ON p.id = post_id JOIN people a ON a.id = k.author_id WHERE "
)
# Posts and comments with their statement about one thing. A comment represents all comments of its
# author on that post.
TOLD = f"SELECT p.*, f.value AS told FROM ({POSTS} 1) p JOIN facts f ON f.post_id = p.id AND f.comment_id = 0 WHERE "
TOLD_BY = (
    "SELECT k.id, p.title, a.name AS person, f.value AS told,"
    f" {FOLDED.format(start='id')} AS folded FROM facts f JOIN comments k ON k.id = f.comment_id JOIN posts p ON p.id = k.post_id"
    " JOIN people a ON a.id = k.author_id WHERE 1 = (SELECT count(*) FROM posts o WHERE o.title = p.title)"
    " AND 1 = (SELECT count(*) FROM comments o WHERE o.post_id = p.id AND o.author_id = a.id) AND "
)
# A question with only one answer, which names a price.
PRICED = (
    f"SELECT q.*, f.value AS price, {FOLDED.format(start='id')} AS deep FROM ({TOLD_BY} f.name = 'asks') q"
    " JOIN comments k ON k.parent_id = q.id JOIN facts f ON f.comment_id = k.id AND f.name = 'price'"
    " WHERE 1 = (SELECT count(*) FROM comments o WHERE o.parent_id = q.id)"
)
RANKED = "SELECT title, score, comments FROM posts JOIN communities c ON c.id = community_id WHERE c.name = ? ORDER BY "


def open_post(post: Any) -> list[Step]:
    """Opens a post by title."""
    return [search(post["title"]), click(post["title"])]


def open_community(name: str) -> list[Step]:
    """Opens a community."""
    return [click("Communities"), click(f"c/{name}")]


def unfolded(names: str) -> list[Step]:
    """Expands the comments of these people."""
    return [click(f"Expand comment by {name}", "button") for name in names.split(",") if name]


def _figure_of_person(intent: str, table: str, figure: str, above: int) -> None:
    """Opens a post by its title."""
    each(
        "forum",
        "find",
        intent,
        "forum",
        f"SELECT name AS person, {figure} AS n FROM {table} JOIN people a ON a.id = author_id GROUP BY a.id HAVING n > {above}",
        check=lambda r: answer.number(r["n"]),
        steps=lambda r: [goto(f"{FORUM}/u/{r['person']}"), stop(r["n"])],
    )


def shuffled_names(rng: random.Random) -> list[str]:
    """Returns the names of all communities in random order."""
    return rng.sample(sorted(COMMUNITIES), len(COMMUNITIES))


asks(
    "forum",
    "forum",
    ("Who wrote the post “{title}”?", POSTS + "1", "author", answer.member, open_post),
    (
        "How many points does the post “{title}” have? Answer with the number.",
        POSTS + "score > 12",
        "score",
        answer.number,
        open_post,
    ),
)


@template("forum", "find", "Who wrote the best comment, by points, on the post “{title}”?")
def _best_comment(world: World, rng: random.Random) -> Iterator[Made]:
    """Opens a community."""
    for p in world.mixed(rng, "forum", POSTS + "comments > 2"):
        found = world.rows(
            "forum",
            "SELECT score, name FROM comments JOIN people a ON a.id = author_id WHERE post_id = ? ORDER BY score DESC",
            p["id"],
        )
        if found[0]["score"] > found[1]["score"]:
            yield Made(
                {"title": p["title"]},
                answer.name(found[0]["name"], answer.MEMBERS),
                [*open_post(p), stop(found[0]["name"])],
            )


@template("forum", "find", "How many members does c/{community} have? Answer with the number.")
def _members(world: World, rng: random.Random) -> Iterator[Made]:
    """Expands the comments of these people."""
    for name in shuffled_names(rng):
        count = world.value(
            "forum",
            "SELECT count(*) FROM subscriptions JOIN communities ON id = community_id WHERE name = ?",
            name,
        )
        yield Made({"community": name}, answer.number(count), [*open_community(name), stop(count)])


_figure_of_person(
    "How many points has {person} got for posts in all? Answer with the number.",
    "posts",
    "sum(score)",
    30,
)


asks(
    "forum",
    "forum",
    (
        "When did the author of the post “{title}” join the forum? Answer like Jun 2, 2026.",
        POSTS + "1",
        "joined",
        answer.day,
        lambda p: [*open_post(p), click(p["author"])],
    ),
)


_figure_of_person(
    "How many comments has {person} written in all? Answer with the number.",
    "comments",
    "count(*)",
    8,
)


def _ranked(world: World, rng: random.Random, order: str, key: str, label: str) -> Iterator[Made]:
    """Returns the names of all communities in random order."""
    for name in shuffled_names(rng):
        found = world.rows("forum", RANKED + order, name)
        if found[0][key] != found[1][key]:
            steps = [
                *open_community(name),
                choose("Sort by", label),
                click("Sort", "button"),
                stop(found[0]["title"]),
            ]
            yield Made({"community": name}, answer.name(found[0]["title"], answer.POSTS), steps)


@template("forum", "find", "What is the title of the post with the most points in c/{community}?")
def _top(world: World, rng: random.Random) -> Iterator[Made]:
    yield from _ranked(world, rng, "score DESC", "score", "Highest score")


@template("forum", "find", "What is the title of the oldest post in c/{community}?")
def _oldest(world: World, rng: random.Random) -> Iterator[Made]:
    yield from _ranked(world, rng, "written", "title", "Oldest")


@template("forum", "find", "Who wrote the newest post in c/{community}?")
def _newest(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        sql = "SELECT a.name FROM posts p JOIN people a ON a.id = author_id JOIN communities c ON c.id = community_id WHERE c.name = ? ORDER BY written DESC"
        author = world.value("forum", sql, name)
        yield Made(
            {"community": name},
            answer.name(author, answer.MEMBERS),
            [*open_community(name), stop(author)],
        )


@template(
    "forum",
    "find",
    "How many posts in c/{community} have “{word}” in their title? Answer with the number.",
)
def _word(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        word = rng.choice(
            ("worth", "advice", "guide", "beginner", "budget", "opinion", "weekend", "help")
        )
        sql = "SELECT count(*) FROM posts JOIN communities c ON c.id = community_id WHERE c.name = ? AND title LIKE ?"
        count = world.value("forum", sql, name, f"%{word}%")
        if count > 1:
            steps = [
                search(word),
                choose("Community", name),
                click("Filter", "button"),
                stop(count),
            ]
            yield Made({"community": name, "word": word}, answer.number(count), steps)


@template("forum", "find", "What does c/{community} say about itself?")
def _about(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        text = COMMUNITIES[name][0]
        yield Made(
            {"community": name},
            answer.name(text, "forum:SELECT about FROM communities"),
            [*open_community(name), stop(text)],
        )


_figure_of_person(
    "How many posts has {person} written? Answer with the number.", "posts", "count(*)", 5
)


each_of(
    "forum",
    "navigate",
    "forum",
    (
        "Open the post “{title}”.",
        POSTS + "1",
        lambda p: ends_at(f"{FORUM}/post/{p['id']}"),
        lambda p: [*open_post(p), stop()],
    ),
    (
        "Open the page of the person who wrote the post “{title}”.",
        POSTS + "1",
        lambda p: ends_at(f"{FORUM}/u/{p['author']}"),
        lambda p: [*open_post(p), click(p["author"]), stop()],
    ),
)


@template("forum", "navigate", "List the posts of c/{community} with the {order} first.")
def _sorted(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        key, label, words = rng.choice(
            (
                ("top", "Highest score", "highest score"),
                ("old", "Oldest", "oldest"),
                ("talk", "Most comments", "most comments"),
            )
        )
        steps = [*open_community(name), choose("Sort by", label), click("Sort", "button"), stop()]
        yield Made(
            {"community": name, "order": words}, ends_at(f"{FORUM}/c/{name}?sort={key}"), steps
        )


@template(
    "forum", "navigate", "Search for posts with “{word}” and show only those of c/{community}."
)
def _search(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        word = rng.choice(COMMUNITIES[name][1])
        steps = [search(word), choose("Community", name), click("Filter", "button"), stop()]
        yield Made(
            {"word": word, "community": name},
            ends_at(f"{FORUM}/search?q={quote_plus(word)}&community={name}"),
            steps,
        )


TEXTS = (
    ("Is anybody else doing this on a balcony?", "I have two square meters and some hope."), ("My first attempt, be kind", "It looks odd but I learned a lot."),
    ("What I would tell my younger self", "Start earlier and worry less."), ("Looking for a partner in crime", "I am in town every second weekend."),
    ("Monthly progress thread", "Tell us what you have finished."), ("A small trick that saved my evening", "Put a towel under it."),
)  # fmt: skip


def submit_post(community: str, title: str, body: str) -> list[Step]:
    """Writes a post and stops."""
    return [
        click("Submit"),
        choose("Community", community),
        fill("Title", title),
        fill("Text", body),
        click("Submit post", "button"),
        stop(),
    ]


def posted(community: str, title: str, body: str) -> dict[str, Any]:
    """My only new post must be this one."""
    sql = f"SELECT c.name || '|' || title || '|' || body FROM posts p JOIN communities c ON c.id = community_id WHERE author_id = {ME} AND written = '2026-06-15 12:00'"
    return becomes("forum", sql, f"{community}|{title}|{body}")


REMARKS = (
    "Thank you, this helped me a lot.",
    "Have you tried it the other way round?",
    "I will try that on Sunday.",
    "Which size do you recommend?",
    "Same here.",
)


def in_community(name: str, flair: str = "", order: str = "", since: str = "") -> list[Step]:
    """Opens a community's list, with a flair, an order and a range of time if they are set."""
    steps = [*open_community(name)]
    if flair:
        steps.append(click(flair))
    if order:
        steps.append(choose("Sort by", order))
    if since:
        steps.append(choose("From", since))
    return steps if not order + since else [*steps, click("Sort", "button")]


def sorted_posts(world: World, name: str, order: str, condition: str = "1") -> list[Any]:
    """Returns a community's posts; ``rank`` is the value that the order compares."""
    rank = ORDERS[order][1].removesuffix(" DESC, p.id")
    sql = f"SELECT p.*, {rank} AS rank FROM posts p JOIN communities c ON c.id = community_id WHERE c.name = ? AND {condition}"
    return world.rows("forum", f"{sql} ORDER BY {ORDERS[order][1]}", name)
