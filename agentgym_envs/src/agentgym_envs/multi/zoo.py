"""Games as PettingZoo environments.

In the parallel form all agents act at every step; in AEC they act one after the other.

Importing this module registers every game with PettingZoo: ``pettingzoo.make("parallel",
"agentgym/Connect4-v1")``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
import pettingzoo
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding

from agentgym_envs import registry
from agentgym_envs.errors import ArgumentError
from agentgym_envs.multi.game import TextGame
from agentgym_envs.multi.make import make_game
from agentgym_envs.multi.match import GameMatch
from agentgym_envs.plugins import ENVIRONMENTS, discover
from agentgym_envs.spaces import Unicode
from agentgym_envs.tasks import Task, named_task, select


class _ZooGame:
    """The part that both forms share: the game, its tasks, spaces and seeds.

    Args:
        game: to be played.
        game_id: its id.
        split: see :class:`agentgym_envs.TextEnv`.
        tasks: likewise.
        render_mode: None or "ansi": the texts and actions of each seat.
    """

    def __init__(
        self,
        game: TextGame,
        game_id: str,
        split: str,
        tasks: Iterable[str] | str | None,
        render_mode: str | None,
    ):
        self.game, self.task_set, self.filtered = game, game.make_tasks(), tasks is not None
        self.task_ids = select(self.task_set, split, tasks)
        self.metadata = {"name": game_id, "render_modes": ["ansi"]}
        self.render_mode, self.possible_agents = render_mode, list(game.seats)
        self._random, _ = seeding.np_random()
        self._log: list[str] = []
        self._task: Task | None = None

    @property
    def task_id(self) -> str:
        """Returns the id of the task that is played.

        Raises:
            ResetNeeded: before the first reset.
        """
        if self._task is None:
            raise ResetNeeded("no task is played before the first reset: call reset()")
        return self._task.id

    def start(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Starts an episode, a random one if no seed was ever passed.

        Unknown options are ignored, as PettingZoo requires.
        """
        named = named_task(options)
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        drawn = (seed or 0) if named is not None else int(self._random.integers(2**63))
        self._task, rng = self.task_set.start(
            drawn, self.task_ids, named=named, filtered=self.filtered
        )
        self._log = []
        self.match = GameMatch(self.game, self._task, rng)

    def info(self, agent: str) -> dict[str, Any]:
        """Returns an agent's info; ``acts`` says that its next action counts.

        The task's id is not in it: ids are names for people, and may tell an agent what another one
        knows.
        """
        outcome = self.match.outcomes[agent]
        return {
            "goal": self.game.goal(agent),
            "acts": agent in self.match.waiting,
            "score": float(outcome.score),
            "success": bool(outcome.success),
            "invalid": bool(outcome.invalid),
        }

    def see(self, agent: str) -> str:
        """Returns an agent's unseen text and marks it as seen."""
        text = self.match.see(agent)
        self._log += [f"[{agent} sees] {text}"] if text else []
        return text

    def say(self, said: Mapping[str, Any]) -> None:
        """Takes what agents that are waited for say, of all or of none of them.

        Raises:
            TypeError: one does not say a string.
        """
        for agent, action in said.items():
            if not isinstance(action, str):
                raise TypeError(f"the action of {agent} is a str, not {type(action).__name__}")
        for agent, action in said.items():
            self._log.append(f"[{agent} says] {action}")
            self.match.say(agent, action)

    def render(self) -> str | None:
        """Returns what was seen and said in this episode, in mode "ansi"."""
        return "\n".join(self._log) if self.render_mode == "ansi" else None


