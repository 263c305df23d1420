"""Composes what the forum's people write, out of what there is to say about a post's subject."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from agentgym_websites.forum.lore import (
    BIOS,
    COMMENTS,
    COMMUNITIES,
    FEWER,
    GROUPS,
    LORE,
    POST_RULES,
    POSTS,
    REPLIES,
    REPLY_RULES,
    SPOTS,
    TITLES,
    TOP,
    Lore,
)
from agentgym_websites.grammar import Author, article, compose
from agentgym_websites.people import TOWNS
from agentgym_websites.site import TODAY

TOTAL = re.compile(r"\*\*All in all\*\* \| \*\*(\$\d+)|\*\*(\$\d+)\*\* all in all")
ARTICLE = re.compile(r"^(?:an?|the) ")
CALENDAR = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
EVERYBODY = ("everybody", "friends", "folks", "all of you")
AWARE = (
    "I am not the one you asked, but ",
    "not my post, but ",
    "if I may: ",
    "one more voice: ",
    "butting in: ",
    "",
    "",
    "",
)
"""Beginnings of an answer by somebody else than the one who was asked."""
KEPT = ("gear", "price", "tip", "trouble", "x")
"""Facts that an answer takes over."""


class Topic(NamedTuple):
    """What a post is about: its community, its subject, and which kind of title it has."""

    community: str
    subject: str
    kind: int


class Comment(NamedTuple):
    """A comment without its text."""

    id: int
    parent: int | None
    author: int
    written: str
    score: int


class Post(NamedTuple):
    """A post without its text."""

    id: int
    community: int
    author: int
    title: str
    written: str
    score: int
    topic: Topic
    comments: Sequence[Comment]


class Said(NamedTuple):
    """The text of a comment: what kind it is, what it mentions, who wrote it."""

    text: str
    kind: str
    facts: dict[str, Any]
    author: int


def headline(text: str) -> str:
    """Returns a text with a capital."""
    return text[0].upper() + text[1:]


@cache
def titles(community: str) -> dict[str, Topic]:
    """Returns the titles that posts of a community may have, with what each stands for."""
    return {
        headline(form.format(x=x, X=headline(x), bare=ARTICLE.sub("", x))): Topic(
            community, x, kind
        )
        for x in COMMUNITIES[community][1]
        for kind, forms in enumerate(TITLES)
        for form in forms
    }


def facts_about(rng: random.Random, topic: Topic, month: int) -> dict[str, Any]:
    """Draws facts of a topic for a month; ``n`` of its measure is better than ``m``."""
    draw = rng.random
    lore = LORE[topic.community]
    subject = lore.subjects[topic.subject]

    def some(things: Sequence[Any], count: int) -> list[Any]:
        left = list(things)
        return [left.pop(int(draw() * len(left))) for _ in range(count)]

    tips, troubles, gear, spots, towns = (
        some(subject.tips, 3),
        some(subject.troubles, 2),
        some(lore.gear, 3),
        some(SPOTS, 2),
        some(TOWNS, 2),
    )
    figures = some(range(subject.low, subject.high + 1), 2)
    m, n = sorted(figures, reverse=subject.measure in FEWER)
    prices = [low + int(draw() * (high + 1 - low)) for _, low, high in gear]
    return {
        "x": topic.subject, "community": topic.community, "doer": lore.doer,
        "doers": f"{lore.doer}s", "shop": lore.shop, "town": towns[0][0], "town2": towns[1][0],
        "n": n, "m": m,
        "measure": subject.measure, "weeks": 2 + int(draw() * 15), "k": 3 + int(draw() * 27),
        "total": sum(prices), "total2": prices[0] + prices[1],
        "limit": 5 * (4 + int(draw() * 27)), "spot": spots[0], "spot2": spots[1],
        "mm": 10 + int(draw() * 25), "mm2": 35 + int(draw() * 25),
        "tip": tips[0], "tip1": tips[0], "tip2": tips[1], "tip3": tips[2], "trouble": troubles[0],
        "trouble1": troubles[0], "trouble2": troubles[1],
        "gear": gear[0][0], "gear1": gear[0][0], "gear2": gear[1][0], "gear3": gear[2][0],
        "price": prices[0], "p1": prices[0], "p2": prices[1], "p3": prices[2],
        "month": CALENDAR[(month - 3 - int(draw() * 8)) % 12],
        "soon": CALENDAR[(month + int(draw() * 3)) % 12],
    }  # fmt: skip


def comment_of(
    writer: Author, post: Post, comment: Comment, parent: Said | None, names: Mapping[int, str]
) -> Said:
    """Returns the text of a comment; an answer takes up the question or the advice."""
    rng, topic, author = writer.rng, post.topic, comment.author
    facts = facts_about(rng, topic, int(comment.written[5:7]))
    facts["op"] = rng.choice(EVERYBODY) if author == post.author else names[post.author]
    if parent is None:
        kind = rng.choice(TOP[GROUPS[topic.kind]])
    elif parent.author == author:
        kind = "story"
    else:
        kind = rng.choice(REPLIES[parent.kind])
        facts |= {k: parent.facts[k] for k in KEPT}
        facts |= {
            "name": names[parent.author],
            "aware": "" if author == post.author else rng.choice(AWARE),
        }
    if kind in ("price", "place"):
        low, high = next(
            (low, high) for name, low, high in LORE[topic.community].gear if name == facts["gear"]
        )
        facts["price"] = rng.randint(low, high)
    text = writer.write(rng.choice(COMMENTS[kind]), facts)
    return Said(text, kind, facts, author)


class Written(NamedTuple):
    """The texts of a post and its comments, and facts: a comment or 0, a name, a value."""

    body: str
    comments: list[str]
    facts: list[tuple[int, str, str]]


def write_texts(posts: Sequence[Post], names: Mapping[int, str]) -> Iterator[Written]:
    """Yields the texts of posts, in their order; no sentence comes twice."""
    writer = Author(random.Random("forum texts"), {**REPLY_RULES, **POST_RULES})
    for post in posts:
        layout = writer.rng.choice(POSTS[post.topic.kind])
        body = writer.write(layout, facts_about(writer.rng, post.topic, int(post.written[5:7])))
        total = TOTAL.search(body)
        found = [(0, "total", total[1] or total[2])] if total else []
        said: dict[int, Said] = {}
        for comment in post.comments:
            made = said[comment.id] = comment_of(
                writer, post, comment, said.get(comment.parent or 0), names
            )
            if told := told_by(made):
                found.append((comment.id, *told))
        yield Written(body, [made.text for made in said.values()], found)


def told_by(said: Said) -> tuple[str, str] | None:
    """Returns what a task may ask of a comment, if anything."""
    if said.kind == "advice":
        return "advice", str(said.facts["tip"])
    if said.kind == "cost":
        return "asks", str(said.facts["gear"])
    return ("price", f"${said.facts['price']}") if said.kind == "price" else None


def biography(rng: random.Random, community: str) -> str:
    """Returns what somebody of a community says about themselves."""
    topic = Topic(community, rng.choice(COMMUNITIES[community][1]), 0)
    return compose(rng, REPLY_RULES, rng.choice(BIOS), facts_about(rng, topic, TODAY.month))


def wiki_pages(rng: random.Random, community: str, about: str) -> list[tuple[str, str, str]]:
    """Returns the pages of a community's wiki: address, title, Markdown."""
    lore: Lore = LORE[community]
    start = [
        f"*{about}* – this is what we tell everybody who is new.\n",
        "## Before you post\n",
        "1. Read [the questions](questions): yours may be there.",
        f"2. A {lore.doer} needs less than the {lore.shop} sells: see [what to buy](gear).",
        f"3. Use the flair **{lore.flairs[0]}** or **{lore.flairs[1]}** where it fits.\n",
        "## One piece of advice for each subject\n",
        *(f"- **{headline(x)}:** {rng.choice(s.tips)}" for x, s in lore.subjects.items()),
    ]
    gear = [
        "What a good one costs, and how long it lasts with us.\n",
        "| Thing | Fair price | Lasts |\n|---|---|---|",
    ]
    for name, low, high in lore.gear:
        gear.append(
            f"| {headline(name)} | ${rng.randint(low, high)} | {rng.randint(2, 15)} years |"
        )
    gear.append(
        f"\nPrices are those of {article(lore.shop)} {lore.shop} in {rng.choice(TOWNS)[0]}."
        " *Buy used where you can.*"
    )
    questions = []
    for x, s in lore.subjects.items():
        questions.append(
            f"### {headline(x)}: {rng.choice(s.troubles)}\n\n{headline(rng.choice(s.tips))}."
            f" Normal: {s.low} to {s.high} {s.measure}.\n"
        )
    return [
        ("start", "Getting started", "\n".join(start)),
        ("gear", "What to buy", "\n".join(gear)),
        ("questions", "Questions and answers", "\n".join(questions)),
    ]
