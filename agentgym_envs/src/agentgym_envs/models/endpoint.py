"""The endpoint: a model, its server and the request options."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.models.apis import APIS, ApiDefaults, stranger
from agentgym_envs.network import is_local

ChatMessage = Mapping[str, Any]
"""``{"role": …, "content": …}``, as OpenAI has it.

An assistant's message can also have ``replay``: see
:class:`~agentgym_envs.models.answers.ModelReply`.
"""
ToolSchema = Mapping[str, Any]
"""``{"type": "function", "function": …}``; see :meth:`.FunctionCallFormat.schema`."""

# Keys that ``extra`` must not set.
OURS = frozenset(("model", "messages", "input", "contents", "tools", "stream", "n"))
EFFORTS = ("low", "medium", "high")
LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, kw_only=True)
class ModelEndpoint:
    """A model, its server and the request options.

    Raises:
        ArgumentError: an invalid value.
    """

    model: str
    api: str = "chat"
    """The protocol: ``chat``, ``responses``, ``anthropic`` or ``google``."""
    base_url: str = ""
    """Without user, password and query: secrets belong in the environment.

    Default: the server of the API's provider.
    """
    api_key_env: str = ""
    """The environment variable that holds the key. It is optional for a server on this machine.

    Default: the variable of the API's provider.
    """
    timeout: float = 600.0
    """Time limit of one try in seconds, from the connection to the last byte."""
    retries: int = 12
    """Retries after a temporary failure.

    Twelve take about a minute, which outlasts a limit per minute.
    """
    temperature: float | None = None
    """``None``: the server's default."""
    max_tokens: int | None = None
    """Longest reply, reasoning included.

    A server whose replies are shorter gets its own limit; a warning says so.
    """
    max_tokens_name: str = ""
    """The name of ``max_tokens`` in requests for chat completions.

    ``max_tokens`` or ``max_completion_tokens``. Empty: the name that the server takes; the first
    one sent is ``max_tokens``, and ``max_completion_tokens`` to api.openai.com.
    """
    effort: str | None = None
    """How much a reasoning model reasons: ``low``, ``medium`` or ``high``.

    ``None``: the server's default.
    """
    extra: Mapping[str, Any] = field(default_factory=dict)
    """More of the request's body, such as ``{"top_p": 0.9}``."""
    prices: tuple[float, float] | tuple[float, float, float] | None = None
    """Prices of a million prompt tokens and of a million completion tokens.

    A third price is that of a million prompt tokens that the server reads from its cache.
    """

    def __post_init__(self) -> None:
        if self.api not in APIS:
            raise UnknownName("api", self.api, APIS)
        for name in ("base_url", "api_key_env"):
            object.__setattr__(self, name, getattr(self, name) or getattr(self.family, name))
        _check_url(self.base_url)
        if not self.model:
            raise ArgumentError("model must not be empty")
        if not self.timeout > 0:
            raise ArgumentError(f"timeout must be above 0 seconds, not {self.timeout}")
        if self.retries < 0:
            raise ArgumentError(f"retries must be at least 0, not {self.retries}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ArgumentError(f"max_tokens must be at least 1, not {self.max_tokens}")
        if self.max_tokens_name not in ("", *LIMITS):
            raise ArgumentError(
                f"max_tokens_name must be {' or '.join(LIMITS)}, not {self.max_tokens_name!r}"
            )
        if self.prices is not None and not all(0 <= price < float("inf") for price in self.prices):
            raise ArgumentError(f"prices must be numbers from 0 up, not {self.prices}")
        if self.effort not in (None, *EFFORTS):
            raise ArgumentError(f"effort must be low, medium or high, not {self.effort!r}")
        if clash := sorted(OURS & set(self.extra)):
            raise ArgumentError(f"extra must not set {', '.join(clash)}")
        try:
            json.dumps(dict(self.extra), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"extra must be JSON: {error}") from error

    @property
    def family(self) -> ApiDefaults:
        """The properties of the API."""
        return APIS[self.api]

    @property
    def url(self) -> str:
        """The base URL without a slash at its end."""
        return self.base_url.rstrip("/")

    @property
    def has_path(self) -> bool:
        """Whether the base URL has more than a host."""
        return httpx2.URL(self.url).path != "/"

    @property
    def host(self) -> str:
        """The server's name or address."""
        return httpx2.URL(self.base_url).host

    def key(self) -> str:
        """Reads the key; it is optional for a server on this machine.

        Raises:
            ArgumentError: the key is not set, belongs to another provider, or a header cannot hold
                it.
        """
        key = os.environ.get(self.api_key_env, "").strip()
        if not key and not is_local(self.host):
            known = f"the key of {self.host} (to any word if it wants none)"
            raise ArgumentError(f"set the environment variable {self.api_key_env} to {known}")
        if not (key.isascii() and key.isprintable()):
            raise ArgumentError(
                f"the environment variable {self.api_key_env} holds characters that no key has"
            )
        if wrong := stranger(key, self.host):
            raise ArgumentError(f"the key in ${self.api_key_env} {wrong}")
        return key


def _check_url(text: str) -> None:
    """Rejects a value that is not a plain URL.

    The error does not repeat the value, which can hold a password.
    """
    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, TypeError):
        url = httpx2.URL("")
    if (
        url.scheme not in ("http", "https")
        or not url.host
        or url.userinfo
        or url.query
        or url.fragment
    ):
        raise ArgumentError(
            "base_url must be http://host/path or https://host/path, without user, password and"
            " query"
        )
