"""The WebArena connector, end to end, on our sites behind real ports.

The tests cover its configuration, logins, actions and evaluators.
"""

import json
from contextlib import suppress

import gymnasium
import pytest
from raised import raises

from agentgym_envs.core import InvalidResponse
from agentgym_envs.envs.web import session as sessions
from agentgym_envs.envs.web.actions import WebAction, parse
from agentgym_envs.envs.web.look import find
from agentgym_envs.envs.web.webarena.config import SITES, filled, to_local, to_public
from agentgym_envs.envs.web.webarena.early_stop import PastAction, early_stop
from agentgym_envs.envs.web.webarena.helpers import make_helpers
from agentgym_envs.errors import ArgumentError, TaskError, UnknownName
from agentgym_websites.host import Servers, application
from agentgym_websites.site import signed_in

pytestmark = pytest.mark.timeout(180)
PRODUCT = "Bluebell 10-inch Skillet"


def spec(number, sites, start, intent, *kinds, state=None, **checks):
    base = {
        "eval_types": list(kinds),
        "reference_answers": None,
        "reference_url": "",
        "program_html": [],
    }
    task = {
        "task_id": number,
        "sites": sites,
        "start_url": start,
        "intent": intent,
        "intent_template_id": 7,
        "geolocation": None,
    }
    return task | {
        "storage_state": state,
        "require_login": state is not None,
        "eval": base | checks,
    }


def page_check(url, locator, **wanted):
    return {"url": url, "locator": locator, "required_contents": wanted}


CART = [
    page_check(
        "__SHOPPING__/cart",
        "document.querySelector('main table').innerText",
        must_include=[PRODUCT],
    ),
    page_check("last", "", must_include=["Subtotal |OR| nothing"]),
]
UNSAVED = [
    page_check(
        "__SHOPPING__/product/7", "document.querySelector('[name=q]').value", exact_match=""
    ),
    page_check("last", "document.querySelector('[name=q]').value", exact_match="lamp"),
]
WEIGHT, REASON = {"must_include": ["700 g"]}, {"fuzzy_match": ["too dear"]}
SKILLET, BOTH = "__SHOPPING__/product/7", "__SHOPPING__ |AND| __REDDIT__/login"
TASKS = [
    spec(
        0,
        ["shopping"],
        "__SHOPPING__/search?q=skillet",
        "Open the skillet.",
        "url_match",
        reference_url=SKILLET,
    ),
    spec(1, ["shopping"], SKILLET, "Buy it.", "program_html", state="shop.json", program_html=CART),
    spec(2, ["shopping"], SKILLET, "How heavy?", "string_match", reference_answers=WEIGHT),
    spec(3, ["shopping", "reddit"], BOTH, "Why?", "string_match", reference_answers=REASON),
    spec(4, ["gitlab"], "__GITLAB__", "Go.", "url_match", reference_url="__GITLAB__/x"),
    spec(
        5,
        ["shopping"],
        SKILLET,
        "Change it.",
        "program_html",
        state="shop.json",
        program_html=UNSAVED,
    ),
    spec(6, ["shopping"], SKILLET, "Stay.", "url_match", reference_url=SKILLET),
    spec(
        7,
        ["shopping"],
        SKILLET,
        "Who?",
        "url_match",
        state="other/shop.json",
        reference_url=SKILLET,
    ),
]


@pytest.fixture(scope="module")
def servers():
    running = Servers()
    yield running
    running.close()


@pytest.fixture
def make(servers, tmp_path, monkeypatch):
    for name in SITES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SHOPPING", servers.origins["shop"] + "/")
    monkeypatch.setenv("REDDIT", servers.origins["forum"])
    (tmp_path / "test.raw.json").write_text(json.dumps(TASKS))
    cookie = {
        "name": "session_shop",
        "value": signed_in(application("shop"), 5),
        "domain": "127.0.0.1",
        "path": "/",
        "expires": -1,
    }
    cookie |= {"httpOnly": True, "secure": False, "sameSite": "Lax"}
    (tmp_path / "shop.json").write_text(json.dumps({"cookies": [cookie], "origins": []}))
    monkeypatch.setenv("WEBARENA_CONFIG", str(tmp_path / "test.raw.json"))
    made = []

    def build(**kwargs):
        made.append(
            gymnasium.make(
                "agentgym/WebArena-v1",
                **{"split": "all", "logins": tmp_path, "pause": 0.0} | kwargs,
            ).unwrapped
        )
        return made[-1]

    yield build
    for env in made:
        env.close()


