"""Errors are known by their type and by the keys and values that they name."""

from contextlib import contextmanager

import pytest


@contextmanager
def raises(kind, *named):
    """As ``pytest.raises``; the error names each of the words."""
    with pytest.raises(kind) as caught:
        yield caught
    missing = [word for word in named if word not in str(caught.value)]
    assert not missing, f"{missing} in {caught.value}"
