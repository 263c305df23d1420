"""A retriever behind HTTP, in Search-R1's protocol. A server that fails is a failure of the environment, never an observation."""

import json
import time
from typing import Any

from agentgym_envs.envs.search.datasets import read_passage
from agentgym_envs.envs.search.world import Passage
from agentgym_envs.errors import EnvFailure, TaskError
from agentgym_envs.network import is_local

SECONDS = 60.0  # that an answer may take, with all tries
SILENCE = 30.0  # seconds without a byte
LIMIT = 16 * 2**20  # bytes of an answer
TRIES = 4
BACKOFF = 0.5  # seconds before the second try, twice as many before each further one
AGAIN = frozenset((408, 429, *range(500, 600)))  # answers that another try may better


class _Passing(Exception):
    """Another try may help; ``wait`` is the number of seconds that the server asks for."""

    def __init__(self, reason: str, wait: float = 0.0):
        super().__init__(reason)
        self.wait = wait


class HTTPRetriever:
    """A server that answers ``POST {"queries": [...], "topk": k, "return_scores": true}``.

    Lost connections and the answers 408, 429 and 5xx are tried again, ``TRIES`` times within ``SECONDS`` seconds. Proxies that
    the environment variables name are not used for this machine.

    Args:
        url: usually ``http://host:port/retrieve``.
    """

    def __init__(self, url: str):
        import httpx2

        self._url = url
        self._client = httpx2.Client(trust_env=not is_local(httpx2.URL(url).host), headers={"Accept-Encoding": "identity"})

    def __call__(self, query: str, topk: int) -> list[Passage]:
        """Asks the server.

        Raises:
            EnvFailure: it does not answer, or not as the protocol says.
        """
        body = {"queries": [query], "topk": topk, "return_scores": True}
        end = time.monotonic() + SECONDS
        for number in range(1, TRIES + 1):
            try:
                return self._passages(self._ask(body, end), topk)
            except _Passing as error:
                wait = max(error.wait, BACKOFF * 2 ** (number - 1))
                if number == TRIES or time.monotonic() + wait > end:
                    raise EnvFailure(f"retriever {self._url} failed, try {number} of {TRIES}: {error}") from error
                time.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _ask(self, body: dict[str, Any], end: float) -> bytes:
        """Returns the body of an answer that says that all is well."""
        import httpx2

        received = bytearray()
        seconds = max(0.1, min(SILENCE, end - time.monotonic()))
        try:
            with self._client.stream("POST", self._url, json=body, timeout=seconds) as answer:
                if answer.status_code in AGAIN:
                    raise _Passing(f"it answered {answer.status_code}", _seconds(answer.headers.get("Retry-After", "")))
                if answer.status_code != 200:
                    raise EnvFailure(f"retriever {self._url} failed: it answered {answer.status_code}")
                for piece in answer.iter_raw():
                    received += piece
                    if len(received) > LIMIT:
                        raise EnvFailure(f"retriever {self._url} failed: its answer has more than {LIMIT} bytes")
                    if time.monotonic() > end:
                        raise EnvFailure(f"retriever {self._url} failed: no whole answer within {SECONDS:g} s")
        except httpx2.TransportError as error:
            raise _Passing(f"{type(error).__name__}: {error}") from error
        return bytes(received)

    def _passages(self, answer: bytes, topk: int) -> list[Passage]:
        try:
            rows = json.loads(answer)["result"][0][:topk]
            return [read_passage(row.get("document", row), "a document") for row in rows]
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, TaskError) as error:
            raise EnvFailure(f"retriever {self._url} failed: its answer is not of the protocol: {_short(error)}") from error

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:100]}"
