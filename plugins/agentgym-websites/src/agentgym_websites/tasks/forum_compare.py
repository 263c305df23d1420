"""Tasks in the forum without a title to search for: comparisons, dates, facts of the wiki."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from agentgym_envs.envs.web.embedded import Step, click, fill, stop
from agentgym_websites.forum.data import ME, MINE
from agentgym_websites.forum.feed import NOW
from agentgym_websites.forum.lore import FLAIRS, LORE
from agentgym_websites.forum.reading import LOW
from agentgym_websites.site import day
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.forum import (
    FORUM,
    REMARKS,
    in_community,
    open_community,
    shuffled_names,
    sorted_posts,
)
from agentgym_websites.tasks.template import (
    Made,
    World,
    becomes,
    ends_at,
    template,
    visits,
)

POSTS = (
    "SELECT p.*, a.name AS author, a.joined FROM posts p JOIN people a ON a.id = author_id JOIN communities c ON c.id = community_id"
    " WHERE c.name = ? AND removed = 0 ORDER BY "
)
PAGE = 15  # posts per page of a list
LABELS = {
    "top": "Highest score",
    "controversial": "Controversial",
    "old": "Oldest",
    "new": "Newest",
}


def first_post(world: World, name: str, order: str) -> tuple[Any, list[Step]] | None:
    """Returns the first post of a community in an order, with a plan that lists it.

    The result is None if the second post has the same rank.
    """
    found = sorted_posts(world, name, order, "removed = 0")
    if (
        found[0]["rank"] == found[1]["rank"]
        or sum(p["title"] == found[0]["title"] for p in found) > 1
        or any(p["pinned"] for p in found)
    ):
        return None
    return found[0], in_community(name, "", LABELS[order])


WHICH = {
    "top": "post with the most points",
    "controversial": "most controversial post",
    "old": "oldest post",
    "new": "newest post",
}


@template(
    "forum",
    "find",
    "How many comments has the post with the most points in c/{community}? Answer with the number.",
)
def _comments_of_top(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        if found := first_post(world, name, "top"):
            p, steps = found
            yield Made(
                {"community": name}, answer.number(p["comments"]), [*steps, stop(p["comments"])]
            )


@template(
    "forum", "find", "How many points has the {what} in c/{community}? Answer with the number."
)
def _points(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        order = rng.choice(("old", "new", "controversial"))
        if found := first_post(world, name, order):
            p, steps = found
            yield Made(
                {"what": WHICH[order], "community": name},
                answer.number(p["score"]),
                [*steps, stop(p["score"])],
            )


@template(
    "forum",
    "find",
    "When did the author of the {age} post in c/{community} join the forum? Answer like Jun 2, 2026.",
)
def _joined(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        order, age = rng.choice((("new", "newest"), ("old", "oldest")))
        if found := first_post(world, name, order):
            p, steps = found
            author = world.rows("forum", "SELECT * FROM people WHERE id = ?", p["author_id"])[0]
            if author["id"] != ME:
                more = [click(p["title"]), click(author["name"]), stop(day(author["joined"]))]
                yield Made(
                    {"age": age, "community": name}, answer.day(author["joined"]), [*steps, *more]
                )


@template("forum", "find", "Who wrote the post that was submitted to c/{community} on {day}?")
def _of_day(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        found = world.rows("forum", POSTS + "pinned DESC, written DESC, p.id", name)
        days = Counter(p["written"][:10] for p in found)
        for place in rng.sample(range(len(found)), len(found))[:3]:
            p = found[place]
            if days[p["written"][:10]] == 1:
                steps = [
                    *open_community(name),
                    *[click("Next page")] * (place // PAGE),
                    stop(p["author"]),
                ]
                yield Made(
                    {"community": name, "day": day(p["written"])},
                    answer.name(p["author"], answer.MEMBERS),
                    steps,
                )
                break


@template("forum", "find", "Which of the moderators of c/{community} has {what}?")
def _moderators(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        "SELECT a.name, a.joined, (SELECT count(*) FROM posts WHERE author_id = a.id AND removed = 0) AS posts,"
        " (SELECT count(*) FROM comments WHERE author_id = a.id) AS comments"
        " FROM moderators m JOIN people a ON a.id = person_id JOIN communities c ON c.id = community_id WHERE c.name = ? ORDER BY m.since"
    )
    for name in shuffled_names(rng):
        found = world.rows("forum", sql, name)
        choices = (
            ("been in the forum the longest", "joined", min), ("written the most posts", "posts", max),
            ("written the most comments", "comments", max),
        )  # fmt: skip
        what, key, best = rng.choice(choices)
        values = [m[key] for m in found]
        if (
            1 < len(found) <= 5
            and values.count(best(values)) == 1
            and all(sum(m["name"] == o["name"] for o in found) == 1 for m in found)
        ):
            who = found[values.index(best(values))]["name"]
            people = visits(m["name"] for m in found)
            yield Made(
                {"community": name, "what": what},
                answer.name(who, answer.MEMBERS),
                [*open_community(name), *people, stop(who)],
            )


def listed_gear(world: World, name: str) -> list[tuple[str, int]]:
    """Returns the things in a community's wiki, with their prices."""
    sql = "SELECT body FROM wiki JOIN communities c ON c.id = community_id WHERE name = ? AND slug = 'gear'"
    return [
        (thing, int(price))
        for thing, price in re.findall(
            r"^\| ([^|]+?) \| \$(\d+) ", world.value("forum", sql, name), re.M
        )
    ]


