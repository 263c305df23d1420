"""Call → Turn → Trajectory → Group: the data of a rollout.

A call is one request to the policy: a prompt and the tokens that the policy sampled. Calls whose
prompts extend each other's tokens form a *sample*, a token sequence that is one row of a batch. In
it, tokens of the framework and the environment alternate with tokens of the policy. Two calls of
one sample, each in a turn, the first with a two-token action:

    call          0  0  0  0  0  1  1  1
    id            S  o  o  a  a  o  o  a
    action mask   0  0  0  1  1  0  0  1
    logp          0  0  0  .  .  0  0  .

A conversation that only grows is one sample. An agent that drops or rewrites earlier messages has
several.
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
class Call:
    """One request to the policy."""

    prompt_ids: list[int]
    """The tokens before the action: the whole prompt, or the tokens after the action of the
    sample's previous call."""
    action_ids: list[int] = field(default_factory=list)
    """Sampled tokens, including the stop token if it was sampled."""
    logps: list[float] = field(default_factory=list)
    """One log-probability per sampled token, in nats."""
    version: int = 0
    cut: bool = False
    """The action ended at ``rollout.max_new_tokens`` and not with a stop token."""
    sample: int = 0
    """The number of the call's sample in its episode, from 0."""


@dataclass
class Turn:
    """One exchange with the environment: an observation, the calls of the agent, and an action."""

    observation: str
    calls: list[Call] = field(default_factory=list)
    """In order of time."""
    action: str = ""
    reward: float = 0.0
    invalid: bool = False
    lesson: bool = False
    """The end of an attempt that another attempt follows. ``observation`` is the last one of the
    attempt, and ``action`` the agent's lesson. The environment gets no action."""

    @property
    def cut(self) -> bool:
        """Whether an action of the policy was cut."""
        return any(call.cut for call in self.calls)


@dataclass
class Trajectory:
    """One episode from the view of one agent.

    An agent that learns between attempts has several attempts in an episode.
    """

    task_id: str
    seed: int
    turns: list[Turn] = field(default_factory=list)
    status: EpisodeStatus = EpisodeStatus.COMPLETED
    """Of the last attempt, as ``score`` and ``success``."""
    score: float = 0.0
    success: bool = False
    agent: str = ""
    """The agent's name; empty in an environment with one agent."""
    late: int = 0
    """Number of environment responses that came after ``rollout.batch_wait``.

    In an episode with several agents, the first agent's trajectory counts them.
    """
    next_call: Call | None = None
    """The prompt after the last action of an episode that was truncated at the horizon.

    It has no action. Its sample is the one that it extends, or the next free number. None: the
    episode ended otherwise, or the prompt was not kept (see ``keep_next`` of
    :class:`agentgym_train.rollout.collector.EpisodeCollector`).
    """

    @property
    def calls(self) -> list[Call]:
        """The calls of all turns, in order of time."""
        return [call for turn in self.turns for call in turn.calls]

    @property
    def samples(self) -> list[list[Call]]:
        """The calls of each sample."""
        by_number: dict[int, list[Call]] = {}
        for call in self.calls:
            by_number.setdefault(call.sample, []).append(call)
        return [by_number[number] for number in sorted(by_number)]

    @property
    def attempts(self) -> int:
        """Number of attempts at the task."""
        return 1 + sum(turn.lesson for turn in self.turns)

    @property
    def last_attempt(self) -> list[Turn]:
        """The turns of the last attempt; empty after a lesson."""
        lessons = [number for number, turn in enumerate(self.turns, 1) if turn.lesson]
        return self.turns[max(lessons, default=0) :]

    @property
    def total_reward(self) -> float:
        """The undiscounted return, over all attempts."""
        return sum(turn.reward for turn in self.turns)

    @property
    def length(self) -> int:
        """Number of tokens, over all samples."""
        return sum(len(call.prompt_ids) + len(call.action_ids) for call in self.calls)


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
