"""The tables of a TOML file, with the command line's overrides applied."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentgym_envs.plugins import absolute
from agentgym_train.config.schema import PLUGIN_GROUPS
from agentgym_train.errors import ConfigError


def read(path: str | Path, overrides: Iterable[str] = ()) -> dict[str, Any]:
    """Reads a TOML file and applies ``a.b=c`` overrides.

    Plugins' paths in the file are relative to its folder, those of overrides to the working folder.

    Raises:
        ConfigError: the file is unreadable, or an override does not fit its tables.
    """
    try:
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read configuration {str(path)!r}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    raw = placed(raw, Path(path).parent)
    for item in overrides:
        _override(raw, item)
    return raw


def placed(raw: Mapping[str, Any], folder: str | Path = "") -> dict[str, Any]:
    """Returns the tables with absolute paths in the names of plugins and the ids of environments.

    A relative id of an environment stays as it is if the folder has no such file, or if other
    machines run the environment.

    Args:
        raw: the tables of a file.
        folder: relative paths begin here; by default at the working folder.
    """
    named = {*PLUGIN_GROUPS, "agent"}
    changed = {key: _plugin(raw[key], folder) for key in raw if key in named}
    if isinstance(env := raw.get("env"), list):
        changed["env"] = [_env(table, folder) for table in env]
    elif "env" in raw:
        changed["env"] = _env(env, folder)
    return {**raw, **changed}


def _plugin(table: Any, folder: str | Path) -> Any:
    """Does :func:`placed` for a plugin's table, its parts included, or for a list of tables."""
    if isinstance(table, list):
        return [_plugin(each, folder) for each in table]
    if not isinstance(table, Mapping):
        return table
    name = table.get("name")
    parts = {"parts": _plugin(table["parts"], folder)} if "parts" in table else {}
    return {**table, **({"name": absolute(name, folder)} if isinstance(name, str) else {}), **parts}


def _env(table: Any, folder: str | Path) -> Any:
    """Does :func:`placed` for an environment's table."""
    if not isinstance(table, Mapping):
        return table
    curriculum = {key: _plugin(table[key], folder) for key in ("curriculum",) if key in table}
    env_id = table.get("id")
    if isinstance(env_id, str) and not table.get("hosts"):
        place = absolute(env_id, folder)
        env_id = place if os.path.isfile(place.rpartition(":")[0]) else env_id
    return {**table, **({"id": env_id} if "id" in table else {}), **curriculum}


def _override(raw: dict[str, Any], item: str) -> None:
    key, equals, text = item.partition("=")
    if not equals or not all(key.split(".")):
        raise ConfigError(f"--set takes a.b=c, not {item!r}")
    *path, last = key.split(".")
    table: Any = raw
    for part in path:
        if isinstance(table, list):
            if not part.isdecimal() or int(part) >= len(table):
                raise ConfigError(
                    f"--set {item}: there are tables 0 to {len(table) - 1}, and no {part!r}"
                )
            table = table[int(part)]
        else:
            table = table.setdefault(part, {})
        if not isinstance(table, dict | list):
            raise ConfigError(f"--set {item}: {part!r} is not a section")
    if isinstance(table, list):
        raise ConfigError(
            f"--set {item}: there are {len(table)} such tables: name one by its number, such as"
            f" {path[-1]}.0.{last}"
        )
    table[last] = _value(text)


def _value(text: str) -> Any:
    """Parses a value as TOML. Text that is not a TOML value is returned as a string."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text