class ParallelText(pettingzoo.ParallelEnv[str, str, str]):  # type: ignore[misc]
    """All agents act at every step.

    Actions of agents whose ``info["acts"]`` is false are ignored.

    Observations and actions are strings; an observation is the new text for an agent.
    """

    def __init__(self, table: _ZooGame):
        self._table = table
        self.metadata, self.render_mode = (
            table.metadata | {"is_parallelizable": True},
            table.render_mode,
        )
        self.possible_agents, self.agents = table.possible_agents, list[str]()
        self._spaces = {agent: (Unicode(), Unicode()) for agent in table.possible_agents}
        self.game = table.game

    @property
    def task_id(self) -> str:
        """Returns the id of the current task. It is for the evaluator only; agents never see it."""
        return self._table.task_id

    def observation_space(self, agent: str) -> Unicode:
        """Returns the strings."""
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> Unicode:
        """Returns the strings."""
        return self._spaces[agent][1]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Starts an episode; ``options={"task_id": ...}`` names its task."""
        self._table.start(seed, options)
        self.agents = list(self.possible_agents)
        return {a: self._table.see(a) for a in self.agents}, {
            a: self._table.info(a) for a in self.agents
        }

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        """Takes an action of each agent that is to speak.

        Raises:
            ArgumentError: one of them is missing.
            ResetNeeded: before the first reset or after the end of an episode.
            TypeError: one is not a string. After an error nothing has been taken: the step can be
                made again.
        """
        _need(self.agents)
        match, agents = self._table.match, self.agents
        if missing := [agent for agent in match.waiting if agent not in actions]:
            raise ArgumentError(
                f"step lacks the action of {missing[0]}, who is to act now: give one to each whose"
                " info['acts'] is true"
            )
        self._table.say({agent: actions[agent] for agent in match.waiting})
        observed = {a: self._table.see(a) for a in agents}
        rewards = {a: match.earned(a) for a in agents}
        ended, cut = dict.fromkeys(agents, match.over), dict.fromkeys(agents, False)
        infos = {a: self._table.info(a) for a in agents}
        if match.over:
            self.agents = []
        return observed, rewards, ended, cut, infos

    def render(self) -> str | None:  # type: ignore[override]
        """Returns what was seen and said in this episode, in mode "ansi"."""
        return self._table.render()

    def close(self) -> None:
        """Has nothing to close."""


class TurnsText(pettingzoo.AECEnv[str, dict[str, str], str | None]):  # type: ignore[misc]
    """Agents act one after the other.

    Agents that act at once do not see each other's actions before all have acted.

    An observation is ``{"text": str}``, for PettingZoo's own checks do not take a string; an action
    is a string. PettingZoo's
    ``aec_to_parallel`` cannot make this form parallel, as it waits for all agents at every step:
    :class:`ParallelText` is.
    """

    def __init__(self, table: _ZooGame):
        super().__init__()
        self._table = table
        self.metadata, self.render_mode = (
            table.metadata | {"is_parallelizable": False},
            table.render_mode,
        )
        self.possible_agents, self.agents = table.possible_agents, list[str]()
        self._spaces = {
            a: (gymnasium.spaces.Dict({"text": Unicode()}), Unicode())
            for a in table.possible_agents
        }
        self.game = table.game

    @property
    def task_id(self) -> str:
        """Returns the id of the current task. It is for the evaluator only; agents never see it."""
        return self._table.task_id

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """Returns a dictionary of one string."""
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> Unicode:
        """Returns the strings."""
        return self._spaces[agent][1]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts an episode; ``options={"task_id": ...}`` names its task."""
        self._table.start(seed, options)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = (
            dict.fromkeys(self.agents, False),
            dict.fromkeys(self.agents, False),
        )
        self._seen = {a: self._table.see(a) for a in self.agents}
        self._look()

    def observe(self, agent: str) -> dict[str, str]:
        """Returns what an agent has come to see since it last acted."""
        return {"text": self._seen[agent]}

    def step(self, action: str | None) -> None:
        """Takes the action of ``agent_selection``; None of one whose game is over.

        Raises:
            ResetNeeded: before the first reset, or after the last agent has left.
            TypeError: the action is not a string; it can be given again.
        """
        _need(self.agents)
        match, agent = self._table.match, self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]
            return
        self._table.say({agent: action})
        self._cumulative_rewards[agent] = 0.0
        self._seen[agent] = ""
        for a in self.agents:
            self._seen[a] = "\n".join(filter(None, (self._seen[a], self._table.see(a))))
        self.rewards = {a: match.earned(a) for a in self.agents}
        self._accumulate_rewards()
        self._look()

    def render(self) -> str | None:  # type: ignore[override]
        """Returns what was seen and said in this episode, in mode "ansi"."""
        return self._table.render()

    def close(self) -> None:
        """Has nothing to close."""

    def _look(self) -> None:
        """Updates the next agent, the infos and the ends."""
        match = self._table.match
        self.infos = {a: self._table.info(a) for a in self.agents}
        self.terminations = dict.fromkeys(self.agents, match.over)
        self.agent_selection = match.waiting[0] if match.waiting else self.agents[0]


def _need(agents: list[str]) -> None:
    """Rejects a step without an agent.

    Raises:
        ResetNeeded: no agent is left.
    """
    if not agents:
        raise ResetNeeded("the episode is over or was never started: call reset()")


def make_parallel(
    game_id: str,
    *,
    split: str = "train",
    tasks: Iterable[str] | str | None = None,
    render_mode: str | None = None,
    **kwargs: Any,
) -> ParallelText:
    """Makes a game as a PettingZoo parallel environment; ``kwargs`` are the game's own."""
    return ParallelText(_ZooGame(make_game(game_id, **kwargs), game_id, split, tasks, render_mode))


def make_aec(
    game_id: str,
    *,
    split: str = "train",
    tasks: Iterable[str] | str | None = None,
    render_mode: str | None = None,
    **kwargs: Any,
) -> TurnsText:
    """Makes a game as a PettingZoo AEC environment; ``kwargs`` are the game's own."""
    return TurnsText(_ZooGame(make_game(game_id, **kwargs), game_id, split, tasks, render_mode))


for _id, _plugin in discover(ENVIRONMENTS).items():
    if registry.is_game(_plugin) and registry.fault(_plugin) is None:
        for _form in ("parallel", "aec"):
            pettingzoo.register(_form, _id, f"{__name__}:make_{_form}", kwargs={"game_id": _id})