@template(
    "forum",
    "find",
    "What is the {what} thing on the list of what to buy in the wiki of c/{community}?",
)
def _thing(world: World, rng: random.Random) -> Iterator[Made]:
    known = {thing for name in shuffled_names(rng) for thing, _ in listed_gear(world, name)}
    for name in shuffled_names(rng):
        things, (what, best) = (
            listed_gear(world, name),
            rng.choice((("most expensive", max), ("cheapest", min))),
        )
        prices = [price for _, price in things]
        if len(things) > 2 and prices.count(best(prices)) == 1:
            thing = things[prices.index(best(prices))][0]
            steps = [*open_community(name), click("Wiki"), click("What to buy"), stop(thing)]
            yield Made({"what": what, "community": name}, answer.name(thing, known), steps)


@template(
    "forum",
    "find",
    "What do the two cheapest things on the list of what to buy in the wiki of c/{community} cost together? Answer like $12.",
)
def _two_cheapest(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        prices = sorted(price for _, price in listed_gear(world, name))
        if len(prices) > 2:
            text = f"${prices[0] + prices[1]}"
            steps = [*open_community(name), click("Wiki"), click("What to buy"), stop(text)]
            yield Made({"community": name}, answer.amount(text), steps)


@template("forum", "find", "Who edited the wiki of c/{community} last?")
def _editor(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        "SELECT w.edited, a.name FROM wiki w JOIN people a ON a.id = editor_id JOIN communities c ON c.id = community_id"
        " WHERE c.name = ? ORDER BY edited DESC"
    )
    for name in shuffled_names(rng):
        found = world.rows("forum", sql, name)
        if (
            len(found) > 1
            and found[0]["edited"] > found[1]["edited"]
            and len({r["name"] for r in found}) > 1
        ):
            who = found[0]["name"]
            yield Made(
                {"community": name},
                answer.name(who, answer.MEMBERS),
                [*open_community(name), click("Wiki"), stop(who)],
            )


@template("forum", "find", "Which community has more members, c/{first} or c/{second}?")
def _more_members(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT name, (SELECT count(*) FROM subscriptions WHERE community_id = c.id) AS members FROM communities c ORDER BY name"
    members = {r["name"]: r["members"] for r in world.rows("forum", sql)}
    while True:
        first, second = rng.sample(sorted(members), 2)
        if members[first] != members[second]:
            best = max(first, second, key=lambda name: members[name])
            check = answer.name(best, "forum:SELECT name FROM communities", f"c/{best}")
            yield Made(
                {"first": first, "second": second}, check, [click("Communities"), stop(f"c/{best}")]
            )


@template("forum", "navigate", "Open the {what} in c/{community}.")
def _open_first(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        order = rng.choice(("top", "controversial", "old"))
        if found := first_post(world, name, order):
            p, steps = found
            check = ends_at(f"{FORUM}/post/{p['id']}")
            yield Made(
                {"what": WHICH[order], "community": name},
                check,
                [*steps, click(p["title"]), stop()],
            )


@template("forum", "change", "Comment “{text}” on the {what} in c/{community}.")
def _comment_first(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        order, text = rng.choice(sorted(WHICH)), rng.choice(REMARKS)
        found = first_post(world, name, order)
        if found and not found[0]["locked"]:
            p, steps = found
            more = [
                click(p["title"]),
                fill("Add a comment", text),
                click("Post comment", "button"),
                stop(),
            ]
            sql = f"SELECT post_id, body FROM comments WHERE author_id = {ME} AND written = '{NOW}'"
            yield Made(
                {"text": text, "what": WHICH[order], "community": name},
                becomes("forum", sql, f"{p['id']} | {text}"),
                [*steps, *more],
            )


@template("forum", "change", "Upvote the {age} post in c/{community} with the flair “{flair}”.")
def _upvote_flaired(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        flair = rng.choice((*FLAIRS, *LORE[name].flairs))
        order, age = rng.choice((("new", "newest"), ("old", "oldest")))
        found = sorted_posts(
            world, name, order, f"removed = 0 AND pinned = 0 AND flair = '{flair}'"
        )
        if (
            len(found) > 1
            and found[0]["written"] != found[1]["written"]
            and found[0]["author_id"] != ME
        ):
            p = found[0]
            steps = [
                *in_community(name, flair, LABELS[order]),
                click("Upvote", "button", after=p["title"]),
                stop(),
            ]
            sql = f"SELECT post_id, vote FROM votes WHERE person_id = {ME} AND comment_id = 0"
            yield Made(
                {"age": age, "community": name, "flair": flair},
                becomes("forum", sql, f"{p['id']} | 1"),
                steps,
            )


@template(
    "forum",
    "change",
    "Save the best comment, by points, on the post with the most points in c/{community}.",
)
def _save_comment(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT k.*, a.name FROM comments k JOIN people a ON a.id = author_id WHERE post_id = ? ORDER BY score DESC, k.id"
    for name in shuffled_names(rng):
        if not (found := first_post(world, name, "top")):
            continue
        p, steps = found
        said = world.rows("forum", sql, p["id"])
        alone = (
            said
            and sum(k["name"] == said[0]["name"] for k in said) == 1
            and said[0]["author_id"] != p["author_id"]
        )
        if (
            len(said) > 1
            and said[0]["score"] > said[1]["score"]
            and alone
            and said[0]["parent_id"] is None
            and said[0]["score"] >= LOW
        ):
            kept = world.value(
                "forum",
                f"SELECT count(*) FROM saved WHERE person_id = {ME} AND comment_id = ?",
                said[0]["id"],
            )
            if not kept:
                more = [click(p["title"]), click("Save", "button", after=said[0]["name"]), stop()]
                check = f"SELECT count(*) FROM saved WHERE person_id = {ME} AND comment_id = {said[0]['id']}"
                yield Made({"community": name}, becomes("forum", check, 1), [*steps, *more])


@template(
    "forum",
    "change",
    "I moderate c/{community}. Lock the {age} of its posts with the flair “{flair}”.",
)
def _lock_flaired(world: World, rng: random.Random) -> Iterator[Made]:
    choices = [
        (n, f, o)
        for n in MINE
        for f in dict.fromkeys((*FLAIRS, *LORE[n].flairs))
        for o in ("new", "old")
    ]
    for name, flair, order in rng.sample(choices, len(choices)):
        found = sorted_posts(
            world, name, order, f"removed = 0 AND pinned = 0 AND flair = '{flair}'"
        )
        if len(found) > 1 and found[0]["written"] != found[1]["written"] and not found[0]["locked"]:
            p, age = found[0], {"new": "newest", "old": "oldest"}[order]
            steps = [
                *in_community(name, flair, LABELS[order]),
                click(p["title"]),
                click("Lock", "button"),
                stop(),
            ]
            check = becomes("forum", f"SELECT locked FROM posts WHERE id = {p['id']}", 1)
            yield Made({"community": name, "age": age, "flair": flair}, check, steps)
