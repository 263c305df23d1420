"""Composes what the forum's people write, out of what there is to say about a post's subject."""

import random
import re
import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from agentgym_envs.envs.web.sites.forum.lore import LORE, Lore
from agentgym_envs.envs.web.sites.forum.phrases import (
    BIOS,
    COMMENTS,
    DAYS,
    FEWER,
    GROUPS,
    MONTHS,
    POSTS,
    REPLIES,
    RULES,
    SPOTS,
    TOP,
)
from agentgym_envs.envs.web.sites.forum.topics import COMMUNITIES, TITLES
from agentgym_envs.envs.web.sites.grammar import compose
from agentgym_envs.envs.web.sites.people import TOWNS

Facts = Mapping[str, Any]
TOTAL = re.compile(r"\*\*All in all\*\* \| \*\*(\$\d+)|\*\*(\$\d+)\*\* all in all")
CALENDAR = {"month": MONTHS, "day": DAYS}


class Topic(NamedTuple):
    """What a post is about: its community, its subject, and which of the titles it has."""

    community: str
    subject: str
    kind: int


def topics() -> dict[tuple[str, str], Topic]:
    """Returns what each title stands for, by community and title."""
    return {
        (community, headline(t.format(x=x))): Topic(community, x, kind)
        for community, (_, subjects) in COMMUNITIES.items()
        for x in subjects
        for kind, t in enumerate(TITLES)
    }


def headline(text: str) -> str:
    """Returns a text with a capital."""
    return text[0].upper() + text[1:]


def facts_about(rng: random.Random, topic: Topic) -> dict[str, Any]:
    """Draws what a text about a topic may mention; ``n`` of its measure is better than ``m``."""
    lore = LORE[topic.community]
    subject = lore.subjects[topic.subject]
    tips, troubles = rng.sample(subject.tips, 3), rng.sample(subject.troubles, 2)
    m, n = sorted(rng.sample(range(subject.low, subject.high + 1), 2), reverse=subject.measure in FEWER)
    gear = rng.sample(lore.gear, 3)
    prices = [rng.randint(low, high) for _, low, high in gear]
    spots = rng.sample(SPOTS, 2)
    found: dict[str, Any] = {
        "x": topic.subject, "community": topic.community, "doer": lore.doer, "shop": lore.shop, "town": rng.choice(TOWNS)[0], "n": n, "m": m,
        "measure": subject.measure, "weeks": rng.randint(2, 16), "total": sum(prices), "total2": prices[0] + prices[1], "limit": 5 * rng.randint(4, 30),
        "spot": spots[0], "spot2": spots[1], "mm": rng.randint(10, 34), "mm2": rng.randint(35, 59),
    }  # fmt: skip
    found |= {f"tip{i}": tip for i, tip in enumerate(tips, 1)} | {f"trouble{i}": t for i, t in enumerate(troubles, 1)}
    found |= {f"gear{i}": name for i, (name, _, _) in enumerate(gear, 1)} | {f"p{i}": price for i, price in enumerate(prices, 1)}
    found |= {"gear": found["gear1"], "price": found["p1"], "tip": found["tip1"], "trouble": found["trouble1"]}
    return found | {headline(k): headline(str(v)) for k, v in found.items() if isinstance(v, str)}


def phrased(rng: random.Random, rules: Mapping[str, Any], text: str, facts: Facts) -> str:
    """Composes a text; "a" is "an" before a vowel of what is to be bought, and no full stop follows another mark."""
    made = compose(rng, {**CALENDAR, **rules}, text, **facts)
    for key in ("gear1", "gear2", "gear3"):
        if facts[key][0] in "aeiou":
            made = re.sub(rf"\b([Aa]) (?={facts[key]})", r"\1n ", made)
    return made


def body_of(rng: random.Random, topic: Topic) -> str:
    """Returns a post's text."""
    return phrased(rng, RULES, rng.choice(POSTS[topic.kind]), facts_about(rng, topic))


class Said(NamedTuple):
    """A comment: its text, what kind it is, what it mentions, who wrote it."""

    text: str
    kind: str
    facts: dict[str, Any]
    author: int


