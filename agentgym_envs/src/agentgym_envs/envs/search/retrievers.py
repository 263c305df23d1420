"""The interface of retrievers, and the default retriever: a BM25 index on this machine."""

import os
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Protocol

from agentgym_envs.envs.search import index
from agentgym_envs.envs.search.datasets import read_corpus
from agentgym_envs.envs.search.world import Passage, corpus
from agentgym_envs.tasks import stable_hash


class Retriever(Protocol):
    """Finds passages. Equal queries must return equal passages."""

    def __call__(self, query: str, topk: int) -> list[Passage]:
        """Returns at most ``topk`` passages, best first."""


class BM25Retriever:
    """The default retriever. All environments of a process share one open index.

    Args:
        path: a JSON-lines corpus. The default is the embedded corpus.
        on_passage: called after each indexed passage if the index does not exist yet.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        on_passage: Callable[[], None] | None = None,
    ):
        if path is None:
            folder = index.build(corpus(), _embedded_key(), on_passage=on_passage)
        else:
            folder = index.build(
                read_corpus(path), index.file_key(Path(path)), on_passage=on_passage
            )
        self.index = _opened(folder)

    def __call__(self, query: str, topk: int) -> list[Passage]:
        """Returns the best passages by BM25."""
        return self.index.search(query, topk)


@cache
def _embedded_key() -> str:
    return f"embedded {stable_hash(repr(corpus()))}"


@lru_cache(maxsize=8)
def _opened(folder: Path) -> index.BM25Index:
    return index.BM25Index(folder)
