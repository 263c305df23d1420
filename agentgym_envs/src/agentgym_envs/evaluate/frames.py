"""Reads result folders as tables of runs, episodes, turns and faults.

The columns of the tables:

``runs``
    run, folder, the settings (target, agent, model and more), tasks, success, low, high, score,
    episodes, planned, least, most, faults, calls, prompt_tokens, completion_tokens, cost, seconds
``episodes``
    run, episode, suite, scenario, family, env_id, task_id, difficulty, attempt, goal, success,
    score, end, last, turns, invalid, calls, prompt_tokens, completion_tokens, cost, seconds
``turns``
    run, episode, turn, seat, observation, response, thought, action, reward, invalid, screenshot
``faults``
    run, suite, scenario, family, env_id, task_id, difficulty, attempt, fault, try, turns, error

``episode`` numbers the episodes of a run from 0, and ``turn`` the turns of an episode from 1. An
episode that was played twice counts once, with its last line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentgym_envs.errors import MissingExtra
from agentgym_envs.evaluate import record
from agentgym_envs.evaluate.folders import expanded, named
from agentgym_envs.evaluate.metrics import summarise
from agentgym_envs.evaluate.planned import coverage, missing

if TYPE_CHECKING:
    import pandas

TableRow = dict[str, Any]
PLACE = ("suite", "scenario", "family", "env_id", "task_id", "difficulty", "attempt")
USED = ("calls", "prompt_tokens", "completion_tokens", "cost")
SUMS = (*USED, "seconds")
EPISODE = ("goal", "success", "score", "end", "last")
TURN = ("seat", "observation", "response", "thought", "action", "reward", "invalid", "screenshot")
FAULT = ("fault", "try", "turns", "error")
COLUMNS: Mapping[str, Sequence[str]] = {
    "runs": ("run", "folder"),
    "episodes": ("run", "episode", *PLACE, *EPISODE, "turns", "invalid", *SUMS),
    "turns": ("run", "episode", "turn", *TURN),
    "faults": ("run", *PLACE, *FAULT),
}


@dataclass(frozen=True)
class ResultTables:
    """The tables of result folders as lists of dictionaries."""

    runs: list[TableRow]
    episodes: list[TableRow]
    turns: list[TableRow]
    faults: list[TableRow]


@dataclass(frozen=True)
class ResultFrames:
    """The tables of result folders as data frames."""

    runs: "pandas.DataFrame"
    episodes: "pandas.DataFrame"
    turns: "pandas.DataFrame"
    faults: "pandas.DataFrame"


def read(*folders: str | PathLike[str]) -> ResultFrames:
    """Returns the tables of result folders as data frames; the module lists their columns.

    Args:
        *folders: results of ``agentgym eval``, folders of several results, or runs of
            agentgym-train.

    Raises:
        MissingExtra: pandas is not installed.
        ArgumentError: a folder holds no results, invalid lines, or results of a newer version.
    """
    try:
        from pandas import DataFrame
    except ModuleNotFoundError as error:
        raise MissingExtra("agentgym_envs.evaluate.read", "pandas") from error
    tables = vars(read_rows(*folders))
    return ResultFrames(
        **{
            name: DataFrame(rows, columns=None if rows else list(COLUMNS[name]))
            for name, rows in tables.items()
        }
    )


def read_rows(*folders: str | PathLike[str]) -> ResultTables:
    """Returns the tables of result folders as lists of dictionaries; needs no pandas.

    Arguments and errors are those of :func:`read`.
    """
    found = expanded([Path(folder) for folder in folders])
    results = ResultTables([], [], [], [])
    for name, folder in zip(named(found), found, strict=True):
        _add(results, name, folder)
    return results


def _add(results: ResultTables, name: str, folder: Path) -> None:
    """Adds the rows of a run."""
    settings, (rows, _) = record.read_settings(folder), record.read(folder)
    plan = settings.pop("planned", None)
    run: TableRow = {"run": name}
    played = record.episodes(rows)
    faults = [row for row in rows if row["row"] == "fault"]
    made = [run | _episode(number, row) for number, row in enumerate(played)]
    results.episodes.extend(made)
    results.faults.extend(run | _taken(row, (*PLACE, *FAULT)) for row in faults)
    results.turns.extend(
        run | {"episode": number, "turn": place, **_taken(turn, TURN)}
        for number, row in enumerate(played)
        for place, turn in enumerate(row["turns"], 1)
    )
    sums = {key: sum(row[key] or 0 for row in made) for key in SUMS}
    counts = {"episodes": len(played), **_bounds(rows, plan), "faults": len(faults)}
    results.runs.append(
        run | {"folder": str(folder), **settings, **_summary(played), **counts, **sums}
    )


def _bounds(rows: Sequence[TableRow], plan: Sequence[TableRow] | None) -> TableRow:
    """Returns the number of planned episodes and the bounds of the success over all tasks.

    All are None if the plan is unknown.
    """
    if plan is None:
        return dict.fromkeys(("planned", "least", "most"))
    played = record.episodes(rows)
    found = coverage([*played, *missing(rows, plan)])
    if found is None:
        success = summarise(played).success if played else None
        return {"planned": len(played), "least": success, "most": success}
    return {"planned": found.episodes, "least": found.least, "most": found.most}


def _summary(played: Sequence[TableRow]) -> TableRow:
    """Returns the success of a run's episodes over all tasks."""
    if not played:
        return {"tasks": 0} | dict.fromkeys(("success", "low", "high", "score"))
    found = summarise(played)
    ends = {"low": found.interval.low, "high": found.interval.high}
    return {"tasks": found.tasks, "success": found.success, **ends, "score": found.score}


def _episode(number: int, row: TableRow) -> TableRow:
    counts = {"turns": len(row["turns"]), "invalid": sum(t["invalid"] for t in row["turns"])}
    used = {key: row["usage"].get(key, 0) for key in USED}
    found = _taken(row, (*PLACE, *EPISODE))
    return {"episode": number, **found, **counts, **used, "seconds": row.get("seconds")}


def _taken(row: TableRow, keys: Sequence[str]) -> TableRow:
    return {key: row.get(key) for key in keys}
