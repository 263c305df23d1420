"""WebArena's evaluators, on cases derived one by one from upstream's rules.

``support/upstream_webarena.py`` runs upstream's code.
"""

from contextlib import nullcontext

import pytest
from playwright.sync_api import Error, TimeoutError
from webarena_cases import ADDRESSES, ANSWER_DIFFERENCES, ANSWERS, CONTENTS, NOTE

from agentgym_envs.envs.web.evaluators import EvaluationInput, evaluate, normalised
from agentgym_envs.errors import TaskError


class Page:
    """A tab: ``pages`` are contents by address, ``found`` is an expression's value or error."""

    def __init__(self, url="http://shop.test/", pages=(), found=()):
        self.url, self.pages, self.found, self.ran = url, dict(pages), dict(found), []

    def content(self):
        return self.pages[self.url]

    def evaluate(self, expression):
        self.ran.append(expression.removeprefix("() => "))
        found = self.found.get(self.ran[-1])
        if isinstance(found, Exception):
            raise found
        return found

    def goto(self, url, **_):
        self.url = url

    def wait_for_load_state(self, state, **_):
        raise TimeoutError(f"never {state}")


def scene(page=None, tab=None, **more):
    return EvaluationInput(page or Page(), lambda: nullcontext(tab), **more)


def task(kinds, **spec):
    base = {"reference_answers": None, "reference_url": "", "program_html": []}
    return {"task_id": 1, "intent": "Why?", "eval": {"eval_types": kinds, **base, **spec}}


def judge(question, intent, reference, answer):
    """Decides the recorded cases."""
    assert intent == "Why?"
    assert reference == NOTE if question == "ua_match" else question == "fuzzy_match"
    return "no such" in answer if question == "ua_match" else reference.lower() in answer


def answer_fits(said, judge=None, note=NOTE, **wanted):
    return evaluate(
        task(["string_match"], reference_answers=wanted, string_note=note), said, scene(judge=judge)
    )


@pytest.mark.parametrize(("wanted", "said", "fits"), ANSWERS)
def test_answers_fit_as_upstream_has_it(wanted, said, fits):
    assert answer_fits(said, judge, **wanted).success is fits


@pytest.mark.parametrize(("wanted", "said", "theirs", "ours"), ANSWER_DIFFERENCES)
def test_where_answers_fit_otherwise(wanted, said, theirs, ours):
    assert answer_fits(said, judge, **wanted).success is ours is not theirs


@pytest.mark.parametrize(("reference", "url", "fits"), ADDRESSES)
def test_addresses_fit_as_upstream_has_it(reference, url, fits):
    assert (
        evaluate(task(["url_match"], reference_url=reference), "", scene(Page(url))).success is fits
    )


@pytest.mark.parametrize(("found", "wanted", "fits"), CONTENTS)
def test_contents_fit_as_upstream_has_it(found, wanted, fits):
    assert program("document.title", page=Page(found={"document.title": found}), **wanted) is fits


def test_there_are_enough_cases_and_each_once():
    assert len(ANSWERS) + len(ADDRESSES) + len(CONTENTS) >= 140
    for table in (ANSWERS, ADDRESSES, CONTENTS):
        assert len({repr(case[:2]) for case in table}) == len(table)


def test_the_judge_is_told_what_it_is_asked():
    asked = []

    def judge(*question):
        asked.append(question)
        return True

    assert answer_fits("A Long story", judge, fuzzy_match=["an hour", "N/A"]) == (True, "judge")
    assert answer_fits("n/a", judge, fuzzy_match="N/A") == (True, "")
    assert answer_fits("It is gone", judge, "It was sold", fuzzy_match="N/A") == (True, "judge")
    assert asked == [
        ("fuzzy_match", "Why?", "an hour", "a long story"),
        ("fuzzy_match", "Why?", "N/A", "a long story"),
        ("ua_match", "Why?", "It was sold", "it is gone"),
    ]


def test_without_a_judge_the_words_are_compared():
    assert answer_fits("There is no such product, I fear.", fuzzy_match="N/A") == (
        True,
        "normalised match",
    )
    assert answer_fits("42", fuzzy_match="N/A") == (False, "normalised match")
    assert answer_fits("It takes about an hour, by car.", fuzzy_match=["hour by car"]) == (
        True,
        "normalised match",
    )
    assert answer_fits("two hours", fuzzy_match=["an hour"]) == (False, "normalised match")
    assert normalised("The Blue-Door", "a bluedoor!")


