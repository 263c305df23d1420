"""WebArena's evaluators (Zhou et al., 2024).

They check the agent's answer, the page where it ended, and the changes that it made.

Our sites use two extensions. A ``program_html`` target whose locator begins with ``sql:`` asks a
database of the episode. The answer check ``answer`` judges by meaning
(:mod:`agentgym_envs.envs.web.answer_matching`).
"""

import ast
import html
import re
import string
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlparse

from agentgym_envs.envs.web.answer_matching import accepts
from agentgym_envs.envs.web.forms import call_of, check

Judge = Callable[[str, str, str, str], bool]
"""Replaces WebArena's GPT-4; takes the question, the intent, the reference and the answer.

The question "fuzzy_match" asks whether the answer means the same as the reference. The question
"ua_match" asks whether the answer gives the reference's reason why the task cannot be done.
"""


class EvaluationInput(NamedTuple):
    """The data that an evaluator can read.

    Attributes:
        page: Playwright's page where the agent ended.
        another_tab: lends a tab that is not the agent's, for the addresses that a task names.
        query: answers ``sql:`` locators.
        helpers: functions that ``func:`` locators and addresses call, by name.
        judge: decides questions without a rule; None: a normalised match decides.
        idle: milliseconds of waiting after a page was opened to be judged.
    """

    page: Any
    another_tab: Callable[[], AbstractContextManager[Any]]
    query: Callable[[str], str] | None = None
    helpers: Mapping[str, Callable[..., str]] = {}
    judge: Judge | None = None
    idle: float = 0.0


class EvaluationResult(NamedTuple):
    """The result of an evaluation.

    Attributes:
        success: all evaluators agree.
        judged_by: "judge" or "normalised match" if ``fuzzy_match`` was needed.
    """

    success: bool
    judged_by: str = ""


def evaluate(config: Mapping[str, Any], answer: str, scene: EvaluationInput) -> EvaluationResult:
    """Applies the evaluators of a task; success requires that all of them agree.

    Args:
        config: the task in WebArena's form, with real addresses.
        answer: the argument of ``stop``.
        scene: the state in which the agent ended.

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
            return EvaluationResult(False, judged)
    return EvaluationResult(True, judged)


def clean(answer: str) -> str:
    """Removes surrounding blanks and one pair of quotes, and converts to lower case.

    >>> clean(" 'Yes' ")
    'yes'
    """
    text = answer.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def includes(reference: str, answer: str, *, alone: bool = False) -> bool:
    """Returns whether an answer contains a reference.

    Args:
        reference: the text to find.
        answer: the agent's answer.
        alone: a reference of a single letter or digit must be a separate word.

    >>> includes("blue", "Dark Blue")
    True
    """
    wanted, text = clean(reference), clean(answer)
    if alone and len(wanted) == 1 and wanted.isalnum():
        return is_word(wanted, text)
    return wanted in text


def normalised(reference: str, answer: str) -> bool:
    """Returns whether the answer contains all words of the reference, in the same order.

    Case, punctuation and articles are ignored.

    >>> normalised("the blue shoe", "A blue, shoe!")
    True
    """

    def words(text: str) -> str:
        bare = text.lower().translate(str.maketrans("", "", string.punctuation))
        return f" {' '.join(w for w in bare.split() if w not in ('a', 'an', 'the'))} "

    return words(reference) in words(answer)


def _string(config: Mapping[str, Any], answer: str, scene: EvaluationInput) -> tuple[bool, str]:
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
        if how == "answer":  # only our sites use it
            fits &= accepts(wanted, answer, config["intent"], scene.query)
        elif how == "exact_match":
            fits &= clean(wanted) == clean(answer)
        elif how == "fuzzy_match" and wanted == "N/A":  # a reason can replace a missing N/A
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


def _program(target: Mapping[str, Any], scene: EvaluationInput) -> bool:
    locator, url = target["locator"], target["url"]
    if locator.startswith("sql:"):
        assert scene.query is not None
        found = scene.query(locator.removeprefix("sql:"))
    elif url == "last":
        found = _located(locator, target, scene, scene.page)
    else:
        if url.startswith("func:"):
            url = _function(url, scene, last_url=scene.page.url)
        with scene.another_tab() as page:  # unsaved changes of the agent do not count
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


def _located(locator: str, target: Mapping[str, Any], scene: EvaluationInput, page: Any) -> str:
    from playwright.sync_api import Error

    if not locator.strip():
        return str(page.content())
    if locator.startswith("func:"):
        return _function(locator, scene, page=page)
    with suppress(Error):  # the locator reads the page even if an action fails
        for action in target.get("prep_actions") or ():
            page.evaluate(f"() => {action}")
    try:
        return str(page.evaluate(f"() => {locator}"))
    except Error:  # a missing element counts as an empty text
        return ""


def _function(
    text: str, scene: EvaluationInput, *, page: Any = None, last_url: str = "__last_url__"
) -> str:
    """Calls a helper.

    Args:
        text: the call, as the task writes it.
        scene: contains the helpers.
        page: value of ``__page__``, which only a locator can name.
        last_url: value of ``__last_url__``, which only an address can name.
    """
    name, values, named = call_of(text, scene.helpers, paged=page is not None)

    def filled(value: Any) -> Any:
        if isinstance(value, ast.Name):
            return page
        return value.replace("__last_url__", last_url) if isinstance(value, str) else value

    return scene.helpers[name](
        *map(filled, values), **{key: filled(value) for key, value in named.items()}
    )


# Characters that stand apart from all others.
_APART = r"\s«»“”‘’„`;@#$%&‒–—―?!*\[\](){}<>\""
_CLOSING = r"[\])}>\"'»”’ ]*"  # can follow the last period
# A period ends a sentence at the end of the text, and before a character that is neither a
# lower-case letter nor punctuation.
_END = (
    rf"(?:$|[{_APART}]|--|\.\.|''|[:,](?:\D|$)|\.{_CLOSING}$|\.(?:[«“‘„({{\[*]|\s+[^\s;:,.!?a-z]))"
)
_CLITIC = r"(?:'(?:s|m|d|ll|re|ve)?|n't)"  # "i'm" is two words
_BEFORE = rf"(?:^|(?<=[{_APART}])|(?<=--)|(?<=\.\.)|(?<=''))"
_COMMA = r"(?<=(?<![:,])[:,])"  # separates words, but not digits: 9:00, 1,000
_QUOTE = r"(?<=(?<!\w)')(?!(?:re|ve|ll|m|t|s|d|n)\b)"  # an opening quote


def is_word(character: str, text: str) -> bool:
    """Returns whether a letter or digit is a word by itself somewhere in a text.

    WebArena compares single characters by the rules of NLTK's ``word_tokenize``: those of the Penn
    Treebank tokenizer with NLTK's additions. Punkt's English model adds a rule for a period behind
    a single character, in a text without capitals. The text counts as lower-case.

    Args:
        character: one lower-case letter or digit.
        text: lower-case, without blanks around it.
    """
    before = f"{_BEFORE}|{_QUOTE}" if character.isdecimal() else f"{_BEFORE}|{_QUOTE}|{_COMMA}"
    return (
        re.search(rf"(?:{before}){re.escape(character)}(?={_END}|{_CLITIC}{_END})", text)
        is not None
    )
