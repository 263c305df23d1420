"""Restores the global random generators of the process."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def undisturbed() -> Iterator[None]:
    """Restores the states of ``random`` and ``numpy.random`` at the end of the block.

    Some libraries draw from them while they start.
    """
    state, numbers = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(state)
        np.random.set_state(numbers)