@pytest.mark.parametrize(
    ("reference", "url", "fits"),
    [
        ("http://s.test/a", "http://s.test/a/", True),
        ("http://s.test/a", "http://s.test/a?page=2", False),
        ("http://s.test/a", "http://s.test/ab", False),
        ("http://s.test/a?x=1&y=2", "http://s.test/a?y=2&x=1&z=", True),
    ],
)
def test_our_sites_ask_for_exact_addresses(reference, url, fits):
    spec = task(["url_match"], reference_url=reference, url_note="EXACT")
    assert evaluate(spec, "", scene(Page(url))).success is fits


def program(
    locator="", url="last", page=None, tab=None, query=None, helpers=None, prep_actions=(), **wanted
):
    target = {
        "url": url,
        "locator": locator,
        "required_contents": wanted,
        "prep_actions": prep_actions,
    }
    seen = scene(page, tab, query=query, helpers=helpers or {})
    return evaluate(task(["program_html"], program_html=[target]), "", seen).success


def html(**changes):
    return task(
        ["program_html"],
        program_html=[
            {"url": "last", "locator": "", "required_contents": {"exact_match": ""}} | changes
        ],
    )


def test_an_address_is_loaded_in_another_tab_even_if_it_is_shown():
    """Unsaved text of the agent is on its page, and on no other."""
    shown, saved = (
        Page("http://s.test/profile", {"http://s.test/profile": "Ann"}),
        Page("", {"http://s.test/profile": "Bob"}),
    )
    assert program(page=shown, must_include=["Ann"])
    assert program(url="http://s.test/profile", page=shown, tab=saved, must_include=["Bob"])
    assert not program(url="http://s.test/profile", page=shown, tab=saved, must_include=["Ann"])
    assert shown.url == "http://s.test/profile"


def test_the_last_page_is_the_agents_whatever_was_looked_at_before():
    targets = [
        {
            "url": "http://s.test/other",
            "locator": "",
            "required_contents": {"must_include": ["other"]},
        },
        {"url": "last", "locator": "", "required_contents": {"must_include": ["mine"]}},
    ]
    seen = scene(
        Page("http://s.test/", {"http://s.test/": "mine"}),
        Page("", {"http://s.test/other": "other"}),
    )
    assert evaluate(task(["program_html"], program_html=targets), "", seen).success


def test_databases_and_helpers_are_asked():
    assert program(
        "sql:shop:SELECT 1", query=lambda sql: {"shop:SELECT 1": "1"}[sql], exact_match="1"
    )
    helpers = {"double": lambda text, page: text * 2 + page.url, "latest": lambda url: url + "7"}
    assert program(
        "func:double('ab', __page__)", helpers=helpers, exact_match="ababhttp://shop.test/"
    )
    tab = Page("", {"http://shop.test/7": "order"})
    assert program(
        url="func:latest('__last_url__')", tab=tab, helpers=helpers, must_include=["order"]
    )
    assert program(
        "func:double('', __page__)",
        url="http://s.test/x",
        tab=tab,
        helpers=helpers,
        exact_match="http://s.test/x",
    )


def test_a_preparation_that_fails_ends_the_preparations_only():
    page = Page(found={"open()": Error("no such button"), "document.title": "Done"})
    assert program(
        "document.title",
        page=page,
        prep_actions=["first()", "open()", "never()"],
        exact_match="Done",
    )
    assert page.ran == ["first()", "open()", "document.title"]


def test_an_element_that_is_not_there_is_empty():
    page = Page(found={"document.title": Error("null has no properties")})
    assert program("document.title", page=page, exact_match="")
    assert not program("document.title", page=page, must_include=["x"])


