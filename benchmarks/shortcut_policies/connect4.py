"""Policies for Connect Four that choose a column without looking for a line."""

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

_LAST = re.compile(r"drops into column (\d)")


def _columns(observation: str) -> dict[int, int]:
    """Returns the number of stones in each column that is not full, on the latest board."""
    lines = [line.split()[1:-1] for line in observation.splitlines() if line.startswith("| ")]
    heights = (
        {c + 1: sum(line[c] != "." for line in lines) for c in range(len(lines[0]))}
        if lines
        else {1: 0}
    )
    return {c: height for c, height in heights.items() if height < len(lines)} or {1: 0}


def _by(
    rank: Callable[[int, Mapping[int, int]], Any],
) -> Callable[[str, Mapping[str, Any], random.Random], str]:
    """Returns a policy that drops into the column with the smallest rank."""

    def policy(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        columns = _columns(observation)
        return f"drop {min(columns, key=lambda column: (rank(column, columns), column))}"

    return policy


def _onto_the_last(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Drops onto the stone that was dropped last, else into the middle."""
    found, columns = _LAST.search(observation), _columns(observation)
    return (
        f"drop {found[1]}"
        if found and int(found[1]) in columns
        else f"drop {min(columns, key=lambda c: abs(c - 3.4))}"
    )


POLICIES = {
    "agentgym/Connect4-v1": {
        "the column nearest to the middle": _by(lambda column, columns: abs(column - 3.4)),
        "the column nearest to the edge": _by(lambda column, columns: -abs(column - 3.4)),
        "the highest column": _by(lambda column, columns: -columns[column]),
        "the lowest column": _by(lambda column, columns: columns[column]),
        "onto the stone dropped last": _onto_the_last,
    }
}
