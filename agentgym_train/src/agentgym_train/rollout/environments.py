"""The environments of a run: each has its rules, action format, group size, curriculum and episodes of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from transformers import PreTrainedTokenizerBase

from agentgym_envs.pool import Description
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.curricula import answers
from agentgym_train.data.types import Group
from agentgym_train.engine.distributed import World
from agentgym_train.models.chat import Chat
from agentgym_train.protocols import Generator, Scorer, Source, Stage
from agentgym_train.rollout import tasks


class Lane:
    """One environment of a run.

    Args:
        config: the run, as if this environment were the only one.
        training: the environment that is trained in.
        tokenizer: the policy's.
        groups: numbers of its groups in a step, over all processes.
    """

    def __init__(self, config: Config, training: Description, tokenizer: PreTrainedTokenizerBase, groups: Sequence[int]):
        self.name, self.config, self.training, self.groups = config.env.name, config, training, groups
        self.levels = tasks.levels(training)
        self.chat = Chat(tokenizer, training.instructions)
        self.curriculum = plugins.make(plugins.CURRICULUM, config.curriculum)
        self.source: Source
        self._scorers: list[Scorer] = []

    def horizon(self, step: int) -> int:
        """Returns the turns that an episode may take at a step (counted from 0)."""
        return answers.turns(self.curriculum, step)

    def open(self, world: World, generator: Generator) -> Source:
        """Builds what gives its episodes, which is returned and to be closed, and what scores them."""
        stage = Stage(
            self.config,
            world,
            generator,
            self.chat,
            self.training,
            self.groups,
            difficulties=lambda step: answers.difficulties(self.curriculum, step),
        )
        self._scorers = [self._scorer(table, stage) for table in self.config.scorer]
        self.source = plugins.make(plugins.SOURCE, self.config.source).build(stage)
        plugins.verify(self.source, Source, f"source {self.config.source['name']!r}")
        return self.source

    def score(self, groups: list[Group]) -> list[Group]:
        """Returns a step's groups with the rewards that the scorers give them, one after the other."""
        for scorer in self._scorers:
            groups = scorer.score(groups)
        return groups

    def _scorer(self, table: Mapping[str, Any], stage: Stage) -> Scorer:
        scorer = plugins.make(plugins.SCORER, table).build(stage)
        plugins.verify(scorer, Scorer, f"scorer {table['name']!r}")
        return scorer


def make_lanes(config: Config, trainings: Sequence[Description], tokenizer: PreTrainedTokenizerBase) -> list[Lane]:
    """Returns the environments of a run."""
    numbers = tasks.interleaved([env.groups for env in config.envs])
    return [Lane(one, training, tokenizer, n) for one, training, n in zip(config.each(), trainings, numbers, strict=True)]