def test_an_address_is_reached_and_judged(make):
    env = make()
    text, _ = env.reset(options={"task_id": "shopping-0"})
    assert "OBJECTIVE: Open the skillet." in text
    env.step(f"click [{find(text, PRODUCT).id}]")
    *_, info = env.step("stop []")
    assert info["success"]
    env.reset(options={"task_id": "shopping-0"})
    assert not env.step("stop []")[4]["success"]


def test_a_login_is_used_and_the_page_is_judged(make, servers):
    env = make()
    name = (
        servers.host.database("shop")
        .execute("SELECT name FROM customers WHERE id = 5")
        .fetchone()[0]
    )
    text, _ = env.reset(options={"task_id": "shopping-1"})
    assert f"Signed in as {name}" in text
    env.step(f"click [{find(text, 'Add to cart').id}]")
    *_, info = env.step("stop []")
    assert info["success"]
    # The next episode is signed out.
    assert "Sign in" in env.reset(options={"task_id": "shopping-2"})[0]


def test_what_is_not_saved_does_not_count_and_what_is_shown_stays(make, monkeypatch):
    """The address is opened in a tab that the agent does not see; its own page stays."""
    env = make()
    text, _ = env.reset(options={"task_id": "shopping-5"})
    monkeypatch.setattr(sessions, "TABS", 2)
    env.step("new_tab")
    env.step("tab_focus [0]")
    env.step(f"type [{find(text, role='searchbox').id}] [lamp] [0]")
    text, *_, info = env.step("stop []")
    assert info["success"], text
    assert text.startswith(f"Tab 0 (current): {PRODUCT} – Harbor Supply | Tab 1: \n")
    assert info["blocked"] == {}
    assert find(text, role="searchbox").text == "lamp"
    assert info["url"].endswith("/product/7")


def test_the_login_that_a_task_names_is_used(make, tmp_path, servers):
    """Two files with the same name are two accounts."""
    name = (
        servers.host.database("shop")
        .execute("SELECT name FROM customers WHERE id = 6")
        .fetchone()[0]
    )
    (tmp_path / "other").mkdir()
    state = json.loads((tmp_path / "shop.json").read_text())
    state["cookies"][0]["value"] = signed_in(application("shop"), 6)
    (tmp_path / "other" / "shop.json").write_text(json.dumps(state))
    env = make()
    assert f"Signed in as {name}" in env.reset(options={"task_id": "shopping-7"})[0]
    assert f"Signed in as {name}" not in env.reset(options={"task_id": "shopping-1"})[0]
    # The folder in which "other" lies is another one.
    env = make(logins=tmp_path / "other")
    with raises(TaskError, "logins=", "other/shop.json"):
        env.reset(options={"task_id": "shopping-7"})


def test_answers_and_the_judge(make):
    env = make()
    env.reset(options={"task_id": "shopping-2"})
    *_, info = env.step("stop [It weighs 700 g.]")
    assert info["success"]
    assert "judged_by" not in info
    text, _ = env.reset(options={"task_id": "shopping+reddit-3"})
    assert text.startswith("Tab 0 (current): Home – Harbor Supply | Tab 1: Sign in – Commonplace")
    *_, info = env.step("stop [It was too dear for me]")
    assert (info["success"], info["judged_by"]) == (True, "normalised match")
    asked = []
    env = make(judge=lambda *question: asked.append(question))
    env.reset(options={"task_id": "shopping+reddit-3"})
    *_, info = env.step("stop [expensive]")
    assert (info["success"], info["judged_by"]) == (False, "judge")
    assert asked == [("fuzzy_match", "Why?", "too dear", "expensive")]


def test_only_the_sites_can_be_reached(make, servers):
    env = make()
    env.reset(options={"task_id": "shopping-0"})
    *_, info = env.step(f"goto [{servers.origins['map']}]")
    assert info["blocked"] == {servers.origins["map"]: 1}
    *_, info = env.step(f"goto [{servers.origins['forum']}/login]")
    assert info["url"].startswith(servers.origins["forum"])
    env = make(more_hosts=[servers.origins["map"].removeprefix("http://")])
    env.reset(options={"task_id": "shopping-0"})
    *_, info = env.step(f"goto [{servers.origins['map']}]")
    assert (info["blocked"], info["url"]) == ({}, servers.origins["map"] + "/")


