"""WebArena's evaluators (Zhou et al., 2024): is what the agent answered, where it ended, and what it changed as the task demands?

Two extensions, used by our sites: a ``program_html`` target whose locator begins with ``sql:`` asks
a database of the episode, and the answer check ``answer`` judges by meaning
(:mod:`agentgym_envs.envs.web.sites.answers`).
"""

import ast
import html
import string
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlparse

from agentgym_envs.envs.web.forms import call_of, check
from agentgym_envs.envs.web.sites.answers import accepts
from agentgym_envs.envs.web.tokens import is_word

Judge = Callable[[str, str, str, str], bool]
"""Stands for WebArena's GPT-4: the question, the intent, the reference, the answer.

The question is "fuzzy_match": does the answer mean what the reference says? Or it is "ua_match":
does it give the reference's reason why the task cannot be done?
"""


class Scene(NamedTuple):
    """The data that an evaluator can read.

    Attributes:
        page: Playwright's page where the agent ended.
        another_tab: lends a tab that is not the agent's, for the addresses that a task names.
        query: answers ``sql:`` locators.
        helpers: functions that ``func:`` locators and addresses call, by name.
        judge: decides what no rule can; without one, a normalised match does.
        idle: milliseconds that a page which is opened to be judged gets after it has loaded.
    """

    page: Any
    another_tab: Callable[[], AbstractContextManager[Any]]
    query: Callable[[str], str] | None = None
    helpers: Mapping[str, Callable[..., str]] = {}
    judge: Judge | None = None
    idle: float = 0.0


class Verdict(NamedTuple):
    """The result, and how ``fuzzy_match`` was decided if it was needed: "judge" or "normalised match"."""

    success: bool
    judged_by: str = ""


def evaluate(config: Mapping[str, Any], answer: str, scene: Scene) -> Verdict:
    """Applies all of a task's evaluators; all must agree.

    Args:
        config: the task in WebArena's form, with real addresses.
        answer: the argument of ``stop``.
        scene: where the agent ended.

    Raises:
        TaskError: the configuration has a mistake: see :func:`agentgym_envs.envs.web.forms.check`.
    """
    check(config, scene.helpers, database=scene.query is not None)
    spec, judged = config["eval"], ""
    for kind in spec["eval_types"]:
        if kind == "string_match":
            fits, judged = _string(config, clean(answer), scene)
        elif kind == "url_match":
            fits = _url(spec, scene.page.url)
        else:
            fits = all(_program(target, scene) for target in spec["program_html"])
        if not fits:
            return Verdict(False, judged)
    return Verdict(True, judged)


def clean(answer: str) -> str:
    """Removes blanks and one pair of quotes around an answer, and its capitals."""
    text = answer.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def includes(reference: str, answer: str, *, alone: bool = False) -> bool:
    """Says whether an answer holds a reference; a letter or digit that is asked for ``alone`` must be a word of its own."""
    wanted, said = clean(reference), clean(answer)
    if alone and len(wanted) == 1 and wanted.isalnum():
        return is_word(wanted, said)
    return wanted in said


def normalised(reference: str, answer: str) -> bool:
    """Says whether all words of the reference stand in the answer in this order, without case, punctuation and articles."""

    def words(text: str) -> str:
        bare = text.lower().translate(str.maketrans("", "", string.punctuation))
        return f" {' '.join(w for w in bare.split() if w not in ('a', 'an', 'the'))} "

    return words(reference) in words(answer)


def _string(config: Mapping[str, Any], answer: str, scene: Scene) -> tuple[bool, str]:
    spec, fits, judged, judge = config["eval"], True, "", scene.judge

    def ask(question: str, reference: str) -> bool:
        nonlocal judged
        judged = "judge" if judge else "normalised match"
        return (
            bool(judge(question, config["intent"], reference, answer))
            if judge
            else normalised(reference, answer)
        )

    for how, wanted in spec["reference_answers"].items():
        if how == "answer":  # of our own sites
            fits &= accepts(wanted, answer, config["intent"], scene.query)
        elif how == "exact_match":
            fits &= clean(wanted) == clean(answer)
        elif how == "fuzzy_match" and wanted == "N/A":  # a reason may make up for a missing N/A
            fits = (fits and clean(answer) == "n/a") or ask("ua_match", spec["string_note"])
        elif how == "must_include":
            fits &= all(includes(w, answer, alone=len(wanted) == 1) for w in wanted)
        else:
            fits = fits and all(ask(how, reference) for reference in wanted)
    return fits, judged


def _parts(url: str) -> tuple[str, dict[str, list[str]]]:
    parsed = urlparse(url.rstrip("/"))
    return parsed.netloc + parsed.path, parse_qs(parsed.query)


def _url(spec: Mapping[str, Any], url: str) -> bool:
    base, query = _parts(url)
    references = [_parts(reference) for reference in spec["reference_url"].split(" |OR| ")]
    if spec.get("url_note") == "EXACT":
        return (base, query) in references
    wanted: dict[str, set[str]] = {}
    for _, values in references:
        for key, options in values.items():
            wanted.setdefault(key, set()).update(options)
    return any(b in base for b, _ in references) and all(
        options & set(query.get(k, [])) for k, options in wanted.items()
    )


def _program(target: Mapping[str, Any], scene: Scene) -> bool:
    locator, url = target["locator"], target["url"]
    if locator.startswith("sql:"):
        assert scene.query is not None
        found = scene.query(locator.removeprefix("sql:"))
    elif url == "last":
        found = _located(locator, target, scene, scene.page)
    else:
        if url.startswith("func:"):
            url = _function(url, scene, last_url=scene.page.url)
        with scene.another_tab() as page:  # what the agent has not saved is not there
            page.goto(url, wait_until="load")
            if scene.idle:
                page.wait_for_timeout(scene.idle)
            found = _located(locator, target, scene, page)
    return _holds(html.unescape(found), target["required_contents"])


def _holds(found: str, wanted: Mapping[str, Any]) -> bool:
    if "exact_match" in wanted:
        return clean(wanted["exact_match"]) == clean(found)
    return all(
        any(includes(option, found) for option in part.split(" |OR| "))
        for part in wanted["must_include"]
    )


def _located(locator: str, target: Mapping[str, Any], scene: Scene, page: Any) -> str:
    from playwright.sync_api import Error

    if not locator.strip():
        return str(page.content())
    if locator.startswith("func:"):
        return _function(locator, scene, page=page)
    with suppress(Error):  # the locator says what there is without the rest of them
        for action in target.get("prep_actions") or ():
            page.evaluate(f"() => {action}")
    try:
        return str(page.evaluate(f"() => {locator}"))
    except Error:  # the page has no such element: that is an answer too
        return ""


def _function(text: str, scene: Scene, *, page: Any = None, last_url: str = "__last_url__") -> str:
    """Calls a helper.

    Args:
        text: as the task writes it.
        scene: with the helpers.
        page: for ``__page__``, which only a locator may name.
        last_url: for ``__last_url__``, which only an address may name.
    """
    name, values, named = call_of(text, scene.helpers, paged=page is not None)

    def given(value: Any) -> Any:
        if isinstance(value, ast.Name):
            return page
        return value.replace("__last_url__", last_url) if isinstance(value, str) else value

    return scene.helpers[name](
        *map(given, values), **{key: given(value) for key, value in named.items()}
    )
