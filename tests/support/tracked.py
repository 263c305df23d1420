"""A part of a tracked run: makes a tracker, logs some steps, then finishes or dies."""

import json
import os
import sys
from pathlib import Path

from agentgym_train import plugins
from agentgym_train.data.types import Call, Trajectory, Turn

TURN = Turn(
    "You see a door.\nIt is shut.", [Call([1], [2], [-0.5])], action="open <door>", reward=0.25
)
EPISODES = [
    Trajectory("maze 7", 3, [TURN], score=0.5),
    Trajectory("", 4, [TURN, TURN], success=True),
]


def row(step: int, part: int) -> dict:
    """Returns a small version of the trainer's log row; ``episodes`` is a metric."""
    return {
        "step": step,
        "horizon": 4,
        "part": part,
        "success": step / 8,
        "episodes": 64,
        "time": {"collect": 1.5},
        "note": "no number",
    }


def main(options: dict, folder: str, steps: list[int], part: int, dies: bool) -> None:
    config = {"run": {"folder": folder, "steps": 9}, "tracker": [options]}
    tracker = plugins.make_object(plugins.TRACKER, options, config, Path(folder))
    for step in steps:
        tracker.log(step, row(step, part), EPISODES if step % 2 else [])
    if dies:
        os._exit(9)
    tracker.finish()
    tracker.finish()


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
