"""The environments of a run.

Each has separate rules, action format, group size, curriculum and episodes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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


class Collected(NamedTuple):
    """A step's episodes of one environment, in one process."""

    plan: StepPlan
    groups: list[Group]
    failures: Sequence[Failure]


class TokenBudget:
    """Chooses as many groups as the tokens of earlier groups suggest.

    The first step plays all groups, since nothing is measured. A step that played too many tokens
    leaves a debt, and one that played too few leaves a credit. The next steps pay them back.

    Args:
        tokens: tokens per step over all processes; 0: all groups are always played.
        groups: numbers of the environment's groups.

    >>> budget = TokenBudget(1000, range(8))
    >>> budget.observe(groups=8, tokens=2000)
    >>> list(budget.playing())
    [0, 2, 4, 6]
    """

    def __init__(self, tokens: int, groups: Sequence[int]):
        self._tokens, self._groups = tokens, groups
        self._per_group = 0.0  # of the latest step that played
        self._credit = 0.0

    def playing(self) -> Sequence[int]:
        """Returns the numbers of the groups to play next, spread evenly over all numbers."""
        most = len(self._groups)
        if not self._tokens or not self._per_group:
            return self._groups
        count = min(max(round((self._tokens + self._credit) / self._per_group), 0), most)
        return [self._groups[place * most // count] for place in range(count)]

    def observe(self, *, groups: int, tokens: float) -> None:
        """Receives the number of groups of a step and their tokens, over all processes."""
        first = not self._per_group
        if groups and tokens:
            self._per_group = tokens / groups
        if not first:
            # Limited: an environment with too few groups would otherwise save credit for ever. The
            # limit allows one group, however long it is.
            limit = max(self._tokens, self._per_group)
            self._credit = min(max(self._credit + self._tokens - tokens, -limit), limit)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that a resumed run needs."""
        return {"per_group": self._per_group, "credit": self._credit}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the state that ``state_dict`` returned."""
        self._per_group, self._credit = state["per_group"], state["credit"]


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
