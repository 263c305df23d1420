"""Fresh episodes of an environment with several agents.

The policy plays all agents, or frozen models play some of them. A group has the trajectories of one
agent in a task, so an agent is compared only with itself. ``env.groups`` counts these groups: with
two trained agents, eight groups are four tasks.

Scripted opponents belong to the environment: leave them out of ``env.kwargs.seats``, and set them
in ``env.kwargs.opponents``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle

from transformers import PreTrainedTokenizerBase

from agentgym_envs.pool import EnvDescription
from agentgym_train.config import SCRATCH, Config
from agentgym_train.config.constraints import Name
from agentgym_train.data.types import Group
from agentgym_train.errors import ConfigError
from agentgym_train.models.loading import check_files, device, load_shape, load_tokenizer
from agentgym_train.protocols import RunContext, StepPlan
from agentgym_train.rollout.build import make_generator
from agentgym_train.sources.rollout import FreshEpisodes


class SelfPlay(FreshEpisodes):
    """Plays the tasks of an environment with several agents."""

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """Frozen opponents."""

        frozen: Mapping[str, Name] = field(default_factory=dict)
        """A model folder for each agent that is not trained, such as a checkpoint of any run."""

        def learners(self, training: EnvDescription) -> list[str]:
            """Returns the agents that the policy plays."""
            return [agent for agent in training.seats if agent not in self.frozen]

    @classmethod
    def check(cls, options: Options, config: Config, training: EnvDescription) -> None:
        """Rejects unknown agents, models that cannot be loaded, and incomplete tasks.

        Raises:
            ConfigError: an agent is unknown, all agents are frozen, the groups do not fill whole
                tasks, or a frozen model has another vocabulary.
            ModelError: a frozen model cannot be loaded.
        """
        if not training.several:
            raise ConfigError(
                f"source 'self_play' needs an environment with several agents, and {config.env.id}"
                f" asks only for the actions of {' '.join(training.seats) or 'one'}: set"
                " env.kwargs.seats='all', or source.name=rollout"
            )
        if unknown := sorted(options.frozen.keys() - set(training.seats)):
            raise ConfigError(
                f"source.frozen.{unknown[0]}: {config.env.id} has the agents"
                f" {', '.join(training.seats)}"
            )
        learners = options.learners(training)
        if not learners:
            raise ConfigError("source.frozen names every agent: at least one agent must be trained")
        if config.env.groups % len(learners):
            raise ConfigError(
                f"env.groups={config.env.groups} must be a multiple of {len(learners)}: "
                f"a task has a group for each of {', '.join(learners)}"
            )
        if config.env.tokens_per_step:
            raise ConfigError(
                f"env.tokens_per_step={config.env.tokens_per_step} can leave out a group, and the"
                " groups of a task belong together in source 'self_play': set it to 0"
            )
        for agent, path in options.frozen.items():
            check_files(path, key=f"source.frozen.{agent}")
            load_shape(path, key=f"source.frozen.{agent}")
            if config.model.path != SCRATCH:
                check_vocabulary(
                    path, load_tokenizer(config.model.path), key=f"source.frozen.{agent}"
                )

    def __init__(self, options: Options, context: RunContext):
        self._learners = options.learners(context.training)
        # The number of each task's first group.
        firsts = context.groups[:: len(self._learners)]
        mine = [
            number
            for place, number in enumerate(firsts)
            if place % context.distributed.size == context.distributed.rank
        ]
        for agent, path in options.frozen.items():
            check_vocabulary(path, context.chat.tokenizer, key=f"source.frozen.{agent}")
        self._frozen = {
            path: make_generator(
                context.config,
                path,
                context.chat,
                device=device(),
                distributed=context.distributed,
            )
            for path in set(options.frozen.values())
        }
        opponents = {agent: self._frozen[path] for agent, path in options.frozen.items()}
        super().__init__(context, numbers=mine, agents=context.training.seats, opponents=opponents)

    def next(self, plan: StepPlan) -> list[Group]:
        """Plays the tasks of a step; returns one group per task and trained agent."""
        # The collector returns the groups of a task in the order of the agents.
        played = zip(super().next(plan), cycle(self._context.training.seats), strict=False)
        return [
            replace(g, number=self._number(g.number, agent))
            for g, agent in played
            if agent in self._learners
        ]

    def close(self) -> None:
        """Closes the environments and the frozen models."""
        super().close()
        for generator in self._frozen.values():
            generator.close()

    def _number(self, first: int, agent: str) -> int:
        """Returns the number of an agent's group, from the number of its task's first group."""
        return self._context.groups[self._context.groups.index(first) + self._learners.index(agent)]


def check_vocabulary(path: str, tokenizer: PreTrainedTokenizerBase, *, key: str) -> None:
    """Rejects a model with another vocabulary than the policy's.

    Raises:
        ConfigError: the vocabularies differ.
        ModelError: the model has no tokenizer.
    """
    if load_tokenizer(path, key=key).get_vocab() != tokenizer.get_vocab():
        raise ConfigError(
            f"{key}={path!r} has another vocabulary than the policy, {tokenizer.name_or_path!r}"
        )
