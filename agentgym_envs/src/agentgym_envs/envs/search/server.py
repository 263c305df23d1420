"""A client of a retriever over HTTP, in Search-R1's protocol.

A failure of the server is an ``EnvFailure``, never an observation.
"""

import json
import time
from typing import Any

from agentgym_envs.envs.search.datasets import read_passage
from agentgym_envs.envs.search.world import Passage
from agentgym_envs.errors import EnvFailure, TaskError
from agentgym_envs.network import http_options

SECONDS = 60.0  # limit for an answer, over all tries
SILENCE = 30.0  # limit in seconds without a byte
LIMIT = 16 * 2**20  # maximum bytes of an answer
TRIES = 4
BACKOFF = 0.5  # seconds before the second try; each further wait is twice as long
AGAIN = frozenset((408, 429, *range(500, 600)))  # HTTP statuses that lead to another try


class _TransientError(Exception):
    """A failure that another try can fix.

    Attributes:
        wait: seconds that the server requests before the next try.
    """

    def __init__(self, reason: str, wait: float = 0.0):
        super().__init__(reason)
        self.wait = wait


class HTTPRetriever:
    """A client of a retriever server.

    A request is ``POST {"queries": [...], "topk": k, "return_scores": true}``.

    After a lost connection or the statuses 408, 429 and 5xx, the client tries again. It makes at
    most ``TRIES`` tries within ``SECONDS`` seconds. Servers on this machine are contacted without
    the proxies of the environment variables.

    Args:
        url: usually ``http://host:port/retrieve``.
    """

    def __init__(self, url: str):
        import httpx2

        self._url = url
        self._client = httpx2.Client(
            headers={"Accept-Encoding": "identity"}, **http_options(httpx2.URL(url).host)
        )

    def __call__(self, query: str, topk: int) -> list[Passage]:
        """Returns at most ``topk`` passages for a query, best first.

        Raises:
            EnvFailure: the server does not answer, or its answer does not follow the protocol.
        """
        body = {"queries": [query], "topk": topk, "return_scores": True}
        end = time.monotonic() + SECONDS
        for number in range(1, TRIES + 1):
            try:
                return self._passages(self._ask(body, end), topk)
            except _TransientError as error:
                wait = max(error.wait, BACKOFF * 2 ** (number - 1))
                if number == TRIES or time.monotonic() + wait > end:
                    raise EnvFailure(
                        f"retriever {self._url} failed, try {number} of {TRIES}: {error}"
                    ) from error
                time.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _ask(self, body: dict[str, Any], end: float) -> bytes:
        """Returns the body of an answer with status 200."""
        import httpx2

        received = bytearray()
        seconds = max(0.1, min(SILENCE, end - time.monotonic()))
        try:
            with self._client.stream("POST", self._url, json=body, timeout=seconds) as answer:
                if answer.status_code in AGAIN:
                    raise _TransientError(
                        f"it answered {answer.status_code}",
                        _seconds(answer.headers.get("Retry-After", "")),
                    )
                if answer.status_code != 200:
                    raise EnvFailure(
                        f"retriever {self._url} failed: it answered {answer.status_code}"
                    )
                for piece in answer.iter_raw():
                    received += piece
                    if len(received) > LIMIT:
                        raise EnvFailure(
                            f"retriever {self._url} failed: its answer has more than {LIMIT} bytes"
                        )
                    if time.monotonic() > end:
                        raise EnvFailure(
                            f"retriever {self._url} failed: no complete answer within {SECONDS:g} s"
                        )
        except httpx2.TransportError as error:
            raise _TransientError(f"{type(error).__name__}: {error}") from error
        return bytes(received)

    def _passages(self, answer: bytes, topk: int) -> list[Passage]:
        try:
            rows = json.loads(answer)["result"][0][:topk]
            return [read_passage(row.get("document", row), "a document") for row in rows]
        except (
            ValueError,
            KeyError,
            IndexError,
            TypeError,
            AttributeError,
            RecursionError,
            TaskError,
        ) as error:
            raise EnvFailure(
                f"retriever {self._url} failed: the answer does not follow the protocol:"
                f" {_short(error)}"
            ) from error

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:100]}"
