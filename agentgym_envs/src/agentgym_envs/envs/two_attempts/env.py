"""Two attempts at the same task in one episode: an environment to learn self-correction.

The reward is that of SCoRe (Kumar et al., 2024, arXiv 2409.12917): r₂ + α(r₂ − r₁).
A better second attempt raises it, and a worse one lowers it. The agent does not see the score of
the first attempt, unless the environment itself shows it.
"""

import random
from collections.abc import Iterable, Iterator
from typing import Any

from agentgym_envs import registry
from agentgym_envs.core import InvalidResponse, Outcome, TextEnv
from agentgym_envs.errors import ArgumentError
from agentgym_envs.tasks import Task, TaskSet

RULES = (
    "You have two attempts at the same task: when the first is over, the task starts again. Only"
    " the second one counts."
)
AGAIN = "The first attempt is over. Second attempt at the same task, from its beginning:"


class TwoAttemptsEnv(TextEnv):
    """Another environment, twice in one episode.

    ``info["score"]`` and ``info["success"]`` are those of the second attempt.
    ``info["attempt"]`` is 1 or 2. ``info["first_score"]`` is the score of the first attempt so far.
    With ``alpha`` above 0 the rewards add up to the score plus ``alpha`` times the gain of the
    second attempt over the first.

    Args:
        of: The id of the environment, which must be a :class:`TextEnv`.
        alpha: The weight of the gain, 0 or more.
        turns: The limit of turns per attempt; None means the registered limit of ``of``.
        split: See :class:`TextEnv`.
        tasks: See :class:`TextEnv`.
        admissible: See :class:`TextEnv`.
        render_mode: See :class:`TextEnv`.
        **kwargs: Keywords for the constructor of ``of``.

    Raises:
        ArgumentError: ``of`` is not a :class:`TextEnv`, has no limit or several seats, or a value
            is out of range.
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
        self._inner: Any = registry.make(
            of, split=split, tasks=tasks, max_episode_steps=-1, **kwargs
        ).unwrapped
        limit = turns if turns is not None else registry.spec(of).max_episode_steps
        if not isinstance(self._inner, TextEnv) or isinstance(self._inner, TwoAttemptsEnv):
            raise ArgumentError(f"of={of!r}: must be a TextEnv and not TwoAttempts")
        seats: tuple[str, ...] = getattr(self._inner, "seats", ())
        if len(seats) > 1:
            raise ArgumentError(
                f"seats={kwargs['seats']!r}: the observations of two attempts do not name a seat,"
                f" so they cannot distinguish {', '.join(seats)}; use one seat, such as"
                f" {seats[0]!r}"
            )
        if type(limit) is not int or limit < 1:
            raise ArgumentError(
                f"turns={limit!r}: an attempt at {of} needs a limit; use a whole number from 1 up"
            )
        if alpha < 0:
            raise ArgumentError(
                f"alpha={alpha}: the weight of the gain must not be negative; use 0 or more"
            )
        self._alpha, self._limit = alpha, limit
        self.instructions = f"{self._inner.instructions}\n\n{RULES}"  # type: ignore[misc]
        self.tools = dict(self._inner.tools)  # type: ignore[misc]
        super().__init__(split=split, tasks=tasks, admissible=admissible, render_mode=render_mode)

    def make_tasks(self) -> TaskSet:
        """Returns the tasks of the other environment."""
        tasks: TaskSet = self._inner.task_set
        return tasks

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Starts the first attempt."""
        self._start = {"seed": rng.randrange(2**31), "options": {"task_id": task.id}}
        self._attempt, self._taken, self._first = 1, 0, 0.0
        observation, info = self._inner.reset(**self._start)
        return observation, info["goal"]

    def act(self, action: str) -> Outcome:
        """Acts in the current attempt, and starts the second attempt at the end of the first."""
        observation, _, done, _, info = self._inner.step(action)
        self._taken += 1
        over = done or self._taken == self._limit
        score = info["score"] if self._attempt == 2 else 0.0
        success = info["success"] and self._attempt == 2
        if self._attempt == 1:
            self._first = info["score"]
        progress = {"attempt": self._attempt, "first_score": self._first}
        if over and self._attempt == 1:
            again, _ = self._inner.reset(**self._start)
            self._attempt, self._taken, over = 2, 0, False
            observation = f"{observation}\n\n{AGAIN}\n{again}"
        return Outcome(observation, score, over, success, info["invalid"], progress)

    def refuse(self, text: str) -> Outcome:
        """Handles a malformed response; it uses up a turn of the attempt."""
        return self.act(InvalidResponse(text))

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Applies an action. The last reward includes the weighted gain of the second attempt."""
        observation, reward, terminated, truncated, info = super().step(action)
        gain = self._alpha * (info["score"] - self._first) if terminated else 0.0
        return observation, reward + gain, terminated, truncated, info

    def _info(self, outcome: Outcome) -> dict[str, Any]:
        # An outcome of `act` has these two values for its action; they replace the current ones.
        return {"attempt": self._attempt, "first_score": self._first, **super()._info(outcome)}

    def actions(self) -> list[str]:
        """Returns the admissible actions of the current attempt."""
        listed: list[str] = self._inner.actions()
        return listed

    def oracle(self) -> Iterator[str]:
        """Yields actions that solve the task in all remaining attempts, from the current state."""
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
