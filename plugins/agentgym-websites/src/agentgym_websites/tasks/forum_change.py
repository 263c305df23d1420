"""Changes in the forum, and tasks that need its orders, flairs and wikis."""

import random
import re
from collections.abc import Iterator
from functools import partial
from urllib.parse import quote_plus

from agentgym_envs.envs.web.embedded import choose, click, fill, goto, search, stop
from agentgym_websites.forum.data import ME, MINE
from agentgym_websites.forum.feed import NOW, ORDERS, RANGES
from agentgym_websites.forum.lore import COMMUNITIES, FLAIRS, LORE
from agentgym_websites.site import ORIGINS
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.forum import (
    FORUM,
    POSTS,
    PRICED,
    REMARKS,
    REMARKS_OF,
    TEXTS,
    TOLD,
    TOLD_BY,
    in_community,
    open_community,
    open_post,
    posted,
    shuffled_names,
    sorted_posts,
    submit_post,
    unfolded,
)
from agentgym_websites.tasks.template import (
    Made,
    World,
    asks,
    becomes,
    each,
    ends_at,
    template,
)

each(
    "forum",
    "change",
    "Join c/{community}.",
    "forum",
    f"SELECT *, name AS community FROM communities WHERE id NOT IN (SELECT community_id FROM subscriptions WHERE person_id = {ME})",
    check=lambda c: becomes(
        "forum",
        f"SELECT count(*) FROM subscriptions WHERE person_id = {ME} AND community_id = {c['id']}",
        1,
    ),
    steps=lambda c: [*open_community(c["name"]), click("Join", "button"), stop()],
)


@template("forum", "change", "Post in c/{community} with the title “{title}” and the text “{body}”")
def _write(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        title, body = rng.choice(TEXTS)
        yield Made(
            {"community": name, "title": title, "body": body},
            posted(name, title, body),
            submit_post(name, title, body),
        )


@template("forum", "change", "Comment “{text}” on the post “{title}”.")
def _comment(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "forum", POSTS + "1"):
        text = rng.choice(REMARKS)
        steps = [
            *open_post(p),
            fill("Add a comment", text),
            click("Post comment", "button"),
            stop(),
        ]
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
            "forum",
            f"SELECT vote FROM votes WHERE person_id = {ME} AND post_id = {p['id']} AND comment_id = 0",
            vote,
        ),
        steps=lambda p, name=name: [*open_post(p), click(name, "button"), stop()],  # type: ignore[misc]
    )


each(
    "forum",
    "change",
    "Upvote the comment by {person} on the post “{title}”.",
    "forum",
    REMARKS_OF
    + "1 = (SELECT count(*) FROM posts o WHERE o.title = p.title) AND a.id <> p.author_id GROUP BY k.post_id, a.id HAVING n = 1",
    check=lambda k: becomes(
        "forum", f"SELECT vote FROM votes WHERE person_id = {ME} AND comment_id = {k['id']}", 1
    ),
    steps=lambda k: [
        *open_post(k),
        *unfolded(k["above"]),
        click("Upvote comment", "button", after=k["person"]),
        stop(),
    ],
)


