"""Templates of tasks, their instances, and the shared evaluators."""

import random
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from string import Formatter
from typing import Any, NamedTuple

from agentgym_envs.envs.web.embedded import Step, back, click, stop
from agentgym_websites.host import snapshot
from agentgym_websites.packed import FILL
from agentgym_websites.site import open_database

KINDS = ("find", "navigate", "change", "unachievable")


class World:
    """The databases that the templates draw from."""

    def __init__(self) -> None:
        self._databases = {tables: open_database(snapshot(tables)) for tables in FILL}

    def database(self, tables: str) -> sqlite3.Connection:
        """Returns a database."""
        return self._databases[tables]

    def rows(self, tables: str, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Returns the rows that a query finds."""
        return self._databases[tables].execute(sql, values).fetchall()

    def value(self, tables: str, sql: str, *values: Any) -> Any:
        """Returns the first column of the first row."""
        return self._databases[tables].execute(sql, values).fetchone()[0]

    def answer(self, locator: str) -> str:
        """Answers ``tables:sql``: " | " separates columns, line breaks separate rows."""
        tables, _, sql = locator.partition(":")
        return "\n".join(" | ".join(map(str, row)) for row in self.rows(tables, sql))

    def mixed(self, rng: random.Random, tables: str, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Returns the rows that a query finds, in random order."""
        found = self.rows(tables, sql, *values)
        rng.shuffle(found)
        return found


class Made(NamedTuple):
    """An instance: values for the intent's blanks, the evaluators, and a plan that solves it."""

    values: Mapping[str, Any]
    eval: Mapping[str, Any]
    steps: list[Step]


Maker = Callable[[World, random.Random], Iterator[Made]]


class Template(NamedTuple):
    """A family of tasks."""

    name: str
    sites: tuple[str, ...]
    kind: str
    intent: str
    maker: Maker


TEMPLATES: list[Template] = []


def template(sites: str, kind: str, intent: str) -> Callable[[Maker], Maker]:
    """Adds a template.

    Args:
        sites: names separated by blanks; the task starts on the first.
        kind: one of ``KINDS``.
        intent: text of the task, with blanks.
    """

    def add(maker: Maker) -> Maker:
        names = tuple(sites.split())
        number = sum(t.sites[0] == names[0] for t in TEMPLATES) + 1
        TEMPLATES.append(Template(f"{names[0]}-{number:02}", names, kind, intent, maker))
        return maker

    return add


def visits(names: Iterable[str]) -> list[Step]:
    """Returns a plan that opens some links of a page, one after the other, and ends on the last."""
    return [step for name in names for step in (click(name), back())][:-1]


def only(found: Sequence[Any], key: str, best: Callable[[Iterable[Any]], Any]) -> Any | None:
    """Returns the row with the best value, such as the smallest or the largest.

    The result is None if two rows share the best value.
    """
    values = [row[key] for row in found]
    return found[values.index(best(values))] if values and values.count(best(values)) == 1 else None


def each(
    sites: str,
    kind: str,
    intent: str,
    tables: str,
    sql: str,
    check: Callable[[Any], dict[str, Any]],
    steps: Callable[[Any], list[Step]],
) -> None:
    """Adds a template with an instance for each row that a query finds, in random order.

    Args:
        sites: see :func:`template`.
        kind: one of ``KINDS``.
        intent: text of the task; its blanks are columns of the row.
        tables: name of the database.
        sql: the query.
        check: returns the evaluators for a row.
        steps: returns a plan for a row.
    """
    blanks = [name for _, name, _, _ in Formatter().parse(intent) if name]

    def maker(world: World, rng: random.Random) -> Iterator[Made]:
        for row in world.mixed(rng, tables, sql):
            yield Made({name: row[name] for name in blanks}, check(row), steps(row))

    template(sites, kind, intent)(maker)


Check = Callable[[Any], dict[str, Any]]
Plan = Callable[[Any], list[Step]]


def each_of(sites: str, kind: str, tables: str, *rows: tuple[str, str, Check, Plan]) -> None:
    """Adds a template for each row: text, query, evaluators and plan; see :func:`each`."""
    for intent, sql, check, steps in rows:
        each(sites, kind, intent, tables, sql, check, steps)


def asks(
    sites: str, tables: str, *rows: tuple[str, str, str | Callable[[Any], Any], Check, Plan]
) -> None:
    """Adds templates that ask for a fact.

    Each row has a text, a query, the answer, its evaluators, and a plan that ends where the answer
    is shown. The answer is a column's name or a function of the row.
    """
    for intent, sql, fact, check, steps in rows:
        told = itemgetter(fact) if isinstance(fact, str) else fact

        def checked(
            row: Any, told: Callable[[Any], Any] = told, check: Check = check
        ) -> dict[str, Any]:
            return check(told(row))

        def planned(row: Any, told: Callable[[Any], Any] = told, steps: Plan = steps) -> list[Step]:
            return [*steps(row), stop(told(row))]

        each(sites, "find", intent, tables, sql, checked, planned)


def evaluation(kinds: list[str], **more: Any) -> dict[str, Any]:
    """Returns the evaluators of a task in WebArena's form."""
    return {
        "eval_types": kinds,
        "reference_answers": None,
        "reference_url": "",
        "program_html": [],
        **more,
    }


def ends_at(url: str) -> dict[str, Any]:
    """The agent must end at this address."""
    return evaluation(["url_match"], reference_url=url, url_note="EXACT")


def becomes(tables: str, sql: str, wanted: Any) -> dict[str, Any]:
    """The rows of a query must be this text: " | " separates columns, line breaks separate rows."""
    target = {
        "url": "last",
        "locator": f"sql:{tables}:{sql}",
        "required_contents": {"exact_match": str(wanted)},
    }
    return evaluation(["program_html"], program_html=[target])
