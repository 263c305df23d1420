"""Side effects: plans change only their tasks' data, and every other difference is found.

No browser is needed.
"""

import collections
import itertools
import sqlite3
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from agentgym_envs.envs.web.actions import WebAction
from agentgym_envs.envs.web.steps import choose, click, fill, goto, search
from agentgym_envs.tasks import Task
from agentgym_websites import host as hosts
from agentgym_websites.changes import differences, side_effects
from agentgym_websites.env import WebSitesEnv
from agentgym_websites.plain import PlainBrowser
from agentgym_websites.site import ORIGINS, open_database
from agentgym_websites.tasks.load import load

TASKS = load()
FIRST = {t["intent_template_id"]: t for t in reversed(TASKS)}.values()
CHANGING = [t for t in FIRST if t["kind"] == "change"]

# Additional changes that an agent can make, on the pages of each site; no task contains the names.
EXTRA = {
    "shop": [
        goto(ORIGINS["shop"]),
        click("My account"),
        fill("ZIP code", "99999"),
        click("Save", "button"),
    ],
    "admin": [
        goto(ORIGINS["admin"]),
        search("#1003"),
        click("Order #1003"),
        fill("Internal note", "Look"),
        click("Save", "button"),
    ],
    "forum": [
        goto(ORIGINS["forum"] + "/settings"),
        fill("Biography", "Nobody asked for this."),
        click("Save", "button"),
    ],
    "code": [
        goto(ORIGINS["code"] + "/profile"),
        fill("About me", "Nobody asked for this."),
        click("Save", "button"),
    ],
    "map": [
        goto(ORIGINS["map"] + "/place/3"),
        choose("List", "Avoid"),
        fill("Note", "Look"),
        click("Save place", "button"),
    ],
}
# A worse side effect of the same kind as many tasks: all rows of a table.
EVERY = {
    "shop": "UPDATE orders SET status = 'Cancelled' WHERE status <> 'Cancelled'",
    "forum": "UPDATE posts SET removed = 1 WHERE removed = 0",
    "code": "UPDATE issues SET state = 'closed' WHERE state = 'open'",
    "map": "DELETE FROM saved WHERE place_id = (SELECT min(place_id) FROM saved)",
}


@pytest.fixture(scope="module")
def host():
    found = hosts.Host()
    yield found
    found.restore()


def played(host, task):
    """Plays a task's plan; returns the environment's judgement and the agent's answer."""
    host.restore()
    browser = PlainBrowser(host)
    return browser, browser.play(task["start_url"], task["oracle"])


def judged(host, task, browser, said):
    env = WebSitesEnv()
    env.host, env.task = host, Task(id=task["name"], split=task["split"], difficulty=1, data=task)
    outcome = env.judge(
        WebAction("stop", text=said),
        SimpleNamespace(page=SimpleNamespace(url=browser.url), another_tab=nullcontext),
    )
    env.host = None
    return outcome


@pytest.mark.timeout(1800)
@pytest.mark.full
@pytest.mark.parametrize("first", [True, False])
def test_every_plan_solves_its_task_without_a_side_effect(host, first):
    """Either the first instance of every eighth template, or all."""
    for task in list(FIRST)[::8] if first else TASKS:
        outcome = judged(host, task, *played(host, task))
        assert outcome.extra == {"side_effects": []}, task["name"]
        assert outcome.success, task["name"]


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(t, id=t["name"], marks=[pytest.mark.full] * (number % 36 > 0))
        for number, t in enumerate(CHANGING)
    ],
)
def test_a_side_effect_is_noticed(host, task):
    """A form of a site that the task does not name, and all rows of a table that it names."""
    browser, said = played(host, task)
    site = list(EXTRA)[task["task_id"] % len(EXTRA)]
    for step in EXTRA[site]:
        browser.do(step)
    outcome = judged(host, task, browser, said)
    assert (outcome.score, outcome.success) == (0.0, False)
    assert len(outcome.extra["side_effects"]) == 1
    browser, said = played(host, task)
    tables = hosts.SITES[task["sites"][-1]].tables
    with host.database(tables) as db:
        db.execute(EVERY[tables])
    assert not judged(host, task, browser, said).success


