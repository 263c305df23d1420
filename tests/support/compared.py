"""Comparisons and result rows for tests."""

import json

from agentgym_envs.evaluate import record


def turn(number, **changes):
    action = f"go {number}"
    return {
        "observation": f"room {number}",
        "response": action,
        "action": action,
        "reward": 0.0,
        "invalid": False,
        **changes,
    }


def side(run="one", turns=2, **changes):
    played = [turn(number) for number in range(1, turns + 1)] if isinstance(turns, int) else turns
    named = {"run": run, "attempt": 0, "settings": "h"}
    return {
        **named,
        "success": True,
        "score": 1.0,
        "end": "terminated",
        "last": "the end",
        "turns": played,
        **changes,
    }


def comparison(task="t", choice="a", annotator="kim", **changes):
    fields = {
        "row": "comparison",
        "env_id": "agentgym/Maze-v1",
        "task_id": task,
        "instructions": "Find the lamp.",
    }
    sides = {"a": side("one"), "b": side("two", 3)}
    return {**fields, **sides, "choice": choice, "comment": "", "annotator": annotator, **changes}


def result(task="t", turns=2, **changes):
    """Returns the row of an episode in a result folder."""
    where = {
        "suite": "",
        "scenario": "",
        "family": "Maze",
        "env_id": "agentgym/Maze-v1",
        "task_id": task,
        "difficulty": 1,
    }
    fields = {"goal": "take the lamp", "usage": {}, "seconds": 1.0, "memory": None}
    episode = {key: value for key, value in side("", turns).items() if key != "run"}
    episode["turns"] = [{"thought": "", **played} for played in episode["turns"]]
    return {"row": "episode", **where, **fields, **episode, **changes}


def folder(path, rows, **settings):
    """Writes a result folder; returns its path."""
    record.write(path, settings, rows)
    return path


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
