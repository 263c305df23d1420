"""Games on disk: generated on demand by TextWorld, cached under the hash of what made them.

The folder is ``$AGENTGYM_CACHE/textworld``, by default under the user's cache directory. Each game has a folder in it, which is
made beside its final place and moved there whole, so any number of processes may ask for the same one.
"""

import hashlib
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agentgym_envs.cache import cache_folder
from agentgym_envs.processes import python_command, python_environment

RECIPE = 1
"""Part of a game's cache key: raise it when ``goals.py`` or ``layouts.stream_seeds`` change what a game holds."""
GENERATION_TIMEOUT = 300.0  # seconds a game may take, on average over what one process makes


@dataclass(frozen=True)
class GameOptions:
    """What determines a game."""

    challenge: str
    """A TextWorld challenge, such as "tw-coin_collector"."""
    settings: tuple[tuple[str, Any], ...]
    """The challenge's parameters, as sorted pairs."""
    seed: int

    def request(self) -> dict[str, Any]:
        """Returns the options as the generating process reads them."""
        return {"challenge": self.challenge, "settings": dict(self.settings), "seed": self.seed}

    def key(self) -> str:
        """Returns a hash that also depends on TextWorld's version and on ``RECIPE``."""
        return hashlib.sha256(f"{_textworld()} {RECIPE} {json.dumps(self.request(), sort_keys=True)}".encode()).hexdigest()[:24]


@cache
def _textworld() -> str:
    """TextWorld's version, which takes longer to read than a game to begin."""
    return version("textworld")


def game_file(options: GameOptions) -> Path:
    """Returns the path of a game, generating it if it is not there yet.

    Raises:
        RuntimeError: TextWorld could not make it.
    """
    return build([options])[0]


def build(games: Iterable[GameOptions], *, workers: int | None = None, on_game: Callable[[], None] | None = None) -> list[Path]:
    """Generates the games that are not there yet, in parallel.

    Args:
        games: what to make.
        workers: generating processes; by default one a core.
        on_game: called after each.

    Returns:
        The paths, in the order of ``games``.

    Raises:
        RuntimeError: TextWorld could not make one.
    """
    targets = {g: cache_folder("textworld") / g.key() / f"{g.key()}.z8" for g in games}
    missing = [g for g, target in targets.items() if not target.exists()]
    done = on_game or (lambda: None)
    for _ in range(len(targets) - len(missing)):
        done()
    if missing:
        count = min(workers or os.cpu_count() or 1, len(missing))
        running: list[subprocess.Popen[str]] = []
        with ThreadPoolExecutor(count) as pool:
            try:
                list(pool.map(lambda n: _generate(missing[n::count], targets, done, running), range(count)))
            except BaseException:
                for process in running:
                    process.terminate()
                raise
    return list(targets.values())


def _generate(
    games: list[GameOptions], targets: Mapping[GameOptions, Path], on_game: Callable[[], None], running: list[subprocess.Popen[str]]
) -> None:
    """Makes games in one process with a fixed hash seed: TextWorld's choices depend on the order of sets."""
    requests = "".join(json.dumps({"options": g.request(), "target": str(targets[g])}) + "\n" for g in games)
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as errors:
        given.write(requests)
        given.seek(0)
        command, environment = python_command("agentgym_envs.envs.textworld.generate"), python_environment(PYTHONHASHSEED="0")
        with subprocess.Popen(command, env=environment, stdin=given, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            running.append(process)
            watch = threading.Timer(GENERATION_TIMEOUT * len(games), process.terminate)
            watch.start()
            made = 0
            assert process.stdout is not None
            for _ in process.stdout:
                made += 1
                on_game()
            watch.cancel()
        if made < len(games):
            errors.seek(0)
            last = (errors.read().strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(f"TextWorld could not make a game of {json.dumps(games[made].request())}: {last}")
