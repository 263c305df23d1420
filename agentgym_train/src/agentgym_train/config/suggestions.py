"""The message for an unknown configuration key: keys of a similar name, or those that exist."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import SequenceMatcher
from typing import Any, get_args, get_type_hints

from agentgym_envs.plugins import discover, distribution, load

NEAR, NEARER = 0.75, 0.85
"""Least similarity (0 to 1) of a suggested name, which is the last part of a key."""
MOST = 3  # suggestions


def unknown_key(key: str, known: Sequence[str], value: Any) -> str:
    """Returns a message for a key that does not exist.

    Args:
        key: the full key.
        known: the full keys of its section.
        value: the value of the key; a table is a section that does not exist.
    """
    section, _, name = key.rpartition(".")
    plugins = _plugin_keys()
    near = _near_section(name, known, value) if isinstance(value, Mapping) else _near(key, known)
    if near:
        *others, last = map(repr, near)
        hint = f"Did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
    elif key in plugins:
        hint = f"It is an option of {' and '.join(plugins[key])}, and {section}.name is another"
    else:
        names = ", ".join(map(_name, known)) or "no keys"
        hint = f"The section {section!r} has {names}" if section else f"The sections are {names}"
        if f"{section}.kwargs" in known:
            hint += f"; keywords of the environment's constructor belong in '{section}.kwargs'"
    return f"unknown configuration key {key!r}. {hint}"


def _near(key: str, known: Sequence[str]) -> list[str]:
    """Returns a key of the section with nearly the name, or those of other sections with the name.

    A key whose dots were written as underscores comes first. Without all these, it returns keys
    that are less similar.
    """
    name = _name(key)
    elsewhere = [
        each
        for each in _every_key()
        if each not in (key, *known) and ("." in each or "." not in key)
    ]
    return (
        [each for each in elsewhere if each.replace(".", "_") == key.replace(".", "_")]
        or _similar(name, known, NEARER)
        or [each for each in elsewhere if _name(each) == name][:MOST]
        or _similar(name, known, NEAR)
        or [each for each in known if set(name.split("_")) <= set(_name(each).split("_"))][:MOST]
        or _similar(name, elsewhere, NEARER)
    )


def _near_section(name: str, known: Sequence[str], table: Mapping[str, Any]) -> list[str]:
    """Returns a section with a similar name; else keys with the names that the table has."""
    same = (each for inner in table for each in _every_key() if _name(each) == inner)
    return _similar(name, known, NEAR) or list(dict.fromkeys(same))[:MOST]


def _similar(name: str, keys: Sequence[str], least: float) -> list[str]:
    """Returns the key whose name is the most similar one, if it is similar enough."""
    swapped = [key for key in keys if sorted(_name(key)) == sorted(name)]
    rated = [(SequenceMatcher(None, name, _name(key)).ratio(), key) for key in keys]
    best, key = max(rated, key=lambda each: each[0], default=(0.0, ""))
    return swapped[:1] or ([key] if best >= least else [])


def _name(key: str) -> str:
    return key.rpartition(".")[2]


def _every_key() -> list[str]:
    """Returns the keys of a policy run: those of all sections, and of the trainer's own plugins."""
    from agentgym_train.config.schema import Config

    return [*(re.sub("^envs", "env", key) for key in _keys(Config)), *_plugin_keys()]


def _plugin_keys() -> dict[str, list[str]]:
    """Returns the options of the trainer's own plugins, with the names of those that have them."""
    from agentgym_train.config.schema import PLUGIN_GROUPS

    keys: dict[str, list[str]] = {}
    for section, group in PLUGIN_GROUPS.items():
        for found in discover(group).values():
            if distribution(found) == "agentgym-train":
                plugin = load(group, found.name)
                for key in _keys(plugin.Options or plugin, f"{section}."):
                    keys.setdefault(key, []).append(found.name)
    return keys


def _keys(cls: Any, head: str = "") -> Iterator[str]:
    """Yields the full keys of a dataclass, those of nested ones included."""
    types = get_type_hints(cls)
    for name in (one.name for one in fields(cls) if one.init):
        yield f"{head}{name}"
        # A type such as ``tuple[EnvConfig, ...]`` stands for several tables.
        for inner in filter(is_dataclass, (types[name], *get_args(types[name]))):
            yield from _keys(inner, f"{head}{name}.")
