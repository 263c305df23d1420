"""The forum: texts, lists, votes, threads and forms."""

import re
import urllib.parse

import gymnasium
import pytest

from agentgym_envs.envs.web.look import NotShown, find
from agentgym_envs.envs.web.proxy import ProxyRequest
from agentgym_websites import host as hosts
from agentgym_websites.forum.data import ME, MINE
from agentgym_websites.forum.feed import ORDERS
from agentgym_websites.forum.lore import LORE
from agentgym_websites.forum.texts import titles as known_titles
from agentgym_websites.site import ORIGINS, open_database
from agentgym_websites.tasks.load import load

pytestmark = pytest.mark.timeout(300)
FORUM = ORIGINS["forum"]


@pytest.fixture(scope="module")
def db():
    return open_database(hosts.snapshot("forum"))


@pytest.fixture
def host():
    return hosts.Host()


def cookie(host):
    return next(f"{c['name']}={c['value']}" for c in host.cookies() if c["url"] == FORUM)


def asked(host, path):
    return host.serve(
        ProxyRequest("GET", FORUM + path, {"cookie": cookie(host)}, b"")
    ).body.decode()


def sent(host, path, accept="text/html", **form):
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "cookie": cookie(host),
        "accept": accept,
    }
    return host.serve(
        ProxyRequest("POST", FORUM + path, headers, urllib.parse.urlencode(form).encode())
    )


def titles(page):
    return re.findall(r'<article class="post" aria-label="([^"]+)"', page)


def test_no_two_texts_are_equal(db):
    for table, count in (("posts", 2640), ("comments", 9768)):
        assert db.execute(f"SELECT count(DISTINCT body) FROM {table}").fetchone()[0] == count
    assert db.execute("SELECT count(DISTINCT body) FROM wiki").fetchone()[0] == 60
    bios = [r[0] for r in db.execute("SELECT bio FROM people WHERE bio <> ''")]
    assert len(set(bios)) == len(bios) > 200


def test_texts_are_about_their_subject_and_have_no_blanks(db):
    """A post names something of its subject.

    A comment names something of the subject, of the gear, or the person whom it answers.
    """
    places = {r["id"]: r["name"] for r in db.execute("SELECT * FROM communities")}
    names = {r["id"]: r["name"] for r in db.execute("SELECT * FROM people")}
    posts = {r["id"]: r for r in db.execute("SELECT * FROM posts")}
    comments = {r["id"]: r for r in db.execute("SELECT * FROM comments")}
    vague = 0
    for post in posts.values():
        topic = known_titles(places[post["community_id"]])[post["title"]]
        subject = LORE[topic.community].subjects[topic.subject]
        marks = [*subject.tips, *subject.troubles, subject.measure, topic.subject]
        assert any(m.lower() in post["body"].lower() for m in marks), post["body"]
    for comment in comments.values():
        post = posts[comment["post_id"]]
        topic = known_titles(places[post["community_id"]])[post["title"]]
        lore = LORE[topic.community]
        subject, parent = lore.subjects[topic.subject], comments.get(comment["parent_id"])
        marks = [
            *subject.tips,
            *subject.troubles,
            subject.measure,
            topic.subject,
            lore.shop,
            lore.doer,
            *(g[0] for g in lore.gear),
        ]
        marks += [names[parent["author_id"]]] if parent else []
        vague += not any(m.lower() in comment["body"].lower() for m in marks)
    assert vague < 0.1 * len(comments)
    assert not [
        r
        for r in (*posts.values(), *comments.values())
        if re.search(r"[{}]|\ba [aeiou]\w+ (scoop|therm)", r["body"])
    ]


def test_what_tasks_ask_for_is_said(db):
    told = db.execute(
        "SELECT f.*, coalesce(k.body, p.body) AS body FROM facts f JOIN posts p ON p.id = f.post_id"
        " LEFT JOIN comments k ON k.id = comment_id"
    ).fetchall()
    assert len({f["name"] for f in told}) == 4
    for f in told:
        assert f["value"].lower() in f["body"].lower(), tuple(f)


def test_a_price_is_that_of_the_thing_that_was_asked_for(db):
    pairs = db.execute(
        "SELECT q.value AS gear, f.value AS price, k.body, c.name FROM facts q JOIN comments k ON"
        " k.parent_id = q.comment_id JOIN facts f ON f.comment_id = k.id AND f.name = 'price' JOIN"
        " posts p ON p.id = k.post_id JOIN communities c ON c.id = community_id WHERE q.name ="
        " 'asks'"
    ).fetchall()
    assert len(pairs) > 50
    for pair in pairs:
        low, high = next(
            (low, high) for name, low, high in LORE[pair["name"]].gear if name == pair["gear"]
        )
        assert low <= int(pair["price"][1:]) <= high
        others = [name for name, _, _ in LORE[pair["name"]].gear if name != pair["gear"]]
        assert not any(name in pair["body"] for name in others)


