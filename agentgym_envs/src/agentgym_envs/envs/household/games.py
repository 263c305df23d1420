"""The original's game files, ``game.tw-pddl``: JSON with a problem in PDDL and a grammar."""

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from agentgym_envs.envs.household.goals import HouseholdGoal, read_goal
from agentgym_envs.envs.household.world import Facts
from agentgym_envs.errors import TaskError
from agentgym_envs.tasks import Task, TaskSet

FILE = "game.tw-pddl"
FOLDERS = {"train": "train", "valid_seen": "dev", "valid_unseen": "test"}
"""The original's folders and the splits of their games."""
_TAIL = 65_536
"""Bytes at the end of a file that can have the mark of an unsolvable game."""
_TOKEN = re.compile(r"[()]|[^\s()]+")
_TASK = re.compile(r'"Your task is to: ((?:[^"\\]|\\.)*)"')
_WIDTHS = {
    **dict.fromkeys(("atlocation", "receptacleatlocation", "objectatlocation"), 2),
    **dict.fromkeys(("inreceptacle", "inreceptacleobject", "cancontain", "holds"), 2),
    **dict.fromkeys(("receptacletype", "objecttype"), 2),
    **dict.fromkeys(("openable", "opened", "pickupable", "toggleable", "sliceable"), 1),
    **dict.fromkeys(("heatable", "coolable", "cleanable", "isreceptacleobject"), 1),
    **dict.fromkeys(("isclean", "ishot", "iscool", "issliced", "istoggled", "holdsany"), 1),
}
"""Number of arguments of each predicate that the rules read."""


class GameFile(NamedTuple):
    """A game file: the facts of the beginning, the goal, and the goal in words."""

    facts: Facts
    goal: HouseholdGoal
    text: str


@lru_cache(maxsize=8)
def game_tasks(folder: str) -> TaskSet:
    """Returns one task per game below a folder.

    As in the original, games with sliced objects or movable receptacles in their path are left
    out, and games that the file marks as unsolvable. The difficulty is 0.

    Raises:
        TaskError: the folder has no game.
    """
    root = Path(folder)
    tasks = [
        Task(id=path.parent.relative_to(root).as_posix(), split=split, data={"path": str(path)})
        for name, split in FOLDERS.items()
        for path in sorted((root / name).rglob(FILE))
        if not re.search("movable|Sliced", str(path.relative_to(root)))
        and path.is_file()
        and _solvable(path)
    ]
    if not tasks:
        raise TaskError(
            f"games={folder!r}: no {FILE} below {', '.join(FOLDERS)}; name the folder that has"
            " these, such as json_2.1.1"
        )
    return TaskSet(tasks)


def read_game(path: str) -> GameFile:
    """Reads a game file.

    Raises:
        TaskError: the file cannot be read, is malformed, or has other rules.
    """
    try:
        return _game(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, TaskError) as error:
        raise TaskError(f"{path} is not a game of ALFWorld 0.4: {error}") from error


def _solvable(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, os.path.getsize(path) - _TAIL))
        return b'"solvable": false' not in file.read()


def _game(text: str) -> GameFile:
    data = json.loads(text)
    fields = [
        data.get(name) if isinstance(data, dict) else None for name in ("grammar", "pddl_problem")
    ]
    if not all(isinstance(field, str) for field in fields):
        raise TaskError("it needs the keys 'grammar' and 'pddl_problem' with strings")
    grammar, problem = map(str, fields)
    if "move {o} to {r}" not in grammar:
        raise TaskError(
            "its grammar has no command 'move {o} to {r}'; download the games of ALFWorld 0.4.2"
        )
    facts, goal = read_problem(problem)
    return GameFile(facts, goal, _task_text(grammar))


def _task_text(grammar: str) -> str:
    found = _TASK.search(grammar)
    text = str(json.loads(f'"{found[1]}"', strict=False)) if found else ""
    if not text or re.search(r"[][#{}|]", text):
        raise TaskError(f"the grammar's task is {text!r}, not a plain sentence")
    return text


def read_problem(text: str) -> tuple[Facts, HouseholdGoal]:
    """Returns the facts and the goal of a problem in PDDL.

    Raises:
        TaskError: the text is malformed, or the goal is not one of the six kinds.
    """
    parts = {
        part[0]: part[1:]
        for part in _nested(text)
        if isinstance(part, list) and part and isinstance(part[0], str)
    }
    if missing := {":init", ":goal"} - parts.keys():
        raise TaskError(f"the problem has no {' and no '.join(sorted(missing))}")
    return _facts(parts[":init"]), read_goal(list(_atoms(parts[":goal"])))


def _nested(text: str) -> list[Any]:
    """Returns the parts of the outermost parentheses; names are in lower case, as in the engine."""
    stack: list[list[Any]] = [[]]
    for token in _TOKEN.findall(re.sub(";.*", "", text.lower())):
        if token == "(":
            stack.append([])
        elif token != ")":
            stack[-1].append(token)
        elif len(stack) < 2:
            raise TaskError("the problem has too many closing parentheses")
        else:
            stack[-2].append(stack.pop())
    if len(stack) > 1 or len(stack[0]) != 1 or not isinstance(stack[0][0], list):
        raise TaskError("the problem is not one balanced expression")
    return stack[0][0]


def _facts(rows: list[Any]) -> Facts:
    facts: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for row in rows:
        if not isinstance(row, list) or not row:
            raise TaskError(f"the problem's fact {row!r:.100} is not an expression")
        if row[0] == "=":  # a distance or the cost
            continue
        name, *args = row
        if not all(isinstance(one, str) for one in row) or len(args) != _WIDTHS.get(
            name, len(args)
        ):
            raise TaskError(f"the problem's fact {row!r:.100} has other arguments")
        facts[name].append(tuple(args))
    if len(facts["atlocation"]) != 1:
        raise TaskError(f"the problem has {len(facts['atlocation'])} agents in a place, not 1")
    for name in ("receptacleatlocation", "receptacletype", "objecttype"):
        first, times = next(iter(Counter(row[0] for row in facts[name]).most_common(1)), ("", 0))
        if times > 1:
            raise TaskError(f"the problem has {times} facts {name} of {first}")
    return facts


def _atoms(expression: list[Any]) -> Iterator[tuple[str, ...]]:
    """Yields the predicates of a condition of ``and`` and ``exists``, and inequalities as "="."""
    left = list(reversed(expression))
    while left:
        one = left.pop()
        if not isinstance(one, list) or not one or not isinstance(one[0], str):
            raise TaskError(f"the goal's part {one!r:.100} is not a condition")
        if one[0] == "and":
            left += reversed(one[1:])
        elif one[0] == "not" and len(one) == 2 and one[1][:1] == ["="]:
            left.append(one[1])
        elif one[0] == "exists":
            left += reversed(one[2:])
        elif len(one) == 3 or (one[0] in _WIDTHS and len(one) == 1 + _WIDTHS[one[0]]):
            yield tuple(map(str, one))
        else:
            raise TaskError(f"the goal's part {one!r:.100} is not a condition of the six kinds")
