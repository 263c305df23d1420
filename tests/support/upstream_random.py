"""Compares our parser and evaluators with WebArena's code on random cases.

    PYTHONPATH=agentgym_envs/src python upstream_random.py 20000

Uses the Python environment of ``upstream_webarena.py``. Prints the differences that the README of
the web environments does not document, and fails if there are any.
"""

import json
import random
import re
import sys
import types
from contextlib import nullcontext

import upstream_webarena as upstream
import webarena_cases as cases
from playwright.sync_api import Error

from agentgym_envs.envs.web import evaluators as ours
from agentgym_envs.envs.web.actions import BadAction, parse
from agentgym_envs.envs.web.webarena.helpers import make_helpers
from agentgym_envs.errors import TaskError

NAMES = [
    "click",
    "hover",
    "type",
    "press",
    "scroll",
    "goto",
    "new_tab",
    "go_back",
    "go_forward",
    "tab_focus",
    "close_tab",
    "stop",
    "Click",
]
BITS = [
    "[",
    "]",
    " ",
    "  ",
    "\n",
    "\t",
    "\r",
    "\u00a0",
    "\u2028",
    "[1]",
    "[0]",
    " [3]",
    "[a]",
    "[x y]",
    "up",
    "[down]",
    "[]",
    "[１２]",
]
BITS += [
    "[٣]",
    "[²]",
    "[007]",
    "Enter",
    "[ctrl+a]",
    "[Control+A]",
    "[http://a.test]",
    "a",
    "click",
    "stop",
    "type",
    "[a]b]",
    "é",
    "'",
    ".",
]
TEXTS = [
    "Yes",
    "yes",
    "0",
    "1",
    "a",
    "N/A",
    "n/a",
    "It is 0.",
    "10",
    "",
    "'yes'",
    '"a"',
    "a, b",
    "no such thing",
    " 0 ",
    "x |OR| y",
    "é",
]
TEXTS += ["12:00", "0's", "a.b.", "$5", "5", "(5)", "-5", "5.", "don't", "1,000", "a&amp;b", "a&b"]
OTHERS = [5, None, True, ["x"], {"a": 1}]
HERE = [
    "http://s.test/a",
    "http://s.test/b?q=1",
    "http://s.test/f/x/3/it's",
    "http://s.test/f/x/3/abc",
]
URLS = [
    "last",
    "last",
    HERE[0],
    "func:reddit_get_post_url('__last_url__')",
    "func:echo('x')",
    "func:echo(__page__)",
    "func:echo(text='u')",
]
URLS += [
    "func: echo('x') ",
    "func:echo('x', 'y')",
    "func:nope()",
    "funcs",
    "func:echo(1+1)",
    "func:'http://s.test/'+'a'",
]
LOCATORS = [
    "",
    "  ",
    "document.title",
    " document.title",
    "[...document.x]",
    "document.fail",
    "window.x",
    'func:role(__page__, "o\'neil")',
]
LOCATORS += [
    "func:echo('__last_url__')",
    "func:role(__page__.url)",
    "func:echo('a').upper()",
    "\ndocument.title",
    "func:echo(",
    "func:zero()",
]


class Page:
    """A page whose results contain the request."""

    context = types.SimpleNamespace(new_page=lambda: Page("about:blank"))

    def __init__(self, url):
        self.url = url

    def content(self):
        return f"<html>a 0 x yes {self.url}"

    def evaluate(self, expression):
        if "fail" in expression or "bad" in expression:
            raise Error("no")
        return "yes" if "title" in expression else f"r:{expression}"

    def goto(self, url, **_):
        self.url = url

    def close(self):
        pass


HELPERS = {
    "echo": lambda text: f"f{text}",
    "role": lambda page, name: page.url + name,
    "zero": lambda: "0",
    "reddit_get_post_url": make_helpers({}, None)["reddit_get_post_url"],
}


def judge(question, _, reference, answer):
    return "no such" in answer if question == "ua_match" else reference.lower() in answer


def some_text(rng):
    return rng.choice(TEXTS) if rng.random() < 0.95 else rng.choice(OTHERS)


