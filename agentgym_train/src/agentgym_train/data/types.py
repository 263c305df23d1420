"""Turn → Trajectory → Group: the data of a rollout.

A trajectory is a token sequence. Tokens that the framework and the environment wrote alternate with
tokens that the policy sampled. Two turns, with a two-token and a one-token action:

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
        """Whether the environment failed."""
        return self in (Status.ERROR_ENV, Status.ERROR_TIMEOUT)


class Token(NamedTuple):
    """One token of a trajectory."""

    id: int
    action: bool
    """Whether the policy sampled it; only these tokens carry loss."""
    logp: float
    """Log-probability at sampling, in nats; 0.0 if it was not sampled."""
    version: int
    """Version of the sampling policy: its number of optimizer steps."""
    turn: int
    reward: float
    """The turn's reward, on the last action token of the turn; 0.0 on all other tokens."""


@dataclass
class Turn:
    """One exchange: an observation, an action and its reward."""

    observation: str
    prompt_ids: list[int]
    """Tokens since the last action: separators, the observation, the generation prompt."""
    action_ids: list[int] = field(default_factory=list)
    """Sampled tokens, including the stop token if it was sampled."""
    logps: list[float] = field(default_factory=list)
    """One log-probability per sampled token, in nats."""
    version: int = 0
    action: str = ""
    reward: float = 0.0
    invalid: bool = False


@dataclass
class Trajectory:
    """One episode from the view of one agent."""

    task_id: str
    seed: int
    turns: list[Turn] = field(default_factory=list)
    status: Status = Status.COMPLETED
    score: float = 0.0
    success: bool = False
    agent: str = ""
    """The agent's name; empty in an environment with one agent."""
    late: int = 0
    """Number of environment responses that came after ``rollout.batch_wait``.

    In an episode with several agents, the first agent's trajectory counts them.
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
    """Trajectories of the same task, seed and agent, without failed episodes."""

    number: int
    """Its number among the groups of all processes."""
    trajectories: list[Trajectory]
    filtered: list[Trajectory] = field(default_factory=list)
    """Episodes that the source excluded from the loss; still counted in metrics."""
    from_dataset: bool = False
    """The group comes from a file. Rates use on-policy groups if there are any."""

    @property
    def played(self) -> list[Trajectory]:
        """All trajectories, filtered ones included."""
        return self.trajectories + self.filtered


@dataclass(frozen=True)
class Failure:
    """An episode that its environment interrupted; never a reward."""

    task_id: str
    seed: int
    turn: int
    """Number of actions before the failure."""
    error: str
    given_up: bool
    """No retries are left: the group continues without this episode."""
