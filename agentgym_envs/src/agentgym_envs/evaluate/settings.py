"""What determines the results of a run, and the name that it has."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What an episode's result depends on, but for its task and the luck of sampling. Holds no key and no address."""

    target: str = ""
    """The suite or environment."""
    split: str = ""
    """Of an environment; a suite has its own."""
    agent: str
    """A registered agent, or "module:name"."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The agent's own."""
    model: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """What is sent with every request: temperature, max_tokens and the like."""
    format: str | None = "plain"
    """How a response holds its action; None: it is one."""
    horizon: int | None = None
    """Turns an episode; None: the registered limits."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Constructor keywords of the environments."""

    @property
    def key(self) -> str:
        """A hash of it all."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]

    def difference(self, other: Mapping[str, Any]) -> str:
        """Returns which values another's (as ``asdict`` writes them) differ in; empty if none."""
        mine = asdict(self)
        return "; ".join(
            f"{name} is {other.get(name)!r} there and {mine.get(name)!r} here"
            for name in sorted(mine.keys() | other.keys())
            if mine.get(name) != other.get(name)
        )
