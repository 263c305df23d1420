"""Keywords as a command line gives them: ``key=value``."""

import tomllib
from collections.abc import Iterable
from typing import Any

from agentgym_envs.errors import ArgumentError


def keywords(pairs: Iterable[str] | None) -> dict[str, Any]:
    """Reads ``key=value`` pairs; a value is TOML, or a plain string where it is none.

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
