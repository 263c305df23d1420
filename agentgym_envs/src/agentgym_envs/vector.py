"""TextVectorEnv: a ``gymnasium.vector.VectorEnv`` over :class:`~agentgym_envs.pool.EnvPool`, behind ``gymnasium.make_vec``."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agentgym_envs.pool import EnvPool, Result
from agentgym_envs.spaces import Unicode


class TextVectorEnv(VectorEnv):  # type: ignore[type-arg]
    """``num_envs`` copies of a text environment, stepped together, spread over few processes.

    Observations are a tuple of strings, actions any sequence of strings. An environment that raises, hangs or dies is
    reported as truncated with reward 0 and its message in ``infos["error"]``, and made anew by the next reset: whoever
    trains must drop that episode.

    Args:
        env_id: a registered id.
        num_envs: environments.
        workers: processes; by default one a CPU core.
        timeout: seconds that one call may take.
        autoreset_mode: NEXT_STEP, SAME_STEP or DISABLED, as in Gymnasium.
        max_episode_steps: replaces the registered step limit; -1 lifts it.
        **kwargs: for the environments' constructor.
    """

    def __init__(
        self,
        env_id: str,
        num_envs: int = 1,
        *,
        workers: int | None = None,
        timeout: float = 60.0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        **kwargs: Any,
    ):
        limit: dict[str, Any] = {} if max_episode_steps is None else {"max_episode_steps": max_episode_steps}
        self._pool = EnvPool(env_id, num_envs, workers=workers, timeout=timeout, **limit, **kwargs)
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": []}
        self.single_observation_space = self.single_action_space = Unicode()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._observations = [""] * num_envs
        self._over = np.ones(num_envs, dtype=bool)

    def reset(  # type: ignore[override]
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Starts all environments, or those of ``options["reset_mask"]`` (bool, shape ``(num_envs,)``).

        Args:
            seed: one for all (environment ``i`` gets ``seed + i``) or one each.
            options: also handed to the environments.

        Returns:
            Observations (a tuple of ``num_envs`` strings) and infos.

        Raises:
            EnvFailure: an environment could not be started.
        """
        options = dict(options or {})
        mask = options.pop("reset_mask", np.ones(self.num_envs, dtype=bool))
        seeds = [None if seed is None else seed + i for i in range(self.num_envs)] if not isinstance(seed, list) else seed
        chosen = [int(i) for i in np.flatnonzero(mask)]
        for i in chosen:
            self._pool.reset(i, seed=seeds[i], options=options or None)
        infos: dict[str, Any] = {}
        for result in self._gather(chosen):
            if result.error:
                raise result.error
            self._observations[result.index] = result.observation
            self._over[result.index] = False
            infos = self._add_info(infos, result.info or {}, result.index)
        return tuple(self._observations), infos

    def step(  # type: ignore[override]
        self, actions: Any
    ) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Steps all environments.

        Args:
            actions: ``num_envs`` strings.

        Returns:
            Observations (tuple of strings), rewards, terminations and truncations (arrays of shape ``(num_envs,)``), infos.

        Raises:
            ValueError: another number of actions.
            ResetNeeded: with autoreset DISABLED, an episode that is over was not reset.
        """
        if len(actions) != self.num_envs:
            raise ValueError(f"{len(actions)} actions for {self.num_envs} environments")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            over = np.flatnonzero(self._over).tolist()
            raise gymnasium.error.ResetNeeded(f"environments {over} are over: reset them with options['reset_mask']")
        for i, action in enumerate(actions):
            if self._over[i]:
                self._pool.reset(i)
            else:
                self._pool.send(i, action)
        rewards, terminated, truncated = np.zeros(self.num_envs), *np.zeros((2, self.num_envs), dtype=bool)
        infos: dict[str, Any] = {}
        for result in self._gather(range(self.num_envs)):
            i = result.index
            rewards[i], terminated[i] = result.reward, result.terminated
            truncated[i] = result.truncated or result.error is not None
            infos = self._keep(result, infos)
        self._over = terminated | truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._over.any():
            infos = self._reset_over(infos)
        return tuple(self._observations), rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the worker processes."""
        self._pool.close()

    def _keep(self, result: Result, infos: dict[str, Any]) -> dict[str, Any]:
        self._observations[result.index] = result.observation
        info = {"error": str(result.error)} if result.error else result.info or {}
        return self._add_info(infos, info, result.index)

    def _reset_over(self, infos: dict[str, Any]) -> dict[str, Any]:
        over = [int(i) for i in np.flatnonzero(self._over)]
        for i in over:
            final = {k: v[i] for k, v in infos.items() if not k.startswith("_") and infos[f"_{k}"][i]}
            infos = self._add_info(infos, {"final_obs": self._observations[i], "final_info": final}, i)
            self._pool.reset(i)
        for result in self._gather(over):
            infos = self._keep(result, infos)
            self._over[result.index] = result.error is not None
        return infos

    def _gather(self, indices: Any) -> list[Result]:
        left, results = set(indices), []
        while left:
            for result in self._pool.recv():
                left.discard(result.index)
                results.append(result)
        return sorted(results, key=lambda r: r.index)


def __getattr__(name: str) -> Callable[..., TextVectorEnv]:
    """Turns ``agentgym_envs.vector:<env id>``, the registered ``vector_entry_point``, into a constructor for that id."""
    if "/" in name:
        return partial(TextVectorEnv, name)
    raise AttributeError(name)