def test_all_evaluators_must_agree():
    spec = {"reference_answers": {"exact_match": "yes"}, "reference_url": "http://s.test/a"}
    both = task(["string_match", "url_match"], **spec)
    assert evaluate(both, "yes", scene(Page("http://s.test/a"))).success
    assert not evaluate(both, "yes", scene(Page("http://s.test/b"))).success
    assert not evaluate(both, "no", scene(Page("http://s.test/a"))).success


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (task(["guess"]), "unknown evaluator 'guess'"),
        (
            task(["string_match"], reference_answers={"rhymes_with": "x"}),
            "unknown answer check 'rhymes_with'",
        ),
        (
            task(["string_match"], reference_answers={"ua_match": "x"}),
            "unknown answer check 'ua_match'",
        ),
        (
            task(["string_match"], reference_answers={"must_include": "x"}),
            "must_include must be a list, not 'x'",
        ),
        (
            task(["string_match"], reference_answers={"fuzzy_match": "x"}),
            "fuzzy_match must be a list, not 'x'",
        ),
        (
            task(
                ["program_html"],
                program_html=[{"url": "last", "locator": "sql:x", "required_contents": {}}],
            ),
            "needs a database",
        ),
        (task(["url_match"], reference_url="a", url_note="maybe"), "unknown url_note 'maybe'"),
        (
            task(["url_match"], reference_url="http://[x"),
            r"reference_url='http://\[x' is not an address",
        ),
        (task(["url_match"], reference_url=None), "reference_url must hold texts, not None"),
        (
            task(["string_match"], reference_answers=None),
            "string_match needs reference_answers, not None",
        ),
        (
            task(["string_match"], reference_answers={"exact_match": 5}),
            "exact_match must hold texts, not 5",
        ),
        (
            task(["string_match"], reference_answers={"must_include": ["a", 5]}),
            "must_include must hold texts, not 5",
        ),
        (
            task(["string_match"], reference_answers={"fuzzy_match": "N/A"}),
            "string_note, .* must hold texts, not None",
        ),
        (html(required_contents={"must_include": "abc"}), "must_include must be a list, not 'abc'"),
        (
            html(required_contents={"exact_match": ["a"]}),
            r"exact_match must hold texts, not \['a'\]",
        ),
        (html(required_contents={"fuzzy_match": "a"}), r"unknown content check \['fuzzy_match'\]"),
        (html(locator=" document.title"), "unknown locator ' document.title'"),
        (html(url="funcs"), "'funcs' calls none of"),
        (
            task(
                ["url_match", "program_html"],
                reference_url="x",
                program_html=[{"url": "a", "locator": "x", "required_contents": {}}],
            ),
            "unknown locator 'x'",
        ),
    ],
)
def test_unknown_checks_are_errors_whatever_the_agent_did(spec, message):
    with pytest.raises(TaskError, match=message):
        evaluate(spec, "", scene())


@pytest.mark.parametrize(
    "text",
    [
        "func:double('a') + 'b'",
        "func:double('a').upper()",
        "func:double(1 + 1)",
        "func:double(__page__.url)",
        "func:double(",
    ],
)
def test_functions_are_one_call_with_plain_values(text):
    helpers = {"double": lambda text: text * 2}
    assert program("func:double(text='ab')", helpers=helpers, exact_match="abab")
    for spec in (
        {"locator": text},
        {"url": text},
        {"locator": "func:double('a', 'b')"},
        {"url": "func:double(__page__)"},
    ):
        with pytest.raises(TaskError, match="calls none of double"):
            program(**spec, helpers=helpers, exact_match="x")


def test_the_agents_address_is_a_text_whatever_stands_in_it():
    """WebArena puts the address between the quotes of a Python text, which an apostrophe ends."""
    page, tab = Page("http://s.test/it's'+x(1)"), Page("", {"http://s.test/it's'+x(1)": "order"})
    assert program(
        url="func:same('__last_url__')",
        page=page,
        tab=tab,
        helpers={"same": str.strip},
        must_include=["order"],
    )
    assert program(
        "func:same('__last_url__')",
        page=page,
        helpers={"same": str.strip},
        exact_match="__last_url__",
    )


def test_preparations_may_be_missing():
    assert program(
        "document.title",
        page=Page(found={"document.title": "x"}),
        prep_actions=None,
        exact_match="x",
    )


@pytest.mark.parametrize(
    "locator",
    ["func:__import__('os').system('x')", "func:missing()", "window.alert(1)", "sql:shop:SELECT 1"],
)
def test_locators_run_nothing_else(locator):
    with pytest.raises(TaskError, match=r"calls none of|unknown locator|needs a database"):
        program(locator, exact_match="x")
