"""Turn → Trajectory → Group: what a rollout leaves behind.

A trajectory is a token sequence that alternates between what the framework and the environment
wrote and what the policy sampled. Two turns with a two-token and a one-token action:

    turn          0  0  0  0  0  1  1  1
    id            S  o  o  a  a  o  o  a
    action mask   0  0  0  1  1  0  0  1
    logp          0  0  0  .  .  0  0  .
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Status(StrEnum):
    """How an episode ended. Errors are retried and never reach the loss."""

    COMPLETED = "completed"
    TRUNCATED_HORIZON = "truncated_horizon"
    TRUNCATED_CONTEXT = "truncated_context"
    ERROR_ENV = "error_env"
    ERROR_TIMEOUT = "error_timeout"

    @property
    def is_error(self) -> bool:
        """Says whether the environment failed."""
        return self in (Status.ERROR_ENV, Status.ERROR_TIMEOUT)


class Token(NamedTuple):
    """One token of a trajectory."""

    id: int
    action: bool
    """Sampled by the policy: the only tokens that carry loss."""
    logp: float
    """Log-probability at sampling, in nats; 0.0 where not sampled."""
    version: int
    """Optimizer steps that the sampling policy had behind it."""
    turn: int
    reward: float
    """The reward of its turn on the last action token of the turn, 0.0 elsewhere."""


@dataclass
class Turn:
    """One exchange: what was shown, what was sampled, what it earned."""

    observation: str
    prompt_ids: list[int]
    """Tokens since the last action: separators, the observation, the generation prompt."""
    action_ids: list[int] = field(default_factory=list)
    """Sampled tokens, the stop token included if it was sampled."""
    logps: list[float] = field(default_factory=list)
    """One a sampled token, in nats."""
    version: int = 0
    action: str = ""
    reward: float = 0.0
    invalid: bool = False


@dataclass
class Trajectory:
    """One episode, as one of its agents has seen it."""

    task_id: str
    seed: int
    turns: list[Turn] = field(default_factory=list)
    status: Status = Status.COMPLETED
    score: float = 0.0
    success: bool = False
    agent: str = ""
    """Its seat, where an environment has several; empty where it has one."""
    late: int = 0
    """Answers of its environment that came after ``rollout.batch_wait``.

    An episode of several agents counts them at the first.
    """

    @property
    def total_reward(self) -> float:
        """The undiscounted return."""
        return sum(turn.reward for turn in self.turns)

    def tokens(self) -> Iterator[Token]:
        """Yields all tokens in order."""
        for number, turn in enumerate(self.turns):
            for token in turn.prompt_ids:
                yield Token(token, False, 0.0, turn.version, number, 0.0)
            last = len(turn.action_ids) - 1
            for place, (token, logp) in enumerate(zip(turn.action_ids, turn.logps, strict=True)):
                yield Token(
                    token, True, logp, turn.version, number, turn.reward if place == last else 0.0
                )


@dataclass
class Group:
    """Trajectories of the same task, seed and agent; failed episodes are not in it."""

    number: int
    """Its place among the groups of all processes."""
    trajectories: list[Trajectory]
    filtered: list[Trajectory] = field(default_factory=list)
    """What a source played and does not want to be learned from; metrics count it."""
    from_dataset: bool = False
    """It was not played by the policy, but comes from a file: rates are of what was played, where anything was."""

    @property
    def played(self) -> list[Trajectory]:
        """All of them."""
        return self.trajectories + self.filtered


@dataclass(frozen=True)
class Failure:
    """What an environment did to an episode; never a reward."""

    task_id: str
    seed: int
    turn: int
    """Actions that had been taken."""
    error: str
    given_up: bool
    """The episode's retries are spent: its group goes on without it."""
