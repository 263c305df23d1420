"""Policies for TextCraft that ignore the goal and read at most the listed commands."""

import random
import re
from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Any

COMMAND = re.compile(r"craft (\d+) (.+) using (.+)")
PLENTY = 64


def _commands(observation: str) -> list[str]:
    return [line for line in observation.splitlines() if COMMAND.fullmatch(line)]


def _inputs(command: str) -> list[tuple[int, str]]:
    pairs = (part.split(" ", 1) for part in COMMAND.fullmatch(command)[3].split(", "))  # type: ignore[index]
    return [(int(number), item) for number, item in pairs]


def _results(commands: list[str]) -> list[str]:
    return [COMMAND.fullmatch(command)[2] for command in commands]  # type: ignore[index]


def _concrete(command: str, results: list[str]) -> str:
    """Replaces each item group by a listed result: ``planks`` by ``oak planks``."""
    found = COMMAND.fullmatch(command)
    parts = [
        f"{n} {next((r for r in results if r.endswith(f' {item}')), item)}"
        for n, item in _inputs(command)
    ]
    return f"craft {found[1]} {found[2]} using {', '.join(parts)}"  # type: ignore[index]


class Script:
    """Plans all actions from the first observation and repeats them until the episode ends."""

    def __init__(self, write: Callable[[list[str], random.Random], list[str]]):
        self._write = write

    def __call__(self, observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        """Returns the next action."""
        if info["turn"] == 0:
            self._actions = cycle(self._write(_commands(observation), rng) or ["inventory"])
        return next(self._actions)


def _gets(commands: list[str]) -> list[str]:
    results = _results(commands)
    items = dict.fromkeys(item for command in commands for _, item in _inputs(command))
    return [f"get {PLENTY} {item}" for item in items if item not in results]


def everything(commands: list[str], rng: random.Random) -> list[str]:
    """Gathers plenty of every item, then runs all commands in turn until the episode ends."""
    crafts = [_concrete(command, _results(commands)) for command in commands]
    return [*_gets(commands), *crafts * 20]


def one(place: int) -> Callable[[list[str], random.Random], list[str]]:
    """Returns a plan that gathers the inputs of the command at an index and runs it."""

    def write(commands: list[str], rng: random.Random) -> list[str]:
        command = commands[place % len(commands)]
        return [
            *(f"get {n} {item}" for n, item in _inputs(command)),
            _concrete(command, _results(commands)),
        ]

    return write


def same(action: str) -> Callable[..., str]:
    """Returns a policy with one constant action."""
    return lambda observation, info, rng: action


POLICIES = {
    "agentgym/TextCraft-v2": {
        "constant `inventory`": same("inventory"),
        "constant `get 64 oak logs`": same("get 64 oak logs"),
        "first command and its inputs": Script(one(0)),
        "last command and its inputs": Script(one(-1)),
        "copy of all commands": Script(lambda commands, rng: commands),
        "everything: plenty of each item, then every command": Script(everything),
    }
}
