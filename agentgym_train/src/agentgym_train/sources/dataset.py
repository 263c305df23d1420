"""Episodes from the result files of ``agentgym eval``, of an oracle or of any agent.

The responses of a line are used unchanged. The run's agent, tokenizer and chat template convert
them to tokens: the samples are those that the agent would have with these responses of its model.
Their log-probabilities at sampling are unknown. ``algorithm = sft`` learns from these
episodes. With ``pairs = true`` a group has a better and a worse episode of a task, for
``algorithm = dpo``.
"""

import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.pool import EnvDescription
from agentgym_envs.scores import above
from agentgym_envs.wrappers import FORMATS, ResponseFormat
from agentgym_train.config import Config
from agentgym_train.config.constraints import Name, Share
from agentgym_train.data import recorded
from agentgym_train.data.recorded import EpochSampler
from agentgym_train.data.types import Group, Trajectory, Turn
from agentgym_train.errors import ConfigError
from agentgym_train.models.conversation import Conversation
from agentgym_train.protocols import ActionSample, RunContext, Source, StepPlan
from agentgym_train.rollout.build import make_agent, player_maker
from agentgym_train.rollout.policy_client import Player, StreamPlayer
from agentgym_train.sources.rollout import check_agent

log = logging.getLogger(__name__)


class Dataset(Source):
    """Draws ``env.groups`` units per step, in an order that changes with each pass.

    The units are from result folders of ``agentgym eval``.
    """

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The episodes."""

        folders: tuple[Name, ...]
        """Folders of results."""
        score: Share = 1.0
        """Minimum score of an episode, from 0 to 1; in a pair, of the better episode only."""
        pairs: bool = False
        """Groups of two: a better and a worse episode of the same task."""

        def units(self, config: Config) -> list[list[EpisodeRow]]:
            """Returns the lines of the run's environment: single ones, or pairs.

            The better episode of a pair comes first.

            Raises:
                ConfigError: no line or pair can be used; says why.
            """
            rows = recorded.read_episodes(self.folders, config.env.id, key="source.folders")
            units = (
                _pairs(rows, self.score)
                if self.pairs
                else [[row] for row in rows if not above(self.score, row["score"])]
            )
            if not units:
                unit = (
                    "pair of a better and a worse episode of one task" if self.pairs else "episode"
                )
                raise ConfigError(
                    f"source.folders={list(self.folders)}: not one {unit} with a score of"
                    f" {self.score:g} or more"
                )
            return units

    @classmethod
    def check(cls, options: Options, config: Config, training: EnvDescription) -> None:
        """Reads the files.

        Raises:
            ArgumentError: a folder contains no results.
            ConfigError: no episode, pair or response can be used, or the environment has several
                agents.
        """
        check_agent(config, training)
        reader = FORMATS[config.env.action_format](training.tools)
        for rows in options.units(config):
            for row in rows:
                recorded.responses(row, reader)

    @classmethod
    def group_sizes(cls, options: Options, config: Config) -> set[int]:
        """Returns 2 for pairs, 1 without."""
        return {2 if options.pairs else 1}

    @classmethod
    def build(cls, options: Options, context: RunContext) -> "Dataset":
        """Reads the files and converts the episodes to tokens.

        Raises:
            ConfigError: no episode fits into the context, or the agent asks its model more than
                once in a turn.
        """
        config, chat = context.config, context.chat
        reader = FORMATS[config.env.action_format](context.training.tools)
        limit, free = config.model.max_context, {"max_context": sys.maxsize, "max_new_tokens": 0}
        make = player_maker(make_agent(config), context.training, chat)
        written = Conversation(chat).written if make else chat.response
        make = make or (lambda _, **limits: StreamPlayer(chat, **limits))
        made = [
            [trajectory(row, make("", **free), written, reader) for row in rows]
            for rows in options.units(config)
        ]
        fit = [unit for unit in made if all(_longest(t) <= limit for t in unit)]
        if dropped := len(made) - len(fit):
            log.warning(
                "%d of %d episodes or pairs do not fit into model.max_context=%d and are left out",
                dropped,
                len(made),
                limit,
            )
        if not fit:
            raise ConfigError(
                f"source.folders={list(options.folders)}: not one episode fits into"
                f" model.max_context={limit}"
            )
        return cls(context, fit)

    def __init__(self, context: RunContext, units: Sequence[list[Trajectory]]):
        self._units, self._context = units, context
        self._sampler = EpochSampler(len(units), seed=context.config.run.seed)

    def next(self, plan: StepPlan) -> list[Group]:
        """Returns this process's units of a step; the horizon does not cut recorded episodes."""
        first = plan.step * len(self._context.groups)
        units = {
            number: self._units[self._sampler.place(first + place)]
            for number, place in self._context.mine.items()
            if number in plan.groups
        }
        return [Group(number, unit, from_dataset=True) for number, unit in units.items()]


def trajectory(
    row: EpisodeRow, player: Player, written: Callable[[str], list[int]], reader: ResponseFormat
) -> Trajectory:
    """Returns a line of results as a trajectory.

    Args:
        row: the line.
        player: plays the agent, whose model gives the responses of the line.
        written: returns the tokens of a response.
        reader: the run's action format.

    Raises:
        ConfigError: the agent asks its model more than once in a turn.
    """
    turns: list[Turn] = []
    info = {"goal": row.get("goal", ""), "task_id": row["task_id"]}
    for played, response in zip(row["turns"], recorded.responses(row, reader), strict=True):
        steps = player.turn(played["observation"], info)
        call = next(steps).call
        call.action_ids = written(response)
        call.logps = [0.0] * len(call.action_ids)  # unknown
        try:
            steps.send(ActionSample(call.action_ids, call.logps, call.version))
        except StopIteration:
            turns.append(
                Turn(
                    played["observation"],
                    [call],
                    action=response,
                    reward=played["reward"],
                    invalid=played["invalid"],
                )
            )
        else:
            raise ConfigError(
                "agent: it asks its model more than once in a turn, and results have one response"
                ' per turn: set agent.name to "chat" or "react"'
            )
    return Trajectory(row["task_id"], 0, turns, score=row["score"], success=row["success"])


def _longest(trajectory: Trajectory) -> int:
    """Returns the tokens of the longest sample."""
    return max(
        sum(len(call.prompt_ids) + len(call.action_ids) for call in calls)
        for calls in trajectory.samples
    )


def _pairs(rows: Sequence[EpisodeRow], score: float) -> list[list[EpisodeRow]]:
    """Returns the best and the worst episode of each task, unless their scores are equal."""
    by_task: dict[tuple[str, ...], list[EpisodeRow]] = defaultdict(list)
    for row in rows:
        by_task[row["env_id"], row["family"], row["task_id"]].append(row)
    found = [(max(of_one, key=_score), min(of_one, key=_score)) for of_one in by_task.values()]
    return [
        [better, worse]
        for better, worse in found
        if above(_score(better), _score(worse)) and not above(score, _score(better))
    ]


def _score(row: EpisodeRow) -> float:
    return float(row["score"])
