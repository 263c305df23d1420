"""Configuration of a reward model's run: a table ``[comparisons]`` and no environment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from agentgym_train import config
from agentgym_train.config import Config, SharedSettings, build, tables
from agentgym_train.config.constraints import Count, Name, Whole


@dataclass(frozen=True, kw_only=True)
class ComparisonsConfig:
    """The comparisons that a reward model is trained on."""

    files: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Files of comparisons, as ``agentgym compare`` writes them."""
    pairs: Count = 32
    """Comparisons per training step, over all processes."""
    held_out: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Share of the tasks that are held out, between 0 and 1. A task's name alone decides this."""
    every: Whole = 0
    """Training steps between evaluations on held-out tasks; 0: only before and after training."""


@dataclass(frozen=True, kw_only=True)
class RewardConfig(SharedSettings):
    """The configuration of a reward model's run. The training starts from ``model``."""

    comparisons: ComparisonsConfig


def load(path: str | Path, overrides: Iterable[str] = ()) -> Config | RewardConfig:
    """Reads the TOML file of either kind of run; see :func:`agentgym_train.config.load`."""
    return of(tables.read(path, overrides))


def of(raw: Mapping[str, Any]) -> Config | RewardConfig:
    """Makes a configuration of either kind from the tables of a file.

    See :func:`agentgym_train.config.of`.
    """
    return build(RewardConfig, tables.placed(raw)) if "comparisons" in raw else config.of(raw)
