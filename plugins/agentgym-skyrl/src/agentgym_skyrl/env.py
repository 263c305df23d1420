"""The environment that SkyRL plays."""

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType

from agentgym_envs.errors import ArgumentError, EnvFailure, shown
from agentgym_envs.pool import PoolResult
from agentgym_envs.scores import above
from agentgym_skyrl.pools import Lent, Pool

TRIES = 3
"""Of a reset or a step that the environment fails."""

_pools: dict[str, Pool] = {}
_lock = threading.Lock()


def register(name: str, target: str, *, action_format: str = "react", **kwargs: Any) -> None:
    """Registers an environment in skyrl-gym.

    Call it in every process that plays episodes.

    Args:
        name: the ``env_class`` of a data set's rows.
        target: a registered id, or "module:id".
        action_format: a key of ``agentgym_envs.wrappers.FORMATS``.
        **kwargs: keywords of the environment, and arguments of
            :class:`agentgym_envs.pool.EnvPool`.
    """
    options = {"action_format": action_format, **kwargs}
    entry = {"name": name, "target": target, "options": options}
    skyrl_gym.register(name, entry_point="agentgym_skyrl:AgentGymEnv", kwargs=entry)


def rows(name: str, count: int | None = None) -> list[dict[str, Any]]:
    """Returns the rows of a data set for SkyRL, in the order of the environment's tasks.

    Args:
        name: a registered name.
        count: number of rows; by default one per task.

    Raises:
        ArgumentError: no number, and the environment lists no tasks.
        AgentGymError: the environment cannot be made.
    """
    entry = skyrl_gym.spec(name).kwargs
    ids = _pool(entry).description.task_ids
    if not (count or ids):
        raise ArgumentError(f"{entry['target']} lists no tasks: give rows a number")
    # SkyRL drops rows with a long prompt. The first observation replaces this one.
    fixed = {"prompt": [{"role": "user", "content": ""}], "env_class": name}
    return [
        fixed | {"seed": n, "task_id": ids[n % len(ids)] if ids else None}
        for n in range(count or len(ids or ()))
    ]


class AgentGymEnv(BaseTextEnv):  # type: ignore[misc]
    """An episode.

    Args:
        name: the registered name.
        target: see :func:`register`.
        options: the other arguments of :func:`register`.
        extras: a row's columns ``seed`` and ``task_id``, and SkyRL's ``max_turns``.
        env_config: not used.
    """

    def __init__(
        self,
        name: str,
        target: str,
        options: Mapping[str, Any],
        extras: Mapping[str, Any],
        env_config: Any = None,
    ):
        super().__init__()
        self._pool = _pool({"name": name, "target": target, "options": options})
        self._target = target
        self._start: dict[str, Any] = {"seed": extras.get("seed")}
        if extras.get("task_id") is not None:
            self._start["options"] = {"task_id": extras["task_id"]}
        self.max_turns = extras["max_turns"]
        self._env: Lent | None = None
        self._actions: list[str] = []
        self._results: list[PoolResult] = []
        """Of the reset and the actions."""

    def init(self, prompt: ConversationType) -> tuple[ConversationType, dict[str, Any]]:
        """Starts the episode; returns the rules and the first observation.

        Args:
            prompt: not used.

        Raises:
            EnvFailure: the environment failed three times. SkyRL's run ends.
        """
        self._env = Lent(self._pool)
        self._results = [self._reset(self._env)]
        rules = self._pool.description.instructions
        system = [{"role": "system", "content": rules}] if rules else []
        return [*system, {"role": "user", "content": self._results[0].observation}], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Acts.

        Raises:
            EnvFailure: the environment failed three times. SkyRL's run ends.
            RuntimeError: it failed, and gave other results when it was played again.
        """
        if self._env is None:
            raise RuntimeError("the environment is not open: call init first, and not after close")
        result = self._send(self._env, action)
        self._actions.append(action)
        self._results.append(result)
        self.turns += 1
        done = result.terminated or result.truncated or self.turns >= self.max_turns
        return BaseTextEnvStepOutput(
            observations=[] if done else [{"role": "user", "content": result.observation}],
            reward=result.reward,
            done=done,
            metadata={},
        )

    def get_metrics(self) -> dict[str, Any]:
        """Returns what SkyRL averages over episodes."""
        played = self._results[1:]
        total = sum(result.reward for result in played)
        info: dict[str, Any] = (played[-1].info if played else None) or {}
        decided = bool(played) and played[-1].terminated
        return {
            "success": float(info.get("success", decided and above(total, 0.0))),
            "score": float(info.get("score", total)),
            "turns": self.turns,
            "invalid": sum(bool((result.info or {}).get("invalid")) for result in played),
        }

    def close(self) -> None:
        """Leaves the environment to other episodes."""
        if self._env:
            self._env.give_back()
            self._env = None

    def _reset(self, env: Lent) -> PoolResult:
        for _ in range(TRIES - 1):
            with suppress(EnvFailure):
                return env.reset(**self._start)
        return env.reset(**self._start)

    def _send(self, env: Lent, action: str) -> PoolResult:
        """Acts; after a failure, first plays the earlier actions again.

        Without this, one failure would end SkyRL's run.
        """
        try:
            return env.send(action)
        except EnvFailure as error:
            failure = error
        for _ in range(TRIES - 1):
            try:
                self._replay(env)
                return env.send(action)
            except EnvFailure as error:
                failure = error
        raise failure

    def _replay(self, env: Lent) -> None:
        again = [env.reset(**self._start), *(env.send(earlier) for earlier in self._actions)]
        for new, old in zip(again, self._results, strict=True):
            if (new.observation, new.reward) != (old.observation, old.reward):
                raise RuntimeError(
                    f"{self._target} failed and cannot be played again: the same actions gave"
                    f" {shown(new.observation)} instead of {shown(old.observation)}"
                )


def _pool(entry: Mapping[str, Any]) -> Pool:
    with _lock:
        if entry["name"] not in _pools:
            _pools[entry["name"]] = Pool(entry["target"], **entry["options"])
        return _pools[entry["name"]]
