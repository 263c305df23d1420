"""Conversion of plain data to a configuration, strict about keys and types, and back to TOML."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import pydantic
import tomli_w

from agentgym_train.config import tables
from agentgym_train.config.schema import Config, SharedSettings
from agentgym_train.config.suggestions import unknown_key
from agentgym_train.errors import ConfigError

T = TypeVar("T")
LONGEST = 100  # characters of a value in a message, such as the text of a chat template
Named = Callable[[str], str]
"""Maps a full key to the key that the user wrote."""


def load(path: str | Path, overrides: Iterable[str] = ()) -> Config:
    """Reads a TOML file and applies ``a.b=c`` overrides.

    Raises:
        ConfigError: the file is unreadable, a key is unknown, or a value has the wrong type.
    """
    return of(tables.read(path, overrides))


def of(raw: Mapping[str, Any]) -> Config:
    """Builds a configuration from the tables of a file.

    Raises:
        ConfigError: a key is unknown, or a value has the wrong type.
    """
    raw = tables.placed(raw)
    env = raw.get("env")
    if "envs" in raw:
        raise ConfigError("unknown configuration key 'envs'. Did you mean 'env'?")
    many = isinstance(env, list)
    envs = {} if env is None else {"envs": env if many else [env]}
    rest = {key: value for key, value in raw.items() if key != "env"}
    written = r"env\1" if many else "env"
    return build(
        Config, rest | envs, named=lambda key: re.sub(r"^envs(\.\d+)?(?=\.|$)", written, key)
    )


def build(cls: type[T], raw: Mapping[str, Any], *, section: str = "", named: Named = str) -> T:
    """Builds a dataclass, nested ones included, from plain data; strict about keys and types.

    Args:
        cls: the dataclass.
        raw: the values of its fields.
        section: the key of ``raw``, for messages.
        named: maps a full key to the key that messages show.

    Raises:
        ConfigError: a key is unknown or a value is invalid. The message has the full key and the
            value, or the nearest existing key.
    """
    _check_keys(cls, raw, section, named)
    _check_values(raw, section, named)
    try:
        # As JSON, which has the types of TOML: lists are accepted for tuples.
        return pydantic.TypeAdapter(cls).validate_json(json.dumps(raw), strict=True)
    except pydantic.ValidationError as error:
        raise _refusal(error, section, named) from error


def dumps(config: SharedSettings) -> str:
    """Returns the configuration as TOML, with all defaults except None, which TOML lacks."""
    return tomli_w.dumps(without_none(tree(config)))


def tree(config: SharedSettings) -> dict[str, Any]:
    """Returns the configuration as nested plain data, with the keys of a configuration file."""
    plain = asdict(config)
    envs = plain.pop("envs", None)
    env = {} if envs is None else {"env": envs[0] if len(envs) == 1 else list(envs)}
    return {"run": plain.pop("run"), **env, **plain}


def difference(
    old: SharedSettings, new: SharedSettings, *, ignore: Collection[str] = ()
) -> str | None:
    """Returns the keys that differ between two configurations, with both values, or None."""
    a, b = _flat(tree(old)), _flat(tree(new))
    every = (
        key for key in a.keys() | b.keys() if re.sub(r"^env\.\d+\.", "env.", key) not in ignore
    )
    changed = sorted(key for key in every if (key in a, a.get(key)) != (key in b, b.get(key)))
    shown = [f"{key} was {_shown(a, key)} and is now {_shown(b, key)}" for key in changed]
    return "; ".join(shown) or None


def without_none(table: Mapping[str, Any]) -> dict[str, Any]:
    """Returns nested tables without the keys whose value is None."""
    return {
        k: without_none(v) if isinstance(v, Mapping) else v
        for k, v in table.items()
        if v is not None
    }


def _shown(flat: Mapping[str, Any], key: str) -> str:
    value = repr(flat[key]) if key in flat else "not set"
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"


def _check_values(raw: Mapping[str, Any], section: str, named: Named) -> None:
    """Rejects values that JSON cannot hold, in free-form tables too.

    These are dates, numbers that are not finite, and integers beyond 64 bits.
    """
    for full, value in _flat(raw, f"{section}." if section else "").items():
        key = named(full)
        try:
            json.dumps(value, allow_nan=False)
        except TypeError as error:
            raise ConfigError(
                f"configuration key {key!r}: must be text, a number, a boolean or an array, not"
                f" {value}"
            ) from error
        except ValueError as error:
            raise ConfigError(
                f"configuration key {key!r}: a number must be finite, not {value}"
            ) from error
        if isinstance(value, int) and abs(value) >= 2**63:
            raise ConfigError(
                f"configuration key {key!r}: an integer has at most 64 bits, not {str(value)[:20]}…"
            )


def _refusal(error: pydantic.ValidationError, section: str, named: Named) -> ConfigError:
    """Returns a one-line error for the first problem: the full key, the reason and the value."""
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ConfigError):
        return cause
    key = named(".".join(map(str, ((section,) if section else ()) + first["loc"])))
    where = f"configuration key {key!r}: " if key else ""
    if cause is not None:
        return ConfigError(f"{where}{cause}")
    value = "" if first["type"] == "missing" else f", not {first['input']!r}"
    return ConfigError(f"{where}{first['msg'][0].lower()}{first['msg'][1:]}{value}")


def _check_keys(cls: type, raw: Mapping[str, Any], section: str, named: Named) -> None:
    if not is_dataclass(cls):
        return
    types = get_type_hints(cls)
    known = {f.name: types[f.name] for f in fields(cls) if f.init}
    for key, value in raw.items():
        full = f"{section}.{key}" if section else key
        if key not in known:
            names = [named(f"{section}.{k}" if section else k) for k in known]
            raise ConfigError(unknown_key(named(full), names, value))
        if isinstance(known[key], type) and is_dataclass(known[key]):
            _check_section(known[key], value, full, named)
        elif isinstance(value, Mapping) and get_origin(known[key]) is list:
            raise ConfigError(
                f"configuration key {named(full)!r} is a list of tables, not {value!r}: write"
                f" [[{named(full)}]] in the file, or --set '{named(full)}=[{{ name = \"…\" }}]'"
            )
        elif key == "envs":
            for number, table in enumerate(value):
                _check_section(get_args(known[key])[0], table, f"{full}.{number}", named)


def _check_section(cls: type, value: Any, full: str, named: Named) -> None:
    if not isinstance(value, Mapping):
        raise ConfigError(f"configuration key {named(full)!r} is a section, not {value!r}")
    _check_keys(cls, value, full, named)


def _flat(tree: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        tables = (
            isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value)
        )
        inner = dict(zip(map(str, range(len(value))), value, strict=True)) if tables else value
        flat.update(
            _flat(inner, f"{head}{key}.")
            if isinstance(inner, Mapping) and inner
            else {f"{head}{key}": value}
        )
    return flat
