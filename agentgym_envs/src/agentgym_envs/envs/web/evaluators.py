"""WebArena's evaluators (Zhou et al., 2024): is what the agent answered, where it ended, and what it changed as the task demands?

One extension, used by our sites: a ``program_html`` target whose locator begins with ``sql:`` asks a database of the episode.
"""

import ast
import html
import re
import string
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from agentgym_envs.errors import TaskError

Judge = Callable[[str, str, str], bool]
"""Says whether an answer is as good as the reference: the intent, the reference, the answer. Stands for WebArena's GPT-4."""


class Scene(NamedTuple):
    """What an evaluator may look at.

    Attributes:
        page: Playwright's page where the agent ended.
        resolve: turns an address of the task (``__SHOPPING__/cart``) into one that can be opened.
        query: answers ``sql:`` locators.
        helpers: functions that ``func:`` locators and addresses call, by name.
        judge: decides ``fuzzy_match``; without one, a normalised match does.
    """

    page: Any
    resolve: Callable[[str], str] = lambda url: url
    query: Callable[[str], str] | None = None
    helpers: Mapping[str, Callable[..., str]] = {}
    judge: Judge | None = None


class Verdict(NamedTuple):
    """The result, and how ``fuzzy_match`` was decided if it was needed: "judge" or "normalised match"."""

    success: bool
    judged_by: str = ""


def evaluate(config: Mapping[str, Any], answer: str, scene: Scene) -> Verdict:
    """Applies all of a task's evaluators; all must agree.

    Args:
        config: the task in WebArena's form.
        answer: the argument of ``stop``.
        scene: where the agent ended.

    Raises:
        TaskError: the configuration names an evaluator or a locator that does not exist.
    """
    spec, judged = config["eval"], ""
    for kind in spec["eval_types"]:
        if kind == "string_match":
            fits, judged = _string(config, answer, scene.judge)
        elif kind == "url_match":
            fits = _url(spec, scene)
        elif kind == "program_html":
            fits = all(_program(target, scene) for target in spec["program_html"])
        else:
            raise TaskError(f"task {config.get('task_id')}: unknown evaluator {kind!r}")
        if not fits:
            return Verdict(False, judged)
    return Verdict(True, judged)


def clean(answer: str) -> str:
    """Removes blanks and one pair of quotes around an answer, and its capitals."""
    text = answer.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return text.lower()


def includes(reference: str, answer: str, *, alone: bool = False) -> bool:
    """Says whether an answer holds a reference; a single character that stands ``alone`` must be a word of its own."""
    wanted, said = clean(reference), clean(answer)
    if alone and len(wanted) == 1:
        return wanted in re.findall(r"\w+|[^\w\s]", said)
    return wanted in said


def normalised(reference: str, answer: str) -> bool:
    """Says whether all words of the reference stand in the answer in this order, without case, punctuation and articles."""

    def words(text: str) -> str:
        bare = text.lower().translate(str.maketrans("", "", string.punctuation))
        return f" {' '.join(w for w in bare.split() if w not in ('a', 'an', 'the'))} "

    return words(reference) in words(answer)


def _string(config: Mapping[str, Any], answer: str, judge: Judge | None) -> tuple[bool, str]:
    spec, judged = config["eval"], ""
    fits = True
    for how, wanted in spec["reference_answers"].items():
        if how == "exact_match":
            fits &= clean(wanted) == clean(answer)
        elif how == "must_include":
            fits &= all(includes(w, answer, alone=len(wanted) == 1) for w in wanted)
        elif how in ("fuzzy_match", "ua_match"):
            references = [wanted] if isinstance(wanted, str) else wanted
            if "N/A" in references and clean(answer) == "n/a":
                continue
            judged = "judge" if judge else "normalised match"
            if references == ["N/A"]:
                references = [spec.get("string_note") or "N/A"]
            decide = judge or (lambda _, reference, said: normalised(reference, said))
            fits &= all(decide(config["intent"], str(reference), answer) for reference in references)
        else:
            raise TaskError(f"task {config.get('task_id')}: unknown answer check {how!r}")
    return fits, judged


def _parts(url: str) -> tuple[str, dict[str, list[str]]]:
    split = urlsplit(url.rstrip("/"))
    return split.netloc + split.path.rstrip("/"), parse_qs(split.query)


def _url(spec: Mapping[str, Any], scene: Scene) -> bool:
    base, query = _parts(scene.page.url)
    references = [_parts(scene.resolve(url)) for url in spec["reference_url"].split(" |OR| ")]
    rule = spec.get("url_note") or "GOLD in PRED"
    if rule == "EXACT":
        return (base, query) in references
    if rule != "GOLD in PRED":
        raise TaskError(f"unknown url_note {rule!r}: it is 'GOLD in PRED' or 'EXACT'")
    wanted: dict[str, set[str]] = {}
    for _, values in references:
        for key, options in values.items():
            wanted.setdefault(key, set()).update(options)
    return any(b in base for b, _ in references) and all(options & set(query.get(k, [])) for k, options in wanted.items())


def _program(target: Mapping[str, Any], scene: Scene) -> bool:
    locator = target["locator"].strip()
    if locator.startswith("sql:"):
        if scene.query is None:
            raise TaskError("a locator with sql: needs a database, which only the embedded sites have")
        found = scene.query(locator.removeprefix("sql:"))
    else:
        url = target["url"]
        url = scene.page.url if url == "last" else _function(url, scene) if url.startswith("func:") else scene.resolve(url)
        if url != scene.page.url:
            scene.page.goto(url, wait_until="load")
        found = _located(locator, target, scene)
    found, wanted = html.unescape(found), target["required_contents"]
    if "exact_match" in wanted:
        return clean(wanted["exact_match"]) == clean(found)
    if "must_include" in wanted:
        parts = wanted["must_include"]
        return all(any(includes(option, found, alone=len(parts) == 1) for option in part.split(" |OR| ")) for part in parts)
    raise TaskError(f"unknown content check {sorted(wanted)}")


def _located(locator: str, target: Mapping[str, Any], scene: Scene) -> str:
    from playwright.sync_api import Error

    if not locator:
        return str(scene.page.content())
    if locator.startswith("func:"):
        return _function(locator, scene)
    if not locator.startswith(("document.", "[...document.")):
        raise TaskError(f"unknown locator {locator!r}")
    try:
        for action in target.get("prep_actions", ()):
            scene.page.evaluate(f"() => {action}")
        return str(scene.page.evaluate(f"() => {locator}") or "")
    except Error:  # the page has no such element: that is an answer too
        return ""


def _function(text: str, scene: Scene) -> str:
    """Calls a helper, written as Python: ``func:name('text', __page__)``."""
    source = text.removeprefix("func:").replace("__last_url__", scene.page.url)
    call = ast.parse(source.strip(), mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in scene.helpers:
        raise TaskError(f"{text!r} calls none of {', '.join(sorted(scene.helpers)) or 'no helpers'}")
    values = [scene.page if isinstance(a, ast.Name) and a.id == "__page__" else ast.literal_eval(a) for a in call.args]
    return scene.helpers[call.func.id](*values)
