"""Errors are known by their type and by the keys and values that they name."""

import re

import pytest


def raises(kind, *named):
    """Returns ``pytest.raises`` of an error that names each of the words, in any order."""
    words = "".join(f"(?=.*{re.escape(word)})" for word in named)
    return pytest.raises(kind, match=f"(?s){words}")
