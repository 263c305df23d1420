"""Makes one game: ``python -m agentgym_envs.envs.textworld.generate OPTIONS_JSON TARGET.z8``."""

import json
import os
import sys
import tempfile
from pathlib import Path

import textworld
from textworld.challenges import CHALLENGES


def main(options_json: str, target: Path) -> None:
    """Generates and compiles in a folder of its own, then moves the game into place, its ``.json`` first."""
    wanted = json.loads(options_json)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".draft-") as folder:
        options = textworld.GameOptions()
        options.seeds = wanted["seed"]
        options.path = str(Path(folder) / target.name)
        _, make, _ = CHALLENGES[wanted["challenge"]]
        textworld.generator.compile_game(make(wanted["settings"], options), options)
        os.replace(Path(folder) / f"{target.stem}.json", target.with_suffix(".json"))
        os.replace(Path(folder) / target.name, target)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
