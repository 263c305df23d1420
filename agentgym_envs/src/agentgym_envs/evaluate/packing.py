"""Stores each text of an episode once in its line of ``episodes.jsonl``.

A response holds the thought, the action and the model's reply. An observation is also a message to
the model. A line has such a text in its turn alone; elsewhere a reference replaces it::

    {"same_as": [3, "response", 0, 350]}

stands for the first 350 characters of the response of turn 3; turns count from 0.
``{"same_as": "thought"}`` stands for the result of :func:`thought`. A line with references has
``"packed": true``. :func:`.record.read` puts the texts back.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentgym_envs.lines import JsonRow

SHORT = 64  # characters; a reference is hardly shorter than such a text
SOURCES = ("response", "observation")  # keys of a turn that keep their texts
SAME, ITSELF, THOUGHT = "same_as", "itself", "thought"
# Marks around thoughts and actions in responses.
MARKS = (
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<action>",
    "</action>",
    "Thought:",
    "Action:",
)


def packed(row: JsonRow) -> JsonRow:
    """Returns the line of an episode with references; lines of faults stay as they are."""
    if row["row"] != "episode":
        return row
    try:
        return {**row, **_parts(row), "packed": True}
    except RecursionError:  # a model's argument can be nested as deeply as JSON can
        return row


def unpacked(row: JsonRow) -> JsonRow:
    """Returns the line of an episode with all texts in their places.

    Raises:
        LookupError: a reference to a turn that does not exist.
        TypeError: a malformed reference.
        ValueError: a malformed reference.
    """
    if not row.get("packed"):
        return row
    parts = ("turns", "messages", "calls")
    found = {key: _restored(row[key], row["turns"]) for key in parts if key in row}
    for turn in found["turns"]:
        if turn.get("thought") == {SAME: THOUGHT}:
            turn["thought"] = _thought(turn)
    return {key: value for key, value in {**row, **found}.items() if key != "packed"}


def _parts(row: JsonRow) -> JsonRow:
    turns = row["turns"]
    found = {"turns": [_shorter(turn, turns, n) for n, turn in enumerate(turns)]}
    if "calls" in row:
        messages = zip(row["messages"], _first_turns(row["calls"]), strict=True)
        found["messages"] = [_referring(message, turns, n) for message, n in messages]
        found["calls"] = [_referring(call, turns, call["turn"]) for call in row["calls"]]
    return found


def _shorter(turn: JsonRow, turns: Sequence[JsonRow], number: int) -> JsonRow:
    found = {
        key: value if key in SOURCES else _referring(value, turns, number)
        for key, value in turn.items()
    }
    said = turn.get("thought") or ""
    if "response" in turn and len(said) >= SHORT and said == _thought(turn):
        found["thought"] = {SAME: THOUGHT}
    return found


def _thought(turn: JsonRow) -> str:
    return thought(turn["response"], turn["action"])


def _first_turns(calls: Sequence[Mapping[str, Any]]) -> Iterator[int]:
    """Yields the turn at which each message was first used; messages are in this order."""
    known = 0
    for call in calls:
        last = max([call["reply"] + 1, *(end for _, end in call["messages"])])
        yield from [call["turn"]] * (last - known)
        known = max(known, last)


def _referring(value: Any, turns: Sequence[JsonRow], number: int) -> Any:
    """Returns a value in which texts of a turn are references to it."""
    if isinstance(value, str):
        return _reference(value, turns, number)
    if isinstance(value, list | tuple):
        return [_referring(part, turns, number) for part in value]
    if not isinstance(value, Mapping):
        return value
    if SAME in value:  # a model's own argument of this name, for example
        return {SAME: ITSELF, "value": value}
    return {key: _referring(part, turns, number) for key, part in value.items()}


def _reference(text: str, turns: Sequence[JsonRow], number: int) -> Any:
    if len(text) < SHORT or number >= len(turns):
        return text
    for key in SOURCES:
        start = str(turns[number].get(key, "")).find(text)
        if start >= 0:
            return {SAME: [number, key, start, start + len(text)]}
    return text


def _restored(value: Any, turns: Sequence[JsonRow]) -> Any:
    if isinstance(value, list):
        return [_restored(part, turns) for part in value]
    if not isinstance(value, dict):
        return value
    if SAME not in value:
        return {key: _restored(part, turns) for key, part in value.items()}
    if value[SAME] == ITSELF:
        return value["value"]
    if value[SAME] == THOUGHT:
        return value
    number, key, start, end = value[SAME]
    if number < 0:
        raise ValueError(f"no turn has the text {value[SAME]}")
    return turns[number][key][start:end]


def thought(response: str, action: str) -> str:
    """Returns what a response says before its action, without the marks around both."""
    before, call, _ = response.partition("<tool_call>")
    if not call:
        before = (
            response.rpartition(action)[0]
            if action and action in response
            else ""
            if action
            else response
        )
    for mark in MARKS:
        before = before.replace(mark, "")
    return before.strip()
