"""Several sources as one, each with a share of every step's groups.

An example is fresh rollouts together with recorded episodes.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field

from agentgym_envs.pool import EnvDescription
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.config.constraints import Positive
from agentgym_train.data.types import EpisodeFailure, Group
from agentgym_train.errors import ConfigError
from agentgym_train.protocols import RunContext, Source, StepPlan
from agentgym_train.rollout import tasks


class Mixture(Source):
    """Divides the groups of a step among its parts."""

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The parts and their weights.

        Raises:
            AgentGymError: a part does not exist, has invalid options, or is a mixture itself.
        """

        parts: Annotated[tuple[dict[str, Any], ...], Field(min_length=1)]
        """One table per part, with the keys of a single source; defaults are filled in."""
        weights: tuple[Positive, ...]
        """One weight per part. Groups are divided in proportion to the weights, in whole groups."""
        made: tuple[plugins.ChosenPlugin[Source], ...] = field(
            init=False, repr=False, compare=False
        )

        def __post_init__(self) -> None:
            if len(self.weights) != len(self.parts):
                raise ConfigError(
                    f"source.weights={list(self.weights)}: {len(self.parts)} parts need"
                    f" {len(self.parts)} weights"
                )
            made, tables = plugins.make_parts(
                plugins.SOURCE, self.parts, whole=Mixture, called="a mixture"
            )
            object.__setattr__(self, "made", made)
            object.__setattr__(self, "parts", tables)

    @classmethod
    def check(cls, options: Options, config: Config, training: EnvDescription) -> None:
        """Rejects a part without a group, and a part that cannot provide episodes."""
        if not all(counts := shares(options.weights, config.env.groups)):
            raise ConfigError(
                f"source.weights={list(options.weights)} divide env.groups={config.env.groups} into"
                f" {counts}: each part needs a group"
            )
        for part, table, count in zip(options.made, options.parts, counts, strict=True):
            part.check(
                replace(config, source=table, envs=(replace(config.env, groups=count),)), training
            )

    @classmethod
    def group_sizes(cls, options: Options, config: Config) -> set[int]:
        """Returns the group sizes of all parts that know them."""
        parts = options.made
        return {size for p in parts for size in p.cls.group_sizes(p.options, config) or ()}

    @classmethod
    def build(cls, options: Options, context: RunContext) -> "Mixture":
        """Builds the parts, each with the numbers of its groups."""
        places = tasks.interleaved(shares(options.weights, len(context.groups)))
        groups = [[context.groups[place] for place in own] for own in places]
        return cls(
            [
                (part.build(replace(context, groups=own)), own)
                for part, own in zip(options.made, groups, strict=True)
            ]
        )

    def __init__(self, parts: Sequence[tuple[Source, Collection[int]]]):
        self._parts = parts

    def next(self, plan: StepPlan) -> list[Group]:
        """Returns the groups of all parts."""
        return [
            group
            for part, own in self._parts
            for group in part.next(
                replace(plan, groups=[number for number in plan.groups if number in own])
            )
        ]

    @property
    def failures(self) -> list[EpisodeFailure]:
        """Failures of all parts in the latest step."""
        return [failure for part, _ in self._parts for failure in part.failures]

    def close(self) -> None:
        """Closes the parts."""
        for part, _ in self._parts:
            part.close()


def shares(weights: Sequence[float], count: int) -> list[int]:
    """Divides a count in proportion to the weights, by largest remainders.

    Returns:
        One whole number per weight; they add up to ``count``.

    >>> shares([1, 1, 2], 5)
    [1, 1, 3]
    """
    exact = [count * weight / sum(weights) for weight in weights]
    whole = [int(share) for share in exact]
    behind = sorted(range(len(exact)), key=lambda part: (whole[part] - exact[part], part))
    for part in behind[: count - sum(whole)]:
        whole[part] += 1
    return whole
