"""An episode in progress: its agents, and their lessons between attempts."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.agents import EpisodeEnding
from agentgym_envs.pool import PoolResult
from agentgym_train.data.types import Trajectory, Turn
from agentgym_train.rollout.policy_client import Player, Steps
from agentgym_train.rollout.responses import step_result
from agentgym_train.rollout.tasks import EpisodeStart


@dataclass
class AgentState:
    """One agent of an episode."""

    row: int
    """The agent's row in its generator's session."""
    trajectory: Trajectory
    player: Player
    steps: Steps | None = None
    """The turn in progress."""
    tokens: int = 0
    """Tokens of the generator's row."""

    def credit(self, result: PoolResult) -> None:
        """Adds the results of a step to the agent's latest turn of the attempt."""
        trajectory, turns = self.trajectory, self.trajectory.last_attempt
        step = step_result(result, trajectory.agent, sum(turn.reward for turn in turns))
        if turns:
            turns[-1].reward += step.reward
            turns[-1].invalid |= step.invalid
        trajectory.score, trajectory.success = step.score, step.success

    def begin_lesson(self, observation: str | None, *, truncated: bool) -> None:
        """Begins the turn of the agent's lesson.

        The next attempt begins with the score of a reset. A reward is a change of the score, so the
        attempt's last turn gives back what the attempt earned: failing first never pays.

        Args:
            observation: the last one, if it is the agent's.
            truncated: the environment did not end the attempt.
        """
        trajectory, attempt = self.trajectory, self.trajectory.last_attempt
        if attempt:
            attempt[-1].reward -= sum(turn.reward for turn in attempt)
        if observation is None:
            observation = attempt[-1].observation if attempt else ""
        ending = EpisodeEnding(observation, trajectory.success, trajectory.score, truncated)
        trajectory.turns.append(Turn(observation, lesson=True))
        self.steps = self.player.end(ending)


@dataclass
class Episode:
    """An episode in one pool slot."""

    slot: int
    start: EpisodeStart
    agents: dict[str, AgentState]
    """By name."""
    failures: int = 0
    done: bool = False
    memory: list[Any] = field(default_factory=list)
    """The lessons of each earlier attempt, as :func:`agentgym_envs.agents.open_episode` takes them.
    """
    lessons: dict[str, Any] = field(default_factory=dict)
    """By agent: the lessons of the attempt that has just ended."""

    def credit(self, result: PoolResult) -> None:
        """Adds the results of a step, or notes the task of a reset."""
        stepped = any(state.trajectory.last_attempt for state in self.agents.values())
        for state in self.agents.values():
            state.trajectory.task_id = str((result.info or {}).get("task_id", ""))
            if stepped:
                state.credit(result)

    @property
    def solved(self) -> bool:
        """Whether the latest attempt was a success of every agent."""
        return all(state.trajectory.success for state in self.agents.values())

    def learn(self, state: AgentState, lesson: Any) -> bool:
        """Notes an agent's lesson; returns whether it was the last one, so that an attempt begins.

        Each attempt has new agents. The samples go on.
        """
        shown = lesson if isinstance(lesson, str) else json.dumps(lesson)
        state.trajectory.turns[-1].action = "" if lesson is None else shown
        self.lessons[state.trajectory.agent] = lesson
        if len(self.lessons) < len(self.agents):
            return False
        self.memory.append(self.lessons.get("", self.lessons))
        self.lessons = {}
        for each in self.agents.values():
            each.trajectory.score, each.trajectory.success = 0.0, False
            each.player.next_attempt(self.memory)
        return True

    def restart(self, make_player: Callable[[str], Player]) -> None:
        """Starts again from the first attempt, with new agents and without what they did."""
        self.memory, self.lessons = [], {}
        for agent, state in self.agents.items():
            played = state.trajectory
            state.trajectory = new_trajectory(
                self.start, agent, task_id=played.task_id, late=played.late
            )
            state.player, state.steps, state.tokens = make_player(agent), None, 0


def new_trajectory(
    start: EpisodeStart, agent: str, *, task_id: str = "", late: int = 0
) -> Trajectory:
    """Returns an agent's trajectory without turns."""
    return Trajectory(task_id or start.task_id or "", start.seed, agent=agent, late=late)
