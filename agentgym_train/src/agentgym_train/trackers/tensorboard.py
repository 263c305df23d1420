"""TensorBoard: event files in the run folder."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym_train.data.types import Trajectory
from agentgym_train.files import writing
from agentgym_train.protocols import Tracker
from agentgym_train.reporting import report
from agentgym_train.trackers.data import SAMPLES, flat, require


class TensorBoard(Tracker):
    """Writes into ``tensorboard/`` of the run folder.

    The first ``log`` opens the writer, since it needs the step. It removes that step and later ones
    from the folder.
    """

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """No options."""

        def __post_init__(self) -> None:
            require("tensorboard")

    def __init__(self, options: Options, config: Mapping[str, Any], folder: Path):
        self._folder, self._writer = folder / "tensorboard", None  # type: Path, Any
        # Indented text is code in Markdown.
        self._config = textwrap.indent(json.dumps(config, indent=2, ensure_ascii=False), "    ")

    def log(self, step: int, metrics: Mapping[str, float], episodes: Sequence[Trajectory]) -> None:
        """Writes numbers, and episodes as one text, and flushes them."""
        from torch.utils.tensorboard import SummaryWriter

        with writing(self._folder):
            if self._writer is None:
                self._writer = SummaryWriter(str(self._folder), purge_step=step)
                self._writer.add_text("config", self._config, step)
            for key, value in flat(metrics).items():
                self._writer.add_scalar(key, value, step)
            if episodes:
                self._writer.add_text(SAMPLES, "\n".join(map(report.as_text, episodes)), step)
            self._writer.flush()

    def finish(self) -> None:
        """Closes the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
