"""vLLM servers on other cards or machines: which server samples a request, and what if one is lost.

All calls run in one thread with an event loop, so that many requests can be in progress.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx2

from agentgym_train.errors import ModelError
from agentgym_train.generators.requests import ActionRequest, RequestKey, SampledAction

log = logging.getLogger(__name__)

CONNECT = 10.0  # seconds until a server that does not accept a connection counts as lost
EVERY, HEALTHY = 10.0, 30.0  # seconds between questions for the health of a server; to its answer


class ServerError(Exception):
    """A server did not answer, or answered with an error; the message fits into a sentence."""


@dataclass(eq=False)
class FleetServer:
    """A vLLM server."""

    url: str
    lost: bool = False
    """It does not answer, or has other weights. The next ``load`` tries it again."""
    tasks: set[asyncio.Task[SampledAction]] = field(default_factory=set)
    """The requests in progress from this process."""


class ServerFleet:
    """Several servers with the same weights.

    Args:
        urls: addresses of the servers.
        first: the number of the server to begin with, so that processes begin with different ones.
    """

    def __init__(self, urls: Sequence[str], *, first: int = 0):
        first %= len(urls)
        self.servers = [FleetServer(url) for url in (*urls[first:], *urls[:first])]
        self.weights = ""
        """The name of the weights that requests must be sampled with."""
        self._home: dict[RequestKey, FleetServer] = {}
        self._http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=CONNECT),
            limits=httpx2.Limits(max_connections=None),
            trust_env=False,  # servers of a cluster are not behind a proxy
        )

    async def close(self) -> None:
        """Ends all requests and connections."""
        await self._http.aclose()

    async def sample(self, key: RequestKey, request: ActionRequest) -> SampledAction:
        """Samples a request, with another server if one is lost.

        Raises:
            ModelError: no server is left, or a server rejects the request.
        """
        while True:
            server = self.choose(key)
            task = asyncio.create_task(self._ask(server, request))
            server.tasks.add(task)
            try:
                return await task
            except ServerError as error:
                self.lose(server, str(error))
            except asyncio.CancelledError:
                task.cancel()
                caller = asyncio.current_task()
                if not server.lost or (caller is not None and caller.cancelling()):
                    raise  # the caller was cancelled, not the lost server's request
            finally:
                server.tasks.discard(task)

    def choose(self, key: RequestKey) -> FleetServer:
        """Returns the server that has the beginning of a conversation, or the least busy one."""
        home = self._home.get(key)
        if home is None or home.lost:
            alive = [server for server in self.servers if not server.lost]
            if not alive:
                raise ModelError(
                    f"none of the {len(self.servers)} servers of the generator is left; start them"
                    " again and resume the run"
                )
            home = self._home[key] = min(alive, key=lambda server: len(server.tasks))
        return home

    def start(self, weights: str, urls: Collection[str]) -> None:
        """Begins to sample with other weights, which some servers have.

        Prefixes of before are gone with the weights. No request is in progress.
        """
        self.weights = weights
        self._home.clear()
        for server in self.servers:
            server.lost = server.url not in urls

    def lose(self, server: FleetServer, reason: str) -> None:
        """Takes a server out; its requests are sampled again with others."""
        if not server.lost:
            server.lost = True
            log.warning(
                "server %s is lost (%s): its %d requests are sampled again elsewhere",
                server.url,
                reason,
                len(server.tasks),
            )
            for task in server.tasks:
                task.cancel()

    async def watch(self) -> None:
        """Asks busy servers for their health, for ever; one that does not answer is lost.

        A machine that disappears closes no connection.
        """
        while True:
            await asyncio.sleep(EVERY)
            busy = [server for server in self.servers if server.tasks]
            await asyncio.gather(*map(self._examine, busy))

    async def _examine(self, server: FleetServer) -> None:
        try:
            async with asyncio.timeout(HEALTHY):
                await self.call(server, "GET", "/health")
        except (ServerError, ModelError, TimeoutError) as error:
            self.lose(server, str(error) or f"no answer for {HEALTHY:.0f} s")

    async def _ask(self, server: FleetServer, request: ActionRequest) -> SampledAction:
        sampling = {
            "temperature": request.sampling.temperature,
            "max_tokens": request.sampling.max_new_tokens,
            "seed": request.seed,
            "stop_token_ids": sorted(request.sampling.stop_ids),
            "ignore_eos": True,  # only stop_ids stop
            "logprobs": 0,  # of sampled tokens only
            "detokenize": False,
        }
        body = {"token_ids": list(request.ids), "sampling_params": sampling}
        answer = await self.call(server, "POST", "/inference/v1/generate", json=body)
        (choice,) = answer["choices"]
        if choice["finish_reason"] not in ("stop", "length"):
            raise ServerError(f"it ended a request with {choice['finish_reason']!r}")
        weights = {span["version"] for span in choice["weight_versions"]}
        if weights != {self.weights}:
            raise ServerError(f"it has other weights than those of this step: {sorted(weights)}")
        logps = [float(place["logprob"]) for place in choice["logprobs"]["content"]]
        return SampledAction(choice["token_ids"], logps)

    async def call(self, server: FleetServer, method: str, path: str, **content: Any) -> Any:
        """Calls a server; returns its JSON answer.

        A server closes a connection that was unused for some seconds, vLLM's after five. A call at
        that moment fails, so every call is made again once.

        Raises:
            ServerError: it does not answer, or has an internal error.
            ModelError: it rejects the call.
        """
        request = partial(self._http.request, method, server.url + path, **content)
        try:
            try:
                answer = await request()
            except (httpx2.NetworkError, httpx2.RemoteProtocolError):
                answer = await request()
        except httpx2.TransportError as error:
            raise ServerError(f"{type(error).__name__}: {error}".rstrip(": ")) from error
        if answer.status_code >= 500:
            raise ServerError(f"status {answer.status_code}: {_text(answer)}")
        if answer.status_code >= 400:
            raise ModelError(
                f"server {server.url} rejects {path} with status {answer.status_code}:"
                f" {_text(answer)}"
            )
        return answer.json() if answer.content else None


def _text(answer: httpx2.Response) -> str:
    """Returns the beginning of an answer, in one line."""
    return " ".join(answer.text.split())[:200]
