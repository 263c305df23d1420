"""TextVectorEnv: a ``gymnasium.vector.VectorEnv`` over :class:`~agentgym_envs.pool.EnvPool`.

``gymnasium.make_vec`` returns it for every registered id.
"""

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agentgym_envs import registry
from agentgym_envs.errors import ArgumentError, EnvRaised, shown
from agentgym_envs.pool import EnvPool, PoolResult
from agentgym_envs.pool.wire import literal
from agentgym_envs.spaces import Unicode
from agentgym_envs.tasks import check_options

_BUILT_IN = (AttributeError, IndexError, KeyError, NotImplementedError, TypeError, ValueError)
RAISED: Mapping[str, type[Exception]] = {kind.__name__: kind for kind in (*_BUILT_IN, ResetNeeded)}
"""Exceptions of calls that are raised here too, as Gymnasium does; others are ``EnvRaised``."""


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
        render_mode: None, or "ansi" if the environment has it: :meth:`render` then returns texts.
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
        render_mode: str | None = None,
        **kwargs: Any,
    ):
        modes = _render_modes(env_id, render_mode)
        optional = {"max_episode_steps": max_episode_steps, "render_mode": render_mode}
        given: dict[str, Any] = {k: value for k, value in optional.items() if value is not None}
        self._pool = EnvPool(
            env_id,
            num_envs,
            workers=workers,
            timeout=timeout,
            start_timeout=start_timeout,
            hosts=hosts,
            **given,
            **kwargs,
        )
        self.num_envs, self.render_mode = num_envs, render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": modes}
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
            ArgumentError: a list or mask of another length or type, a negative seed, or an unknown
                option.
            TaskError: an unknown task id.
            EnvFailure: an environment could not be started.
        """
        check_options(options)
        mask, seeds = self._mask(options or {}), self._seeds(seed)
        each = self._options_each(options)
        self._drain()
        chosen = [int(i) for i in np.flatnonzero(mask)]
        self._astray[chosen] = True
        for i in chosen:
            self._pool.reset(i, seed=seeds[i], options=each[i])
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
            ArgumentError: the actions are not ``num_envs`` strings in a list, tuple or array.
            ResetNeeded: an environment was never reset, or the last call was interrupted. With
                autoreset
                DISABLED: an episode is over and was not reset.
        """
        actions = self._each("actions", actions)
        self._check_started()
        for i, action in enumerate(actions):  # the action of an episode that is over is not read
            if not (self._over[i] or isinstance(action, str)):
                raise ArgumentError(
                    f"the action of environment {i} must be a str, not {shown(action)}"
                )
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

    def render(self) -> tuple[Any, ...]:
        """Returns each environment's last observation in mode "ansi"; else one None for each."""
        return self.call("render")

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Returns the value of an attribute in each environment, or of a call if it is a function.

        Arguments and values can be texts, numbers, tuples, lists, sets and dictionaries.

        Raises:
            ArgumentError: an argument that cannot be sent, or a name with a method of this class.
            AttributeError: the environments lack the attribute.
            TypeError: the value cannot be sent.
            EnvRaised: a call raised; frequent exceptions keep their class: ``RAISED``.
            EnvFailure: an environment could not be started, or failed before.
        """
        if name in ("reset", "step", "close"):
            raise ArgumentError(f"call({name!r}) would not be noticed here: use {name}()")
        return self._call_each(name, [(args, kwargs)] * self.num_envs)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Returns the value of an attribute in each environment; see :meth:`call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Sets an attribute of the environments; the errors are those of :meth:`call`.

        Args:
            name: the attribute.
            values: a list or tuple with one value per environment, or one value for all.
        """
        each = values if isinstance(values, list | tuple) else [values] * self.num_envs
        self._check_length("values", len(each))
        self._call_each("set_wrapper_attr", [((name, value), {}) for value in each])

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the worker processes."""
        self._pool.close()

    def _options_each(self, options: dict[str, Any] | None) -> list[dict[str, Any] | None]:
        if options is None:
            return [None] * self.num_envs
        rest = {k: v for k, v in options.items() if k not in ("reset_mask", "task_id")}
        named = options.get("task_id")
        if not isinstance(named, list | tuple | np.ndarray):
            named = [named] * self.num_envs
        named = self._each("task ids", named)
        return [rest if task_id is None else {**rest, "task_id": task_id} for task_id in named]

    def _each(self, what: str, given: Any) -> list[Any]:
        """Returns values, one per environment, as a list. A string is not a list of letters."""
        if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str | bytes):
            raise ArgumentError(
                f"{what} must be a list with one for each of {self.num_envs} environments, not"
                f" {shown(given)}"
            )
        values = given.tolist() if isinstance(given, np.ndarray) and given.ndim else given
        self._check_length(what, len(values))
        return list(values)

    def _check_length(self, what: str, length: int) -> None:
        if length != self.num_envs:
            raise ArgumentError(f"{length} {what} for {self.num_envs} environments")

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            seeds: list[int | None] = [int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = self._each("seeds", seed)
        for value in seeds:
            whole = value is None or hasattr(value, "__index__")
            if not whole or (value is not None and operator.index(value) < 0):
                raise ArgumentError(f"seed={shown(value)}: must be a whole number from 0, or None")
        return seeds

    def _mask(self, options: Mapping[str, Any]) -> NDArray[np.bool_]:
        if "reset_mask" not in options:
            return np.ones(self.num_envs, dtype=bool)
        mask = np.asarray(options["reset_mask"])
        if mask.shape != (self.num_envs,) or mask.dtype.kind not in "biu":
            raise ArgumentError(
                f"reset_mask={shown(options['reset_mask'])}: must be a list of bool for"
                f" {self.num_envs} environments"
            )
        return mask.astype(bool)

    def _call_each(self, name: str, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Returns the values of a call in each environment, with arguments for each."""
        try:
            texts = [literal(each) for each in arguments]
        except TypeError as error:
            raise ArgumentError(f"an argument of {name!r}: {error}") from None
        self._drain()
        astray = self._astray.copy()
        self._astray[:] = True  # an interrupted call leaves results behind
        with self._pool.together():
            for i, text in enumerate(texts):
                self._pool.ask_call(i, name, text)
        results = self._gather(range(self.num_envs))
        self._astray = astray
        return tuple(map(_value, results))

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

    def _keep(self, result: PoolResult, infos: dict[str, Any]) -> dict[str, Any]:
        self._observations[result.index] = result.observation
        return self._add_info(infos, _info(result), result.index)

    def _keep_all(self, results: list[PoolResult]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for result in results:
            infos = self._keep(result, infos)
        return infos

    def _restart(self, results: list[PoolResult]) -> dict[str, Any]:
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

    def _gather(self, indices: Iterable[int]) -> list[PoolResult]:
        left, results = set(indices), []
        while left:
            for result in self._pool.recv():
                left.discard(result.index)
                results.append(result)
        return sorted(results, key=lambda r: r.index)


def _value(result: PoolResult) -> Any:
    """Returns the value of a call, or raises its error."""
    result.check()
    info = result.info or {}
    if "value" in info:
        return ast.literal_eval(info["value"])
    kind, message = info["raised"], info["message"]
    if kind in RAISED:
        raise RAISED[kind](f"environment {result.index}: {message}")
    raise EnvRaised(f"environment {result.index} raised {kind}: {message}")


def _render_modes(env_id: str, mode: str | None) -> list[str]:
    """Returns the render modes that a vector environment has.

    Raises:
        ArgumentError: the mode is not one of them. Pictures do not leave an environment's process.
    """
    if mode is None:  # nothing is imported
        return ["ansi"]
    modes = [m for m in registry.render_modes(env_id) if m == "ansi"]
    if mode not in modes:
        raise ArgumentError(
            f"{env_id}: render_mode must be None or one of {modes} in a vector environment, not"
            f" {shown(mode)}"
        )
    return modes


def _info(result: PoolResult) -> dict[str, Any]:
    return {"error": str(result.error)} if result.error else result.info or {}


def __getattr__(name: str) -> Callable[..., TextVectorEnv]:
    """Returns a constructor for the id in ``agentgym_envs.vector:<env id>``.

    Every environment registers this name as its ``vector_entry_point``. In the name of a class that
    is not registered, "/" stands for the colon of "module:Class".
    """
    if "/" in name:
        registered = name in gymnasium.registry
        return partial(TextVectorEnv, name if registered else name.replace("/", ":"))
    raise AttributeError(name)
