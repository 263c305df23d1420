"""What there is to do in the forum."""

import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from agentgym_envs.envs.web.sites.forum.data import ME, MINE
from agentgym_envs.envs.web.sites.forum.feed import NOW, ORDERS, RANGES
from agentgym_envs.envs.web.sites.forum.lore import LORE
from agentgym_envs.envs.web.sites.forum.phrases import FLAIRS
from agentgym_envs.envs.web.sites.forum.reading import LOW
from agentgym_envs.envs.web.sites.forum.topics import COMMUNITIES
from agentgym_envs.envs.web.sites.site import ORIGINS, day
from agentgym_envs.envs.web.sites.tasks import answer
from agentgym_envs.envs.web.sites.tasks.template import Made, World, becomes, each, ends_at, template
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
# Posts and comments with what they say of one thing; a comment stands for all of its author's on that post.
TOLD = f"SELECT p.*, f.value AS told FROM ({POSTS} 1) p JOIN facts f ON f.post_id = p.id AND f.comment_id = 0 WHERE "
TOLD_BY = (
    "SELECT k.id, p.title, a.name AS person, f.value AS told,"
    f" {FOLDED.format(start='id')} AS folded FROM facts f JOIN comments k ON k.id = f.comment_id JOIN posts p ON p.id = k.post_id"
    " JOIN people a ON a.id = k.author_id WHERE 1 = (SELECT count(*) FROM posts o WHERE o.title = p.title)"
    " AND 1 = (SELECT count(*) FROM comments o WHERE o.post_id = p.id AND o.author_id = a.id) AND "
)
# A question with its only answer, which names a price.
PRICED = (
    f"SELECT q.*, f.value AS price, {FOLDED.format(start='id')} AS deep FROM ({TOLD_BY} f.name = 'asks') q"
    " JOIN comments k ON k.parent_id = q.id JOIN facts f ON f.comment_id = k.id AND f.name = 'price'"
    " WHERE 1 = (SELECT count(*) FROM comments o WHERE o.parent_id = q.id)"
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
        check=lambda r: answer.number(r["n"]),
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
    check=lambda p: answer.name(p["author"], answer.MEMBERS),
    steps=lambda p: [*_post(p), stop(p["author"])],
)


