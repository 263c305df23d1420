"""WebArena's evaluators on cases worked out by hand."""

import pytest

from agentgym_envs.envs.web.evaluators import Scene, clean, evaluate, includes, normalised
from agentgym_envs.errors import TaskError


class Page:
    def __init__(self, url="http://shop.test/", content="", values=None):
        self.url, self._content, self._values, self.visited = url, content, values or {}, []

    def content(self):
        return self._content

    def evaluate(self, expression):
        return self._values.get(expression)

    def goto(self, url, **_):
        self.visited.append(url)
        self.url = url


def task(kinds, **spec):
    base = {"reference_answers": None, "reference_url": "", "program_html": []}
    return {"task_id": 1, "intent": "Why?", "eval": {"eval_types": kinds, **base, **spec}}


def answer_fits(said, judge=None, note="", **wanted):
    return evaluate(task(["string_match"], reference_answers=wanted, string_note=note), said, Scene(Page(), judge=judge))


def test_cleaning():
    assert clean(' "Yes" ') == "yes"
    assert clean("'N/A'") == "n/a"
    assert clean("it's") == "it's"


@pytest.mark.parametrize(
    ("wanted", "said", "fits"),
    [
        ({"exact_match": "Yes"}, "yes", True),
        ({"exact_match": "Yes"}, "yes.", False),
        ({"must_include": ["$12.50", "Oslo"]}, "It costs $12.50 in Oslo", True),
        ({"must_include": ["$12.50", "Oslo"]}, "It costs $12.50", False),
        ({"must_include": ["0"]}, "10", False),  # one character alone must be a word of its own
        ({"must_include": ["0"]}, "There are 0 of them", True),
        ({"must_include": ["0", "1"]}, "10", True),
    ],
)
def test_answers(wanted, said, fits):
    assert answer_fits(said, **wanted).success is fits


def test_what_cannot_be_done():
    assert answer_fits("N/A", fuzzy_match="N/A").success
    assert answer_fits("n/a", fuzzy_match="N/A").judged_by == ""
    verdict = answer_fits("There is no such product.", fuzzy_match="N/A", note="There is no such product")
    assert verdict == (True, "normalised match")
    assert not answer_fits("42", fuzzy_match="N/A", note="There is no such product").success


def test_free_answers_ask_the_judge_or_fall_back():
    asked = []

    def judge(intent, reference, said):
        asked.append((intent, reference, said))
        return True

    assert answer_fits("a long story", judge, fuzzy_match=["an hour"]) == (True, "judge")
    assert asked == [("Why?", "an hour", "a long story")]
    assert answer_fits("It takes about an hour, by car.", fuzzy_match=["hour by car"]) == (True, "normalised match")
    assert answer_fits("two hours", fuzzy_match=["an hour"]) == (False, "normalised match")
    assert normalised("The Blue-Door", "a bluedoor!")
    assert includes("Oslo", "OSLO")


@pytest.mark.parametrize(
    ("reference", "note", "url", "fits"),
    [
        ("http://s.test/a", "", "http://s.test/a/", True),
        ("http://s.test/a", "", "http://s.test/a?page=2", True),
        ("http://s.test/a?q=1", "", "http://s.test/a?q=1&page=2", True),
        ("http://s.test/a?q=1", "", "http://s.test/a?page=2", False),
        ("http://s.test/a |OR| http://s.test/b", "", "http://s.test/b", True),
        ("http://s.test/a", "EXACT", "http://s.test/a?page=2", False),
        ("http://s.test/a", "EXACT", "http://s.test/ab", False),
        ("http://s.test/a?x=1&y=2", "EXACT", "http://s.test/a?y=2&x=1&z=", True),  # an empty field of a form says nothing
    ],
)
def test_addresses(reference, note, url, fits):
    assert evaluate(task(["url_match"], reference_url=reference, url_note=note), "", Scene(Page(url))).success is fits


def program(locator="", url="last", page=None, query=None, helpers=None, **wanted):
    target = {"url": url, "locator": locator, "required_contents": wanted}
    scene = Scene(page or Page(), lambda u: u.replace("__SHOP__", "http://s.test"), query, helpers or {})
    return evaluate(task(["program_html"], program_html=[target]), "", scene).success


def test_programs():
    expression = "() => document.title"
    assert program("document.title", page=Page(values={expression: "Cart &amp; more"}), exact_match="Cart & more")
    assert not program("document.title", page=Page(), exact_match="Cart")
    assert program(page=Page(content="<p>5 apples</p>"), must_include=["pears |OR| apples"])
    page = Page(content="there")
    assert program(url="__SHOP__/cart", page=page, must_include=["there"])
    assert page.visited == ["http://s.test/cart"]
    assert program("sql:shop:SELECT 1", query=lambda sql: {"shop:SELECT 1": "1"}[sql], exact_match="1")
    helpers = {"double": lambda text, page: text * 2 + page.url}
    assert program("func:double('ab', __page__)", helpers=helpers, exact_match="ababhttp://shop.test/")
    page = Page(content="order")
    assert program(url="func:latest('__last_url__')", page=page, helpers={"latest": lambda url: url + "7"}, must_include=["order"])
    assert page.visited == ["http://shop.test/7"]


def test_all_evaluators_must_agree():
    spec = {"reference_answers": {"exact_match": "yes"}, "reference_url": "http://s.test/a"}
    both = task(["string_match", "url_match"], **spec)
    assert evaluate(both, "yes", Scene(Page("http://s.test/a"))).success
    assert not evaluate(both, "yes", Scene(Page("http://s.test/b"))).success
    assert not evaluate(both, "no", Scene(Page("http://s.test/a"))).success


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (task(["guess"]), "unknown evaluator 'guess'"),
        (task(["string_match"], reference_answers={"rhymes_with": "x"}), "unknown answer check 'rhymes_with'"),
        (task(["url_match"], reference_url="a", url_note="maybe"), "unknown url_note 'maybe'"),
    ],
)
def test_unknown_checks_are_errors(spec, message):
    with pytest.raises(TaskError, match=message):
        evaluate(spec, "", Scene(Page()))


@pytest.mark.parametrize("locator", ["func:__import__('os').system('x')", "func:missing()", "window.alert(1)", "sql:shop:SELECT 1"])
def test_locators_run_nothing_else(locator):
    with pytest.raises(TaskError, match=r"calls none of|unknown locator|needs a database"):
        program(locator, exact_match="x")
