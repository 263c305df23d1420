"""What the checks work on: an environment that is made in two ways, and an observer of its episodes."""

import json
import os
import subprocess
from collections.abc import Callable
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import gymnasium

from agentgym_envs.errors import ConformanceError
from agentgym_envs.tasks import SPLITS, spread

INFO_KEYS = {"task_id": str, "goal": str, "score": float, "success": bool, "invalid": bool, "turn": int}
LONGEST_OBSERVATION = 20_000  # characters
Env = gymnasium.Env[str, str]


class Subject:
    """The environment under test. Two are kept through all checks, because to start a simulator may take seconds.

    Args:
        env_id: a registered id.
        kwargs: constructor keywords.

    Attributes:
        offered: the actions that the walks were offered.
        files: what lay in the working folder at the start.
        processes: the children that this process had at the start.
    """

    def __init__(self, env_id: str, kwargs: dict[str, Any]):
        self.env_id, self.kwargs = env_id, kwargs
        self.offered: dict[str, None] = {}
        self.files, self.processes = set(os.listdir()), set(children())

    def make(self, **more: Any) -> Env:
        """Returns another environment."""
        return gymnasium.make(self.env_id, **(self.kwargs | more))

    @cached_property
    def shown(self) -> Env:
        """One that renders and lists admissible actions, with the registered step limit."""
        return self.make(admissible=True, render_mode="ansi")

    @cached_property
    def plain(self) -> Env:
        """One as it comes, without a step limit."""
        return self.make(max_episode_steps=-1)

    def sample(self, count: int) -> list[str]:
        """Returns ``count`` tasks of each split, taking turns."""
        chosen = [spread(world(self.make(split=split)).task_ids, count) for split in SPLITS]
        return [task_id for task_id in chain(*zip_longest(*chosen)) if task_id is not None]

    def close(self) -> None:
        """Closes both environments."""
        for name in ("shown", "plain"):
            if name in vars(self):
                getattr(self, name).close()


class Observed:
    """Plays episodes and checks everything that each turn shows.

    Args:
        env: an environment.
        limit: its step limit; None without one.
        admissible: it was asked for admissible actions.

    Attributes:
        over: the episode has ended.
        observation: the last one.
        info: the last one.
    """

    def __init__(self, env: Env, *, limit: int | None = None, admissible: bool = False):
        self._env, self._limit, self._admissible = env, limit, admissible

    def reset(self, **kwargs: Any) -> dict[str, Any]:
        """Starts an episode."""
        observation, info = self._env.reset(**kwargs)
        self._turn, self._total = 0, info.get("score", 0.0)
        self._look(observation, info, over=False)
        return self.info

    def step(self, action: str) -> dict[str, Any]:
        """Takes a turn."""
        observation, reward, terminated, truncated, info = self._env.step(action)
        expect(type(truncated) is bool and type(terminated) is bool, "terminated and truncated must be bool")
        self._turn, self._total = self._turn + 1, self._total + reward
        self._look(observation, info, over=terminated or truncated)
        expect(
            truncated == (self._turn == self._limit), f"truncated is {truncated} at turn {self._turn}, the limit is {self._limit}"
        )
        expect(terminated or not info["success"], "the episode goes on after a success")
        return self.info

    def _look(self, observation: Any, info: dict[str, Any], *, over: bool) -> None:
        expect(isinstance(observation, str), f"the observation is a {type(observation).__name__}, not a str")
        observation.encode("utf-8")
        expect(len(observation) < LONGEST_OBSERVATION, f"the observation has {len(observation)} characters")
        _check_info(info)
        expect(abs(self._total - info["score"]) < 1e-9, f"the rewards add up to {self._total}, the score is {info['score']}")
        expect(info["turn"] == self._turn, f"turn is {info['turn']} after {self._turn} actions")
        listed = info.get("admissible_actions")
        if self._admissible:
            fine = isinstance(listed, list) and (over or listed) and all(isinstance(a, str) for a in listed)
            expect(bool(fine), f"admissible=True must give a list of actions in info['admissible_actions'], not {listed!r}")
        else:
            expect(listed is None, "admissible_actions must be absent unless asked for")
        self.observation, self.info, self.over = observation, info, over


def _check_info(info: dict[str, Any]) -> None:
    for key, kind in INFO_KEYS.items():
        expect(type(info.get(key)) is kind, f"info[{key!r}] is {info.get(key)!r}, not a {kind.__name__}")
    expect(0.0 <= info["score"] <= 1.0, f"the score {info['score']} is not in [0, 1]")
    again = json.loads(json.dumps(info, allow_nan=False))
    changed = sorted(str(key) for key in info if again.get(key) != info[key])
    expect(not changed, f"JSON does not give back info[{', '.join(changed)}]")


def world(env: Env) -> Any:
    """Returns the environment without wrappers."""
    return env.unwrapped


def expect(condition: bool, message: str) -> None:
    """Raises the message as a ConformanceError unless the condition holds."""
    if not condition:
        raise ConformanceError(message)


def refused(call: Callable[[], Any]) -> bool:
    """Says whether a call raises a ValueError."""
    try:
        call()
    except ValueError:
        return True
    return False


def children() -> list[int]:
    """Returns the process ids of this process's living children."""
    if Path("/proc/self/stat").exists():
        lines = [text for path in Path("/proc").glob("[0-9]*/stat") if (text := _read(path))]
        heads = [(line.partition(" ")[0], *line.rpartition(")")[2].split()[:2]) for line in lines]
        rows = [(pid, parent, state) for pid, state, parent in heads]
    else:
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
        rows = [(pid, parent, state[0]) for pid, parent, state in map(str.split, listed.splitlines())]
    return [int(pid) for pid, parent, state in rows if int(parent) == os.getpid() and state != "Z"]


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # the process ended meanwhile
        return ""
