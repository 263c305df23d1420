"""What there is to do in the forum."""

import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from agentgym_envs.envs.web.sites.forum.data import ME, MINE
from agentgym_envs.envs.web.sites.forum.reading import LOW
from agentgym_envs.envs.web.sites.forum.topics import COMMUNITIES
from agentgym_envs.envs.web.sites.site import ORIGINS, day
from agentgym_envs.envs.web.sites.tasks.template import Made, World, answer, becomes, each, ends_at, holds, nothing, template
from agentgym_envs.envs.web.steps import Step, choose, click, fill, goto, search, stop

FORUM = ORIGINS["forum"]
# Titles that lead to one post when they are searched for.
POSTS = (
    "SELECT p.*, a.name AS author, a.joined, c.name AS community FROM posts p JOIN people a ON a.id = author_id JOIN communities c ON c.id = community_id"
    " WHERE 1 = (SELECT count(*) FROM posts o WHERE o.title = p.title) AND "
)
# The people above a comment whose own comments are folded, parted by commas, from the outside; and with its own author.
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
RANKED = "SELECT title, score, comments FROM posts JOIN communities c ON c.id = community_id WHERE c.name = ? ORDER BY "


def _post(post: Any) -> list[Step]:
    return [search(post["title"]), click(post["title"])]


def _community(name: str) -> list[Step]:
    return [click("Communities"), click(f"c/{name}")]


def _unfolded(names: str) -> list[Step]:
    return [click(f"Expand comment by {name}", "button") for name in names.split(",") if name]


def _figure_of_person(intent: str, table: str, figure: str, above: int) -> None:
    each(
        "forum",
        "find",
        intent,
        "forum",
        f"SELECT name AS person, {figure} AS n FROM {table} JOIN people a ON a.id = author_id GROUP BY a.id HAVING n > {above}",
        check=lambda r: answer(r["n"]),
        steps=lambda r: [goto(f"{FORUM}/u/{r['person']}"), stop(r["n"])],
    )


def _names(rng: random.Random) -> list[str]:
    return rng.sample(sorted(COMMUNITIES), len(COMMUNITIES))


each(
    "forum",
    "find",
    "Who wrote the post “{title}”?",
    "forum",
    POSTS + "1",
    check=lambda p: holds(p["author"]),
    steps=lambda p: [*_post(p), stop(p["author"])],
)


each(
    "forum",
    "find",
    "How many points does the post “{title}” have? Answer with the number.",
    "forum",
    POSTS + "score > 12",
    check=lambda p: answer(p["score"]),
    steps=lambda p: [*_post(p), stop(p["score"])],
)


@template("forum", "find", "Who wrote the best comment, by points, on the post “{title}”?")
def _best_comment(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "forum", POSTS + "comments > 2"):
        found = world.rows(
            "forum",
            "SELECT score, name FROM comments JOIN people a ON a.id = author_id WHERE post_id = ? ORDER BY score DESC",
            p["id"],
        )
        if found[0]["score"] > found[1]["score"]:
            yield Made({"title": p["title"]}, answer(found[0]["name"]), [*_post(p), stop(found[0]["name"])])


