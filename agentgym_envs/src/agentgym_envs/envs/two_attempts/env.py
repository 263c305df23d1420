"""Two attempts at the same task in one episode: an agent that learns here learns to correct itself.

After SCoRe (Kumar et al., 2024, arXiv 2409.12917): the reward is r₂ + α(r₂ − r₁), so that an agent gains by a better second attempt
and loses by a worse one. It is not told how the first one was judged, beyond what that environment itself says.
"""

import random
from collections.abc import Iterable, Iterator
from typing import Any

from agentgym_envs import registry
from agentgym_envs.core import InvalidResponse, Outcome, TextEnv
from agentgym_envs.errors import ArgumentError
from agentgym_envs.tasks import Task, TaskSet

RULES = "You have two attempts at the same task: when the first is over, the task starts again. Only the second one counts."
AGAIN = "The first attempt is over. Second attempt at the same task, from its beginning:"


class TwoAttemptsEnv(TextEnv):
    """Another environment, twice.

    ``info["score"]`` and ``["success"]`` are the second attempt's; ``["attempt"]`` is 1 or 2, ``["first_score"]`` what the first
    has come to. With ``alpha`` above 0 the rewards add up to the score plus ``alpha`` times what the second attempt gained.

    Args:
        of: the environment's id; it keeps the contract of :class:`TextEnv`.
        alpha: weight of the gain.
        turns: of an attempt; None: the registered limit of ``of``.
        split: see :class:`TextEnv`.
        tasks: likewise.
        admissible: likewise.
        render_mode: likewise.
        **kwargs: for the constructor of ``of``.

    Raises:
        ArgumentError: ``of`` keeps another contract, has no limit or several seats, or a value cannot be.
    """

    def __init__(
        self,
        *,
        of: str = "agentgym/Maze-v1",
        alpha: float = 0.0,
        turns: int | None = None,
        split: str = "train",
        tasks: Iterable[str] | str | None = None,
        admissible: bool = False,
        render_mode: str | None = None,
        **kwargs: Any,
    ):
        self._inner: Any = registry.make(of, split=split, tasks=tasks, max_episode_steps=-1, **kwargs).unwrapped
        limit = turns if turns is not None else registry.spec(of).max_episode_steps
        if not isinstance(self._inner, TextEnv) or isinstance(self._inner, TwoAttemptsEnv):
            raise ArgumentError(f"of={of!r}: two attempts are made at an environment that is a TextEnv, and not at attempts")
        seats: tuple[str, ...] = getattr(self._inner, "seats", ())
        if len(seats) > 1:
            raise ArgumentError(
                f"seats={kwargs['seats']!r}: two attempts are one stream without names, and cannot tell apart {', '.join(seats)}; "
                f"choose one seat, such as {seats[0]!r}"
            )
        if type(limit) is not int or limit < 1:
            raise ArgumentError(f"turns={limit!r}: an attempt at {of} needs a limit, a whole number from 1 up")
        if alpha < 0:
            raise ArgumentError(f"alpha={alpha}: the gain of the second attempt cannot be punished; take 0 or more")
        self._alpha, self._limit = alpha, limit
        self.instructions = f"{self._inner.instructions}\n\n{RULES}"  # type: ignore[misc]
        self.tools = dict(self._inner.tools)  # type: ignore[misc]
        super().__init__(split=split, tasks=tasks, admissible=admissible, render_mode=render_mode)

    def make_tasks(self) -> TaskSet:
        """Returns those of the other environment."""
        tasks: TaskSet = self._inner.task_set
        return tasks

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Starts the first attempt."""
        self._start = {"seed": rng.randrange(2**31), "options": {"task_id": task.id}}
        self._attempt, self._taken, self._first = 1, 0, 0.0
        observation, info = self._inner.reset(**self._start)
        return observation, info["goal"]

    def act(self, action: str) -> Outcome:
        """Acts in the attempt, and starts the second when the first is over."""
        observation, _, done, _, info = self._inner.step(action)
        self._taken += 1
        over = done or self._taken == self._limit
        score = info["score"] if self._attempt == 2 else 0.0
        success = info["success"] and self._attempt == 2
        if self._attempt == 1:
            self._first = info["score"]
        extra = {"attempt": self._attempt, "first_score": self._first}
        if over and self._attempt == 1:
            again, _ = self._inner.reset(**self._start)
            self._attempt, self._taken, over = 2, 0, False
            observation = f"{observation}\n\n{AGAIN}\n{again}"
        return Outcome(observation, score, over, success, info["invalid"], extra)

    def refuse(self, text: str) -> Outcome:
        """Takes one of the attempt's turns too."""
        return self.act(InvalidResponse(text))

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Applies an action; the gain of the second attempt is in the reward of the last."""
        observation, reward, terminated, truncated, info = super().step(action)
        gain = self._alpha * (info["score"] - self._first) if terminated else 0.0
        return observation, reward + gain, terminated, truncated, info

    def _info(self, outcome: Outcome) -> dict[str, Any]:
        return {"attempt": self._attempt, "first_score": self._first, **super()._info(outcome)}  # an outcome tells of its own

    def actions(self) -> list[str]:
        """Returns those of the attempt."""
        listed: list[str] = self._inner.actions()
        return listed

    def oracle(self) -> Iterator[str]:
        """Yields actions that solve the task in both attempts, from here."""
        while not self._over:
            attempt = self._attempt
            for action in self._inner.oracle():
                yield action
                if self._over or self._attempt != attempt:
                    break

    def close(self) -> None:
        """Closes the other environment."""
        self._inner.close()
        super().close()
