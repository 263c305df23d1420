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
from agentgym_train.protocols import Tracker, TrackerPlugin
from agentgym_train.trackers.data import COLUMNS, SAMPLES, flat, require, rows

KEPT = "trackio.json"
"""The file in the run folder with the name and the latest step of the tracked run."""


@dataclass(frozen=True, kw_only=True)
class Trackio(TrackerPlugin):
    """Logs to the folder ``TRACKIO_DIR``, or to the Space ``TRACKIO_SPACE_ID``."""

    project: Name = "agentgym"
    """Name of the project that has the run."""
    run: Name | None = None
    """Name of the run, unique in the project; default: the run folder's name and random letters."""

    def __post_init__(self) -> None:
        require("trackio")

    def build(self, config: Mapping[str, Any], folder: Path) -> "TrackioTracker":
        """Starts a run, or resumes the one that the folder names.

        Raises:
            ConfigError: Trackio rejects the run; gives its reason.
        """
        import trackio

        kept = folder / KEPT
        # A run is resumed only with this file: another run could have the same name.
        old = _read(kept)
        name = old.get("name") or self.run or f"{folder.resolve().name}-{secrets.token_hex(3)}"
        try:
            trackio.init(
                self.project, name, config=dict(config), resume="allow" if old else "never"
            )
        except (ValueError, OSError) as error:
            raise ConfigError(f"tracker trackio: {' '.join(str(error).split())}") from error
        return TrackioTracker(name, old.get("step", 0), kept)


def _read(kept: Path) -> dict[str, Any]:
    """Returns what the file of the tracked run says; empty if it is missing or damaged."""
    text = read_sealed(kept, otherwise="the tracked run is another one from now on")
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class TrackioTracker(Tracker):
    """A run in progress.

    Args:
        name: the run's name.
        step: the latest step that the run has.
        file: the file that names the run and its latest step.
    """

    def __init__(self, name: str, step: int, file: Path):
        self._name, self._step, self._file, self._open = name, step, file, True

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