@template("forum", "change", "Change my biography to “{text}”")
def _bio(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        text = f"{rng.choice(('Baker', 'Reader', 'Walker', 'Tinkerer', 'Gardener'))} from {rng.choice(('Oregon', 'Vermont', 'Leeds', 'Bergen', 'Porto'))}, {rng.randint(2, 9)} cats."
        steps = [click("Settings"), fill("Biography", text), click("Save", "button"), stop()]
        yield Made(
            {"text": text}, becomes("forum", f"SELECT bio FROM people WHERE id = {ME}", text), steps
        )


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
        check=lambda p, column=column: becomes(
            "forum", f"SELECT {column} FROM posts WHERE id = {p['id']}", 1
        ),  # type: ignore[misc]
        steps=lambda p, name=name: [*open_post(p), click(name, "button"), stop()],  # type: ignore[misc]
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
        yield Made(
            {"title": title}, answer.nothing("There is no such post."), [search(title), stop("N/A")]
        )


@template(
    "forum shop",
    "change",
    "Post in c/{community} with the title “What do you think of this one?” and as its text the name of the cheapest product in the shop's category {category}.",
)
def _share(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        found = world.rows(
            "shop", "SELECT * FROM products WHERE category_id = ? ORDER BY price", c["id"]
        )
        if found[0]["price"] == found[1]["price"]:
            continue
        name, title = rng.choice(sorted(COMMUNITIES)), "What do you think of this one?"
        steps = [
            goto(ORIGINS["shop"]), click("Departments"), click(c["name"]), choose("Sort by", "Price, lowest first"), click("Apply", "button"),
            goto(FORUM), *submit_post(name, title, found[0]["name"]),
        ]  # fmt: skip
        yield Made(
            {"community": name, "category": c["name"]}, posted(name, title, found[0]["name"]), steps
        )


@template(
    "forum map",
    "change",
    "Comment on the post “{title}” with the telephone number of the {place} and nothing else.",
)
def _number(world: World, rng: random.Random) -> Iterator[Made]:
    places = world.mixed(rng, "map", "SELECT * FROM places")
    for p, place in zip(world.mixed(rng, "forum", POSTS + "1"), places, strict=False):
        steps = [
            goto(ORIGINS["map"]), search(place["name"]), click(place["name"]), goto(FORUM), *open_post(p),
            fill("Add a comment", place["phone"]), click("Post comment", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT body FROM comments WHERE post_id = {p['id']} AND author_id = {ME}"
        yield Made(
            {"title": p["title"], "place": place["name"]},
            becomes("forum", sql, place["phone"]),
            steps,
        )


asks(
    "forum",
    "forum",
    (
        "What did everything cost all in all, according to the post “{title}”? Answer like $12.",
        TOLD + "f.name = 'total'",
        "told",
        answer.amount,
        open_post,
    ),
    (
        "What does {person} advise in a comment on the post “{title}”? Answer in the comment's words.",
        TOLD_BY + "f.name = 'advice'",
        "told",
        partial(answer.name, among="forum:SELECT DISTINCT value FROM facts"),
        lambda k: [*open_post(k), *unfolded(k["folded"])],
    ),
    (
        "Under the post “{title}”, {person} asks for a price. How much did the one who answers them pay? Answer like $12.",
        PRICED,
        "price",
        answer.amount,
        lambda k: [*open_post(k), *unfolded(k["deep"])],
    ),
)


@template(
    "forum",
    "find",
    "What is the title of the {order} post in c/{community} from the past {months} months?",
)
def _best_of(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        order, words = rng.choice(
            (("top", "highest-scoring"), ("controversial", "most controversial"))
        )
        key, months = rng.choice((("quarter", 3), ("half", 6)))
        label, span = RANGES[key]
        found = sorted_posts(world, name, order, f"written >= datetime('{NOW}', '{span}')")
        if (
            len(found) > 2
            and found[0]["rank"] > found[1]["rank"]
            and found[0]["id"] != sorted_posts(world, name, order)[0]["id"]
        ):
            title = found[0]["title"]
            steps = [*in_community(name, "", ORDERS[order][0], label), stop(title)]
            yield Made(
                {"order": words, "community": name, "months": months},
                answer.name(title, answer.POSTS),
                steps,
            )


@template(
    "forum",
    "find",
    "What is a fair price for “{gear}”, according to the wiki of c/{community}? Answer like $12.",
)
def _fair_price(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        sql = "SELECT body FROM wiki JOIN communities c ON c.id = community_id WHERE name = ? AND slug = 'gear'"
        gear, price = rng.choice(
            re.findall(r"^\| ([^|]+) \| (\$\d+) ", world.value("forum", sql, name), re.M)
        )
        steps = [*open_community(name), click("Wiki"), click("What to buy"), stop(price)]
        yield Made({"gear": gear.lower(), "community": name}, answer.amount(price), steps)


@template(
    "forum",
    "navigate",
    "Show the posts of c/{community} with the flair “{flair}” and no others, the {order} first.",
)
def _flaired(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        flair = rng.choice(LORE[name].flairs)
        key, words = rng.choice(
            (
                ("top", "highest-scoring"),
                ("controversial", "most controversial"),
                ("talk", "most commented on"),
            )
        )
        steps = [*in_community(name, flair, ORDERS[key][0]), stop()]
        url = f"{FORUM}/c/{name}?sort={key}&flair={quote_plus(flair)}"
        yield Made({"community": name, "flair": flair, "order": words}, ends_at(url), steps)


@template(
    "forum", "change", "Upvote the three most controversial posts of all time in c/{community}."
)
def _upvote_three(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        found = sorted_posts(world, name, "controversial")[:4]
        if found[2]["rank"] > found[3]["rank"] and len({p["title"] for p in found}) == 4:
            votes = [click("Upvote", "button", after=p["title"]) for p in found[:3]]
            wanted = "\n".join(
                f"{p['id']} | 1" for p in sorted(found[:3], key=lambda p: int(p["id"]))
            )
            sql = f"SELECT post_id, vote FROM votes WHERE person_id = {ME} AND comment_id = 0 ORDER BY post_id"
            steps = [*in_community(name, "", "Controversial"), *votes, stop()]
            yield Made({"community": name}, becomes("forum", sql, wanted), steps)


@template("forum", "change", "Save the two newest posts in c/{community} with the flair “{flair}”.")
def _save_two(world: World, rng: random.Random) -> Iterator[Made]:
    kept = [
        r["post_id"]
        for r in world.rows("forum", f"SELECT post_id FROM saved WHERE person_id = {ME}")
    ]
    for name in shuffled_names(rng):
        flair = rng.choice(FLAIRS)
        found = sorted_posts(world, name, "new", f"flair = '{flair}'")[:2]
        ids = [p["id"] for p in found]
        if len(found) == 2 and not set(ids) & set(kept):
            saves = [click("Save", "button", after=p["title"]) for p in found]
            sql = f"SELECT post_id FROM saved WHERE person_id = {ME} AND comment_id = 0 ORDER BY post_id"
            wanted = "\n".join(map(str, sorted([*kept, *ids])))
            yield Made(
                {"community": name, "flair": flair},
                becomes("forum", sql, wanted),
                [*in_community(name, flair), *saves, stop()],
            )


@template("forum", "change", "Reply “{text}” to the comment by {person} on the post “{title}”.")
def _reply(world: World, rng: random.Random) -> Iterator[Made]:
    for k in world.mixed(rng, "forum", TOLD_BY + "a.id <> p.author_id"):
        text = rng.choice(REMARKS)
        steps = [
            *open_post(k), *unfolded(k["folded"]), click("Reply", after=k["person"]), fill(f"Reply to {k['person']}", text),
            click("Post reply", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT parent_id, body FROM comments WHERE author_id = {ME} AND written = '{NOW}'"
        yield Made(
            {"text": text, "person": k["person"], "title": k["title"]},
            becomes("forum", sql, f"{k['id']} | {text}"),
            steps,
        )


@template(
    "forum",
    "change",
    "Post in c/{community} under the flair “{flair}”: the title is “{title}”, the text is “{text}”, and of that “{word}” alone is in bold.",
)
def _bold(world: World, rng: random.Random) -> Iterator[Made]:
    for name in shuffled_names(rng):
        (title, text), flair = (
            rng.choice(TEXTS),
            rng.choice((*LORE[name].flairs, "Discussion", "Advice")),
        )
        word = rng.choice([w.strip("?.,") for w in text.split() if len(w.strip("?.,")) > 3])
        body = re.sub(rf"\b{word}\b", f"**{word}**", text, count=1)
        steps = [
            click("Submit"), choose("Community", name), fill("Title", title), choose("Flair", flair), fill("Text", body),
            click("Submit post", "button"), stop(),
        ]  # fmt: skip
        sql = (
            "SELECT c.name, flair, title, replace(body, '__', '**') FROM posts p JOIN communities c ON c.id = community_id"
            f" WHERE author_id = {ME} AND written = '{NOW}'"
        )
        values = {"community": name, "flair": flair, "title": title, "text": text, "word": word}
        yield Made(values, becomes("forum", sql, f"{name} | {flair} | {title} | {body}"), steps)


@template(
    "forum",
    "change",
    "Give my post “{title}” the flair “{flair}” and, as its whole text, “{text}” as a Markdown quotation.",
)
def _quote(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "forum", POSTS + f"p.author_id = {ME}"):
        flair, text = (
            rng.choice([f for f in dict.fromkeys(FLAIRS) if f != p["flair"]]),
            rng.choice(REMARKS),
        )
        steps = [
            *open_post(p), click("Edit post"), choose("Flair", flair), fill("Text", f"> {text}"), click("Save changes", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT flair, replace(body, '> ', '>') FROM posts WHERE id = {p['id']}"
        yield Made(
            {"title": p["title"], "flair": flair, "text": text},
            becomes("forum", sql, f"{flair} | >{text}"),
            steps,
        )


@template(
    "forum",
    "change",
    "I moderate c/{community}. Of its posts with the flair “{flair}”, pin the most controversial one.",
)
def _pin_flaired(world: World, rng: random.Random) -> Iterator[Made]:
    for name, flair in rng.sample(
        [(n, f) for n in MINE for f in dict.fromkeys((*FLAIRS, *LORE[n].flairs))], 2 * 11
    ):
        found = sorted_posts(world, name, "controversial", f"flair = '{flair}'")
        if len(found) > 1 and found[0]["rank"] > found[1]["rank"]:
            steps = [
                *in_community(name, flair, "Controversial"),
                click(found[0]["title"]),
                click("Pin", "button"),
                stop(),
            ]
            sql = "SELECT id FROM posts WHERE pinned = 1 ORDER BY id"
            yield Made(
                {"community": name, "flair": flair}, becomes("forum", sql, found[0]["id"]), steps
            )