def comment_of(rng: random.Random, topic: Topic, author: int, op: int, parent: Said | None, names: Mapping[int, str]) -> Said:
    """Returns a comment on a post by ``op``, or on a comment: an answer takes up what was asked or advised."""
    facts = facts_about(rng, topic)
    if parent is None:
        kind = rng.choice(TOP[GROUPS[topic.kind]])
    elif parent.author == author:
        kind = "story"
    else:
        kind = rng.choice(REPLIES[parent.kind])
        kept = ("gear", "gear1", "Gear", "price", "tip", "Tip", "trouble", "x", "X")
        facts |= {k: parent.facts[k] for k in kept if k in parent.facts}
        facts |= {"name": names[parent.author], "aware": "" if author == op else "I am not the one you asked, but "}
    if kind in ("price", "place"):
        low, high = next((low, high) for name, low, high in LORE[topic.community].gear if name == facts["gear"])
        facts["price"] = rng.randint(low, high)
    return Said(phrased(rng, COMMENTS, rng.choice(COMMENTS[kind]), facts), kind, facts, author)


def unseen(seen: set[str], make: Callable[[], str]) -> str:
    """Returns what ``make`` returns as soon as it is new."""
    while (text := make()) in seen:
        pass
    seen.add(text)
    return text


def write_texts(db: sqlite3.Connection) -> None:
    """Writes the texts of all posts and comments, and what tasks may ask of them."""
    rng, known, seen = random.Random("forum texts"), topics(), set[str]()
    names = {r["id"]: r["name"] for r in db.execute("SELECT id, name FROM people")}
    answers: dict[int, list[Any]] = {}
    for r in db.execute("SELECT * FROM comments ORDER BY id").fetchall():
        answers.setdefault(r["post_id"], []).append(r)
    sql = "SELECT p.id, author_id, title, c.name FROM posts p JOIN communities c ON c.id = community_id ORDER BY p.id"
    for post in db.execute(sql).fetchall():
        topic = known[post["name"], post["title"]]
        body = unseen(seen, partial(body_of, rng, topic))
        db.execute("UPDATE posts SET body = ? WHERE id = ?", (body, post["id"]))
        if total := TOTAL.search(body):
            db.execute("INSERT INTO facts VALUES (?, 0, 'total', ?)", (post["id"], total[1] or total[2]))
        said: dict[int, Said] = {}
        for r in answers.get(post["id"], ()):
            parent = said.get(r["parent_id"])
            make = partial(comment_of, rng, topic, r["author_id"], post["author_id"], parent, names)
            made = make()
            while made.text in seen:
                made = make()
            seen.add(made.text)
            said[r["id"]] = made
            db.execute("UPDATE comments SET body = ? WHERE id = ?", (made.text, r["id"]))
            name, asked = told_by(made)
            if name:
                db.execute("INSERT INTO facts VALUES (?, ?, ?, ?)", (post["id"], r["id"], name, asked))


def told_by(said: Said) -> tuple[str, str]:
    """Returns what a task may ask of a comment; two empty texts if nothing."""
    if said.kind == "advice":
        return "advice", str(said.facts["tip"])
    if said.kind == "cost":
        return "asks", str(said.facts["gear"])
    return ("price", f"${said.facts['price']}") if said.kind == "price" else ("", "")


def biography(rng: random.Random, community: str) -> str:
    """Returns what somebody of a community says about themselves."""
    topic = Topic(community, rng.choice(COMMUNITIES[community][1]), 0)
    return phrased(rng, COMMENTS, rng.choice(BIOS), facts_about(rng, topic))


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
    gear = ["What a good one costs, and how long it lasts with us.\n", "| Thing | Fair price | Lasts |\n|---|---|---|"]
    for name, low, high in lore.gear:
        gear.append(f"| {headline(name)} | ${rng.randint(low, high)} | {rng.randint(2, 15)} years |")
    gear.append(f"\nPrices are those of a {lore.shop} in {rng.choice(TOWNS)[0]}. *Buy used where you can.*")
    questions = []
    for x, s in lore.subjects.items():
        questions.append(
            f"### {headline(x)}: {rng.choice(s.troubles)}\n\n{headline(rng.choice(s.tips))}. Normal: {s.low} to {s.high} {s.measure}.\n"
        )
    return [
        ("start", "Getting started", "\n".join(start)),
        ("gear", "What to buy", "\n".join(gear)),
        ("questions", "Questions and answers", "\n".join(questions)),
    ]
