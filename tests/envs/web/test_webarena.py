"""The WebArena connector, end to end: its configuration, logins, actions and evaluators, on our sites behind real ports."""

import json

import gymnasium
import pytest

from agentgym_envs.envs.web.look import find
from agentgym_envs.envs.web.sites.host import Servers, application
from agentgym_envs.envs.web.sites.site import signed_in
from agentgym_envs.envs.web.webarena.config import SITES, resolve
from agentgym_envs.envs.web.webarena.helpers import make_helpers
from agentgym_envs.errors import TaskError

pytestmark = pytest.mark.timeout(180)
PRODUCT = "Ember & Oak 10-inch Skillet"


def spec(number, sites, start, intent, *kinds, state=None, **checks):
    base = {"eval_types": list(kinds), "reference_answers": None, "reference_url": "", "program_html": []}
    task = {"task_id": number, "sites": sites, "start_url": start, "intent": intent, "intent_template_id": 7, "geolocation": None}
    return task | {"storage_state": state, "require_login": state is not None, "eval": base | checks}


def page_check(url, locator, **wanted):
    return {"url": url, "locator": locator, "required_contents": wanted}


CART = [
    page_check("__SHOPPING__/cart", "document.querySelector('main table').innerText", must_include=[PRODUCT]),
    page_check("last", "", must_include=["Subtotal |OR| nothing"]),
]
WEIGHT, REASON = {"must_include": ["700 g"]}, {"fuzzy_match": ["too dear"]}
SKILLET, BOTH = "__SHOPPING__/product/7", "__SHOPPING__ |AND| __REDDIT__/login"
TASKS = [
    spec(0, ["shopping"], "__SHOPPING__/search?q=skillet", "Open the skillet.", "url_match", reference_url=SKILLET),
    spec(1, ["shopping"], SKILLET, "Buy it.", "program_html", state="shop.json", program_html=CART),
    spec(2, ["shopping"], SKILLET, "How heavy?", "string_match", reference_answers=WEIGHT),
    spec(3, ["shopping", "reddit"], BOTH, "Why?", "string_match", reference_answers=REASON),
    spec(4, ["gitlab"], "__GITLAB__", "Go.", "url_match", reference_url="__GITLAB__/x"),
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
    cookie = {"name": "session_shop", "value": signed_in(application("shop"), 5), "domain": "127.0.0.1", "path": "/", "expires": -1}
    cookie |= {"httpOnly": True, "secure": False, "sameSite": "Lax"}
    (tmp_path / "shop.json").write_text(json.dumps({"cookies": [cookie], "origins": []}))
    monkeypatch.setenv("WEBARENA_CONFIG", str(tmp_path / "test.raw.json"))
    made = []

    def build(**kwargs):
        split = next(s for s in ("train", "dev", "test") if _tasks(s))
        made.append(gymnasium.make("agentgym/WebArena-v0", split=split, logins=tmp_path, **kwargs).unwrapped)
        return made[-1]

    yield build
    for env in made:
        env.close()


def _tasks(split):
    try:
        return gymnasium.make("agentgym/WebArena-v0", split=split).unwrapped.task_ids
    except TaskError:  # a split without a task
        return ()


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
    name = servers.host.database("shop").execute("SELECT name FROM customers WHERE id = 5").fetchone()[0]
    text, _ = env.reset(options={"task_id": "shopping-1"})
    assert f"Signed in as {name}" in text
    env.step(f"click [{find(text, 'Add to cart').id}]")
    *_, info = env.step("stop []")
    assert info["success"]
    assert "Sign in" in env.reset(options={"task_id": "shopping-2"})[0]  # the next episode is nobody


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
    assert asked == [("Why?", "too dear", "expensive")]


def test_only_the_sites_can_be_reached(make, servers):
    env = make()
    env.reset(options={"task_id": "shopping-0"})
    *_, info = env.step(f"goto [{servers.origins['map']}]")
    assert info["blocked"] == {servers.origins["map"]: 1}
    *_, info = env.step(f"goto [{servers.origins['forum']}/login]")
    assert info["url"].startswith(servers.origins["forum"])


def test_what_is_missing_is_named(make, tmp_path, monkeypatch):
    env = make()
    with pytest.raises(TaskError, match="set the environment variable GITLAB"):
        env.reset(options={"task_id": "gitlab-4"})
    (tmp_path / "shop.json").unlink()
    with pytest.raises(TaskError, match=r"shop\.json: make it with"):
        env.reset(options={"task_id": "shopping-1"})
    monkeypatch.delenv("WEBARENA_CONFIG")
    with pytest.raises(TaskError, match="set WEBARENA_CONFIG"):
        gymnasium.make("agentgym/WebArena-v0")
    with pytest.raises(TaskError, match="cannot be read"):
        gymnasium.make("agentgym/WebArena-v0", config=tmp_path / "nothing.json")
    (tmp_path / "odd.json").write_text('[{"task_id": 1}]')
    with pytest.raises(TaskError, match="has no 'sites'"):
        gymnasium.make("agentgym/WebArena-v0", config=tmp_path / "odd.json")


def test_a_folder_with_a_task_a_file(make, tmp_path):
    folder = tmp_path / "tasks"
    folder.mkdir()
    for task in TASKS:
        (folder / f"{task['task_id']}.json").write_text(json.dumps(task))
    assert len(make(config=folder).task_ids) == len(TASKS)


def test_addresses_are_filled_in():
    assert resolve("__SHOPPING__/a |OR| __MAP__/b", {"SHOPPING": "http://s", "MAP": "http://m"}) == "http://s/a |OR| http://m/b"


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
    reviews = [{"nickname": "A", "ratings": [{"percent": 20}]}, {"nickname": "B", "ratings": [{"percent": 80}]}]
    requests = Requests({"/orders?": {"items": [{"increment_id": "000000187"}]}, "/products/B01/reviews": reviews})
    helpers = make_helpers({"SHOPPING": "http://s", "REDDIT": "http://r"}, requests)
    assert helpers["shopping_get_latest_order_url"]() == "http://s/sales/order/view/order_id/187/"
    assert helpers["shopping_get_sku_latest_review_author"]("B01") == "B"
    assert helpers["shopping_get_sku_latest_review_rating"]("B01") == "80"
    assert requests.asked[0] == ("http://s/rest/default/V1/integration/admin/token", {"username": "admin", "password": "admin1234"})
    assert helpers["reddit_get_post_url"]("http://r/f/books/59421/-/comment/7") == "http://r/f/books/59421/-/"
    assert helpers["reddit_get_post_url"]("http://r/user/x") == "http://r/user/x"
