"""The environments of a run.

Each has separate rules, action format, group size, curriculum and episodes.
"""

from collections.abc import Sequence
from typing import NamedTuple

from transformers import PreTrainedTokenizerBase

from agentgym_envs.pool import EnvDescription
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.curricula import answers
from agentgym_train.data.types import Failure, Group
from agentgym_train.distributed import Distributed
from agentgym_train.models.chat import Chat
from agentgym_train.protocols import Algorithm, Generator, RunContext, Scorer, Source, StepPlan
from agentgym_train.rollout import tasks
from agentgym_train.rollout.token_budget import TokenBudget


class Collected(NamedTuple):
    """A step's episodes of one environment, in one process."""

    plan: StepPlan
    groups: list[Group]
    failures: Sequence[Failure]


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
        training: EnvDescription,
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
        self._scorers: list[Scorer] = []

    def plan(self, step: int) -> StepPlan:
        """Asks the curriculum and the token budget about a step (counted from 0)."""
        return StepPlan(
            step,
            answers.turns(self.curriculum, step),
            self.budget.playing(),
            answers.difficulties(self.curriculum, step),
        )

    def collect(self, plan: StepPlan) -> Collected:
        """Collects the episodes of a step.

        It can run in another thread while the curriculum observes the step before.
        """
        groups = self.source.next(plan)
        return Collected(plan, groups, self.source.failures)

    def open(self, distributed: Distributed, generator: Generator, algorithm: Algorithm) -> Source:
        """Builds the scorers and the source; returns the source, which the caller closes."""
        context = RunContext(
            self.config,
            distributed,
            generator,
            self.chat,
            self.training,
            self.groups,
            algorithm,
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
    config: Config, trainings: Sequence[EnvDescription], tokenizer: PreTrainedTokenizerBase
) -> list[TrainingEnv]:
    """Returns the training environments of a run, in the order of the configuration."""
    numbers = tasks.interleaved([env.groups for env in config.envs])
    return [
        TrainingEnv(one, training, tokenizer, n)
        for one, training, n in zip(config.each(), trainings, numbers, strict=True)
    ]
