"""Weights & Biases."""

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

ID = "wandb-id"
"""The file in the run folder with the id of the tracked run."""


class WandB(Tracker):
    """Logs to the account of ``wandb login``.

    With ``WANDB_MODE=offline`` it logs to ``wandb/`` in the run folder. It resumes the run that the
    folder names.

    Raises:
        ConfigError: wandb rejects the run; gives its reason.
    """

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The names of the tracked run."""

        project: Name = "agentgym"
        """Name of the project that has the run."""
        run: Name | None = None
        """Name of the run; default: the run folder's name."""

        def __post_init__(self) -> None:
            require("wandb")

    def __init__(self, options: Options, config: Mapping[str, Any], folder: Path):
        import wandb

        kept = folder / ID
        old = read_sealed(kept, otherwise="the tracked run is another one from now on")
        name = options.run or folder.resolve().name
        try:
            run: Any = wandb.init(
                project=options.project,
                name=name,
                id=old,
                resume="allow",
                dir=folder,
                config=dict(config),
            )
        except wandb.errors.Error as error:
            raise ConfigError(
                f"tracker wandb: {' '.join(str(error).split())} (WANDB_MODE=offline needs no"
                " account)"
            ) from error
        write_sealed(kept, run.id)
        self._run = run

    def log(self, step: int, metrics: Mapping[str, float], episodes: Sequence[Trajectory]) -> None:
        """Logs numbers, and episodes as a table. wandb skips steps that the run already has."""
        import wandb

        table = (
            {SAMPLES: wandb.Table(columns=COLUMNS, data=rows(step, episodes))} if episodes else {}
        )
        self._run.log({**flat(metrics), **table}, step=step)

    def finish(self) -> None:
        """Waits until all data are sent or written."""
        if self._run is not None:
            self._run.finish()
        self._run = None
