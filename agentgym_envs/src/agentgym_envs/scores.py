"""Comparisons of scores and of returns.

A return is a sum of rewards, and most rewards are differences of a score. Its last digits depend on
the way: 0.1 + 0.2 is not 0.3. Numbers that differ by such rounding only are equal here, and
everything in both packages that compares scores or returns compares them with these functions.
"""

import math
from collections.abc import Iterable

RELATIVE = 5e-7
"""Largest difference of equal numbers, as a share of the larger one."""
ABSOLUTE = 1e-8
"""Largest difference of equal numbers near 0, where losses and gains cancel."""


def equal(a: float, b: float) -> bool:
    """Returns whether two numbers are equal up to rounding.

    >>> equal(0.1 + 0.2, 0.3), equal(0.999, 1.0), equal(1000.001, 1000.0)
    (True, False, False)
    """
    return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def above(a: float, b: float) -> bool:
    """Returns whether ``a`` is larger than ``b`` by more than rounding."""
    return a > b and not equal(a, b)


def all_equal(values: Iterable[float]) -> bool:
    """Returns whether all numbers are equal up to rounding; true for none."""
    numbers = list(values)
    return not numbers or equal(min(numbers), max(numbers))
