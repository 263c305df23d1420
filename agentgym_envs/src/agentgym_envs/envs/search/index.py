"""A BM25 index on disk: built once, opened by any number of processes. The engine is tantivy.

The folder is ``$AGENTGYM_CACHE/search``, by default under the user's cache directory; the name is a hash of what was indexed.
"""

import fcntl
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

HEAP = 256 * 2**20  # bytes of the writer's buffer
QUERY_WORDS = 64


class Index:
    """BM25 over an index folder: the sum of a title's and a text's scores.

    Args:
        folder: what :func:`build` wrote.
    """

    def __init__(self, folder: Path):
        import tantivy

        self._index = tantivy.Index.open(str(folder))
        self._index.config_reader(reload_policy="manual")
        self._searcher = self._index.searcher()

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def search(self, query: str, topk: int) -> list[Passage]:
        """Returns the best passages, the best first; equally good ones in the order of the corpus."""
        # Lower case where it cannot change how a word is cut, so that AND, OR and NOT are words.
        words = [w.lower() if w.isascii() else w for w in re.findall(r"\w+", query)[:QUERY_WORDS]]
        if not words:
            return []
        parsed = self._index.parse_query(" ".join(words), ["heading", "text"])
        hits = self._searcher.search(parsed, 4 * topk).hits
        found = [(-round(score, 5), self._searcher.doc(address).to_dict()) for score, address in hits]
        found.sort(key=lambda row: (row[0], row[1]["position"][0]))
        return [Passage(doc["id"][0], doc["title"][0], doc["body"][0]) for _, doc in found[:topk]]


def build(passages: Iterable[Passage], key: str, *, on_passage: Callable[[], None] | None = None) -> Path:
    """Indexes passages, unless that was done before; memory does not grow with the corpus. Of many processes, one does it.

    Args:
        passages: read only if there is work to do.
        key: names their content.
        on_passage: called after each.

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
    """Waits until no other process is in the block: a corpus may take an hour and much of a disk, so that one builds for all."""
    while True:
        lock = os.open(path, os.O_CREAT | os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            break
        os.close(lock)  # the one before has removed this file
    try:
        yield
    finally:
        path.unlink()
        os.close(lock)


def file_key(path: Path) -> str:
    """Returns a name for a corpus file's content without reading it whole: place, size and time of change."""
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
    writer = index.writer(heap_size=HEAP, num_threads=1)  # one thread keeps the order of equally good passages
    try:
        for position, p in enumerate(passages):
            fields = {"id": p.id, "title": p.title, "body": p.text, "heading": p.title, "text": p.text, "position": position}
            writer.add_document(tantivy.Document(**fields))
            on_passage()
        writer.commit()
    finally:
        writer.wait_merging_threads()  # also after an interruption: they write into the folder that is then removed