def test_the_snapshot_is_small_and_always_the_same():
    content = hosts.snapshot("forum")
    assert len(content) < 3_000_000
    hosts.snapshot.cache_clear()
    assert hosts.snapshot("forum") == content


@pytest.mark.parametrize("order", ORDERS)
def test_a_list_is_sorted_and_narrowed_to_a_flair(host, db, order):
    shown = [
        t
        for n in (1, 2)
        for t in titles(asked(host, f"/c/linux?sort={order}&flair=Question&page={n}"))
    ]
    sql = (
        "SELECT p.*, score + downs AS ups FROM posts p JOIN communities c ON c.id = community_id"
        " WHERE c.name = 'linux' AND flair = 'Question'"
    )
    found = db.execute(sql).fetchall()
    keys = {
        "new": lambda p: p["written"],
        "top": lambda p: p["score"],
        "talk": lambda p: p["comments"],
        "controversial": lambda p: (
            (p["ups"] + p["downs"]) * min(p["ups"], p["downs"]) / max(p["ups"], p["downs"], 1)
        ),
    }
    assert sorted(shown) == sorted(p["title"] for p in found)
    assert 15 < len(found) <= 30
    if order in keys:
        assert shown == [
            p["title"]
            for p in sorted(found, key=lambda p: (keys[order](p), -p["id"]), reverse=True)
        ]
    if order == "old":
        assert shown == [p["title"] for p in sorted(found, key=lambda p: p["written"])]
    if order == "hot":
        assert shown[:15] != titles(asked(host, "/c/linux?sort=old&flair=Question"))


def test_a_list_is_narrowed_to_a_range_of_time(host, db):
    for time, since in (
        ("day", "2026-06-14"),
        ("month", "2026-05-15"),
        ("quarter", "2026-03-15"),
        ("", "2000-01-01"),
    ):
        sql = (
            "SELECT count(*) FROM posts p JOIN communities c ON c.id = community_id WHERE c.name ="
            " 'linux' AND written >= ?"
        )
        count = db.execute(sql, (f"{since} 12:00",)).fetchone()[0]
        assert f"{count} post{'' if count == 1 else 's'}, page" in asked(
            host, f"/c/linux?time={time}"
        )


def test_a_vote_counts_with_and_without_a_script(host):
    before = (
        host.database("forum").execute("SELECT score, downs FROM posts WHERE id = 7").fetchone()
    )
    told = sent(host, "/post/7/vote", "application/json", how="down")
    assert (told.status, told.body) == (
        200,
        f'{{"score":{before["score"] - 1},"vote":-1}}\n'.encode(),
    )
    plain = sent(host, "/post/7/vote", how="up", back="/c/bread?sort=top")
    assert (plain.status, plain.headers["Location"]) == (302, "/c/bread?sort=top")
    now = host.database("forum").execute("SELECT score, downs FROM posts WHERE id = 7").fetchone()
    assert tuple(now) == (before["score"] + 1, before["downs"])
    for elsewhere in ("//evil.test", "http://evil.test"):
        assert sent(host, "/post/7/vote", how="up", back=elsewhere).headers["Location"] == "/post/7"


def test_what_is_saved_is_listed(host):
    title = host.database("forum").execute("SELECT title FROM posts WHERE id = 300").fetchone()[0]
    assert title not in titles(asked(host, "/saved"))
    assert sent(host, "/post/300/save", "application/json").body == b'{"label":"Unsave"}\n'
    assert title in titles(asked(host, "/saved"))
    sent(host, "/post/300/save")
    assert title not in titles(asked(host, "/saved"))
    sent(host, "/post/300/save", comment="1")
    assert "Comment on" in asked(host, "/saved")


def test_an_answer_belongs_to_a_comment_of_its_post(host):
    db = host.database("forum")
    here, there = (
        db.execute("SELECT id FROM comments WHERE post_id = ?", (p,)).fetchone()[0] for p in (7, 2)
    )
    sent(host, "/post/7/comment", body="an answer", parent=here)
    sent(host, "/post/7/comment", body="not an answer", parent=there)
    mine = db.execute(
        "SELECT body, parent_id FROM comments WHERE author_id = ? ORDER BY id", (ME,)
    ).fetchall()
    assert [tuple(r) for r in mine] == [("an answer", here), ("not an answer", None)]
    assert f"comment-{here}" in asked(host, f"/post/7?reply={here}")
    assert "Post reply" in asked(host, f"/post/7?reply={here}")


def test_only_flairs_of_the_community_and_only_moderators(host):
    db = host.database("forum")
    own, alien = LORE["coffee"].flairs[0], LORE["bread"].flairs[0]
    for flair in (own, alien):
        sent(host, "/submit", community="coffee", title=f"With {flair}", body="x", flair=flair)
    assert [
        r[0] for r in db.execute("SELECT flair FROM posts WHERE title LIKE 'With %' ORDER BY id")
    ] == [own, ""]
    for community in (MINE[0], "bread"):
        sent(host, f"/c/{community}/wiki/gear/edit", title="Gear", body="**all new**")
    assert "<strong>all new</strong>" in asked(host, f"/c/{MINE[0]}/wiki/gear")
    assert "all new" not in asked(host, "/c/bread/wiki/gear")


