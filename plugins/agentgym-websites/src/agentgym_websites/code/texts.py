"""Rules of what people write about a project: issues, merge requests and comments, composed from its files, versions and figures."""

from collections.abc import Mapping

from agentgym_websites.grammar import Rules
from agentgym_websites.tables import tables

_TABLES = tables("code/texts")
SYSTEMS: tuple[str, ...] = _TABLES["systems"]


def _numbers(low: int, high: int, step: int = 1) -> tuple[str, ...]:
    return tuple(map(str, range(low, high + 1, step)))


FIGURES: Rules = {
    "seconds": _numbers(12, 95), "fewer": _numbers(2, 10), "minutes": _numbers(3, 48), "count": _numbers(3, 12), "tens": _numbers(11, 89), "amount": _numbers(120, 9800, 7),
    "gigabytes": ("2", "4", "6", "8", "12", "16", "24", "32"), "megabytes": _numbers(20, 900), "lines": _numbers(15, 60), "days": _numbers(2, 30), "line": _numbers(5, 70),
    "status": _numbers(2, 9),
}  # fmt: skip
PLACES: Rules = {**FIGURES, **_TABLES["places"]}
# Sentences of a report, by the words of its title. The first two of a draw make the report.
REPORTS: dict[str, tuple[str, ...]] = _TABLES["reports"]
LABEL_OF: Mapping[str, str] = _TABLES["label_of"]
"""The label of an issue, by words of its title."""
ISSUES: tuple[str, ...] = _TABLES["issues"]
MERGE: Rules = {**PLACES, **_TABLES["merge"]}
MERGES: tuple[str, ...] = _TABLES["merges"]
COMMENT: Rules = {**PLACES, **_TABLES["comment"]}
ORDER: tuple[tuple[str, ...], ...] = _TABLES["order"]
"""What the first, the second and later comments of an issue do; causes and workarounds come once."""
EXTRAS = ("Address comments", "Follow the review", "Simplify", "Tidy up", "Try another value")
"""Messages of a branch's second commit."""
