"""Plays episodes and checks the result of every turn."""

import json
from typing import Any

from agentgym_envs.testing.limits import answering
from agentgym_envs.testing.subject import Env, expect

INFO_KEYS = {
    "task_id": str,
    "goal": str,
    "score": float,
    "success": bool,
    "invalid": bool,
    "turn": int,
}
LONGEST_OBSERVATION = 20_000  # characters


class CheckedEnv:
    """Plays episodes and checks the result of every turn.

    Args:
        env: an environment.
        limit: the environment's step limit; None without one.
        admissible: whether the environment was made with ``admissible=True``.

    Attributes:
        over: whether the episode has ended.
        observation: the last observation.
        info: the last info.
    """

    def __init__(self, env: Env, *, limit: int | None = None, admissible: bool = False):
        self._env, self._limit, self._admissible = env, limit, admissible
        self._turn = 0
        self._last: tuple[dict[str, Any], str] | None = None

    def reset(self, **kwargs: Any) -> dict[str, Any]:
        """Starts an episode; returns its info."""
        with answering("reset"):
            observation, info = self._env.reset(**kwargs)
        self._turn, self._total = 0, info.get("score", 0.0)
        self._look(observation, info, over=False)
        expect(bool(observation.strip()), "the first observation is empty")
        begun = not info["success"] and not info["invalid"]
        expect(
            begun, f"an episode begins with success={info['success']} and invalid={info['invalid']}"
        )
        return self.info

    def step(self, action: str) -> dict[str, Any]:
        """Takes a turn; returns its info."""
        with answering(f"step({action[:40]!r})"):
            observation, reward, terminated, truncated, info = self._env.step(action)
        expect(
            type(truncated) is bool and type(terminated) is bool,
            "terminated and truncated must be bool",
        )
        self._turn, self._total = self._turn + 1, self._total + reward
        self._look(observation, info, over=terminated or truncated)
        expect(
            truncated == (self._turn == self._limit),
            f"truncated is {truncated} at turn {self._turn}, the limit is {self._limit}",
        )
        expect(terminated or not info["success"], "the episode goes on after a success")
        expect(
            info["score"] > 0 or not info["success"],
            f"success is true, and the score is {info['score']}",
        )
        return self.info

    def _look(self, observation: Any, info: dict[str, Any], *, over: bool) -> None:
        expect(
            type(observation) is str,
            f"the observation is a {type(observation).__name__}, not a str",
        )
        observation.encode("utf-8")
        expect(
            len(observation) < LONGEST_OBSERVATION,
            f"the observation has {len(observation)} characters",
        )
        self._check_info(info)
        expect(
            abs(self._total - info["score"]) < 1e-9,
            f"the rewards add up to {self._total}, the score is {info['score']}",
        )
        expect(info["turn"] == self._turn, f"turn is {info['turn']} after {self._turn} actions")
        listed = info.get("admissible_actions")
        if self._admissible:
            fine = (
                isinstance(listed, list)
                and (over or listed)
                and all(type(a) is str for a in listed)
            )
            expect(
                bool(fine),
                "admissible=True must give a list of actions in info['admissible_actions'], not"
                f" {listed!r}",
            )
        else:
            expect(listed is None, "admissible_actions must be absent unless asked for")
        self.observation, self.info, self.over = observation, info, over

    def _check_info(self, info: dict[str, Any]) -> None:
        for key, kind in INFO_KEYS.items():
            expect(
                type(info.get(key)) is kind,
                f"info[{key!r}] is {info.get(key)!r}, not a {kind.__name__}",
            )
        expect(0.0 <= info["score"] <= 1.0, f"the score {info['score']} is not in [0, 1]")
        text = json.dumps(info, allow_nan=False)
        again = json.loads(text)
        changed = sorted(str(key) for key in info if again.get(key) != info[key])
        expect(not changed, f"info[{', '.join(changed)}] does not round-trip through JSON")
        if self._last:
            expect(
                json.dumps(self._last[0]) == self._last[1],
                f"the info before turn {self._turn} changed after it was returned",
            )
        self._last = info, text
