"""``agentgym-guess/Guess-v0``: find a number between 1 and 100 by guessing."""

import random
from collections.abc import Iterator

from agentgym_envs import Outcome, Task, TaskSet, TextEnv
from agentgym_envs.tasks import split_of

HIGHEST = 100


class GuessEnv(TextEnv):
    """A number to guess. Each number is a task, and its hash determines the split."""

    instructions = (
        f"Find the number between 1 and {HIGHEST}. Answer with one number and nothing else."
    )

    def make_tasks(self) -> TaskSet:
        """Returns one task per number."""
        numbers = range(1, HIGHEST + 1)
        return TaskSet(
            Task(id=f"number-{n}", split=split_of(f"guess {n}"), data={"number": n})
            for n in numbers
        )

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Starts an episode: all numbers are possible."""
        self._number: int = task.data["number"]
        self._low, self._high = 1, HIGHEST
        return f"Guess my number, from 1 to {HIGHEST}.", "guess the number"

    def act(self, action: str) -> Outcome:
        """Returns "higher", "lower" or "Yes!"; other text than a number is invalid."""
        text = action.strip()
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            return Outcome("Answer with a number.", 0.0, invalid=True)
        guess = int(text)
        if guess == self._number:
            return Outcome("Yes!", 1.0, done=True, success=True)
        if guess < self._number:
            self._low = max(self._low, guess + 1)
            return Outcome("higher", 0.0)
        self._high = min(self._high, guess - 1)
        return Outcome("lower", 0.0)

    def actions(self) -> list[str]:
        """Returns the numbers that are still possible."""
        return [str(n) for n in range(self._low, self._high + 1)]

    def oracle(self) -> Iterator[str]:
        """Yields the number."""
        yield str(self._number)
