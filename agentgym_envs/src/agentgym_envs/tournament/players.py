"""The players of a tournament: their settings, in short forms and in files.

A short form is ``random``, ``oracle``, a player of the game, an agent without a model, or
``AGENT:MODEL@URL``. A file has a table for each player::

    [[player]]
    name = "small"
    agent = "react"
    options = { window = 8 }
    model = "qwen3-4b"
    base_url = "http://localhost:8000/v1"
    temperature = 0.6
    budget_tokens = 200_000

The other keys are those of :class:`agentgym_envs.models.endpoint.ModelEndpoint`.
"""

import re
import tomllib
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from agentgym_envs import plugins
from agentgym_envs.agents.base import AGENTS
from agentgym_envs.errors import ArgumentError, not_taken, shown
from agentgym_envs.models.apis import url_from_environment
from agentgym_envs.models.endpoint import ModelEndpoint

SHORT = re.compile(r"(?P<head>.+?)(?:@(?P<base_url>https?://.+))?", re.DOTALL)
DEFAULTS = {"temperature": 1.0, "max_tokens": 8192}  # those of agentgym eval
OMITTED = "none"  # TOML has no null
# Keys that change no result of a game.
PLACE = {
    *("base_url", "api_key_env", "prices", "timeout", "retries"),
    *("budget_tokens", "budget_cost", "served"),
}


@dataclass(frozen=True, kw_only=True)
class PlayerSettings:
    """The settings of a player. They hold no key, only the name of its variable."""

    name: str
    agent: str
    """"random", "oracle", a player of the game, a registered agent, or "module:name"."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the agent."""
    format: str | None = None
    """The format of responses; None: the agent's."""
    budget_tokens: int | None = None
    """Tokens after which the player starts no further game."""
    budget_cost: float | None = None
    """Cost after which the player starts no further game; needs ``prices``."""
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the endpoint, for an agent with a model."""


OWN = [f.name for f in fields(PlayerSettings) if f.name != "endpoint"]
TYPES: Mapping[str, Any] = {
    **{name: kind for name, kind in get_type_hints(PlayerSettings).items() if name in OWN},
    **get_type_hints(ModelEndpoint),
}


def players(texts: Iterable[str]) -> list[PlayerSettings]:
    """Returns the settings of short forms and of files, whose names end in ``.toml``.

    Raises:
        ArgumentError: fewer than two players, a duplicate name, or an invalid value or file.
    """
    found = [settings for text in texts for settings in read(text)]
    names = [settings.name for settings in found]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ArgumentError(
            "a tournament needs at least two players, each named once, not"
            f" {', '.join(names) or 'none'}"
        )
    return found


def difference(mine: Mapping[str, Any], recorded: Mapping[str, Any]) -> str:
    """Describes the recorded settings that differ and change results; empty without any."""
    return "; ".join(
        f"{key} is {recorded[key]!r} there and {mine.get(key)!r} here"
        for key in sorted(recorded.keys() - PLACE)
        if recorded[key] != mine.get(key)
    )


def read(text: str) -> list[PlayerSettings]:
    """Returns the settings of one short form, or of the players in one file.

    Raises:
        ArgumentError: an invalid value or file.
    """
    return _file(Path(text)) if text.endswith(".toml") else [_short(text)]


def _short(text: str) -> PlayerSettings:
    parts = SHORT.fullmatch(text)
    if parts is None:
        raise ArgumentError("a player must have a name, not ''")
    agent, _, model = parts["head"].partition(":")
    agent = "chat" if agent == "model" else agent  # model:NAME, as in an environment's opponents
    if not model or agent not in plugins.discover(AGENTS):
        return _settings({"name": text, "agent": text}, "")
    url = {"base_url": parts["base_url"]} if parts["base_url"] else {}
    return _settings({"name": parts["head"], "agent": agent, "model": model, **url}, "")


def _file(path: Path) -> list[PlayerSettings]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArgumentError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ArgumentError(f"{path} is not a TOML file: {error}") from error
    if unknown := sorted(content.keys() - {"player"}):
        raise not_taken(str(path), unknown[0], ["player"])
    tables = content.get("player", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ArgumentError(f"{path}: write each player as a table [[player]]")
    return [_settings(table, f"{path}, player {n}: ") for n, table in enumerate(tables, 1)]


def _settings(table: Mapping[str, Any], where: str) -> PlayerSettings:
    """Returns the settings of a table; ``where`` begins the errors."""
    if unknown := sorted(table.keys() - TYPES.keys()):
        raise not_taken(f"{where}a player", unknown[0], TYPES)
    if "agent" not in table and "model" not in table:
        raise ArgumentError(f"{where}a player needs an agent or a model")
    given = {key: _value(key, value, where) for key, value in table.items()}
    agent = given.setdefault("agent", "react")
    given.setdefault("name", f"{agent}:{given['model']}" if "model" in given else agent)
    if not given["name"]:
        raise ArgumentError(f"{where}a player must have a name, not ''")
    endpoint = {key: value for key, value in given.items() if key not in OWN}
    if endpoint.get("model"):
        url = url_from_environment(endpoint.get("api", "chat"))
        endpoint |= {k: v for k, v in {**DEFAULTS, "base_url": url}.items() if k not in given and v}
    return PlayerSettings(**{k: v for k, v in given.items() if k in OWN}, endpoint=endpoint)


def _value(key: str, value: Any, where: str) -> Any:
    """Returns a key's value, checked against the type of its field."""
    kind = TYPES[key]
    if value == OMITTED and type(None) in get_args(kind):
        return None
    if isinstance(value, list):
        value = tuple(value)
    if not _fits(value, kind):
        name = getattr(kind, "__name__", "") or str(kind)
        raise ArgumentError(f"{where}{key}={shown(value)} has the wrong type; it takes {name}")
    return value


def _fits(value: Any, kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is tuple:
        return (
            isinstance(value, tuple) and len(value) == len(inner) and all(map(_fits, value, inner))
        )
    if isinstance(value, bool):
        return kind is bool
    wanted = {float: (int, float)}.get(kind, origin or kind)
    return isinstance(value, wanted)
