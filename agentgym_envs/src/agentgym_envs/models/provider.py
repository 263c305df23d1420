"""The interface of the clients, and what all of them share."""

import asyncio
import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar

from agentgym_envs.errors import (
    ArgumentError,
    ContextExceeded,
    ProviderError,
    ProviderRefused,
    UnknownName,
)
from agentgym_envs.models.answers import (
    MALFORMED,
    ModelReply,
    NotOfTheProtocol,
    TokenUsage,
    listed_as,
    one_line,
)
from agentgym_envs.models.cache import ReplyCache
from agentgym_envs.models.dialect import ServerDialect
from agentgym_envs.models.endpoint import ChatMessage, ModelEndpoint, ToolSchema
from agentgym_envs.models.http import HttpClient
from agentgym_envs.models.retry import RetryPolicy
from agentgym_envs.surrogates import whole_json

log = logging.getLogger(__name__)
OPTIONS = (400, 422)  # statuses of refused options
T = TypeVar("T")
GREETING: Sequence[ChatMessage] = (
    {"role": "system", "content": "Answer with one word."},
    {"role": "user", "content": "Say hello."},
)
"""A conversation in the form of an episode."""


class ModelClient(ABC):
    """A client of one model. It retries failures that can pass. Use it in ``async with``.

    The key is read once, from the environment. It never appears in an error, log or ``repr``.
    Proxies from environment variables are not used for servers on this machine.

    Args:
        endpoint: the model and its server.
        connections: largest number of concurrent requests. Further calls wait for a free slot;
            this wait does not count towards their time limit. Fewer are sent while the server is
            overloaded.
        sleep: pauses between two tries.
        cache: replies of earlier runs; None asks the server every time.

    Attributes:
        max_context: the model's context in tokens, prompt and reply together; None if it is
            unknown. :meth:`check` reads it from the server's list of models.

    Raises:
        ArgumentError: the key is not set and the server is on another machine, the key is another
            provider's, or a header cannot hold the key; an environment variable names a proxy or
            certificates that cannot be used.
        MissingExtra: the API's SDK is not installed.
    """

    def __init__(
        self,
        endpoint: ModelEndpoint,
        *,
        connections: int = 16,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        cache: ReplyCache | None = None,
    ):
        if connections < 1:
            raise ArgumentError(f"connections must be at least 1, not {connections}")
        self.endpoint = endpoint
        self.max_context: int | None = None
        self._key = endpoint.key()
        self._cache = cache
        self._dialect = ServerDialect.first(endpoint)
        self._accepted = False  # the server has accepted a request in this dialect
        self._retry = RetryPolicy(endpoint, self._key, connections=connections, sleep=sleep)
        self._http = HttpClient(endpoint, connections)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def on_failure(self) -> Callable[[ProviderError, float | None], None]:
        """Called after each failed try with the error and the pause in seconds before the next.

        The pause is None after the last try.
        """
        return self._retry.on_failure

    @on_failure.setter
    def on_failure(self, call: Callable[[ProviderError, float | None], None]) -> None:
        self._retry.on_failure = call

    @property
    def dialect(self) -> ServerDialect:
        """The form of requests that the server takes, as far as it is known."""
        return self._dialect

    @property
    def sdk_options(self) -> dict[str, Any]:
        """Arguments for the SDKs of OpenAI and Anthropic; the SDK's retries are off."""
        return {
            "api_key": self._key or "none",
            "base_url": self.endpoint.url,
            "max_retries": 0,
            "timeout": self.endpoint.timeout,
            "http_client": self._http,
        }

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    @abstractmethod
    def request(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema] | None,
        seed: int | None,
        dialect: ServerDialect,
    ) -> dict[str, Any]:
        """Returns the request for a completion, as JSON data."""

    @abstractmethod
    async def send(self, request: Mapping[str, Any]) -> ModelReply:
        """Sends a request once.

        Raises:
            NotOfTheProtocol: the answer is not a completion.
            Exception: an exception of ``httpx2`` or of the SDK.
        """

    @abstractmethod
    async def models(self) -> dict[str, int | None]:
        """Asks once for the server's models: the context of each in tokens, None if unknown.

        Raises the same as :meth:`send`.
        """

    async def parsed(self, raw: Any, read: Callable[[Any], T]) -> T:
        """Lets an SDK parse an answer, and reads the result as JSON data.

        Args:
            raw: the SDK's raw response.
            read: of the data.

        Raises:
            NotOfTheProtocol: one of them fails.
        """
        try:
            made = raw.parse()
            model = await made if inspect.isawaitable(made) else made
            return read(model.model_dump(mode="json", exclude_unset=True, warnings=False))
        except MALFORMED as error:
            raise NotOfTheProtocol(type(error).__name__, raw.http_response) from None

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSchema] | None = None,
        seed: int | None = None,
        sample: str = "",
    ) -> ModelReply:
        """Returns the model's next message.

        Args:
            messages: the conversation.
            tools: functions that the model can call.
            seed: of the sampling, where the API has one.
            sample: names the draw. The cache returns the same reply for the same request and
                sample; the server does not see it.

        Raises:
            ContextExceeded: the conversation is too long for the model.
            ConversationRefused: a filter refuses the conversation.
            ProviderRefused: the server refuses the request; a retry would fail too.
            ProviderError: the server failed on all tries.
        """
        if self._cache is None:
            return await self._asked(messages, tools, seed, self.endpoint.retries)
        place = [self.endpoint.api, self.endpoint.url, sample]
        # The cache finds a conversation whatever the dialect.
        request = self._written(messages, tools, seed, ServerDialect.first(self.endpoint))
        found = self._cache.get(place, request)
        if found is None:
            found = await self._asked(messages, tools, seed, self.endpoint.retries)
            self._cache.put(place, request, found)
            return found
        return replace(found, cached=True, cost=0.0)

    async def _asked(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema] | None,
        seed: int | None,
        retries: int,
    ) -> ModelReply:
        """Asks the server, and in another dialect if its refusal names the difference.

        Once the server has accepted a request, only a conversation that leaves no room for the
        longest reply is sent again, with a lower limit.
        """
        began = self._dialect
        waiting, refusals, room = [began], dict[ServerDialect, ProviderError](), False
        while waiting:
            dialect = waiting.pop(0)
            request = self._written(messages, tools, seed, dialect)
            try:
                reply = await self._retry.ask(partial(self.send, request), retries)
            except (ContextExceeded, ProviderRefused) as error:
                refusals[dialect] = error
                shorter = None if room else dialect.shorter(error.answer)
                if shorter:
                    waiting, room = [shorter], True
                elif self._dialect not in refusals:  # another request has found it meanwhile
                    waiting = [self._dialect]
                elif not self._accepted and error.status in OPTIONS:
                    others = dialect.others(error.answer, self.endpoint)
                    waiting += [one for one in others if one not in (*refusals, *waiting)]
                continue
            if not room:
                self._accept(dialect, began)
            usage, prices = reply.usage, self.endpoint.prices
            return replace(reply, cost=cost_of(usage, prices)) if usage and prices else reply
        raise refusals[began]

    def _written(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema] | None,
        seed: int | None,
        dialect: ServerDialect,
    ) -> dict[str, Any]:
        """Returns a request in a dialect, without halves of surrogate pairs."""
        written: dict[str, Any] = whole_json(
            self.request(dialect.written(messages), tools, seed, dialect)
        )
        return written

    def _accept(self, dialect: ServerDialect, began: ServerDialect) -> None:
        """Keeps a dialect in which the server has answered after it refused another."""
        self._accepted = True
        if dialect != began and (changes := dialect.changes(self._dialect)):
            log.warning("%s refused a request and accepts another: %s", self.endpoint.url, changes)
            self._dialect = dialect

    async def greet(self, tools: Sequence[ToolSchema] | None = None) -> ModelReply:
        """Sends a short conversation in the form of an episode.

        Args:
            tools: functions that the model can call.

        Raises:
            ProviderError: see :meth:`complete`.
        """
        return await self._asked(GREETING, tools, None, min(2, self.endpoint.retries))

    async def check(self) -> None:
        """Checks that the server has the model: by its list of models, or else by a short request.

        Some servers have no list, or a list that fails or is incomplete. Some keys may not list
        models. Sets ``max_context`` if the list has it.

        Raises:
            ProviderRefused: the server does not have the model, or refuses the key.
            ProviderError: the server does not answer.
        """
        try:
            models = await self._retry.ask(self.models, min(2, self.endpoint.retries))
        except ProviderError as error:
            if error.status is None:
                raise
            models = {}
        name = listed_as(models, self.endpoint.model)
        if name is not None:
            self.max_context = models[name]
            return
        known = one_line(str(UnknownName("model", self.endpoint.model, models)))
        try:
            await self.greet()
        except ProviderRefused as error:
            if not models:
                raise
            raise ProviderRefused(f"{error}; {known}", error.status) from None
        if models:
            log.warning("%s answers, but does not list the model: %s", self.endpoint.url, known)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.endpoint!r})"


def cost_of(usage: TokenUsage, prices: Sequence[float]) -> float:
    """Returns the cost of tokens; without a third price the cache gives no discount.

    >>> cost_of(TokenUsage(1000, 100, 600), (2.0, 10.0, 0.5)) * 1e6
    2100.0
    """
    prompt, completion, cached = (*prices, prices[0])[:3]
    fresh = usage.prompt_tokens - usage.cached_tokens
    cost = fresh * prompt + usage.cached_tokens * cached + usage.completion_tokens * completion
    return cost / 1e6
