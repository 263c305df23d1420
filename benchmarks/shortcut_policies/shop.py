"""Policies for the shop: they search for the whole instruction and buy without reading further.

The last two are simple strategies for the task: they read prices and options.
"""

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from agentgym_envs.envs.shop.words import OPTIONS

Choose = Callable[[list[str], str], str | None]
"""Returns the value to choose from those of an option and the instruction; None: no value."""
LINK = re.compile(r"\[SEP\] (S\d{9}) \[SEP\] [^$]* \[SEP\] \$([\d.]+)")
LIMIT = re.compile(r"price lower than ([\d.]+)")


class Script:
    """Searches, opens a hit, chooses options, buys.

    Args:
        choose: chooses a value per option.
        place: the hit to open; None: the first one on the page that is cheap enough.
    """

    def __init__(self, choose: Choose, place: int | None = 0):
        self._choose, self._place = choose, place

    def __call__(self, observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        """Returns the next action."""
        if info["turn"] == 0:
            return f"search[{info['goal']}]"
        if info["turn"] == 1:
            return f"click[{self._hit(LINK.findall(observation), info['goal'])}]"
        if info["turn"] == 2:
            self._values = self._plan(observation, info["goal"])
        return f"click[{self._values.pop(0) if self._values else 'buy now'}]"

    def _hit(self, hits: list[tuple[str, str]], goal: str) -> str:
        if self._place is not None:
            return hits[self._place][0]
        limit = float(LIMIT.findall(goal)[-1])
        return next((code for code, price in hits if float(price) <= limit), hits[0][0])

    def _plan(self, observation: str, goal: str) -> list[str]:
        """Returns the values to click; the names of options stand before their values."""
        parts = observation.split(" [SEP] ")
        options: list[list[str]] = []
        for part in parts[parts.index("< Prev") + 1 : parts.index("Description") - 3]:
            if part in NAMES:
                options.append([])
            else:
                options[-1].append(part)
        chosen = [self._choose(values, goal) for values in options]
        return [value for value in chosen if value is not None]


def named(values: list[str], goal: str) -> str | None:
    """Returns the value that the instruction names."""
    return next((v for v in values if re.search(rf"\b{re.escape(v)}\b", goal)), None)


NAMES = frozenset(option.name for option in OPTIONS.values())
POLICIES = {
    "agentgym/Shop-v0": {
        "first hit, no option": Script(lambda values, goal: None),
        "first hit, first value of each option": Script(lambda values, goal: values[0]),
        "first hit, last value of each option": Script(lambda values, goal: values[-1]),
        "third hit, first value of each option": Script(lambda values, goal: values[0], 2),
        "first hit, options that the instruction names": Script(named),
        "first hit below the price, options that the instruction names": Script(named, None),
    }
}
