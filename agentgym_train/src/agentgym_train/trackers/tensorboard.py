"""TensorBoard: event files in the run folder."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from agentgym_train.data.types import Trajectory
from agentgym_train.files import writing
from agentgym_train.reporting import report
from agentgym_train.trackers.data import SAMPLES, flat, require


@dataclass(frozen=True, kw_only=True)
class TensorBoard:
    """Writes into ``tensorboard/`` of the run folder. No options."""

    state: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require("tensorboard")

    def start(self, config: Mapping[str, Any], folder: Path) -> None:
        """Opens the folder; what is in it of the first step to come, or of later ones, is purged by then."""
        from torch.utils.tensorboard import SummaryWriter

        self.state["folder"] = folder / "tensorboard"
        self.state["open"] = partial(SummaryWriter, str(self.state["folder"]))
        self.state["config"] = textwrap.indent(json.dumps(config, indent=2, ensure_ascii=False), "    ")  # code, in Markdown

    def log(self, step: int, metrics: Mapping[str, float], episodes: Sequence[Trajectory]) -> None:
        """Writes numbers and, as one text, episodes; on the disk when this returns."""
        with writing(self.state["folder"]):
            if "writer" not in self.state:
                self.state["writer"] = self.state["open"](purge_step=step)
                self.state["writer"].add_text("config", self.state["config"], step)
            writer = self.state["writer"]
            for key, value in flat(metrics).items():
                writer.add_scalar(key, value, step)
            if episodes:
                writer.add_text(SAMPLES, "\n".join(map(report.as_text, episodes)), step)
            writer.flush()

    def finish(self) -> None:
        """Closes the file."""
        if writer := self.state.pop("writer", None):
            writer.close()
