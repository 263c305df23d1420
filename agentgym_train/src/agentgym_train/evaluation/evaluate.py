"""Evaluation: held-out tasks, at the full horizon, with the sampled policy."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from transformers import PreTrainedTokenizerBase

from agentgym_envs import registry
from agentgym_envs.pool import EnvDescription
from agentgym_envs.tasks import spread, stable_hash
from agentgym_train.config import Config
from agentgym_train.data.types import EpisodeFailure, Trajectory
from agentgym_train.errors import ConfigError, FaultBudgetError
from agentgym_train.models.chat import ChatTokens
from agentgym_train.protocols import Generator
from agentgym_train.rollout.build import held_out_keywords, make_collector, make_pool, sampling
from agentgym_train.rollout.tasks import EpisodeStart


def horizon(config: Config) -> int:
    """Returns the turns of an evaluation episode.

    Raises:
        ConfigError: neither the configuration nor the environment sets a limit.
    """
    turns = config.eval.horizon or registry.spec(config.env.id).max_episode_steps
    if not turns or turns < 1:
        raise ConfigError(
            f"{config.env.id} has no step limit: set eval.horizon to at least 1, not"
            f" {config.eval.horizon}"
        )
    return turns


class PlayedEpisodes(NamedTuple):
    """The results of held-out episodes."""

    trajectories: list[Trajectory]
    failures: list[EpisodeFailure]
    """Of environments; the episodes that were given up are not among the trajectories."""


def starts(config: Config, task_ids: Sequence[str] | None) -> list[EpisodeStart]:
    """Returns the held-out episodes.

    The tasks are spread evenly over the split. An environment that lists no tasks gets seeds.
    """
    if task_ids is None:
        return [
            EpisodeStart(i, stable_hash(f"held-out {i}") % 2**31)
            for i in range(config.eval.episodes)
        ]
    return [
        EpisodeStart(number, number, task_id)
        for number, task_id in enumerate(spread(task_ids, config.eval.episodes))
    ]


def evaluate(
    config: Config,
    generator: Generator,
    tokenizer: PreTrainedTokenizerBase,
    held_out: EnvDescription,
    *,
    share: slice = slice(None),
    key: str = "eval",
) -> PlayedEpisodes:
    """Plays this process's share of the held-out episodes.

    Args:
        config: the run.
        generator: the policy; where there are several agents it plays all of them.
        tokenizer: its own.
        held_out: the environment, whose rules may be other ones than those of training.
        share: which of the episodes.
        key: tells the noise of one evaluation from another's.
    """
    mine = starts(config, held_out.task_ids)[share]
    if not mine:
        return PlayedEpisodes([], [])
    chat = ChatTokens(tokenizer, held_out.instructions, must_grow=False, **config.template_options)
    with make_pool(config, len(mine), held_out_keywords(config)) as pool:
        collector = make_collector(config, pool, generator, chat, held_out, agents=held_out.several)
        noise = f"evaluation {config.run.seed} {key}"
        groups = collector.collect(
            mine, max_turns=horizon(config), sampling=sampling(config, chat), noise=noise
        )
        return PlayedEpisodes([t for g in groups for t in g.trajectories], collector.failures)


def summary(trajectories: list[Trajectory]) -> dict[str, float]:
    """Returns mean success, score and turns of episodes, and shares of invalid and of cut actions.

    An episode of several agents has a trajectory of each: means are over these, and the episode
    counts once.

    Raises:
        FaultBudgetError: there are none: an environment that cannot be played is no success of 0.
    """
    if not trajectories:
        raise FaultBudgetError(
            "not one held-out episode could be played: the environment failed each time, as the"
            " warnings say"
        )
    count, turns = len(trajectories), [turn for t in trajectories for turn in t.turns]
    return {
        "success": sum(t.success for t in trajectories) / count,
        "score": sum(t.score for t in trajectories) / count,
        "turns": len(turns) / count,
        "invalid": sum(turn.invalid for turn in turns) / max(len(turns), 1),
        "cut_actions": sum(turn.cut for turn in turns) / max(len(turns), 1),
        "episodes": count // len({t.agent for t in trajectories}),
    }


def overall(played: Mapping[str, list[Trajectory]]) -> dict[str, Any]:
    """Returns the :func:`summary` of all episodes, and of each of several environments."""
    each = {name: summary(part) for name, part in played.items()}
    total = summary([t for part in played.values() for t in part])
    return with_each(total | {"episodes": sum(row["episodes"] for row in each.values())}, each)


def with_each(row: dict[str, Any], each: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Returns a row of results, and under "env" those of each of several environments."""
    return row | ({"env": each} if len(each) > 1 else {})
