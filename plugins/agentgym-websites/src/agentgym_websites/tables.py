"""Reads the texts and names of the sites from the data files beside their modules."""

import tomllib
from pathlib import Path
from typing import Any


def tables(name: str) -> dict[str, Any]:
    """Returns the tables of a data file, with tuples for arrays.

    Args:
        name: the file without ``.toml``, such as "shop/words".
    """
    text = (Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
    return {key: _tuples(value) for key, value in tomllib.loads(text).items()}


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    return {k: _tuples(v) for k, v in value.items()} if isinstance(value, dict) else value
