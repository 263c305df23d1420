"""Checks the form of a task's evaluation.

A mistake is an error before any page is opened, independent of the agent's actions.
"""

import ast
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any
from urllib.parse import urlsplit

from agentgym_envs.errors import TaskError

Helpers = Mapping[str, Callable[..., str]]


def check(config: Mapping[str, Any], helpers: Helpers, *, database: bool) -> None:
    """Checks all evaluators of a task.

    Args:
        config: the task in WebArena's form.
        helpers: functions that ``func:`` can call, by name.
        database: ``sql:`` locators are available.

    Raises:
        TaskError: the configuration has a mistake; the message names it and the task.
    """
    spec, name = config["eval"], f"task {config.get('task_id')}"
    for kind in spec["eval_types"]:
        if kind == "string_match":
            _check_answers(spec, name)
        elif kind == "url_match":
            _check_address(spec, name)
        elif kind == "program_html":
            for target in spec["program_html"]:
                _check_target(target, helpers, database, name)
        else:
            raise TaskError(
                f"{name}: unknown evaluator {kind!r}; use string_match, url_match or program_html"
            )


def _texts(wanted: object, what: str) -> None:
    if not isinstance(wanted, list):
        raise TaskError(f"{what} must be a list, not {wanted!r}")
    for text in wanted:
        _text(text, what)


def _text(wanted: object, what: str) -> None:
    if not isinstance(wanted, str):
        raise TaskError(f"{what} must hold texts, not {wanted!r}")


def _check_answers(spec: Mapping[str, Any], name: str) -> None:
    answers = spec.get("reference_answers")
    if not isinstance(answers, Mapping):
        raise TaskError(f"{name}: string_match needs reference_answers, not {answers!r}")
    for how, wanted in answers.items():
        if how not in ("exact_match", "must_include", "fuzzy_match", "answer"):
            raise TaskError(
                f"{name}: unknown answer check {how!r}; use exact_match, must_include or"
                " fuzzy_match"
            )
        if how == "answer":  # of our sites, whose tests read every task
            continue
        if how == "exact_match":
            _text(wanted, f"{name}: {how}")
        elif how == "fuzzy_match" and wanted == "N/A":
            _text(
                spec.get("string_note"),
                f"{name}: string_note, the reason why the task cannot be done,",
            )
        else:
            _texts(wanted, f"{name}: {how}")


def _check_address(spec: Mapping[str, Any], name: str) -> None:
    _text(spec.get("reference_url"), f"{name}: reference_url")
    try:
        for url in spec["reference_url"].split(" |OR| "):
            urlsplit(url)
    except ValueError as error:
        raise TaskError(
            f"{name}: reference_url={spec['reference_url']!r} is not an address: {error}"
        ) from error
    rule = spec.get("url_note") or "GOLD in PRED"
    if rule not in ("GOLD in PRED", "EXACT"):
        raise TaskError(f"{name}: unknown url_note {rule!r}; use 'GOLD in PRED' or 'EXACT'")


def _check_target(target: Mapping[str, Any], helpers: Helpers, database: bool, name: str) -> None:
    locator, url, wanted = target["locator"], target["url"], target["required_contents"]
    if url.startswith("func"):
        call_of(url, helpers, paged=False)
    if locator.startswith("func:"):
        call_of(locator, helpers, paged=True)
    elif locator.startswith("sql:"):
        if not database:
            raise TaskError(
                f"{name}: a locator with sql: needs a database, which only the embedded sites have"
            )
    elif locator.strip() and not locator.startswith(("document.", "[...document.")):
        raise TaskError(
            f"{name}: unknown locator {locator!r}; begin it with document., [...document. or func:"
        )
    if "exact_match" in wanted:
        _text(wanted["exact_match"], f"{name}: exact_match")
    elif "must_include" in wanted:
        _texts(wanted["must_include"], f"{name}: must_include")
    else:
        raise TaskError(
            f"{name}: unknown content check {sorted(wanted)}; use exact_match or must_include"
        )


def call_of(text: str, helpers: Helpers, *, paged: bool) -> tuple[str, list[Any], dict[str, Any]]:
    """Parses a call such as ``func:name('text', __page__)``.

    Args:
        text: the call, as the task writes it.
        helpers: functions by name.
        paged: the call can name ``__page__``.

    Returns:
        The helper's name, its positional and its named arguments. ``__page__`` stays an
        ``ast.Name``.

    Raises:
        TaskError: the text is not one call of a known helper with texts, numbers and ``__page__``.
            Other Python code is never run.
    """
    known = ", ".join(sorted(helpers)) or "no helpers"
    try:
        call = ast.parse(text.removeprefix("func:").strip(), mode="eval").body
        if (
            not text.startswith("func:")
            or not isinstance(call, ast.Call)
            or not isinstance(call.func, ast.Name)
        ):
            raise ValueError("not a call")
        values = [_argument(argument, paged) for argument in call.args]
        named = {keyword.arg or "**": _argument(keyword.value, paged) for keyword in call.keywords}
        signature(helpers[call.func.id]).bind(*values, **named)
    except (KeyError, SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
        form = "func:name('text', __page__)" if paged else "func:name('text', '__last_url__')"
        raise TaskError(f"{text!r} calls none of {known} ({error}); write {form}") from error
    return call.func.id, values, named


def _argument(node: ast.expr, paged: bool) -> Any:
    return (
        node
        if paged and isinstance(node, ast.Name) and node.id == "__page__"
        else ast.literal_eval(node)
    )
