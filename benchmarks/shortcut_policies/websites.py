"""Policies for the web sites that ignore the task: constant answers, clicks by position, copies."""

import random
import re
from collections.abc import Mapping
from typing import Any

from shortcut_policies.web import CLICKABLE, click, constant, ids

COMMON = (
    "0 03107 1 10 11 12 129 13 132 14 142 15 16 17 17:00 18 19 2 20 21 22 2267 23 24 26 27 "
    "28 29 3 30 31 32 35 4 40 41 43 47 5 50 54 55 57 59 6 7 70 75 76 8 81 83 84 86 87 89 9 "
    "96 98 N/A Team inkwell style"
)
"""The most frequent answers of WebSites up to 200 characters, by ``web_constant_agents.py``."""
_TEXT = re.compile(r"\[\d+\] \w+ '(.+)'")


def wander(turns: int, answer: str) -> Any:
    """Returns a policy that clicks at random for some turns and then answers."""

    def policy(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        return (
            f"stop [{answer}]"
            if info["turn"] >= turns
            else click(observation, CLICKABLE, rng.randrange(10**6))
        )

    return policy


def search(answer: bool) -> Any:
    """Returns a policy that types the objective into the first field and then answers.

    The answer is the last text of the page or, without ``answer``, empty.
    """

    def policy(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        fields = ids(observation, "textbox|searchbox")
        if info["turn"] == 0 and fields:
            return f"type [{fields[0]}] [{' '.join(info['goal'].split())}] [1]"
        texts = _TEXT.findall(observation.partition("main ''")[2])
        return f"stop [{texts[-1][:80] if answer and texts else ''}]"

    return policy


SITES = {
    **{f"`stop [{text}]`": constant(f"stop [{text}]") for text in ("", "N/A", "yes", "0")},
    "`stop` with the most frequent answers": constant(f"stop [{COMMON}]"),
    "`stop` with the page's text": lambda observation, info, rng: f"stop [{observation[:9000]}]",
    "`stop` with the objective": lambda observation, info, rng: f"stop [{info['goal']}]",
    "types the objective, stops": search(False),
    "types the objective, stops with the last text": search(True),
    "clicks the first link, stops": lambda observation, info, rng: (
        click(observation, "link", 0) if info["turn"] == 0 else "stop []"
    ),
    "5 random clicks, stops": wander(5, ""),
    "15 random clicks, stops with N/A": wander(15, "N/A"),
}
POLICIES = {"agentgym/WebSites-v1": SITES}
