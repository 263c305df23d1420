"""The space of observations and actions: any Unicode string."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.spaces import Space

# A sampled string holds letters of several scripts, digits, white space and punctuation.
_ALPHABET = (
    "abcdefghijklmnopqrstuvwxyz ABCXYZ 0123456789 .,:;!?-_()[]<>\"'\n\täßéñ عربي кириллица 漢字かな"
    " 한글 हिन्दी 🙂"
)


class Unicode(Space[str]):
    """All Python strings.

    ``gymnasium.spaces.Text`` admits only a fixed set of characters, and shared memory turns it into
    a constant. This direct subclass of ``Space`` admits every string. With it,
    ``AsyncVectorEnv(shared_memory=True)`` raises a clear error.

    Args:
        sample_length: length of the longest string that :meth:`sample` returns, in characters.
        seed: seed of the sampling generator.
    """

    def __init__(self, *, sample_length: int = 32, seed: int | np.random.Generator | None = None):
        if sample_length < 1:
            raise ValueError(f"sample_length must be at least 1, not {sample_length}")
        self.sample_length = sample_length
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Strings have no fixed-size array form."""
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Returns a random string of 1 to ``sample_length`` characters."""
        if mask is not None or probability is not None:
            raise ValueError("Unicode.sample takes no mask and no probability")
        length = int(self.np_random.integers(1, self.sample_length + 1))
        return "".join(_ALPHABET[i] for i in self.np_random.integers(len(_ALPHABET), size=length))

    def contains(self, x: Any) -> bool:
        """Returns whether ``x`` is a string."""
        return isinstance(x, str)

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """Returns the strings as they are: JSON holds strings."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[str]:
        """Returns the strings as they are: JSON holds strings."""
        return [str(x) for x in sample_n]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unicode) and other.sample_length == self.sample_length

    def __hash__(self) -> int:
        return hash((Unicode, self.sample_length))

    def __repr__(self) -> str:
        return f"Unicode(sample_length={self.sample_length})"
