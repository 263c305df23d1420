"""Comparisons from files as tokens, for training and for held-out evaluation."""

import logging
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from transformers import PreTrainedTokenizerBase

from agentgym_envs.feedback import record
from agentgym_envs.lines import JsonRow
from agentgym_envs.tasks import stable_hash
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.errors import ConfigError
from agentgym_train.models.chat import ChatTemplate
from agentgym_train.reward.config import RewardConfig

log = logging.getLogger(__name__)
PREFERENCES = {"a": 1.0, "b": 0.0, "tie": 0.5}
"""Probability that the first episode is the better one, by choice; "neither" has none."""


class ComparedPair(NamedTuple):
    """Two episodes of a task, as the reward model reads them, and which is better."""

    task_id: str
    a: list[int]
    b: list[int]
    preference: float
    """1.0: the first is better; 0.0: the second is better; 0.5: a tie."""

    def group(self, number: int) -> Group:
        """Returns the pair as two trajectories.

        The model reads their last token, whose reward is their share of the choice.
        """
        sides = ((self.a, self.preference), (self.b, 1.0 - self.preference))
        turns = [Turn("", [Call(ids[:-1], ids[-1:], [0.0])], reward=share) for ids, share in sides]
        return Group(number, [Trajectory(self.task_id, 0, [turn]) for turn in turns])


class ComparisonSplit(NamedTuple):
    """Comparisons of different tasks."""

    learn: list[ComparedPair]
    held_out: list[ComparedPair]


def load(config: RewardConfig, tokenizer: PreTrainedTokenizerBase) -> ComparisonSplit:
    """Reads the files; no task has comparisons on both sides.

    Raises:
        ArgumentError: a file has no comparisons.
        ConfigError: one side has no comparison with a winner.
        TemplateError: the tokenizer has no chat template.
    """
    own = config.comparisons
    rows = [
        row
        for file in own.files
        for row in record.standing(record.read(Path(file))[0])
        if row["choice"] in PREFERENCES
    ]
    template = cache(
        lambda instructions: ChatTemplate(tokenizer, instructions, **config.template_options)
    )
    sides = ComparisonSplit([], [])
    for row in rows:
        if (pair := _pair(row, template, config.model.max_context)) is not None:
            sides[_held_out(row, own.held_out)].append(pair)
    if left := len(rows) - len(sides.learn) - len(sides.held_out):
        log.warning(
            "%d of %d comparisons are left out: an episode has no action, exceeds"
            " model.max_context, or several agents act in it",
            left,
            len(rows),
        )
    for side, what in zip(sides, ("to learn from", "of held-out tasks"), strict=True):
        if all(pair.preference == PREFERENCES["tie"] for pair in side):
            raise ConfigError(
                f"comparisons.files={list(own.files)}: among {len(side)} comparisons {what} not one"
                " has a better episode: compare more tasks, or change comparisons.held_out or"
                " model.max_context"
            )
    return sides


def _pair(row: JsonRow, template: Callable[[str], ChatTemplate], most: int) -> ComparedPair | None:
    """Returns a comparison as tokens.

    The result is None if an episode has no action, has several agents, or does not fit.
    """
    if any(len({turn.get("seat") for turn in row[side]["turns"]}) != 1 for side in ("a", "b")):
        return None
    reader = template(row["instructions"])
    a, b = (_ids(row[side]["turns"], reader) for side in ("a", "b"))
    return (
        ComparedPair(row["task_id"], a, b, PREFERENCES[row["choice"]])
        if max(len(a), len(b)) <= most
        else None
    )


def _ids(turns: Sequence[JsonRow], template: ChatTemplate) -> list[int]:
    return template.episode(
        [turn["observation"] for turn in turns], [turn["response"] for turn in turns]
    )


def _held_out(row: JsonRow, share: float) -> bool:
    """Returns whether a task is held out; comparisons of other tasks do not matter."""
    return stable_hash(f"held out {row['env_id']} {row['task_id']}") < share * 2**63
