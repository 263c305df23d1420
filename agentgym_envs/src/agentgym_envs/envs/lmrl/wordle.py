"""``agentgym/LMRLWordle-v0``: Wordle with the rules of LMRL-Gym: find a hidden word.

The rules are those of Abdulhai et al. (2023), implemented anew. The vocabulary is another one.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, command
from agentgym_envs.envs.lmrl.words import WORDS
from agentgym_envs.tasks import Task, TaskSet, split_of

GUESSES = 6
INVALID = "invalid word"
OPENING = "arise"  # the best first guess; finding it takes half a second
_KNOWN = frozenset(WORDS)


def feedback(guess: str, hidden: str) -> str:
    """Returns a letter for each letter of a guess.

    It is "g" at the right place, "y" if the hidden word has the letter elsewhere, otherwise "b".
    Unlike in the newspapers' Wordle, the number of equal letters does not matter.

    >>> feedback("geese", "crane")
    'byybg'
    >>> feedback("eagle", "crane")
    'yybbg'
    """
    return "".join(
        "g" if letter == right else "y" if letter in hidden else "b"
        for letter, right in zip(guess, hidden, strict=True)
    )


def consistent(guesses: Iterable[tuple[str, str]], words: Iterable[str] = WORDS) -> tuple[str, ...]:
    """Returns the words that can be the hidden word.

    Args:
        guesses: words of the vocabulary, each with its feedback.
        words: the words to choose from.
    """
    return tuple(
        word for word in words if all(feedback(guess, word) == seen for guess, seen in guesses)
    )


class LMRLWordleEnv(TextEnv):
    """Find a hidden word of five letters in six guesses.

    Args:
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "A word of five letters is hidden. Find it in as few guesses as possible, at most"
        f" {GUESSES}. The answer to a guess has one letter for each of its letters: g means that"
        " the letter is right, y that the hidden word has the letter at another place, b that the"
        " hidden word does not have it. Any other text, and a word outside the vocabulary, uses up"
        " a guess.\nAnswer with five letters and nothing else, such as: s h i r e\nThe"
        f" vocabulary: {' '.join(WORDS)}"
    )
    tools = {"guess": "{word}"}

    def make_tasks(self) -> TaskSet:
        """Returns one task per word. The difficulty counts the words that differ in one letter."""
        return _tasks()

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Hides the word."""
        self._hidden: str = task.data["word"]
        self._guesses: list[tuple[str, str]] = []
        self._left = GUESSES
        return f"The word is hidden. You have {GUESSES} guesses.", "find the hidden word"

    def act(self, action: str) -> Outcome:
        """Compares a guess with the hidden word."""
        word = command(action, 100).lower().replace(" ", "")
        self._left -= 1
        known = word in _KNOWN
        if known:
            self._guesses.append((word, feedback(word, self._hidden)))
        found = word == self._hidden
        return Outcome(
            " ".join(self._guesses[-1][1]) if known else INVALID,
            float(found),
            done=found or not self._left,
            success=found,
            invalid=not known,
            extra={"guesses": [list(guess) for guess in self._guesses]},
        )

    def actions(self) -> list[str]:
        """Returns the vocabulary."""
        return [" ".join(word) for word in WORDS]

    def oracle(self) -> Iterator[str]:
        """Yields guesses of a player that knows the vocabulary and the feedback.

        After unskilled guesses, several words can be left before the last guess. The oracle then
        gives the hidden word.
        """
        while (self._hidden, "ggggg") not in self._guesses:
            word = self._hidden if self._left == 1 else best_guess(consistent(self._guesses))
            yield " ".join(word)


@lru_cache(4096)
def best_guess(left: tuple[str, ...]) -> str:
    """Returns the guess after which the fewest words are expected to remain.

    Args:
        left: the words that can be the hidden word; one at least.
    """
    if left == WORDS:
        return OPENING
    if len(left) <= 2:
        return left[0]
    return min(WORDS, key=lambda guess: (_remaining(guess, left), guess not in left))


def _remaining(guess: str, left: tuple[str, ...]) -> int:
    """Returns the number of words expected to remain, times ``len(left)``."""
    return sum(n * n for n in Counter(feedback(guess, word) for word in left).values())


@cache
def _tasks() -> TaskSet:
    shapes = Counter(shape for word in WORDS for shape in _shapes(word))
    return TaskSet(
        Task(
            id=word,
            split=split_of(word),
            difficulty=sum(shapes[shape] - 1 for shape in _shapes(word)),
            data={"word": word},
        )
        for word in WORDS
    )


def _shapes(word: str) -> list[Any]:
    """Returns the word with each of its letters left out."""
    return [word[:at] + "_" + word[at + 1 :] for at in range(len(word))]
