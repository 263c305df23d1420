"""Some cases of a parametrised test run by default; the others are marked ``full``."""

import pytest

PARAMETERS = type(pytest.param())


def full(*cases):
    """Returns the cases as parameters that only the long version of the tests has."""
    return [
        pytest.param(*_values(case), marks=pytest.mark.full, id=getattr(case, "id", None))
        for case in cases
    ]


def every(step, cases):
    """Returns all cases; by default, one in ``step`` runs."""
    return [case if n % step == 0 else full(case)[0] for n, case in enumerate(cases)]


def _values(case):
    if isinstance(case, PARAMETERS):
        return case.values
    return case if isinstance(case, tuple) else (case,)
