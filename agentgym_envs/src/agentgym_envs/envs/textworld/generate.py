"""Makes games: ``python -m agentgym_envs.envs.textworld.generate`` reads a line of JSON a game, and answers each with its path."""

import json
import os
import sys
import tempfile
from pathlib import Path

import textworld
from textworld.challenges import CHALLENGES


def make_game(wanted: dict[str, object], target: Path) -> None:
    """Generates and compiles in a folder of its own, then moves the game into place, its ``.json`` first."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".draft-") as folder:
        options = textworld.GameOptions()
        options.seeds = wanted["seed"]
        options.path = str(Path(folder) / target.name)
        _, make, _ = CHALLENGES[wanted["challenge"]]
        textworld.generator.compile_game(make(wanted["settings"], options), options)
        os.replace(Path(folder) / f"{target.stem}.json", target.with_suffix(".json"))
        os.replace(Path(folder) / target.name, target)


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the compiler's own output goes elsewhere
    for line in sys.stdin:
        request = json.loads(line)
        make_game(request["options"], Path(request["target"]))
        answers.write(request["target"] + "\n")
        answers.flush()