def test_markdown_brings_no_markup_of_its_own(host):
    nasty = "<img src=x onerror=alert(1)> [here](javascript:alert(1)) **bold**"
    assert b"<img" not in sent(host, "/preview", text=nasty).body
    assert b"<strong>bold</strong>" in sent(host, "/preview", text=nasty).body
    posted = sent(host, "/submit", community="coffee", title="<b>x</b>", body=nasty)
    sent(host, posted.headers["Location"] + "/comment", body=nasty)
    page = asked(host, posted.headers["Location"])
    assert page.count("<strong>bold</strong>") == 2
    for bad in ("<img", 'href="javascript', "<b>x"):
        assert bad not in page


def test_suggestions_are_communities_and_the_best_posts(host):
    assert asked(host, "/suggest?q=") == "[]\n"
    found = asked(host, "/suggest?q=co")
    assert '"c/coffee"' in found
    assert '"c/cooking"' in found
    assert "hand grinders" in asked(host, "/suggest?q=hand%20grind")


def test_a_search_may_look_into_texts(host):
    sql = "SELECT count(*) FROM posts WHERE title || ' ' || body LIKE '%Tucson%'"
    count = host.database("forum").execute(sql).fetchone()[0]
    assert f"{count} posts" in asked(host, "/search?q=Tucson&in=texts")
    assert "0 posts" in asked(host, "/search?q=Tucson")


def test_pages_of_a_person(host):
    name, key = (
        host.database("forum").execute("SELECT name, id FROM people WHERE id = 5").fetchone()
    )
    count = (
        host.database("forum")
        .execute("SELECT count(*) FROM comments WHERE author_id = ?", (key,))
        .fetchone()[0]
    )
    assert f"{count} comments" in asked(host, f"/u/{name}/comments")
    assert "Sort by" in asked(host, f"/u/{name}/posts")
    assert "/saved" in asked(host, "/me").partition("</header>")[2]
    assert 'href="/saved"' not in asked(host, f"/u/{name}").partition("</header>")[2]


@pytest.fixture
def env():
    made = gymnasium.make("agentgym/WebSites-v1", max_episode_steps=-1).unwrapped
    made.reset(options={"task_id": next(t["name"] for t in load() if t["name"] == "forum-22-0")})
    yield made
    made.close()


def done(env, verb, name, role, rest="", **where):
    """Does something with an element; returns the observation."""
    return env.step(f"{verb} [{find(env._text, name, role=role, **where).id}]{rest}")[0]


@pytest.mark.browser
@pytest.mark.slow
def test_the_script_votes_folds_suggests_previews_and_checks(env):
    query = env.host.database("forum").execute
    title = titles(asked(env.host, "/"))[0]
    shown = done(env, "click", "Upvote", "button", after=title)
    assert "pressed: true" in find(shown, "Upvote", role="button", after=title).properties.lower()
    assert query("SELECT vote FROM votes").fetchall()[0][0] == 1
    shown = done(env, "click", "Save", "button", after=title)
    assert find(shown, "Unsave", role="button", after=title)

    with pytest.raises(NotShown):
        find(shown, "c/music", role="link")
    shown = done(env, "click", "Go to a community ▾", "button")
    shown = done(env, "type", "Filter communities", "searchbox", " [mus] [0]")
    assert find(shown, "c/music", role="link")
    shown = done(env, "type", "Search", "searchbox", " [hand grind] [0]")
    suggested = next(
        e.name
        for e in (find(shown, role="link", nth=n) for n in range(40))
        if "hand grinders" in e.name
    )
    shown = done(env, "click", suggested, "link")
    assert find(shown, suggested, role="heading")

    key = query(
        "SELECT post_id FROM comments WHERE score >= 0 AND parent_id IS NULL AND post_id > 40"
    ).fetchone()[0]
    comment = query(
        "SELECT k.*, name FROM comments k JOIN people a ON a.id = author_id WHERE post_id = ? ORDER"
        " BY score DESC",
        (key,),
    ).fetchone()
    shown = env.step(f"goto [{FORUM}/post/{key}]")[0]
    said = re.split(r"[.*]", comment["body"].strip("*"))[0].strip()
    assert said in shown
    assert said not in done(env, "click", f"Collapse comment by {comment['name']}", "button")
    assert said in done(env, "click", f"Expand comment by {comment['name']}", "button")
    shown = done(env, "click", "Reply", "link", after=comment["name"])
    shown = done(env, "click", "Post reply", "button")
    assert "A comment needs some text." in shown
    shown = done(env, "type", f"Reply to {comment['name']}", "textbox", " [# Well] [0]")
    assert "A comment needs some text." not in shown
    assert find(shown, "Well", role="heading", after="Preview")
    done(env, "click", "Post reply", "button")
    assert [
        tuple(r) for r in query("SELECT body, parent_id FROM comments WHERE author_id = ?", (ME,))
    ] == [("# Well", comment["id"])]
