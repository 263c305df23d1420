"""A client for OpenAI's chat completions API, which most model servers support.

It does not stream, because an agent needs the whole reply.
"""

import asyncio
import functools
import logging
import random
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2

from agentgym_envs.errors import (
    ArgumentError,
    ContextExceeded,
    ProviderError,
    ProviderRefused,
    UnknownName,
)
from agentgym_envs.models.answers import (
    Complaint,
    Reply,
    knows,
    one_line,
    read_complaint,
    read_models,
    read_reply,
    reason,
    seconds_to_wait,
)
from agentgym_envs.models.endpoint import Endpoint, Message, ToolSchema
from agentgym_envs.network import is_local

log = logging.getLogger(__name__)

__all__ = ["Client", "Endpoint", "Message", "Reply", "ToolSchema"]

CONNECT = 10.0  # time limit of a connection, in seconds
# Seconds before the first retry (doubled for each further one), and the longest.
FIRST, LONGEST = (
    0.5,
    8.0,
)
JITTER = 0.25  # largest random share taken off a pause, so that calls do not retry all at once
LONGEST_WAIT = 120.0  # seconds; if a server asks for a longer wait, the request fails
SLOW = 2  # retries after a timeout: more would block for hours
AGAIN = frozenset((408, 409, 429, *range(500, 600)))  # statuses that a retry can fix
GREETING: Sequence[Message] = ({"role": "user", "content": "Say hello."},)
T = TypeVar("T")


@dataclass(frozen=True)
class _Failure:
    """A failed try.

    It is a value and not an exception, so the final error has no chain of library exceptions.
    """

    error: ProviderError
    again: bool = True
    slow: bool = False
    wait: float | None = None


