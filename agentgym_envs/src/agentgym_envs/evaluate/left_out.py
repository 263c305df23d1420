"""Families of a suite that are not in a run, and why: for terminals, reports and settings.json."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentgym_envs.evaluate.suites import SuiteFamily, suites

RECORDED = "left_out"  # key of a session in settings.json


@dataclass(frozen=True)
class SkippedFamily:
    """A family of which nothing is played, and why."""

    family: str
    reason: str
    """Why, or the command that installs ``extra``."""
    extra: str = ""
    """The extra that is not installed."""


def fraction(rows: Sequence[Mapping[str, Any]], scenario: str | None = None) -> str:
    """Returns how many families of a suite have episodes, such as "4 of 26"; empty if all.

    Args:
        rows: the lines of a run.
        scenario: counts the families of one scenario only.
    """
    found = {row["family"] for row in rows if row["row"] == "episode"}
    listed = [f for f in families(rows) if scenario in (None, f.scenario)]
    there = sum(f.name in found for f in listed)
    return f"{there} of {len(listed)}" if there < len(listed) else ""


def suffix(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns what follows the name of a run, such as ", 4 of 26 families"; empty if all."""
    part = fraction(rows)
    return f", {part} families" if part else ""


def families(rows: Sequence[Mapping[str, Any]]) -> tuple[SuiteFamily, ...]:
    """Returns the families of the suite that was played; empty without a suite."""
    return suites.get(rows[0]["suite"], ()) if rows else ()


def lines(skipped: Sequence[SkippedFamily]) -> list[str]:
    """Returns one line for each extra or other reason.

    >>> lines([SkippedFamily(name, "pip install it", "web") for name in ("Maps", "CMS")])
    ['[web]: 2 families not played: Maps, CMS; pip install it']
    """
    found: dict[tuple[str, str], list[str]] = {}
    for one in skipped:
        found.setdefault((one.extra, one.reason), []).append(one.family)
    return [
        (f"[{extra}]: " if extra else "")
        + f"{counted(len(names))} not played: {', '.join(names)}"
        + (f"; {reason}" if reason else "")
        for (extra, reason), names in found.items()
    ]


def remarks(rows: Sequence[Mapping[str, Any]], skipped: Iterable[SkippedFamily]) -> list[str]:
    """Returns the notes of a table that lacks families of its suite.

    Args:
        rows: the lines of the run.
        skipped: families that could not be played. The others were not asked for, or are still to
            be played.
    """
    part = fraction(rows)
    if not part:
        return []
    reasons = {one.family: one for one in skipped}
    there = {row["family"] for row in rows}
    absent = [f.name for f in families(rows) if f.name not in there]
    return [
        f"{part} families of {rows[0]['suite']} have results: do not compare their mean with a mean"
        " of the whole suite",
        *lines([reasons.get(name, SkippedFamily(name, "")) for name in absent]),
    ]


def only(suite: str, families: set[str]) -> str:
    """Returns the option that limits a suite to these families."""
    scenarios: dict[str, list[str]] = {}
    for family in suites[suite]:
        scenarios.setdefault(family.scenario, []).append(family.name)
    names = [
        name
        for scenario, listed in scenarios.items()
        for name in ([scenario] if families >= {*listed} else [f for f in listed if f in families])
    ]
    return f"--only {shlex.quote(','.join(names))}"


def counted(number: int) -> str:
    """Returns a number of families with the noun."""
    return f"{number} {'family' if number == 1 else 'families'}"


def session_entry(skipped: Sequence[SkippedFamily]) -> dict[str, Any]:
    """Returns the entry of a session in settings.json; empty if nothing is left out."""
    return {RECORDED: [asdict(one) for one in skipped]} if skipped else {}


def recorded(settings: Mapping[str, Any]) -> list[SkippedFamily]:
    """Returns the families that the last session in settings.json left out."""
    session = (settings.get("sessions") or [{}])[-1]
    return [
        SkippedFamily(one["family"], one["reason"], one["extra"])
        for one in session.get(RECORDED, ())
    ]
