"""The retry policy that the clients of all APIs share."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2

from agentgym_envs.errors import (
    ContextExceeded,
    ConversationRefused,
    ProviderError,
    ProviderRefused,
)
from agentgym_envs.models.answers import (
    ErrorAnswer,
    NotOfTheProtocol,
    read_complaint,
    reason,
    seconds_to_wait,
)
from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.models.slots import RequestSlots

log = logging.getLogger(__name__)

# Seconds before the first retry (doubled for each further one), and the longest.
FIRST, LONGEST = 0.5, 8.0
JITTER = 0.25  # largest random share taken off a pause, so that calls do not retry all at once
LONGEST_WAIT = 120.0  # seconds; if a server asks for a longer wait, the request fails
SLOW = 2  # retries after a timeout: more would block for hours
AGAIN = frozenset((408, 409, 429, *range(500, 600)))  # statuses that a retry can fix
OVERLOADED = frozenset((429, 503, 529))  # statuses that fewer concurrent requests can fix
TOO_LARGE = 413  # the request is too large, whatever the words
ELSEWHERE = frozenset((401, 403, 404, 429))  # statuses about keys, models and rates
UNFILTERED = frozenset((401, 404, 408, 429, *range(501, 600)))  # statuses that no filter answers
T = TypeVar("T")


@dataclass(frozen=True)
class FailedTry:
    """A failed try.

    It is a value and not an exception, so the final error has no chain of library exceptions.
    """

    error: ProviderError
    again: bool = True
    slow: bool = False
    wait: float | None = None


class RetryPolicy:
    """Repeats requests whose failure can pass.

    Args:
        endpoint: the model and its server.
        key: removed from all errors.
        connections: largest number of concurrent requests. Further requests wait for a free slot;
            this wait does not count towards their time limit.
        sleep: pauses between two tries.

    Attributes:
        on_failure: called after each failed try with the error and the pause in seconds before the
            next try; the pause is None after the last try.
    """

    def __init__(
        self,
        endpoint: ModelEndpoint,
        key: str,
        *,
        connections: int,
        sleep: Callable[[float], Awaitable[Any]],
    ):
        self.endpoint, self._key = endpoint, key
        self.slots = RequestSlots(connections)
        self.on_failure: Callable[[ProviderError, float | None], None] = lambda error, wait: None
        self._sleep, self._random = sleep, random.Random()

    async def ask(self, send: Callable[[], Awaitable[T]], retries: int) -> T:
        """Returns what ``send`` returns.

        Raises:
            ProviderError: the error of the last try.
        """
        slow = number = 0
        while True:
            found = await self._try(send)
            if not isinstance(found, FailedTry):
                return found
            slow, number = slow + found.slow, number + 1
            if not found.again or number > retries or slow > SLOW:
                self.on_failure(found.error, None)
                raise found.error
            wait = found.wait or self._pause(number)
            self.on_failure(found.error, wait)
            log.info(
                "%s Try %d of %d follows in %.1f s.", found.error, number + 1, retries + 1, wait
            )
            await self._sleep(wait)

    def _pause(self, number: int) -> float:
        """Returns the pause after failure ``number`` (from 1), in seconds."""
        return min(LONGEST, FIRST * 2.0 ** min(number - 1, 10)) * (
            1 - JITTER * self._random.random()
        )

    async def _try(self, send: Callable[[], Awaitable[T]]) -> T | FailedTry:
        async with self.slots.request() as request:
            try:
                async with asyncio.timeout(self.endpoint.timeout):
                    found = await send()
            except Exception as error:
                failure = self._failure(error)
            else:
                request.refused = False
                return found
            if failure.error.status in OVERLOADED and failure.again:
                request.refused = True
            return failure

    def _failure(self, error: Exception) -> FailedTry:
        """Sorts an exception of a library by the ``httpx2`` exception or response that it holds.

        Exceptions of another origin are raised again.
        """
        url = self.endpoint.url
        answer = getattr(error, "response", None)
        if isinstance(error, NotOfTheProtocol):
            return self._unreadable(error)
        if isinstance(answer, httpx2.Response):
            return self._answered(answer)
        cause = error if isinstance(error, httpx2.RequestError) else error.__cause__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            return self._made(f"cannot reach {url}: {reason(cause)}. Is the server running?")
        if isinstance(error, TimeoutError) or isinstance(cause, httpx2.TimeoutException):
            text = f"{url} did not answer within {self.endpoint.timeout:g} s"
            return self._made(text, slow=True)
        if isinstance(cause, httpx2.RequestError):
            return self._made(f"{url}: the connection was lost: {type(cause).__name__} {cause}")
        raise error

    def _unreadable(self, error: NotOfTheProtocol) -> FailedTry:
        """Sorts an answer with status 200: some gateways answer every request with 200."""
        url, answer = self.endpoint.url, error.answer
        said = read_complaint(self._without_key(answer.text if answer else str(error)))
        if answer and (answer.headers.get("content-type") or "").startswith("text/event-stream"):
            text = f"{url} answered with a stream, which was not requested: {said.message}"
            return self._made(text, ProviderRefused, 200, again=False)
        if said.code and (said.too_long or said.filtered):
            kind = ContextExceeded if said.too_long else ConversationRefused
            return self._made(f"{url} answered 200: {said.message}", kind, 200, again=False)
        text = (
            f"{url} answered 200, but not as the protocol says: {said.message or 'an empty text'}"
        )
        return self._made(text, status=200)

    def _answered(self, answer: httpx2.Response) -> FailedTry:
        """Sorts an answer with an error status."""
        status, body = answer.status_code, self._without_key(answer.text)
        complaint = read_complaint(body)
        if "API_KEY_INVALID" in body:  # Google answers 400
            status = 401
        message, said = complaint.message or "an empty text", complaint.whole
        text = f"{self.endpoint.url} answered {status}: {message}"
        large = status == TOO_LARGE or (status == 429 and complaint.too_large_for_its_rate)
        if large or (complaint.too_long and status not in ELSEWHERE):
            return self._made(text, ContextExceeded, status, said, again=False)
        if complaint.filtered and status not in UNFILTERED:
            return self._made(text, ConversationRefused, status, said, again=False)
        if not _may_pass(answer, complaint):
            refusal = self._refusal(status, message)
            return self._made(refusal, ProviderRefused, status, said, again=False)
        wait = seconds_to_wait(answer.headers, time.time(), body)
        if wait is not None and wait > LONGEST_WAIT:
            return self._made(f"{text} It asks to wait {wait:.0f} s.", status=status, again=False)
        return self._made(text, status=status, wait=wait)

    def _refusal(self, status: int, message: str) -> str:
        variable, model = self.endpoint.api_key_env, self.endpoint.model
        said = f"{self.endpoint.url} answered {status}: "
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
                f"{said}{self._api()}no model {model!r}, or a base_url that ends in the wrong place"
                f" ({self._advice()}): {message}"
            )
        return f"{said}{'a redirection; is base_url right? ' if status < 400 else ''}{message}"

    def _api(self) -> str:
        """Returns the likely cause at servers of OpenAI's other API."""
        if self.endpoint.api != "responses":
            return ""
        return "the server may have no Responses API (most have only --api chat); else "

    def _advice(self) -> str:
        """Returns how a base URL of the API ends."""
        ends = self.endpoint.family.url_ends
        if self.endpoint.family.base_url.endswith("/v1") and not self.endpoint.has_path:
            return f"{ends}: try {self.endpoint.url}/v1"
        return ends

    def _made(
        self,
        text: str,
        kind: type[ProviderError] = ProviderError,
        status: int | None = None,
        answer: str = "",
        **how: Any,
    ) -> FailedTry:
        message = " ".join(self._without_key(text).split())
        return FailedTry(kind(message, status, self._without_key(answer)), **how)

    def _without_key(self, text: str) -> str:
        """Removes the key, which servers can repeat.

        A key under 8 characters is a placeholder that can be part of any text, so it stays.
        """
        return text.replace(self._key, "…") if len(self._key) >= 8 else text


def _may_pass(answer: httpx2.Response, complaint: ErrorAnswer) -> bool:
    """Returns whether a retry can help.

    The server's ``x-should-retry`` header decides. Without it, an exhausted quota is not retried.
    """
    advice = answer.headers.get("x-should-retry")
    if advice in ("true", "false"):
        return advice == "true"
    return answer.status_code in AGAIN and "insufficient_quota" not in complaint.code
