"""TextVectorEnv: a ``gymnasium.vector.VectorEnv`` over :class:`~agentgym_envs.pool.EnvPool`.

``gymnasium.make_vec`` returns it for every registered id.
"""

from collections.abc import Callable, Iterable, Sequence, Sized
from functools import partial
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agentgym_envs.errors import ArgumentError
from agentgym_envs.pool import EnvPool, Result
from agentgym_envs.spaces import Unicode
from agentgym_envs.tasks import check_options


class TextVectorEnv(VectorEnv):  # type: ignore[type-arg]
    """``num_envs`` copies of a text environment, stepped together, in a few processes.

    Observations are a tuple of strings, and actions any sequence of strings.

    An environment that raises, hangs or dies is reported as truncated with reward 0 and its message
    in ``infos["error"]``. The next reset makes a new environment. A training loop must drop that
    episode. With SAME_STEP the reset happens in the same step, and the message is in
    ``infos["final_info"]["error"]``, with the rest of the episode's last step. If that reset fails
    too, its message is in ``infos["error"]``.

    Args:
        env_id: a registered id.
        num_envs: number of environments.
        workers: number of processes; by default one per CPU core.
        timeout: time limit of one call, in seconds.
        start_timeout: time limit of an environment's first reset, in seconds.
        autoreset_mode: NEXT_STEP, SAME_STEP or DISABLED, as in Gymnasium.
        hosts: addresses of ``agentgym serve --pool`` on other machines, where the environments run;
            their password is the variable ``AGENTGYM_POOL_TOKEN``.
        max_episode_steps: replaces the registered step limit; -1 lifts it.
        **kwargs: passed to the environments' constructor.

    >>> import gymnasium, agentgym_envs
    >>> envs = gymnasium.make_vec("agentgym/Maze-v1", num_envs=2, workers=1)
    >>> observations, infos = envs.reset(seed=7)
    >>> _, rewards, terminations, truncations, _ = envs.step(["go north", "go south"])
    >>> rewards.tolist(), terminations.tolist()
    ([0.0, 0.0], [False, False])
    >>> envs.close()
    """

    def __init__(
        self,
        env_id: str,
        num_envs: int = 1,
        *,
        workers: int | None = None,
        timeout: float = 60.0,
        start_timeout: float = 300.0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        hosts: Sequence[str] | None = None,
        max_episode_steps: int | None = None,
        **kwargs: Any,
    ):
        limit: dict[str, Any] = (
            {} if max_episode_steps is None else {"max_episode_steps": max_episode_steps}
        )
        self._pool = EnvPool(
            env_id,
            num_envs,
            workers=workers,
            timeout=timeout,
            start_timeout=start_timeout,
            hosts=hosts,
            **limit,
            **kwargs,
        )
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": []}
        self.single_observation_space = self.single_action_space = Unicode()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._observations = [""] * num_envs
        self._over = np.zeros(num_envs, dtype=bool)
        self._astray = np.ones(num_envs, dtype=bool)  # the caller does not know the state

    def reset(  # type: ignore[override]
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Starts all environments, or those of ``options["reset_mask"]``.

        The mask is bool of shape ``(num_envs,)``.

        Args:
            seed: one number (environment ``i`` gets ``seed + i``) or a list with one per
                environment.
            options: also passed to the environments. A list as ``task_id`` holds one id or None per
                environment.

        Returns:
            Observations (a tuple of ``num_envs`` strings) and infos.

        Raises:
            ArgumentError: a list or mask of another length, a negative seed, or an unknown option.
            TaskError: an unknown task id.
            EnvFailure: an environment could not be started.
        """
        check_options(options)
        mask = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs)), dtype=bool)
        if seed is None or isinstance(seed, int | np.integer):
            seed = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        each = self._options_each(options)
        self._check_length("reset_mask", mask)
        self._check_length("seeds", seed)
        self._drain()
        chosen = [int(i) for i in np.flatnonzero(mask)]
        self._astray[chosen] = True
        for i in chosen:
            self._pool.reset(i, seed=seed[i], options=each[i])
        infos: dict[str, Any] = {}
        for result in self._gather(chosen):
            result.check()
            infos = self._keep(result, infos)
        self._over[chosen] = self._astray[chosen] = False
        return tuple(self._observations), infos

    def step(  # type: ignore[override]
        self, actions: Any
    ) -> tuple[
        tuple[str, ...], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
    ]:
        """Steps all environments.

        Args:
            actions: ``num_envs`` strings.

        Returns:
            Observations (tuple of strings), rewards, terminations and truncations (arrays of shape
            ``(num_envs,)``), infos.

        Raises:
            ArgumentError: the number of actions is not ``num_envs``.
            ResetNeeded: an environment was never reset, or the last call was interrupted. With
                autoreset
                DISABLED: an episode is over and was not reset.
        """
        self._check_length("actions", actions)
        self._check_started()
        self._astray[:] = True
        with self._pool.together():
            for i, action in enumerate(actions):
                if self._over[i]:
                    self._pool.reset(i)
                else:
                    self._pool.send(i, action)
        results = self._gather(range(self.num_envs))
        rewards = np.array([r.reward for r in results], dtype=np.float64)
        terminated = np.array([r.terminated for r in results], dtype=bool)
        truncated = np.array([r.truncated or r.error is not None for r in results], dtype=bool)
        self._over = terminated | truncated
        infos = (
            self._restart(results)
            if self.autoreset_mode == AutoresetMode.SAME_STEP
            else self._keep_all(results)
        )
        self._astray[:] = False
        return tuple(self._observations), rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the worker processes."""
        self._pool.close()

    def _options_each(self, options: dict[str, Any] | None) -> list[dict[str, Any] | None]:
        if options is None:
            return [None] * self.num_envs
        rest = {k: v for k, v in options.items() if k not in ("reset_mask", "task_id")}
        named = options.get("task_id")
        if not isinstance(named, list | tuple):
            named = [named] * self.num_envs
        self._check_length("task ids", named)
        return [rest if task_id is None else {**rest, "task_id": task_id} for task_id in named]

    def _check_length(self, what: str, given: Sized) -> None:
        if len(given) != self.num_envs:
            raise ArgumentError(f"{len(given)} {what} for {self.num_envs} environments")

    def _check_started(self) -> None:
        if self._astray.any():
            astray = np.flatnonzero(self._astray).tolist()
            raise ResetNeeded(
                f"environments {astray} were never reset, or the last call was interrupted: reset"
                " them"
            )
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            over = np.flatnonzero(self._over).tolist()
            raise ResetNeeded(
                f"environments {over} are over: reset them with options['reset_mask']"
            )

    def _keep(self, result: Result, infos: dict[str, Any]) -> dict[str, Any]:
        self._observations[result.index] = result.observation
        return self._add_info(infos, _info(result), result.index)

    def _keep_all(self, results: list[Result]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for result in results:
            infos = self._keep(result, infos)
        return infos

    def _restart(self, results: list[Result]) -> dict[str, Any]:
        """Resets the environments whose episode is over, in the same step.

        The last observation and info of an episode go into ``final_obs`` and ``final_info``.
        """
        over = [int(i) for i in np.flatnonzero(self._over)]
        for i in over:
            self._pool.reset(i)
        begun = {r.index: r for r in self._gather(over)}
        infos: dict[str, Any] = {}
        # In this order, because the first environment with a key decides the type of its array.
        for last in results:
            i = last.index
            if i in begun:
                infos = self._add_info(
                    infos, {"final_obs": last.observation, "final_info": _info(last)}, i
                )
                self._over[i] = begun[i].error is not None
            infos = self._keep(begun.get(i, last), infos)
        return infos

    def _drain(self) -> None:
        """Receives and drops the results of an interrupted call."""
        while self._pool.outstanding:
            self._pool.recv()

    def _gather(self, indices: Iterable[int]) -> list[Result]:
        left, results = set(indices), []
        while left:
            for result in self._pool.recv():
                left.discard(result.index)
                results.append(result)
        return sorted(results, key=lambda r: r.index)


def _info(result: Result) -> dict[str, Any]:
    return {"error": str(result.error)} if result.error else result.info or {}


def __getattr__(name: str) -> Callable[..., TextVectorEnv]:
    """Returns a constructor for the id in ``agentgym_envs.vector:<env id>``.

    Every environment registers this name as its ``vector_entry_point``.
    """
    if "/" in name:
        return partial(TextVectorEnv, name)
    raise AttributeError(name)
