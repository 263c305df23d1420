"""Keeps the random generators that all code of a process shares."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def undisturbed() -> Iterator[None]:
    """Restores the states of ``random`` and ``numpy.random``: some libraries draw from them while they start."""
    state, numbers = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(state)
        np.random.set_state(numbers)
