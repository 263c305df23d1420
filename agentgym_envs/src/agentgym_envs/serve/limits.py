"""Limits of a server, and the keywords that its clients may set."""

import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentgym_envs.errors import shown
from agentgym_envs.serve.refusal import RefusedRequest


@dataclass(frozen=True)
class ServerLimits:
    """The limits of a server."""

    sessions: int = 256
    """Sessions per environment id; each has its own environment."""
    idle: float = 900.0
    """Seconds without a request after which a session ends."""
    body: int = 2**20
    """Largest body or message in bytes."""
    arrival: float = 30.0
    """Seconds in which a request or a WebSocket's message must arrive completely, and in which a
    client must read an answer, or 64 KiB of it."""
    last_answer: float = 5.0
    """Seconds in which a client must read an answer after SIGTERM."""
    keep_alive: float = 120.0
    """Seconds for which a connection without a request stays open."""
    connections: int | None = None
    """Open connections of the server; above it, the one that is unused for longest is closed.
    None: four per session, and 64 more."""
    rate: float | None = None
    """Requests per second of one client address; more requests wait. None: no limit."""


def allow_descriptors(count: int) -> None:
    """Raises this process's limit of open files to a number, or as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_tasks(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(one, str) for one in value)
    )


# No keyword of this list names a file or code.
CLIENT_KEYWORDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "split": (_is_string, "a string"),
    "tasks": (_is_tasks, "a task id, a pattern, or a list of them"),
    "admissible": (_is_bool, "true or false"),
}


def client_keywords(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a client's keywords without those that are null.

    Raises:
        RefusedRequest: a keyword is not in ``CLIENT_KEYWORDS``, or its value has a wrong type.
    """
    for name, value in given.items():
        if name not in CLIENT_KEYWORDS:
            raise RefusedRequest(
                400,
                f"{shown(name)}: clients cannot set this, only {', '.join(CLIENT_KEYWORDS)}",
            )
        fits, wanted = CLIENT_KEYWORDS[name]
        if value is not None and not fits(value):
            raise RefusedRequest(400, f"{name}: must be {wanted}, not {shown(value)}")
    return {name: value for name, value in given.items() if value is not None}
