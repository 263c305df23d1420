"""Parses keywords of a command line: ``key=value``."""

import tomllib
from collections.abc import Iterable
from typing import Any

from agentgym_envs.errors import ArgumentError


def keywords(pairs: Iterable[str] | None) -> dict[str, Any]:
    """Parses ``key=value`` pairs. A value is TOML; anything else is a plain string.

    >>> keywords(["level=10", "name=Ada"])
    {'level': 10, 'name': 'Ada'}

    Raises:
        ArgumentError: a pair without ``=``.
    """
    found: dict[str, Any] = {}
    for pair in pairs or []:
        key, equals, text = pair.partition("=")
        if not equals:
            raise ArgumentError(f"an option takes key=value, not {pair!r}")
        try:
            found[key] = tomllib.loads(f"x = {text}")["x"]
        except tomllib.TOMLDecodeError:
            found[key] = text
    return found
