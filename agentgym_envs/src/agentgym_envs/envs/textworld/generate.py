"""Generates games in a separate process: ``python -m agentgym_envs.envs.textworld.generate``.

The process reads one line of JSON per game and answers each line with the path of the game.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import textworld
from textworld.challenges import CHALLENGES
from textworld.generator import QuestGenerationError

from agentgym_envs.cache import build_once
from agentgym_envs.envs.textworld.goals import set_goal
from agentgym_envs.envs.textworld.layouts import stream_seeds

ATTEMPTS = 50
STRIDE = 1_000_003
"""Distance between the seeds of a game's attempts.

It exceeds the number of tasks of an environment, so no two tasks share a seed.
"""


def make_game(request: dict[str, Any], target: Path) -> None:
    """Generates and compiles a game.

    Its folder appears complete, with the ``.json`` file, or not at all.
    """
    with build_once(target.parent) as draft:
        game, options = _generate(request["challenge"], request["settings"], request["seed"])
        set_goal(game, request["challenge"], request["settings"].get("goal", ""))
        options.path = str(draft / target.name)
        textworld.generator.compile_game(game, options)


def _generate(
    challenge: str, settings: dict[str, Any], seed: int
) -> tuple[textworld.Game, textworld.GameOptions]:
    """Generates a game from the first seed that allows its quest.

    Some maps are too small for a long quest.
    """
    _, make, _ = CHALLENGES[challenge]
    for attempt in range(ATTEMPTS):
        options = textworld.GameOptions()
        options.seeds = stream_seeds(seed + attempt * STRIDE)
        try:
            return make(settings, options), options
        except QuestGenerationError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the compiler's output goes to stderr
    for line in sys.stdin:
        request = json.loads(line)
        make_game(request["options"], Path(request["target"]))
        answers.write(request["target"] + "\n")
        answers.flush()
