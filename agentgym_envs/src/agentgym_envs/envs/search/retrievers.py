"""Where passages come from: an index on this machine, a Search-R1-compatible server, or any callable."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from agentgym_envs.envs.search import index
from agentgym_envs.envs.search.datasets import read_corpus
from agentgym_envs.envs.search.world import Passage, corpus
from agentgym_envs.tasks import stable_hash

TIMEOUT = 30.0  # seconds a server may take
RETRIES = 3  # to connect


class Retriever(Protocol):
    """Finds passages; deterministic."""

    def __call__(self, query: str, topk: int) -> list[Passage]:
        """Returns at most ``topk`` passages, the best first."""


class BM25:
    """The embedded engine.

    Args:
        path: a JSON-lines corpus; None takes the embedded one.
        on_passage: called after each passage while the index is built.
    """

    def __init__(self, path: str | None = None, *, on_passage: Callable[[], None] | None = None):
        if path is None:
            key = f"embedded {stable_hash(repr(corpus()))}"
            self._index = index.Index(index.build(corpus(), key, on_passage=on_passage))
        else:
            folder = index.build(read_corpus(path), index.file_key(Path(path)), on_passage=on_passage)
            self._index = index.Index(folder)

    def __call__(self, query: str, topk: int) -> list[Passage]:
        """Returns the best passages by BM25."""
        return self._index.search(query, topk)


class HTTPRetriever:
    """A server with Search-R1's protocol: ``POST {"queries": [...], "topk": k, "return_scores": true}``.

    Args:
        url: usually ``http://host:port/retrieve``.
    """

    def __init__(self, url: str):
        import httpx

        self._url = url
        self._client = httpx.Client(timeout=TIMEOUT, transport=httpx.HTTPTransport(retries=RETRIES))

    def __call__(self, query: str, topk: int) -> list[Passage]:
        """Asks the server.

        Raises:
            RuntimeError: it does not answer, or not as the protocol says. That is no wrong action of the agent's.
        """
        import httpx

        body = {"queries": [query], "topk": topk, "return_scores": True}
        try:
            answer = self._client.post(self._url, json=body).raise_for_status().json()
            return [_passage(row.get("document", row)) for row in answer["result"][0][:topk]]
        except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise RuntimeError(f"retriever {self._url} failed: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


def _passage(row: dict[str, str]) -> Passage:
    title, _, text = str(row["contents"]).partition("\n")
    return Passage(str(row.get("id", "")), title.strip('"'), text)
