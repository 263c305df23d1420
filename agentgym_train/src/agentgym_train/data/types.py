"""Turn → Trajectory → Group: the data of a rollout.

A trajectory is a token sequence. Tokens that the framework and the environment wrote alternate with
tokens that the policy sampled. Two turns, with a two-token and a one-token action:

    turn          0  0  0  0  0  1  1  1
    id            S  o  o  a  a  o  o  a
    action mask   0  0  0  1  1  0  0  1
    logp          0  0  0  .  .  0  0  .
"""

from dataclasses import dataclass, field
from enum import StrEnum


class EpisodeStatus(StrEnum):
    """How an episode ended. Errors are retried and never reach the loss."""

    COMPLETED = "completed"
    TRUNCATED_HORIZON = "truncated_horizon"
    TRUNCATED_CONTEXT = "truncated_context"
    ERROR_ENV = "error_env"
    ERROR_TIMEOUT = "error_timeout"

    @property
    def is_error(self) -> bool:
        """Whether the environment failed."""
        return self in (EpisodeStatus.ERROR_ENV, EpisodeStatus.ERROR_TIMEOUT)


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
    cut: bool = False
    """The action ended at ``rollout.max_new_tokens`` and not with a stop token."""


@dataclass
class Trajectory:
    """One episode from the view of one agent."""

    task_id: str
    seed: int
    turns: list[Turn] = field(default_factory=list)
    status: EpisodeStatus = EpisodeStatus.COMPLETED
    score: float = 0.0
    success: bool = False
    agent: str = ""
    """The agent's name; empty in an environment with one agent."""
    late: int = 0
    """Number of environment responses that came after ``rollout.batch_wait``.

    In an episode with several agents, the first agent's trajectory counts them.
    """
    next_ids: list[int] | None = None
    """The prompt after the last action of an episode that was truncated at the horizon.

    It is no turn: no action follows. None: the episode ended otherwise, or the prompt was not kept
    (see ``keep_next`` of :class:`agentgym_train.rollout.collector.EpisodeCollector`).
    """

    @property
    def total_reward(self) -> float:
        """The undiscounted return."""
        return sum(turn.reward for turn in self.turns)

    @property
    def length(self) -> int:
        """Number of tokens."""
        return sum(len(turn.prompt_ids) + len(turn.action_ids) for turn in self.turns)


@dataclass
class Group:
    """Trajectories of the same task, seed and agent, without failed episodes."""

    number: int
    """Its number among the groups of all processes."""
    trajectories: list[Trajectory]
    filtered: list[Trajectory] = field(default_factory=list)
    """Episodes that are excluded from the loss and from the group's mean; still counted in metrics.
    """
    from_dataset: bool = False
    """The group comes from a file. Rates use on-policy groups if there are any."""

    @property
    def played(self) -> list[Trajectory]:
        """All trajectories, filtered ones included."""
        return self.trajectories + self.filtered


@dataclass(frozen=True)
class EpisodeFailure:
    """An episode that its environment interrupted; never a reward."""

    task_id: str
    seed: int
    turn: int
    """Number of actions before the failure."""
    error: str
    given_up: bool
    """No retries are left: the group continues without this episode."""
