"""Makes games: ``python -m agentgym_envs.envs.textworld.generate`` reads a line of JSON a game, and answers each with its path."""

import json
import os
import sys
from pathlib import Path

import textworld
from textworld.challenges import CHALLENGES

from agentgym_envs.cache import build_once


def make_game(wanted: dict[str, object], target: Path) -> None:
    """Generates and compiles a game, which appears in its folder with its ``.json`` or not at all."""
    with build_once(target.parent) as draft:
        options = textworld.GameOptions()
        options.seeds = wanted["seed"]
        options.path = str(draft / target.name)
        _, make, _ = CHALLENGES[wanted["challenge"]]
        textworld.generator.compile_game(make(wanted["settings"], options), options)


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the compiler's own output goes elsewhere
    for line in sys.stdin:
        request = json.loads(line)
        make_game(request["options"], Path(request["target"]))
        answers.write(request["target"] + "\n")
        answers.flush()
