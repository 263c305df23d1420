"""The environments of a run.

Each has separate rules, action format, group size, curriculum and episodes.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

from transformers import PreTrainedTokenizerBase

from agentgym_envs.pool import Description
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.curricula import answers
from agentgym_train.data.types import Failure, Group
from agentgym_train.distributed import Distributed
from agentgym_train.models.chat import Chat
from agentgym_train.protocols import Generator, RunContext, Scorer, Source
from agentgym_train.rollout import tasks
from agentgym_train.rollout.token_budget import TokenBudget


class Collected(NamedTuple):
    """A step's episodes of one environment, in one process."""

    groups: list[Group]
    failures: Sequence[Failure]
    horizon: int
    """The maximum number of turns of an episode."""
    asked: int
    """Number of groups that the step asked for, over all processes."""


class _Plan(NamedTuple):
    """The decisions about a step, made before it is collected."""

    step: int
    difficulties: tuple[int, int] | None
    groups: Collection[int]


class TrainingEnv:
    """One environment of a run.

    Args:
        config: the configuration of the run, as if this environment were the only one.
        training: the description of the training environment.
        tokenizer: the policy's.
        groups: numbers of its groups in a step, over all processes.
    """

    def __init__(
        self,
        config: Config,
        training: Description,
        tokenizer: PreTrainedTokenizerBase,
        groups: Sequence[int],
    ):
        self.name, self.config = config.env.name, config
        self.training, self.groups = training, groups
        self.task_difficulty = tasks.task_difficulty(training)
        self.chat = Chat(tokenizer, training.instructions, **config.template_options)
        self.curriculum = plugins.make_object(plugins.CURRICULUM, config.curriculum)
        self.source: Source
        self.budget = TokenBudget(config.env.tokens_per_step, groups)
        self._planned: _Plan | None = None
        self._scorers: list[Scorer] = []

    def horizon(self, step: int) -> int:
        """Returns the maximum number of turns of an episode at a step (counted from 0)."""
        return answers.turns(self.curriculum, step)

    def difficulties(self, step: int) -> tuple[int, int] | None:
        """Returns the difficulty range of a step's tasks (counted from 0); None: all tasks."""
        if self._planned and self._planned.step == step:
            return self._planned.difficulties
        return answers.difficulties(self.curriculum, step)

    def playing(self, step: int) -> Collection[int]:
        """Returns the numbers of the groups of a step (counted from 0)."""
        if self._planned and self._planned.step == step:
            return self._planned.groups
        return self.budget.playing()

    def plan(self, step: int) -> Callable[[], Collected]:
        """Asks the curriculum about a step; returns a function that collects it.

        The function can run in another thread while the curriculum observes the step before.
        """
        plan = _Plan(step, answers.difficulties(self.curriculum, step), self.budget.playing())
        self._planned = plan
        return partial(self._collect, step, self.horizon(step), len(plan.groups))

    def _collect(self, step: int, horizon: int, asked: int) -> Collected:
        groups = self.source.next(step, horizon)
        return Collected(groups, self.source.failures, horizon, asked)

    def open(self, distributed: Distributed, generator: Generator) -> Source:
        """Builds the scorers and the source; returns the source, which the caller closes."""
        context = RunContext(
            self.config,
            distributed,
            generator,
            self.chat,
            self.training,
            self.groups,
            difficulties=self.difficulties,
            playing=self.playing,
        )
        self._scorers = [
            plugins.make_object(plugins.SCORER, table, context) for table in self.config.scorer
        ]
        self.source = plugins.make_object(plugins.SOURCE, self.config.source, context)
        return self.source

    def score(self, groups: list[Group]) -> list[Group]:
        """Returns a step's groups after all scorers, in order, have changed their rewards."""
        for scorer in self._scorers:
            groups = scorer.score(groups)
        return groups


def make_training_envs(
    config: Config, trainings: Sequence[Description], tokenizer: PreTrainedTokenizerBase
) -> list[TrainingEnv]:
    """Returns the training environments of a run, in the order of the configuration."""
    numbers = tasks.interleaved([env.groups for env in config.envs])
    return [
        TrainingEnv(one, training, tokenizer, n)
        for one, training, n in zip(config.each(), trainings, numbers, strict=True)
    ]
