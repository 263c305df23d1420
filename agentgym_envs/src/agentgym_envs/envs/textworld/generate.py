"""Makes games: ``python -m agentgym_envs.envs.textworld.generate`` reads a line of JSON a game, and answers each with its path."""

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
STRIDE = 1_000_003  # between the seeds of a game's attempts: more than an environment has tasks, so that no two tasks share a seed


def make_game(wanted: dict[str, Any], target: Path) -> None:
    """Generates and compiles a game, which appears in its folder with its ``.json`` or not at all."""
    with build_once(target.parent) as draft:
        game, options = _generate(wanted["challenge"], wanted["settings"], wanted["seed"])
        set_goal(game, wanted["challenge"], wanted["settings"].get("goal", ""))
        options.path = str(draft / target.name)
        textworld.generator.compile_game(game, options)


def _generate(challenge: str, settings: dict[str, Any], seed: int) -> tuple[textworld.Game, textworld.GameOptions]:
    """Generates a game from the first seed that allows its quest: not every map has room for a long one."""
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
    os.dup2(2, 1)  # the compiler's own output goes elsewhere
    for line in sys.stdin:
        request = json.loads(line)
        make_game(request["options"], Path(request["target"]))
        answers.write(request["target"] + "\n")
        answers.flush()
