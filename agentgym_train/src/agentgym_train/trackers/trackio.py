"""Trackio: wandb's interface over a local database, or over a Hugging Face Space."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentgym_train.config.constraints import Name
from agentgym_train.data.types import Trajectory
from agentgym_train.errors import ConfigError
from agentgym_train.files import write_whole
from agentgym_train.trackers.data import COLUMNS, SAMPLES, flat, require, rows

KEPT = "trackio.json"
"""The file in the run folder that says which run goes on, after which step."""


@dataclass(frozen=True, kw_only=True)
class Trackio:
    """Logs to where Trackio keeps its projects: ``TRACKIO_DIR``, or the Space of ``TRACKIO_SPACE_ID``."""

    project: Name = "agentgym"
    run: Name | None = None
    """What the run is called; to be unique in the project. The run folder's name and a few random letters unless given."""
    state: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require("trackio")

    def start(self, config: Mapping[str, Any], folder: Path) -> None:
        """Begins a run, or goes on with the one that the folder names.

        Raises:
            ConfigError: Trackio refuses; says why.
        """
        import trackio

        kept = folder / KEPT
        old = json.loads(kept.read_bytes()) if kept.exists() else {}  # a name alone is no sign of the same run
        name = old.get("name") or self.run or f"{folder.resolve().name}-{secrets.token_hex(3)}"
        try:
            trackio.init(self.project, name, config=dict(config), resume="allow" if old else "never")
        except (ValueError, OSError) as error:
            raise ConfigError(f"tracker trackio: {' '.join(str(error).split())}") from error
        self.state.update(name=name, step=old.get("step", 0), file=kept, trackio=trackio)

    def log(self, step: int, metrics: Mapping[str, float], episodes: Sequence[Trajectory]) -> None:
        """Logs numbers and, as a table, episodes; steps that the run has already are left out."""
        if step > self.state["step"]:
            trackio = self.state["trackio"]
            table = {SAMPLES: trackio.Table(columns=COLUMNS, data=rows(step, episodes))} if episodes else {}
            trackio.log({**flat(metrics), **table}, step=step)
            write_whole(self.state["file"], json.dumps({"name": self.state["name"], "step": step}))

    def finish(self) -> None:
        """Waits until everything is written."""
        if trackio := self.state.pop("trackio", None):
            trackio.finish()
