"""The accepted answers of a task: evaluators by the kind of the answer."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from agentgym_websites.tasks.template import evaluation

PRODUCTS = "shop:SELECT name FROM products"
CUSTOMERS = "shop:SELECT name FROM customers"
MEMBERS = "forum:SELECT name FROM people"
POSTS = "forum:SELECT DISTINCT title FROM posts"
DEVELOPERS = "code:SELECT name FROM people"
ISSUES = "code:SELECT DISTINCT title FROM issues"
PLACES = "map:SELECT name FROM places"


def _answer(kind: str, value: Any, **more: Any) -> dict[str, Any]:
    return evaluation(
        ["string_match"], reference_answers={"answer": {"kind": kind, "value": str(value), **more}}
    )


def number(value: Any) -> dict[str, Any]:
    """The answer must be this number."""
    return _answer("number", value)


def amount(text: str) -> dict[str, Any]:
    """The answer must be this amount of money, written as $1,234.56."""
    return _answer("money", text.lstrip("$").replace(",", ""))


def day(iso: str) -> dict[str, Any]:
    """The answer must be this day, written as 2026-06-15; any common form is accepted."""
    return _answer("date", iso[:10])


def month(iso: str) -> dict[str, Any]:
    """The answer must be this month, written as 2026-06."""
    return _answer("month", iso)


def time(text: str) -> dict[str, Any]:
    """The answer must be this time of day, written as 17:00."""
    return _answer("time", text)


def duration(minutes: int) -> dict[str, Any]:
    """The answer must be this time span."""
    return _answer("duration", minutes)


def codes(*values: Any) -> dict[str, Any]:
    """The answer must contain these codes, and no others that look like them.

    Codes are SKUs, telephone numbers or versions, for example.
    """
    return _answer("codes", " ".join(map(str, values)))


def point(text: str) -> dict[str, Any]:
    """The answer must be these coordinates."""
    return _answer("point", text.replace(" ", ""))


def name(value: Any, among: str | Iterable[Any], *also: str) -> dict[str, Any]:
    """The answer must contain this name, and no other of its kind.

    Args:
        value: the name.
        among: the names of its kind: a list, or ``tables:sql`` whose rows are the names.
        also: other wordings of the name.
    """
    names = among if isinstance(among, str) else sorted(set(among))
    return _answer("name", value, among=names, **({"also": list(also)} if also else {}))


product, customer, member, post = (
    partial(name, among=among) for among in (PRODUCTS, CUSTOMERS, MEMBERS, POSTS)
)
developer, issue, place = (partial(name, among=among) for among in (DEVELOPERS, ISSUES, PLACES))


def nothing(note: str) -> dict[str, Any]:
    """The task cannot be done: the answer must be N/A."""
    return evaluation(
        ["string_match"],
        reference_answers={"answer": {"kind": "none", "value": "N/A"}},
        string_note=note,
    )
