"""Games on disk: generated on demand by TextWorld, cached under the hash of what made them.

The folder is ``$AGENTGYM_CACHE/textworld``, by default under the user's cache directory. A game is written beside its final place
and moved there whole, so any number of processes may ask for the same one.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agentgym_envs.cache import cache_folder

GENERATION_TIMEOUT = 300.0  # seconds a game may take to generate and compile


@dataclass(frozen=True)
class GameOptions:
    """What determines a game."""

    challenge: str
    """A TextWorld challenge, such as "tw-coin_collector"."""
    settings: tuple[tuple[str, Any], ...]
    """The challenge's parameters, as sorted pairs."""
    seed: int

    def to_json(self) -> str:
        """Returns the options as JSON: the argument of the generating process."""
        return json.dumps({"challenge": self.challenge, "settings": dict(self.settings), "seed": self.seed}, sort_keys=True)

    def key(self) -> str:
        """Returns a hash that also depends on TextWorld's version."""
        return hashlib.sha256(f"{version('textworld')} {self.to_json()}".encode()).hexdigest()[:24]


def game_file(options: GameOptions) -> Path:
    """Returns the path of a game, generating it if it is not there yet.

    Raises:
        RuntimeError: TextWorld could not make it.
    """
    target = cache_folder("textworld") / f"{options.key()}.z8"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        # A process of its own with a fixed hash seed: TextWorld's choices depend on the order of sets.
        command = [sys.executable, "-m", "agentgym_envs.envs.textworld.generate", options.to_json(), str(target)]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=GENERATION_TIMEOUT)
        if done.returncode or not target.exists():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(f"TextWorld could not make a game of {options.to_json()}: {last}")
    return target


def build(games: Iterable[GameOptions], *, workers: int | None = None, on_game: Callable[[], None] | None = None) -> list[Path]:
    """Generates games in parallel.

    Args:
        games: what to make.
        workers: generating processes at a time; by default one a core.
        on_game: called after each.

    Returns:
        The paths, in the order of ``games``.
    """
    games = list(games)
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        futures = [pool.submit(game_file, game) for game in games]
        for future in as_completed(futures):
            future.result()
            if on_game:
                on_game()
    return [f.result() for f in futures]
