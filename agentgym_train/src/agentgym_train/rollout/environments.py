"""The environments of a run: each has its rules, action format, group size, curriculum and episodes of its own."""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from agentgym_envs.pool import Description
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.curricula import answers
from agentgym_train.data.types import Group
from agentgym_train.engine.distributed import Distributed
from agentgym_train.models.chat import Chat
from agentgym_train.protocols import Generator, RunContext, Scorer, Source
from agentgym_train.rollout import tasks


class TrainingEnv:
    """One environment of a run.

    Args:
        config: the run, as if this environment were the only one.
        training: the environment that is trained in.
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
        self.name, self.config, self.training, self.groups = (
            config.env.name,
            config,
            training,
            groups,
        )
        self.task_difficulty = tasks.task_difficulty(training)
        self.chat = Chat(tokenizer, training.instructions)
        self.curriculum = plugins.make_object(plugins.CURRICULUM, config.curriculum)
        self.source: Source
        self._scorers: list[Scorer] = []

    def horizon(self, step: int) -> int:
        """Returns the turns that an episode may take at a step (counted from 0)."""
        return answers.turns(self.curriculum, step)

    def open(self, distributed: Distributed, generator: Generator) -> Source:
        """Builds what gives its episodes, which is returned and to be closed, and what scores them."""
        context = RunContext(
            self.config,
            distributed,
            generator,
            self.chat,
            self.training,
            self.groups,
            difficulties=lambda step: answers.difficulties(self.curriculum, step),
        )
        self._scorers = [
            plugins.make_object(plugins.SCORER, table, context) for table in self.config.scorer
        ]
        self.source = plugins.make_object(plugins.SOURCE, self.config.source, context)
        return self.source

    def score(self, groups: list[Group]) -> list[Group]:
        """Returns a step's groups with the rewards that the scorers give them, one after the other."""
        for scorer in self._scorers:
            groups = scorer.score(groups)
        return groups


def make_training_envs(
    config: Config, trainings: Sequence[Description], tokenizer: PreTrainedTokenizerBase
) -> list[TrainingEnv]:
    """Returns the environments of a run."""
    numbers = tasks.interleaved([env.groups for env in config.envs])
    return [
        TrainingEnv(one, training, tokenizer, n)
        for one, training, n in zip(config.each(), trainings, numbers, strict=True)
    ]
