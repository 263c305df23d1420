"""The settings that determine a run's results, and their hash."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

RECORDED = ("layout", "sessions", "planned")  # keys of settings.json that determine no result


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Everything that determines an episode's result, except its task and the sampling.

    Settings hold no API key and no server address.
    """

    target: str = ""
    """The suite or environment."""
    split: str = ""
    """The environment's split; empty for a suite."""
    agent: str
    """A registered agent, or "module:name"."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the agent."""
    model: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Sampling options of every request, such as temperature and max_tokens."""
    format: str | None = "plain"
    """The format of responses; None: a response is the action."""
    horizon: int | None = None
    """Step limit of an episode; None: the registered limits."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Constructor keywords of the environments."""

    @property
    def key(self) -> str:
        """A hash of all settings."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]

    def difference(self, recorded: Mapping[str, Any]) -> str:
        """Describes the differences from the settings of a folder; empty without any."""
        mine, other = asdict(self), {k: v for k, v in recorded.items() if k not in RECORDED}
        return "; ".join(
            f"{name} is {other.get(name)!r} there and {mine.get(name)!r} here"
            for name in sorted(mine.keys() | other.keys())
            if mine.get(name) != other.get(name)
        )
