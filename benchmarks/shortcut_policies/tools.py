"""Policies for Tools that ignore the wishes of the user, and one that ignores only the policy."""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agentgym_envs.envs.tools.env import BUSY
from agentgym_envs.envs.tools.tasks import case_of, tasks

REFUSES = "say I cannot do that. Is there anything else?"
DONE = "say It is done. Is there anything else?"
ASKS = "say What is your number, your full name, your postcode and your date of birth?"
Plan = Iterator[str]


class Script:
    """Plays the actions of a generator; the generator reads the texts in ``seen``."""

    def __init__(self, write: Callable[[Mapping[str, Any], list[str]], Plan]):
        self._write = write

    def __call__(self, observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        """Returns the next action, and the last one again if the system is busy."""
        if info["turn"] == 0:
            self._seen: list[str] = []
            self._plan = self._write(info, self._seen)
        self._seen.append(observation)
        if observation != BUSY:
            self._action = next(self._plan)
        return self._action


def same(action: str) -> Callable[..., str]:
    """Returns a policy with one constant action."""
    return lambda observation, info, rng: action


def _customer(seen: list[str]) -> Plan:
    """Identifies the user; the last text is then the user's record."""
    yield ASKS
    text = seen[-1]
    name = re.search(r"name is (\w+ \w+)", text)[1]  # type: ignore[index]
    if found := re.search(r"postcode is (\d+)", text):
        yield f"find_member name={name} postcode={found[1]}"
    else:
        found = re.search(r"birth is (\S+)\.", text)
        yield f"find_passenger name={name} born={found[1]}"  # type: ignore[index]


def transfers(info: Mapping[str, Any], seen: list[str]) -> Plan:
    """Identifies the user and hands the conversation to a person."""
    yield from _customer(seen)
    number = seen[-1].partition(":")[0]
    if number.startswith("M"):
        yield f"transfer_to_librarian member={number} topic=lost_item"
    else:
        yield f"transfer_to_clerk passenger={number} topic=lost_property"


def refuses(info: Mapping[str, Any], seen: list[str]) -> Plan:
    """Looks up loans or tickets, refuses every wish, and repeats the results."""
    yield from _customer(seen)
    number = seen[-1].partition(":")[0]
    if number.startswith("M"):
        yield f"list_loans member={number}"
    else:
        yield f"list_tickets passenger={number}"
        trains = re.findall(r"T-\d{3}", seen[-1])
        yield from [f"get_train train={train}" for train in trains[:1]]
    result = seen[-1]
    while True:
        yield f"{REFUSES} {result}"


def obeys(info: Mapping[str, Any], seen: list[str]) -> Plan:
    """Knows the task, serves every wish as it was said first, and ignores the policy."""
    yield from case_of(tasks().get(info["task_id"])).obedient
    while True:
        yield DONE


POLICIES = {
    "agentgym/Tools-v0": {
        "constant refusal": same(REFUSES),
        "constant `It is done`": same(DONE),
        "identifies the user and transfers": Script(transfers),
        "looks up, refuses, repeats the results": Script(refuses),
        "obeys the user, ignores the policy (knows the task)": Script(obeys),
    }
}