class Client:
    """Sends requests to one endpoint and retries failures that can pass. Use it in ``async with``.

    The key is read once, from the environment. It never appears in an error, log or ``repr``.
    Proxies from environment variables are not used for servers on this machine.

    Args:
        endpoint: the model and its server.
        connections: largest number of open connections. Further calls wait for a free one; this
            wait
            does not count towards their time limit.
        sleep: pauses between two tries.

    Raises:
        ArgumentError: the key is not set and the server is on another machine, or a header cannot
            hold
            the key.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        connections: int = 16,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ):
        if connections < 1:
            raise ArgumentError(f"connections must be at least 1, not {connections}")
        self.endpoint = endpoint
        self._sleep, self._random = sleep, random.Random()
        self._url = endpoint.base_url.rstrip("/")
        self._key = endpoint.key()
        self._slots = asyncio.Semaphore(connections)
        self._http = httpx2.AsyncClient(
            headers={
                "Content-Type": "application/json",
                **({"Authorization": f"Bearer {self._key}"} if self._key else {}),
            },
            timeout=httpx2.Timeout(endpoint.timeout, connect=min(CONNECT, endpoint.timeout)),
            limits=httpx2.Limits(
                max_connections=connections, max_keepalive_connections=connections
            ),
            trust_env=not is_local(endpoint.host),
            verify=_certificates(),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSchema] | None = None,
        seed: int | None = None,
    ) -> Reply:
        """Returns the model's next message.

        Raises:
            ContextExceeded: the conversation is too long for the model.
            ProviderRefused: the server refuses the request; a retry would fail too.
            ProviderError: the server failed on all tries.
        """
        body = self.endpoint.body(messages, tools, seed)
        reply = await self._ask(
            "POST", "/chat/completions", body, read_reply, self.endpoint.retries
        )
        if reply.usage is None or self.endpoint.prices is None:
            return reply
        prompt, completion = self.endpoint.prices
        return replace(
            reply,
            cost=(reply.usage.prompt_tokens * prompt + reply.usage.completion_tokens * completion)
            / 1e6,
        )

    async def check(self) -> None:
        """Checks that the server has the model: by its list of models, or else by a short request.

        Some servers have no list, or a list that fails or is incomplete.

        Raises:
            ProviderRefused: the server does not have the model, or refuses the key.
            ProviderError: the server does not answer.
        """
        retries = min(2, self.endpoint.retries)
        try:
            models = await self._ask("GET", "/models", None, read_models, retries)
        except ProviderError as error:
            if error.status in (None, 401, 403):
                raise
            models = []
        if knows(models, self.endpoint.model):
            return
        try:
            await self._ask(
                "POST",
                "/chat/completions",
                self.endpoint.body(GREETING, None, None),
                read_reply,
                retries,
            )
        except ProviderRefused as error:
            if not models:
                raise
            known = one_line(str(UnknownName("model", self.endpoint.model, models)))
            raise ProviderRefused(f"{error} {known}", error.status) from None

    async def _ask(
        self, method: str, path: str, body: bytes | None, read: Callable[[Any], T], retries: int
    ) -> T:
        slow = number = 0
        while True:
            found = await self._try(method, path, body, read)
            if not isinstance(found, _Failure):
                return found
            slow, number = slow + found.slow, number + 1
            if not found.again or number > retries or slow > SLOW:
                raise found.error
            wait = found.wait or self._pause(number)
            log.info(
                "%s Try %d of %d follows in %.1f s.", found.error, number + 1, retries + 1, wait
            )
            await self._sleep(wait)

    def _pause(self, number: int) -> float:
        """Returns the pause after failure ``number`` (from 1), in seconds."""
        return min(LONGEST, FIRST * 2.0 ** min(number - 1, 10)) * (
            1 - JITTER * self._random.random()
        )

    async def _try(
        self, method: str, path: str, body: bytes | None, read: Callable[[Any], T]
    ) -> T | _Failure:
        async with self._slots:
            try:
                async with asyncio.timeout(self.endpoint.timeout):
                    answer = await self._http.request(method, self._url + path, content=body)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                return self._failure(
                    f"cannot reach {self._url}: {reason(error)}. Is the server running?"
                )
            except (TimeoutError, httpx2.TimeoutException):
                return self._failure(
                    f"{self._url} did not answer within {self.endpoint.timeout:g} s", slow=True
                )
            except httpx2.RequestError as error:
                return self._failure(
                    f"{self._url}: the connection was lost: {type(error).__name__} {error}"
                )
        return self._judge(answer, read)

    def _judge(self, answer: httpx2.Response, read: Callable[[Any], T]) -> T | _Failure:
        status = answer.status_code
        if status == 200:
            try:
                return read(answer.json())
            except (ValueError, RecursionError):
                pass  # parsed as an error below: some gateways answer every request with 200
        complaint = read_complaint(self._without_key(answer.text))
        text = f"{self._url} answered {status}: {complaint.message}"
        if (
            complaint.too_long
            and status not in (401, 403, 404, 429)
            and (status != 200 or complaint.code)
        ):
            return self._failure(text, ContextExceeded, status, again=False)
        if status == 200:
            return self._failure(
                f"{self._url} answered 200, but not as the protocol says: {complaint.message}",
                status=status,
            )
        if not _may_pass(answer, complaint):
            return self._failure(
                self._refusal(status, complaint.message), ProviderRefused, status, again=False
            )
        wait = seconds_to_wait(answer.headers, time.time())
        if wait is not None and wait > LONGEST_WAIT:
            return self._failure(
                f"{text} It asks to wait {wait:.0f} s.", status=status, again=False
            )
        return self._failure(text, status=status, wait=wait)

    def _refusal(self, status: int, message: str) -> str:
        variable, model = self.endpoint.api_key_env, self.endpoint.model
        said = f"{self._url} answered {status}: "
        if status == 401:  # without the message, which often repeats a part of the key
            return said + (
                f"the key in ${variable} was refused"
                if self._key
                else f"it wants a key in ${variable}"
            )
        if status == 403:
            return f"{said}the key in ${variable} does not allow this: {message}"
        if status == 404:
            return (
                f"{said}no model {model!r}, or a base_url that ends in the wrong place (most end in"
                f" /v1): {message}"
            )
        return f"{said}{'a redirection; is base_url right? ' if status < 400 else ''}{message}"

    def _failure(
        self,
        text: str,
        kind: type[ProviderError] = ProviderError,
        status: int | None = None,
        **how: Any,
    ) -> _Failure:
        return _Failure(kind(" ".join(self._without_key(text).split()), status), **how)

    def _without_key(self, text: str) -> str:
        """Removes the key, which servers can repeat.

        A key under 8 characters is a placeholder that can be part of any text, so it stays.
        """
        return text.replace(self._key, "…") if len(self._key) >= 8 else text

    def __repr__(self) -> str:
        return f"Client({self.endpoint!r})"


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Loads the trusted certificates once: the system's, or those in ``SSL_CERT_FILE``."""
    return httpx2.create_ssl_context()


def _may_pass(answer: httpx2.Response, complaint: Complaint) -> bool:
    """Returns whether a retry can help.

    The server's ``x-should-retry`` header decides. Without it, an exhausted quota is not retried.
    """
    advice = answer.headers.get("x-should-retry")
    if advice in ("true", "false"):
        return advice == "true"
    return answer.status_code in AGAIN and "insufficient_quota" not in complaint.code
