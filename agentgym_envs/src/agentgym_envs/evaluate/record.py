"""A run's folder: ``settings.json`` and ``episodes.jsonl``.

``episodes.jsonl`` is append-only and has one line per episode or fault.

A line of an episode::

    {"row": "episode", "suite": "agentgym-rl", "scenario": "babyai", "family": "GoTo", "env_id":
    "agentgym/BabyAI-v2",
     "task_id": "GoToObj-3", "difficulty": 1, "attempt": 0, "settings": "5f…", "goal": "go to the
     red ball",
     "success": true, "score": 1.0, "end": "terminated", "last": "the last observation",
     "turns": [{"observation": …, "response": …, "thought": …, "action": …, "reward": 1.0,
     "invalid": false}, …],
     "usage": {"calls": 4, "prompt_tokens": 812, "completion_tokens": 90, "cost": 0.0}, "seconds":
     3.1, "memory": null}

If ``info["seat"]`` names the acting seat, a turn also has ``"seat"``, and ``memory`` is by seat.

``end`` is "terminated" (the task was decided), "truncated" (the step limit was reached) or
"context" (the model's context was used up). A fault has the same first nine keys, and ``"row":
"fault"``, ``"fault": "environment"`` or ``"provider"``, ``"try"``, ``"error"`` and ``"turns"`` (the
number played). Faults are never scored.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from agentgym_envs import lines
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.settings import Settings
from agentgym_envs.lines import has

Row = lines.Row
EPISODES, SETTINGS = "episodes.jsonl", "settings.json"
NUMBER = (int, float)
HEAD = {
    **dict.fromkeys(("suite", "scenario", "family", "env_id", "task_id", "settings"), str),
    "difficulty": NUMBER,
    "attempt": int,
    "usage": dict,
}
KINDS: Mapping[str, Mapping[str, Any]] = {  # required keys of a line, and their types
    "episode": {**HEAD, "success": bool, "score": (*NUMBER, type(None)), "end": str, "turns": list},
    "fault": {**HEAD, "fault": str, "try": int, "turns": int},
}
TURN = {"observation": str, "action": str, "reward": (*NUMBER, type(None)), "invalid": bool}


class Key(NamedTuple):
    """Identifies an episode in a folder."""

    suite: str
    family: str
    task_id: str
    attempt: int
    settings: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Key":
        """Returns the key of a line."""
        return cls(*(row[name] for name in cls._fields))


class Rows:
    """Lines that are kept in memory."""

    folder: Path | None = None

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, row: Row) -> None:
        """Adds a line."""
        self.rows.append(row)


class Record(Rows):
    """A run's folder, open for appending by one process at a time.

    Args:
        folder: the folder; created if it does not exist.
        settings: the run's settings.

    Raises:
        ArgumentError: the folder holds other files, other settings or invalid lines, or another run
            uses it.
    """

    def __init__(self, folder: Path, settings: Settings):
        super().__init__()
        self.folder: Path = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentError(f"cannot write {folder}: {error.strerror}") from error
        _claim(folder, settings)
        busy = f"another run is at work in {folder}: wait for its end, or give another --out"
        self._lines = lines.Lines(folder / EPISODES, busy=busy)
        self.rows, self.cut = read(folder)
        """The lines so far, and the bytes of a partial last line, which is dropped."""
        self._lines.drop(self.cut)

    def add(self, row: Row) -> None:
        """Adds a line; it is on the disk when this returns."""
        self._lines.add(row)
        super().add(row)

    def close(self) -> None:
        """Closes the file; other processes can open it."""
        self._lines.close()


def write(folder: Path, settings: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Writes a whole folder and replaces its content: for episodes that were played elsewhere."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    (folder / EPISODES).write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )


def read(folder: Path) -> tuple[list[Row], int]:
    """Returns the lines of a run's folder, and the length in bytes of a partial last line.

    Raises:
        ArgumentError: no such folder, or an invalid line; the message has its number.
    """
    try:
        return lines.read(folder / EPISODES, fits=_fits, what="episode")
    except OSError as error:
        raise ArgumentError(
            f"{folder} holds no results: {EPISODES} cannot be read ({error.strerror})"
        ) from error


def read_settings(folder: Path) -> dict[str, Any]:
    """Returns the settings of a folder's run.

    Raises:
        ArgumentError: the folder has no readable settings.
    """
    try:
        found = json.loads((folder / SETTINGS).read_bytes())
    except OSError as error:
        raise ArgumentError(
            f"{folder} holds no results: {SETTINGS} cannot be read ({error.strerror})"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ArgumentError(
            f"{folder} holds no results: {SETTINGS} cannot be read ({error})"
        ) from error
    if not isinstance(found, dict):
        raise ArgumentError(f"{folder} holds no results: {SETTINGS} is no JSON object")
    return found


def episodes(rows: Sequence[Row]) -> list[Row]:
    """Returns the lines of episodes; of several with the same key, the last."""
    return list({Key.of(row): row for row in rows if row["row"] == "episode"}.values())


def _claim(folder: Path, settings: Settings) -> None:
    """Writes the settings into a folder without lines, or compares them with its settings."""
    path, played = folder / SETTINGS, folder / EPISODES
    begun = played.exists() and played.stat().st_size > 0
    if path.exists() and begun:
        if different := settings.difference(read_settings(folder)):
            raise ArgumentError(
                f"{folder} holds results of other settings: {different}. Give another --out"
            )
    elif begun or {item.name for item in folder.iterdir()} - {SETTINGS, EPISODES}:
        raise ArgumentError(
            f"{folder} is not empty and holds no results of an evaluation. Give another --out"
        )
    else:
        draft = folder / f".{SETTINGS}"
        draft.write_text(json.dumps(asdict(settings), indent=1) + "\n", encoding="utf-8")
        draft.replace(path)


def _fits(row: Row) -> bool:
    return has(row, KINDS[row["row"]]) and (
        row["row"] == "fault" or all(has(turn, TURN) for turn in row["turns"])
    )
