"""Comparisons, and results to compare, as tests need them."""

import json

from agentgym_envs.evaluate import record


def turn(number, **changes):
    said = f"go {number}"
    return {"observation": f"room {number}", "response": said, "action": said, "reward": 0.0, "invalid": False, **changes}


def side(run="one", turns=2, **changes):
    played = [turn(number) for number in range(1, turns + 1)] if isinstance(turns, int) else turns
    named = {"run": run, "attempt": 0, "settings": "h"}
    return {**named, "success": True, "score": 1.0, "end": "terminated", "last": "the end", "turns": played, **changes}


def comparison(task="t", choice="a", annotator="kim", **changes):
    told = {"row": "comparison", "env_id": "agentgym/Maze-v1", "task_id": task, "instructions": "Find the lamp."}
    sides = {"a": side("one"), "b": side("two", 3)}
    return {**told, **sides, "choice": choice, "comment": "", "annotator": annotator, **changes}


def result(task="t", turns=2, **changes):
    """A line of an episode in a folder of results."""
    where = {"suite": "", "scenario": "", "family": "Maze", "env_id": "agentgym/Maze-v1", "task_id": task, "difficulty": 1}
    told = {"goal": "take the lamp", "usage": {}, "seconds": 1.0, "memory": None}
    episode = {key: value for key, value in side("", turns).items() if key != "run"}
    episode["turns"] = [{"thought": "", **played} for played in episode["turns"]]
    return {"row": "episode", **where, **told, **episode, **changes}


def folder(path, rows, **settings):
    """Writes results; returns the path."""
    record.write(path, settings, rows)
    return path


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