@template("forum", "find", "How many members does c/{community} have? Answer with the number.")
def _members(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        count = world.value(
            "forum", "SELECT count(*) FROM subscriptions JOIN communities ON id = community_id WHERE name = ?", name
        )
        yield Made({"community": name}, answer(count), [*_community(name), stop(count)])


_figure_of_person("How many points has {person} got for posts in all? Answer with the number.", "posts", "sum(score)", 30)


each(
    "forum",
    "find",
    "When did the author of the post “{title}” join the forum? Answer like Jun 2, 2026.",
    "forum",
    POSTS + "1",
    check=lambda p: holds(day(p["joined"])),
    steps=lambda p: [*_post(p), click(p["author"]), stop(day(p["joined"]))],
)


_figure_of_person("How many comments has {person} written in all? Answer with the number.", "comments", "count(*)", 8)


def _ranked(world: World, rng: random.Random, order: str, key: str, label: str) -> Iterator[Made]:
    for name in _names(rng):
        found = world.rows("forum", RANKED + order, name)
        if found[0][key] != found[1][key]:
            steps = [*_community(name), choose("Sort by", label), click("Sort", "button"), stop(found[0]["title"])]
            yield Made({"community": name}, holds(found[0]["title"]), steps)


@template("forum", "find", "What is the title of the post with the most points in c/{community}?")
def _top(world: World, rng: random.Random) -> Iterator[Made]:
    yield from _ranked(world, rng, "score DESC", "score", "Highest score")


@template("forum", "find", "What is the title of the oldest post in c/{community}?")
def _oldest(world: World, rng: random.Random) -> Iterator[Made]:
    yield from _ranked(world, rng, "written", "title", "Oldest")


@template("forum", "find", "Who wrote the newest post in c/{community}?")
def _newest(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        sql = "SELECT a.name FROM posts p JOIN people a ON a.id = author_id JOIN communities c ON c.id = community_id WHERE c.name = ? ORDER BY written DESC"
        author = world.value("forum", sql, name)
        yield Made({"community": name}, holds(author), [*_community(name), stop(author)])


@template("forum", "find", "How many posts in c/{community} have “{word}” in their title? Answer with the number.")
def _word(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        word = rng.choice(("worth", "advice", "guide", "beginner", "budget", "opinion", "weekend", "help"))
        sql = "SELECT count(*) FROM posts JOIN communities c ON c.id = community_id WHERE c.name = ? AND title LIKE ?"
        count = world.value("forum", sql, name, f"%{word}%")
        if count > 1:
            steps = [search(word), choose("Community", name), click("Filter", "button"), stop(count)]
            yield Made({"community": name, "word": word}, answer(count), steps)


@template("forum", "find", "What does c/{community} say about itself?")
def _about(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        text = COMMUNITIES[name][0]
        yield Made({"community": name}, holds(text), [*_community(name), stop(text)])


_figure_of_person("How many posts has {person} written? Answer with the number.", "posts", "count(*)", 5)


each(
    "forum",
    "navigate",
    "Open the post “{title}”.",
    "forum",
    POSTS + "1",
    check=lambda p: ends_at(f"{FORUM}/post/{p['id']}"),
    steps=lambda p: [*_post(p), stop()],
)
each(
    "forum",
    "navigate",
    "Open the page of the person who wrote the post “{title}”.",
    "forum",
    POSTS + "1",
    check=lambda p: ends_at(f"{FORUM}/u/{p['author']}"),
    steps=lambda p: [*_post(p), click(p["author"]), stop()],
)


@template("forum", "navigate", "List the posts of c/{community} with the {order} first.")
def _sorted(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        key, label, words = rng.choice(
            (("top", "Highest score", "highest score"), ("old", "Oldest", "oldest"), ("talk", "Most comments", "most comments"))
        )
        steps = [*_community(name), choose("Sort by", label), click("Sort", "button"), stop()]
        yield Made({"community": name, "order": words}, ends_at(f"{FORUM}/c/{name}?sort={key}"), steps)


@template("forum", "navigate", "Search for posts with “{word}” and show only those of c/{community}.")
def _search(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        word = rng.choice(COMMUNITIES[name][1])
        steps = [search(word), choose("Community", name), click("Filter", "button"), stop()]
        yield Made({"word": word, "community": name}, ends_at(f"{FORUM}/search?q={quote_plus(word)}&community={name}"), steps)


each(
    "forum",
    "change",
    "Join c/{community}.",
    "forum",
    f"SELECT *, name AS community FROM communities WHERE id NOT IN (SELECT community_id FROM subscriptions WHERE person_id = {ME})",
    check=lambda c: becomes("forum", f"SELECT count(*) FROM subscriptions WHERE person_id = {ME} AND community_id = {c['id']}", 1),
    steps=lambda c: [*_community(c["name"]), click("Join", "button"), stop()],
)


TEXTS = (
    ("Is anybody else doing this on a balcony?", "I have two square meters and some hope."), ("My first attempt, be kind", "It looks odd but I learned a lot."),
    ("What I would tell my younger self", "Start earlier and worry less."), ("Looking for a partner in crime", "I am in town every second weekend."),
    ("Monthly progress thread", "Tell us what you have finished."), ("A small trick that saved my evening", "Put a towel under it."),
)  # fmt: skip


def _submit(community: str, title: str, body: str) -> list[Step]:
    return [
        click("Submit"),
        choose("Community", community),
        fill("Title", title),
        fill("Text", body),
        click("Submit post", "button"),
        stop(),
    ]


def _posted(community: str, title: str, body: str) -> dict[str, Any]:
    sql = f"SELECT c.name || '|' || title || '|' || body FROM posts p JOIN communities c ON c.id = community_id WHERE author_id = {ME} AND written = '2026-06-15 12:00'"
    return becomes("forum", sql, f"{community}|{title}|{body}")


@template("forum", "change", "Post in c/{community} with the title “{title}” and the text “{body}”")
def _write(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        title, body = rng.choice(TEXTS)
        yield Made({"community": name, "title": title, "body": body}, _posted(name, title, body), _submit(name, title, body))


REMARKS = (
    "Thank you, this helped me a lot.",
    "Have you tried it the other way round?",
    "I will try that on Sunday.",
    "Which size do you recommend?",
    "Same here.",
)


@template("forum", "change", "Comment “{text}” on the post “{title}”.")
def _comment(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "forum", POSTS + "1"):
        text = rng.choice(REMARKS)
        steps = [*_post(p), fill("Add a comment", text), click("Post comment", "button"), stop()]
        sql = f"SELECT body FROM comments WHERE post_id = {p['id']} AND author_id = {ME}"
        yield Made({"title": p["title"], "text": text}, becomes("forum", sql, text), steps)


for name, vote in (("Upvote", 1), ("Downvote", -1)):
    each(
        "forum",
        "change",
        name + " the post “{title}”.",
        "forum",
        POSTS + "1",
        check=lambda p, vote=vote: becomes(  # type: ignore[misc]
            "forum", f"SELECT vote FROM votes WHERE person_id = {ME} AND post_id = {p['id']} AND comment_id = 0", vote
        ),
        steps=lambda p, name=name: [*_post(p), click(name, "button"), stop()],  # type: ignore[misc]
    )
each(
    "forum",
    "change",
    "Upvote the comment by {person} on the post “{title}”.",
    "forum",
    REMARKS_OF
    + "1 = (SELECT count(*) FROM posts o WHERE o.title = p.title) AND a.id <> p.author_id GROUP BY k.post_id, a.id HAVING n = 1",
    check=lambda k: becomes("forum", f"SELECT vote FROM votes WHERE person_id = {ME} AND comment_id = {k['id']}", 1),
    steps=lambda k: [*_post(k), *_unfolded(k["above"]), click("Upvote comment", "button", after=k["person"]), stop()],
)


@template("forum", "change", "Change my biography to “{text}”")
def _bio(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        text = f"{rng.choice(('Baker', 'Reader', 'Walker', 'Tinkerer', 'Gardener'))} from {rng.choice(('Oregon', 'Vermont', 'Leeds', 'Bergen', 'Porto'))}, {rng.randint(2, 9)} cats."
        steps = [click("Settings"), fill("Biography", text), click("Save", "button"), stop()]
        yield Made({"text": text}, becomes("forum", f"SELECT bio FROM people WHERE id = {ME}", text), steps)


for name, column, words in (
    ("Pin", "pinned", "Pin the post “{title}” there."),
    ("Lock", "locked", "Lock the post “{title}” there, so that nobody can comment on it."),
    ("Remove", "removed", "Remove the post “{title}” from it."),
):
    each(
        "forum",
        "change",
        "I moderate c/{community}. " + words,
        "forum",
        POSTS + f"c.name IN {MINE} AND pinned + locked = 0",
        check=lambda p, column=column: becomes("forum", f"SELECT {column} FROM posts WHERE id = {p['id']}", 1),  # type: ignore[misc]
        steps=lambda p, name=name: [*_post(p), click(name, "button"), stop()],  # type: ignore[misc]
    )


@template("forum", "unachievable", "How many points does the post “{title}” have?")
def _no_post(world: World, rng: random.Random) -> Iterator[Made]:
    subjects = (
        "submarine repair",
        "stamp auctions",
        "ice fishing",
        "beekeeping law",
        "origami maps",
        "clock towers",
        "sand art",
        "fencing foils",
    )
    while True:
        title = f"{rng.choice(('Why I gave up', 'Everything about', 'My love for', 'The end of'))} {rng.choice(subjects)}"
        yield Made({"title": title}, nothing("There is no such post."), [search(title), stop("N/A")])


@template(
    "forum shop",
    "change",
    "Post in c/{community} with the title “What do you think of this one?” and as its text the name of the cheapest product in the shop's category {category}.",
)
def _share(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        found = world.rows("shop", "SELECT * FROM products WHERE category_id = ? ORDER BY price", c["id"])
        if found[0]["price"] == found[1]["price"]:
            continue
        name, title = rng.choice(sorted(COMMUNITIES)), "What do you think of this one?"
        steps = [
            goto(ORIGINS["shop"]), click("Departments"), click(c["name"]), choose("Sort by", "Price, lowest first"), click("Apply", "button"),
            goto(FORUM), *_submit(name, title, found[0]["name"]),
        ]  # fmt: skip
        yield Made({"community": name, "category": c["name"]}, _posted(name, title, found[0]["name"]), steps)


@template("forum map", "change", "Comment on the post “{title}” with the telephone number of the {place} and nothing else.")
def _number(world: World, rng: random.Random) -> Iterator[Made]:
    places = world.mixed(rng, "map", "SELECT * FROM places")
    for p, place in zip(world.mixed(rng, "forum", POSTS + "1"), places, strict=False):
        steps = [
            goto(ORIGINS["map"]), search(place["name"]), click(place["name"]), goto(FORUM), *_post(p),
            fill("Add a comment", place["phone"]), click("Post comment", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT body FROM comments WHERE post_id = {p['id']} AND author_id = {ME}"
        yield Made({"title": p["title"], "place": place["name"]}, becomes("forum", sql, place["phone"]), steps)
