"""Trackio: the interface of wandb with a local database or a Hugging Face Space."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym_train.config.constraints import Name
from agentgym_train.data.types import Trajectory
from agentgym_train.errors import ConfigError
from agentgym_train.files import read_sealed, write_sealed
from agentgym_train.protocols import Tracker
from agentgym_train.trackers.data import COLUMNS, SAMPLES, flat, require, rows

KEPT = "trackio.json"
"""The file in the run folder with the name and the latest step of the tracked run."""


class Trackio(Tracker):
    """Logs to the folder ``TRACKIO_DIR``, or to the Space ``TRACKIO_SPACE_ID``.

    It resumes the run that the run folder names.

    Raises:
        ConfigError: Trackio rejects the run; gives its reason.
    """

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The names of the tracked run."""

        project: Name = "agentgym"
        """Name of the project that has the run."""
        run: Name | None = None
        """Name of the run, unique in the project; default: the run folder's name and random
        letters."""

        def __post_init__(self) -> None:
            require("trackio")

    def __init__(self, options: Options, config: Mapping[str, Any], folder: Path):
        import trackio

        kept = folder / KEPT
        # A run is resumed only with this file: another run could have the same name.
        old = _read(kept)
        name = old.get("name") or options.run or f"{folder.resolve().name}-{secrets.token_hex(3)}"
        try:
            trackio.init(
                options.project, name, config=dict(config), resume="allow" if old else "never"
            )
        except (ValueError, OSError) as error:
            raise ConfigError(f"tracker trackio: {' '.join(str(error).split())}") from error
        self._name, self._file, self._open = name, kept, True
        self._step = old.get("step", 0)  # the latest step that the run has

    def log(self, step: int, metrics: Mapping[str, float], episodes: Sequence[Trajectory]) -> None:
        """Logs numbers, and episodes as a table; skips steps that the run already has."""
        import trackio

        if step > self._step:
            table = (
                {SAMPLES: trackio.Table(columns=COLUMNS, data=rows(step, episodes))}
                if episodes
                else {}
            )
            trackio.log({**flat(metrics), **table}, step=step)
            write_sealed(self._file, json.dumps({"name": self._name, "step": step}))

    def finish(self) -> None:
        """Waits until all data are written."""
        import trackio

        if self._open:
            trackio.finish()
        self._open = False


def _read(kept: Path) -> dict[str, Any]:
    """Returns what the file of the tracked run says; empty if it is missing or damaged."""
    text = read_sealed(kept, otherwise="the tracked run is another one from now on")
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