def some_texts(rng):
    return (
        [some_text(rng) for _ in range(rng.randint(0, 3))]
        if rng.random() < 0.95
        else some_text(rng)
    )


def some_answers(rng):
    if rng.random() < 0.03:
        return rng.choice([None, [], "x"])
    made = {
        "exact_match": some_text,
        "must_include": some_texts,
        "fuzzy_match": lambda r: r.choice(["N/A", some_texts(r)]),
    }
    return {how: made[how](rng) for how in rng.sample(sorted(made), rng.choice([1, 1, 1, 2]))}


def some_target(rng):
    wanted = [{"exact_match": some_text(rng)}, {"must_include": some_texts(rng)}, {"fuzzy": "x"}]
    target = {
        "url": rng.choice(URLS),
        "locator": rng.choice(LOCATORS),
        "required_contents": rng.choice(wanted),
    }
    return target | rng.choice(
        [{}, {}, {"prep_actions": rng.choice([[], ["a()"], None, "x", ["bad()", "b()"], [3]])}]
    )


def some_spec(rng):
    kinds = [
        ["string_match"],
        ["program_html"],
        ["url_match"],
        ["url_match", "program_html"],
        ["string_match", "url_match"],
        [],
        ["guess"],
    ]
    urls = [HERE[0], f"{HERE[0]} |OR| {HERE[1]}", "", f"{HERE[0]}?q=1&q=2", "http://[x", None, 5]
    return {
        "eval_types": rng.choice(kinds),
        "reference_answers": some_answers(rng),
        "string_note": rng.choice([cases.NOTE, ""]),
        "reference_url": rng.choice(urls),
        "program_html": [some_target(rng) for _ in range(rng.choice([1, 1, 2]))],
    }


def named_form(spec, url):
    """Returns whether the README documents the difference."""
    free = any(
        re.search(r"\+|\.upper|\.url\)", target["url"] + target["locator"])
        for target in spec["program_html"]
    )
    return free or ("'" in url and "__last_url__" in str(spec["program_html"]))


def of_theirs(evaluators, spec, answer, url):
    with upstream.config(**spec) as file:
        try:
            return (
                evaluators.evaluator_router(file)([{"answer": answer}], file, Page(url), None) == 1
            )
        except Exception:
            return "error"


def of_ours(spec, answer, url):
    scene = ours.EvaluationInput(
        Page(url), lambda: nullcontext(Page("about:blank")), helpers=HELPERS, judge=judge
    )
    try:
        return ours.evaluate({"task_id": 1, "intent": "Why?", "eval": spec}, answer, scene).success
    except TaskError:
        return "error"


def action_of_theirs(actions, text):
    try:
        return upstream.parsed(actions, text)
    except KeyError:  # upstream cannot type characters outside its table; see the README
        return action_of_ours(text)


def action_of_ours(text):
    try:
        return tuple(parse(text))
    except BadAction:
        return None


def named_action(text, theirs, mine):
    several = (
        "stop" in text and theirs == ("stop", 0, "", False) and "\n" in (mine or ("", 0, ""))[2]
    )
    return several or (text.lstrip().startswith("press") and "ctrl" in text)


def main(count, seed=0):
    actions, evaluators = upstream.upstream()
    vars(evaluators).update(HELPERS)
    rng, found, compared = random.Random(seed), [], 0
    for _ in range(count):
        text = rng.choice(NAMES) + "".join(rng.choice(BITS) for _ in range(rng.randint(0, 7)))
        theirs, mine = action_of_theirs(actions, text), action_of_ours(text)
        if theirs != mine and not named_action(text, theirs, mine):
            found.append((text, theirs, mine))
        spec, answer, url = some_spec(rng), rng.choice(TEXTS), rng.choice(HERE)
        if not named_form(spec, url):
            compared += 1
            theirs, mine = of_theirs(evaluators, spec, answer, url), of_ours(spec, answer, url)
            found += [(json.dumps(spec), answer, url, theirs, mine)] * (theirs != mine)
    sys.stdout.write("".join(f"{row}\n" for row in found[:20]))
    sys.stdout.write(f"{count} actions and {compared} evaluations, {len(found)} differ\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