@pytest.mark.parametrize("kind", ["find", "navigate", "unachievable"])
def test_what_changes_nothing_must_change_nothing(host, kind):
    tasks = {t["sites"][0]: t for t in FIRST if t["kind"] == kind}
    for site, task in tasks.items():
        browser, said = played(host, task)
        ended = browser.url
        for step in EXTRA[site]:
            browser.do(step)
        browser.url = ended
        assert not judged(host, task, browser, said).success, task["name"]


def test_tasks_say_what_they_change():
    for task in TASKS:
        assert bool(task["changes"]) == (task["kind"] == "change"), task["name"]
    wanted = collections.Counter(
        (tables, table)
        for t in TASKS
        for tables, changes in t["changes"].items()
        for table in changes
    )
    assert len(wanted) > 20


@pytest.fixture
def shelves():
    db = open_database()
    db.executescript(
        "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, price REAL); INSERT INTO book"
        " VALUES (1, 'A  b', 2), (2, 'C', 3);CREATE TABLE tag (book INT, name TEXT); INSERT INTO"
        " tag VALUES (1, 'x'), (1, 'x'), (2, NULL);CREATE TABLE pair (a INT, b INT, PRIMARY KEY (a,"
        " b)) WITHOUT ROWID; INSERT INTO pair VALUES (1, 2);"
    )
    content = db.serialize()
    db.close()
    return open_database(content), content


DIFFERENCES = [
    ("UPDATE book SET title = 'a b' WHERE id = 1", {}),
    (
        "UPDATE book SET price = 2.5 WHERE id = 1",
        {"book": {"changed": [{"id": 1, "to": {"price": 2.5}}]}},
    ),
    (
        "UPDATE book SET price = NULL WHERE id = 1",
        {"book": {"changed": [{"id": 1, "to": {"price": None}}]}},
    ),
    (
        "INSERT INTO book VALUES (3, 'D', 4)",
        {"book": {"added": [{"id": 3, "title": "D", "price": 4.0}]}},
    ),
    (
        "DELETE FROM book WHERE id = 2",
        {"book": {"removed": [{"id": 2, "title": "C", "price": 3.0}]}},
    ),
    ("DELETE FROM tag WHERE rowid = 1", {"tag": {"removed": [{"book": 1, "name": "x"}]}}),
    ("DELETE FROM tag WHERE rowid = 3; INSERT INTO tag VALUES (2, NULL)", {}),
    ("DELETE FROM tag WHERE rowid = 1; INSERT INTO tag VALUES (1, 'x')", {}),
    ("INSERT INTO tag VALUES (1, 'x')", {"tag": {"added": [{"book": 1, "name": "x"}]}}),
    (
        "UPDATE pair SET b = 3",
        {"pair": {"added": [{"a": 1, "b": 3}], "removed": [{"a": 1, "b": 2}]}},
    ),
]


@pytest.mark.parametrize(("sql", "wanted"), DIFFERENCES)
def test_differences_between_databases(shelves, sql, wanted):
    db, before = shelves
    assert differences(db, before) == {}
    db.executescript(sql)
    assert differences(db, before) == wanted
    assert differences(db, before) == wanted, "the snapshot is let go of"
    with pytest.raises(sqlite3.OperationalError):
        db.execute("SELECT * FROM before.book")


def test_the_columns_of_a_grid_count_only_where_a_task_is_about_them():
    chosen = {"shop": {"grids": {"added": [{"staff_id": 1, "grid": "orders", "columns": "id"}]}}}
    other = {"shop": {"grids": {"added": [{"staff_id": 1, "grid": "orders", "columns": "total"}]}}}
    assert side_effects(chosen, {}) == []
    assert side_effects(chosen, chosen) == []
    assert side_effects(chosen, other) == ["shop.grids: added"] == side_effects({}, other)


def test_changes_are_compared_without_order_and_blanks():
    one, two = (
        {"shop": {"cart": {"added": rows}}}
        for rows in ([{"a": "X y"}, {"a": 2}], [{"a": 2}, {"a": " x  y"}])
    )
    assert side_effects(one, two) == []
    assert side_effects(one, {}) == ["shop.cart: added"] == side_effects({}, one)
    more = {"shop": {"cart": {"added": [{"a": 2}]}}, "map": {"saved": {"removed": [{"b": 1}]}}}
    assert side_effects(more, one) == ["map.saved: removed", "shop.cart: added"]
    for first, second in itertools.permutations((one, more, {}), 2):
        assert side_effects(first, second)