def test_all_tasks_are_a_split_too(make):
    env = make()
    assert env.task_ids == tuple(f"{'+'.join(t['sites'])}-{t['task_id']}" for t in TASKS)
    splits = []
    for split in ("train", "dev", "test"):
        with suppress(TaskError):  # a split without a task
            splits += make(split=split).task_ids
    assert sorted(splits) == sorted(env.task_ids)
    with raises(UnknownName, "'everything'"):
        make(split="everything")
    with raises(UnknownName, "'all'"):
        gymnasium.make("agentgym/Maze-v1", split="all")


def test_what_is_missing_is_named(make, tmp_path, monkeypatch):
    env = make()
    with raises(TaskError, "GITLAB"):
        env.reset(options={"task_id": "gitlab-4"})
    (tmp_path / "shop.json").unlink()
    with raises(TaskError, "shop.json", "agentgym webarena login"):
        env.reset(options={"task_id": "shopping-1"})
    monkeypatch.delenv("WEBARENA_CONFIG")
    with raises(TaskError, "WEBARENA_CONFIG"):
        gymnasium.make("agentgym/WebArena-v1")
    with pytest.raises(TaskError, match="cannot be read"):
        gymnasium.make("agentgym/WebArena-v1", config=tmp_path / "nothing.json")
    (tmp_path / "odd.json").write_text('[{"task_id": 1}]')
    with raises(TaskError, "'sites'"):
        gymnasium.make("agentgym/WebArena-v1", config=tmp_path / "odd.json")


def test_a_folder_with_a_task_a_file(make, tmp_path):
    folder = tmp_path / "tasks"
    folder.mkdir()
    for task in TASKS:
        (folder / f"{task['task_id']}.json").write_text(json.dumps(task))
    assert len(make(config=folder).task_ids) == len(TASKS)


def test_addresses_are_filled_in_wherever_a_task_names_one():
    """Also in the required contents of pages: 60 of WebArena's checks name one there."""
    check = page_check("__SHOPPING__/a", "", must_include=["__MAP__/b |OR| __MAP__/c"])
    task = spec(
        5, ["map"], "__SHOPPING__ |AND| __MAP__", "Go.", "program_html", program_html=[check]
    )
    whole = filled(task, {"SHOPPING": "http://s", "MAP": "http://m"})
    assert whole["start_url"] == "http://s |AND| http://m"
    assert whole["eval"]["program_html"] == [
        page_check("http://s/a", "", must_include=["http://m/b |OR| http://m/c"])
    ]
    assert task["start_url"] == "__SHOPPING__ |AND| __MAP__"


URLS = {
    "SHOPPING": "http://h:7770",
    "SHOPPING_ADMIN": "http://h:7780/admin",
    "REDDIT": "http://h:9999",
    "HOMEPAGE": "http://h",
    "MAP": "http://m:3000",
}


@pytest.mark.parametrize(
    ("local", "public"),
    [
        ("http://h:7770/a?b=c", "http://onestopmarket.com/a?b=c"),
        ("http://h:7780/admin/dashboard", "http://luma.com/admin/dashboard"),
        ("http://h:7780/administrators", "http://h:7780/administrators"),
        ("http://h:9999", "http://reddit.com"),
        ("http://h:99991/", "http://h:99991/"),
        ("http://h", "http://homepage.com"),
        ("http://h/", "http://homepage.com/"),
        ("http://h.test/", "http://h.test/"),
        ("http://m:3000/#map=7", "http://openstreetmap.org/#map=7"),
        ("about:blank", "about:blank"),
        ("goto [http://h:9999/f/books]", "goto [http://reddit.com/f/books]"),
        (
            "type [3] [see http://h:9999, http://m:3000.] [0]",
            "type [3] [see http://reddit.com, http://openstreetmap.org.] [0]",
        ),
    ],
)
def test_addresses_have_public_names(local, public):
    assert to_public(local, URLS) == public
    assert to_local(public, URLS) == local
    assert to_local(public.replace("http:", "https:"), URLS) in (
        local,
        public.replace("http:", "https:"),
    )


def test_an_address_that_begins_another_is_not_taken_for_it():
    urls = {"SHOPPING": "http://h", "SHOPPING_ADMIN": "http://h/admin"}
    assert (
        to_public("http://h/admin/x http://h/x", urls)
        == "http://luma.com/admin/x http://onestopmarket.com/x"
    )


def test_a_name_of_a_site_that_is_not_hosted_stays():
    assert to_local("goto [http://gitlab.com/x]", URLS) == "goto [http://gitlab.com/x]"
    assert (
        to_local("goto [http://reddit.com.evil.test]", URLS) == "goto [http://reddit.com.evil.test]"
    )
    assert to_local("goto [http://reddit.com]", {}) == "goto [http://reddit.com]"


