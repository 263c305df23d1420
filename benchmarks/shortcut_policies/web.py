"""Policies for web pages that ignore the task: constant answers, clicks by position, copies."""

import random
import re
from collections.abc import Mapping
from typing import Any

CLICKABLE = "link|button|checkbox|radio|tab|menuitem|switch|treeitem"


def constant(action: str) -> Any:
    """Returns a policy with one constant action."""
    return lambda observation, info, rng: action


def ids(observation: str, roles: str) -> list[str]:
    """Returns the ids of the elements with some roles, in the order of the page."""
    return re.findall(rf"^\t*\[(\d+)\] (?:{roles}) ", observation, re.M)


def click(observation: str, roles: str, number: int) -> str:
    """Returns a click on element ``number`` modulo their count; an empty answer without any."""
    found = ids(observation, roles)
    return f"click [{found[number % len(found)]}]" if found else "stop []"


def fill(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Types the objective into every field in turn, then clicks the last button."""
    fields = ids(observation, "textbox|searchbox")
    if info["turn"] < len(fields):
        return f"type [{fields[info['turn']]}] [{' '.join(info['goal'].split())}] [0]"
    return click(observation, "button", -1)


PAGES = {
    "`stop []`": constant("stop []"),
    "clicks the first button": lambda observation, info, rng: click(observation, "button", 0),
    "clicks the last button": lambda observation, info, rng: click(observation, "button", -1),
    "clicks all elements in turn": lambda observation, info, rng: click(
        observation, f"{CLICKABLE}|StaticText|generic|img", info["turn"]
    ),
    "clicks at random": lambda observation, info, rng: click(
        observation, CLICKABLE, rng.randrange(10**6)
    ),
    "types the objective everywhere, clicks the last button": fill,
}
POLICIES = {"agentgym/MiniWoB-v1": PAGES}
