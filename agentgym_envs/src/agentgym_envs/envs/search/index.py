"""A BM25 index on disk. One process builds it, and any number of processes open it.

The engine is tantivy. The folder is ``$AGENTGYM_CACHE/search``, by default under the user's cache
directory. The name of an index is a hash of the indexed content.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agentgym_envs.cache import build_once, cache_folder
from agentgym_envs.envs.search.world import Passage
from agentgym_envs.locks import lock

HEAP = 256 * 2**20  # bytes of the writer's buffer
QUERY_WORDS = 64


class BM25Index:
    """BM25 search in an index folder. The score is the sum of the title's and the text's scores.

    Args:
        folder: a folder that :func:`build` returned.
    """

    def __init__(self, folder: Path):
        import tantivy

        self._index = tantivy.Index.open(str(folder))
        self._index.config_reader(reload_policy="manual")
        self._searcher = self._index.searcher()

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def search(self, query: str, topk: int) -> list[Passage]:
        """Returns at most ``topk`` passages, best first. Ties keep the order of the corpus."""
        # In lower case, AND, OR and NOT are words and not operators. Only ASCII words are lowered:
        # for others, lower case could change the tokens.
        words = [w.lower() if w.isascii() else w for w in re.findall(r"\w+", query)[:QUERY_WORDS]]
        if not words:
            return []
        parsed = self._index.parse_query(" ".join(words), ["heading", "text"])
        hits = self._searcher.search(parsed, 4 * topk).hits
        found = [
            (-round(score, 5), self._searcher.doc(address).to_dict()) for score, address in hits
        ]
        found.sort(key=lambda row: (row[0], row[1]["position"][0]))
        return [Passage(doc["id"][0], doc["title"][0], doc["body"][0]) for _, doc in found[:topk]]


def build(
    passages: Iterable[Passage], key: str, *, on_passage: Callable[[], None] | None = None
) -> Path:
    """Indexes passages unless the index exists. Only one of several processes builds it.

    Memory use does not grow with the corpus.

    Args:
        passages: read only if the index does not exist.
        key: text that identifies the content of the passages.
        on_passage: called after each passage.

    Returns:
        The index folder.
    """
    name = hashlib.sha256(f"2 {version('tantivy')} {key}".encode()).hexdigest()[:24]
    target = cache_folder("search") / name
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with alone(target.parent / f"{name}.lock"):
        if not target.exists():  # another process has built it meanwhile
            with build_once(target) as draft:
                _write(draft, passages, on_passage or (lambda: None))
    return target


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Waits until no other process is in the block, so one process builds for all.

    A large corpus can take an hour and much disk space. On a file system without locks, each
    process builds.
    """
    while True:
        file = os.open(path, os.O_CREAT | os.O_RDWR)
        locks = lock(file, wait=True)
        if os.fstat(file).st_nlink or not locks:
            break
        os.close(file)  # the previous owner has removed this file
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(file)


def file_key(path: Path) -> str:
    """Returns a key for a file's content, from its path, size and time of change."""
    state = os.stat(path)
    return f"{path.resolve()} {state.st_size} {state.st_mtime_ns}"


def _write(folder: Path, passages: Iterable[Passage], on_passage: Callable[[], None]) -> None:
    import tantivy

    schema: Any = tantivy.SchemaBuilder()
    for name in ("id", "title", "body"):
        schema.add_text_field(name, stored=True, index_option="basic", tokenizer_name="raw")
    for name in ("heading", "text"):
        schema.add_text_field(name, stored=False, tokenizer_name="en_stem")
    schema.add_integer_field("position", stored=True)
    index = tantivy.Index(schema.build(), path=str(folder))
    # One thread keeps the order of equally good passages.
    writer = index.writer(heap_size=HEAP, num_threads=1)
    try:
        for position, p in enumerate(passages):
            fields = {
                "id": p.id,
                "title": p.title,
                "body": p.text,
                "heading": p.title,
                "text": p.text,
                "position": position,
            }
            writer.add_document(tantivy.Document(**fields))
            on_passage()
        writer.commit()
    finally:
        # Also after an interruption: the threads write into the folder that is then removed.
        writer.wait_merging_threads()