def test_the_agent_sees_and_writes_public_names(make, servers):
    env = make()
    text, info = env.reset(options={"task_id": "shopping-2"})
    assert "\nURL: http://onestopmarket.com/product/7\n" in text
    for address in (
        "https://reddit.com/login",
        "reddit.com/login",
        servers.origins["forum"] + "/login",
    ):
        env.step("goto [http://onestopmarket.com/cart]")
        text, *_, info = env.step(f"goto [{address}]")
        assert info["url"] == servers.origins["forum"] + "/login"
        assert "\nURL: http://reddit.com/login\n" in text
        assert f"PREVIOUS ACTION: goto [{address}]" in text


def did(*actions, url="http://h/"):
    return [PastAction(parse(a) if a != "?" else WebAction("none"), url) for a in actions]


@pytest.mark.parametrize(
    ("done", "reason"),
    [
        (did("?", "?"), ""),
        (did("?", "?", "?"), "3 actions in a row were not understood"),
        (did("?", "scroll [up]", "?", "?"), ""),
        (did("scroll [down]", "scroll [down]"), ""),
        (
            did("scroll [down]", "scroll [down]", "scroll [down]"),
            "the same action was repeated 3 times",
        ),
        (did("scroll [down]", "scroll [up]", "scroll [down]", "scroll [down]"), ""),
        (did("go_back", "go_back", "go_back"), "the same action was repeated 3 times"),
        (did("click [1]", "click [1]", "click [1]"), "the same action was repeated 3 times"),
        (did("click [1]", "click [1]", "click [2]"), ""),
        (did("click [1]", "hover [1]", "click [1]"), ""),
        (
            did("click [1]", "click [1]") + did("click [1]", url="http://h/2"),
            "",
        ),  # another page's element
        (did("press [a]", "press [a]", "press [b]"), ""),
        (did("goto [http://h/a]", "goto [http://h/a]", "goto [http://h/b]"), ""),
        (did("tab_focus [0]", "tab_focus [1]", "tab_focus [0]"), ""),
        (did("select [1] [a]", "select [1] [b]", "select [1] [c]"), ""),
        (
            did("type [1] [a]", "scroll [up]", "type [1] [b]", "scroll [up]", "type [1] [c]"),
            "the same field was typed into 3 times",
        ),
        (did("type [1] [a]", "type [1] [a]", "type [2] [a]"), ""),
        (did("type [1] [a]", "type [1] [a]", "click [1]"), ""),
        ([], ""),
    ],
)
def test_an_agent_is_given_up_as_upstream_gives_it_up(done, reason):
    """Derived from ``early_stop`` and ``is_equivalent`` of WebArena."""
    assert early_stop(done, 3, 3) == reason
    assert early_stop(done, None, None) == ""


def test_each_limit_is_one_of_its_own():
    assert early_stop(did("?", "?"), 2, None)
    assert early_stop(did("go_back", "go_back"), 2, None) == ""
    assert early_stop(did("go_back", "go_back"), None, 2)


def test_an_episode_that_is_given_up_is_judged_without_an_answer(make):
    env = make(repeated_actions=2)
    for task_id, success in (("shopping-0", False), ("shopping-2", False), ("shopping-6", True)):
        env.reset(options={"task_id": task_id})
        *_, done, _, info = env.step("scroll [down]")
        assert not done
        *_, done, _, info = env.step("scroll [down]")
        assert (done, info["success"], info["early_stop"]) == (
            True,
            success,
            "the same action was repeated 2 times",
        )
    assert "early_stop" not in env.reset(options={"task_id": "shopping-0"})[1]
    assert not env.step("scroll [down]")[2]
    env = make(parsing_failures=3)
    env.reset(options={"task_id": "shopping-0"})
    done = [env.step(text)[2] for text in ("a", "click [999]", "b", "click [998]", "c", "d", "e")]
    assert done == [False] * 6 + [True], "an element that is not there was understood"
    env.reset(options={"task_id": "shopping-0"})
    assert [env.step(text)[2] for text in ("a", InvalidResponse("Write one action."), "b")] == [
        False,
        False,
        True,
    ]