each(
    "forum",
    "find",
    "How many points does the post “{title}” have? Answer with the number.",
    "forum",
    POSTS + "score > 12",
    check=lambda p: answer.number(p["score"]),
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
            yield Made({"title": p["title"]}, answer.name(found[0]["name"], answer.MEMBERS), [*_post(p), stop(found[0]["name"])])


@template("forum", "find", "How many members does c/{community} have? Answer with the number.")
def _members(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        count = world.value(
            "forum", "SELECT count(*) FROM subscriptions JOIN communities ON id = community_id WHERE name = ?", name
        )
        yield Made({"community": name}, answer.number(count), [*_community(name), stop(count)])


_figure_of_person("How many points has {person} got for posts in all? Answer with the number.", "posts", "sum(score)", 30)


each(
    "forum",
    "find",
    "When did the author of the post “{title}” join the forum? Answer like Jun 2, 2026.",
    "forum",
    POSTS + "1",
    check=lambda p: answer.day(p["joined"]),
    steps=lambda p: [*_post(p), click(p["author"]), stop(day(p["joined"]))],
)


_figure_of_person("How many comments has {person} written in all? Answer with the number.", "comments", "count(*)", 8)


def _ranked(world: World, rng: random.Random, order: str, key: str, label: str) -> Iterator[Made]:
    for name in _names(rng):
        found = world.rows("forum", RANKED + order, name)
        if found[0][key] != found[1][key]:
            steps = [*_community(name), choose("Sort by", label), click("Sort", "button"), stop(found[0]["title"])]
            yield Made({"community": name}, answer.name(found[0]["title"], answer.POSTS), steps)


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
        yield Made({"community": name}, answer.name(author, answer.MEMBERS), [*_community(name), stop(author)])


@template("forum", "find", "How many posts in c/{community} have “{word}” in their title? Answer with the number.")
def _word(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        word = rng.choice(("worth", "advice", "guide", "beginner", "budget", "opinion", "weekend", "help"))
        sql = "SELECT count(*) FROM posts JOIN communities c ON c.id = community_id WHERE c.name = ? AND title LIKE ?"
        count = world.value("forum", sql, name, f"%{word}%")
        if count > 1:
            steps = [search(word), choose("Community", name), click("Filter", "button"), stop(count)]
            yield Made({"community": name, "word": word}, answer.number(count), steps)


@template("forum", "find", "What does c/{community} say about itself?")
def _about(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        text = COMMUNITIES[name][0]
        yield Made({"community": name}, answer.name(text, "forum:SELECT about FROM communities"), [*_community(name), stop(text)])


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
        yield Made({"title": title}, answer.nothing("There is no such post."), [search(title), stop("N/A")])


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


each(
    "forum",
    "find",
    "What did everything cost all in all, according to the post “{title}”? Answer like $12.",
    "forum",
    TOLD + "f.name = 'total'",
    check=lambda p: answer.amount(p["told"]),
    steps=lambda p: [*_post(p), stop(p["told"])],
)
each(
    "forum",
    "find",
    "What does {person} advise in a comment on the post “{title}”? Answer in the comment's words.",
    "forum",
    TOLD_BY + "f.name = 'advice'",
    check=lambda k: answer.name(k["told"], "forum:SELECT DISTINCT value FROM facts"),
    steps=lambda k: [*_post(k), *_unfolded(k["folded"]), stop(k["told"])],
)
each(
    "forum",
    "find",
    "Under the post “{title}”, {person} asks for a price. How much did the one who answers them pay? Answer like $12.",
    "forum",
    PRICED,
    check=lambda k: answer.amount(k["price"]),
    steps=lambda k: [*_post(k), *_unfolded(k["deep"]), stop(k["price"])],
)


def _in_community(name: str, flair: str = "", order: str = "", since: str = "") -> list[Step]:
    """Opens a community's list, with one of its flairs, an order and a range of time if they are given."""
    steps = [*_community(name)]
    if flair:
        steps.append(click(flair))
    if order:
        steps.append(choose("Sort by", order))
    if since:
        steps.append(choose("From", since))
    return steps if not order + since else [*steps, click("Sort", "button")]


def _sorted_posts(world: World, name: str, order: str, condition: str = "1") -> list[Any]:
    """Returns a community's posts with what the order compares, as ``rank``."""
    rank = ORDERS[order][1].removesuffix(" DESC, p.id")
    sql = f"SELECT p.*, {rank} AS rank FROM posts p JOIN communities c ON c.id = community_id WHERE c.name = ? AND {condition}"
    return world.rows("forum", f"{sql} ORDER BY {ORDERS[order][1]}", name)


@template("forum", "find", "What is the title of the {order} post in c/{community} from the past {months} months?")
def _best_of(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        order, words = rng.choice((("top", "highest-scoring"), ("controversial", "most controversial")))
        key, months = rng.choice((("quarter", 3), ("half", 6)))
        label, span = RANGES[key]
        found = _sorted_posts(world, name, order, f"written >= datetime('{NOW}', '{span}')")
        if len(found) > 2 and found[0]["rank"] > found[1]["rank"] and found[0]["id"] != _sorted_posts(world, name, order)[0]["id"]:
            title = found[0]["title"]
            steps = [*_in_community(name, "", ORDERS[order][0], label), stop(title)]
            yield Made({"order": words, "community": name, "months": months}, answer.name(title, answer.POSTS), steps)


@template("forum", "find", "What is a fair price for “{gear}”, according to the wiki of c/{community}? Answer like $12.")
def _fair_price(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        sql = "SELECT body FROM wiki JOIN communities c ON c.id = community_id WHERE name = ? AND slug = 'gear'"
        gear, price = rng.choice(re.findall(r"^\| ([^|]+) \| (\$\d+) ", world.value("forum", sql, name), re.M))
        steps = [*_community(name), click("Wiki"), click("What to buy"), stop(price)]
        yield Made({"gear": gear.lower(), "community": name}, answer.amount(price), steps)


@template("forum", "navigate", "Show the posts of c/{community} with the flair “{flair}” and no others, the {order} first.")
def _flaired(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        flair = rng.choice(LORE[name].flairs)
        key, words = rng.choice(
            (("top", "highest-scoring"), ("controversial", "most controversial"), ("talk", "most commented on"))
        )
        steps = [*_in_community(name, flair, ORDERS[key][0]), stop()]
        url = f"{FORUM}/c/{name}?sort={key}&flair={quote_plus(flair)}"
        yield Made({"community": name, "flair": flair, "order": words}, ends_at(url), steps)


@template("forum", "change", "Upvote the three most controversial posts of all time in c/{community}.")
def _upvote_three(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        found = _sorted_posts(world, name, "controversial")[:4]
        if found[2]["rank"] > found[3]["rank"] and len({p["title"] for p in found}) == 4:
            votes = [click("Upvote", "button", after=p["title"]) for p in found[:3]]
            wanted = "\n".join(f"{p['id']} | 1" for p in sorted(found[:3], key=lambda p: int(p["id"])))
            sql = f"SELECT post_id, vote FROM votes WHERE person_id = {ME} AND comment_id = 0 ORDER BY post_id"
            steps = [*_in_community(name, "", "Controversial"), *votes, stop()]
            yield Made({"community": name}, becomes("forum", sql, wanted), steps)


@template("forum", "change", "Save the two newest posts in c/{community} with the flair “{flair}”.")
def _save_two(world: World, rng: random.Random) -> Iterator[Made]:
    kept = [r["post_id"] for r in world.rows("forum", f"SELECT post_id FROM saved WHERE person_id = {ME}")]
    for name in _names(rng):
        flair = rng.choice(FLAIRS)
        found = _sorted_posts(world, name, "new", f"flair = '{flair}'")[:2]
        ids = [p["id"] for p in found]
        if len(found) == 2 and not set(ids) & set(kept):
            saves = [click("Save", "button", after=p["title"]) for p in found]
            sql = f"SELECT post_id FROM saved WHERE person_id = {ME} AND comment_id = 0 ORDER BY post_id"
            wanted = "\n".join(map(str, sorted([*kept, *ids])))
            yield Made(
                {"community": name, "flair": flair}, becomes("forum", sql, wanted), [*_in_community(name, flair), *saves, stop()]
            )


@template("forum", "change", "Reply “{text}” to the comment by {person} on the post “{title}”.")
def _reply(world: World, rng: random.Random) -> Iterator[Made]:
    for k in world.mixed(rng, "forum", TOLD_BY + "a.id <> p.author_id"):
        text = rng.choice(REMARKS)
        steps = [
            *_post(k), *_unfolded(k["folded"]), click("Reply", after=k["person"]), fill(f"Reply to {k['person']}", text),
            click("Post reply", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT parent_id, body FROM comments WHERE author_id = {ME} AND written = '{NOW}'"
        yield Made({"text": text, "person": k["person"], "title": k["title"]}, becomes("forum", sql, f"{k['id']} | {text}"), steps)


@template(
    "forum",
    "change",
    "Post in c/{community} under the flair “{flair}”: the title is “{title}”, the text is “{text}”, and of that “{word}” alone is in bold.",
)
def _bold(world: World, rng: random.Random) -> Iterator[Made]:
    for name in _names(rng):
        (title, text), flair = rng.choice(TEXTS), rng.choice((*LORE[name].flairs, "Discussion", "Advice"))
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


@template("forum", "change", "Give my post “{title}” the flair “{flair}” and, as its whole text, “{text}” as a Markdown quotation.")
def _quote(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "forum", POSTS + f"p.author_id = {ME}"):
        flair, text = rng.choice([f for f in dict.fromkeys(FLAIRS) if f != p["flair"]]), rng.choice(REMARKS)
        steps = [
            *_post(p), click("Edit post"), choose("Flair", flair), fill("Text", f"> {text}"), click("Save changes", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT flair, replace(body, '> ', '>') FROM posts WHERE id = {p['id']}"
        yield Made({"title": p["title"], "flair": flair, "text": text}, becomes("forum", sql, f"{flair} | >{text}"), steps)


@template("forum", "change", "I moderate c/{community}. Of its posts with the flair “{flair}”, pin the most controversial one.")
def _pin_flaired(world: World, rng: random.Random) -> Iterator[Made]:
    for name, flair in rng.sample([(n, f) for n in MINE for f in dict.fromkeys((*FLAIRS, *LORE[n].flairs))], 2 * 11):
        found = _sorted_posts(world, name, "controversial", f"flair = '{flair}'")
        if len(found) > 1 and found[0]["rank"] > found[1]["rank"]:
            steps = [*_in_community(name, flair, "Controversial"), click(found[0]["title"]), click("Pin", "button"), stop()]
            sql = "SELECT id FROM posts WHERE pinned = 1 ORDER BY id"
            yield Made({"community": name, "flair": flair}, becomes("forum", sql, found[0]["id"]), steps)