def test_a_response_without_an_action_shows_the_page_and_what_was_wrong(make):
    env = make()
    observation, _ = env.reset(options={"task_id": "shopping-0"})
    possible = env.actions()
    again, reward, over, _, info = env.step(InvalidResponse("Write one action."))
    assert (
        again
        == observation.replace("PREVIOUS ACTION: None", "PREVIOUS ACTION: none")
        + "\nERROR: Write one action."
    )
    assert (reward, over, info["invalid"]) == (0, False, True)
    assert env.actions() == possible


@pytest.mark.parametrize(("keywords", "title"), [({}, "late"), ({"pause": 0.0}, "soon")])
def test_what_comes_within_two_seconds_is_seen_unless_one_asks_otherwise(make, keywords, title):
    env = gymnasium.make(
        "agentgym/WebArena-v1", split="all", max_episode_steps=-1, **keywords
    ).unwrapped
    try:
        env.reset(options={"task_id": "shopping-0"})
        env.session.page.evaluate(
            "document.title = 'soon'; setTimeout(() => document.title = 'late', 1800); 0"
        )
        assert env.step("scroll [down]")[0].startswith(f"Tab 0 (current): {title}\n")
    finally:
        env.close()


def test_every_page_that_is_opened_to_be_judged_has_its_own_time(make):
    env = make(timeout=7)
    env.reset(options={"task_id": "shopping-1"})
    assert (env.patience(WebAction("click")), env.patience(WebAction("stop"))) == (7, 14)
    env = make(timeout=7, repeated_actions=3)
    env.reset(options={"task_id": "shopping-1"})
    assert env.patience(WebAction("click")) == 14


def test_numbers_and_hosts_that_cannot_be_are_refused(make):
    with raises(ArgumentError, "repeated_actions=0"):
        make(repeated_actions=0)
    with raises(ArgumentError, "more_hosts='http://tiles.example'"):
        make(more_hosts=["http://tiles.example"])


class Answer:
    def __init__(self, content):
        self.json = lambda: content


class Requests:
    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def post(self, url, data):
        self.asked.append((url, data))
        return Answer("token")

    def get(self, url, headers):
        assert headers == {"Authorization": "Bearer token"}
        return Answer(next(a for part, a in self.answers.items() if part in url))


def test_the_helpers_ask_magento_and_read_addresses():
    reviews = [
        {"nickname": "A", "ratings": [{"percent": 20}]},
        {"nickname": "B", "ratings": [{"percent": 80}]},
    ]
    requests = Requests(
        {"/orders?": {"items": [{"increment_id": "000000187"}]}, "/products/B01/reviews": reviews}
    )
    helpers = make_helpers({"SHOPPING": "http://s", "REDDIT": "http://r"}, requests)
    assert helpers["shopping_get_latest_order_url"]() == "http://s/sales/order/view/order_id/187/"
    assert helpers["shopping_get_sku_latest_review_author"]("B01") == "B"
    assert helpers["shopping_get_sku_latest_review_rating"]("B01") == "80"
    assert requests.asked[0] == (
        "http://s/rest/default/V1/integration/admin/token",
        {"username": "admin", "password": "admin1234"},
    )
    assert (
        helpers["reddit_get_post_url"]("http://r/f/books/59421/a-title/comment/7")
        == "http://r/f/books/59421/"
    )
    assert (
        helpers["reddit_get_post_url"]("https://r.test:9999/f/books/59421")
        == "https://r.test:9999/f/books/59421/"
    )
    assert helpers["reddit_get_post_url"]("http://r/f/books") == "http://r/f/books"
    assert helpers["reddit_get_post_url"]("http://r/user/x") == "http://r/user/x"


def test_a_role_is_the_one_of_the_account_of_this_very_name(make):
    """On a page in GitLab's form: 'ann' is not 'joann', and only members have a role."""
    env = make()
    env.reset(options={"task_id": "shopping-0"})
    rows = "".join(
        f"<tr><td data-label=Account><span class=gl-avatar-labeled-sublabel>@{name}</span></td>"
        f"<td class=col-max-role><span>{role}</span></td></tr>"
        for name, role in (
            ("anna", "Owner"),
            ("joann", "Guest"),
            ("ann", "Developer"),
            ("o'neil", "Reporter"),
        )
    )
    env.session.page.set_content(f"<table>{rows}</table>")
    role = make_helpers(env.urls, None)["gitlab_get_project_memeber_role"]
    assert [role(env.session.page, name) for name in ("ann", "anna", "jo", "o'neil")] == [
        "Developer",
        "Owner",
        "",
        "Reporter",
    ]
    env.session.page.evaluate("document.querySelectorAll = null")
    assert role(env.session.page, "ann") == ""
