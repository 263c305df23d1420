"""Compares two BM25 engines on many copies of the embedded passages, to choose the one to embed.

    python -m pip install -e "agentgym_envs[search]" bm25s psutil
    python benchmarks/retrievers.py

Writes ``benchmarks/results/retrievers.md``.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import typer

from agentgym_envs.envs.search.world import Passage, corpus, questions

RESULT = Path(__file__).parent / "results" / "retrievers.md"
QUERIES = 300


def passages(count: int) -> Iterator[Passage]:
    """Yields the embedded passages repeatedly; a number makes each copy unique."""
    base = corpus()
    for i in range(count):
        p = base[i % len(base)]
        yield Passage(f"{p.id}-{i}", p.title, f"{p.text} Copy {i // len(base)}.")


def tantivy(count: int, folder: Path) -> dict[str, float]:
    """Measures tantivy, the embedded engine."""
    from agentgym_envs.envs.search.index import BM25Index, build

    start = time.perf_counter()
    os.environ["AGENTGYM_CACHE"] = str(folder)
    path = build(passages(count), f"benchmark {count}")
    built = time.perf_counter() - start
    start = time.perf_counter()
    index = BM25Index(path)
    return {
        "build": built,
        "open": time.perf_counter() - start,
        **queries(lambda q: index.search(q, 3)),
    }


def bm25s(count: int, folder: Path) -> dict[str, float]:
    """Measures bm25s with its arrays mapped from disk."""
    import bm25s as engine

    start = time.perf_counter()
    texts = [f"{p.title} {p.text}" for p in passages(count)]
    model = engine.BM25()
    model.index(engine.tokenize(texts, show_progress=False), show_progress=False)
    model.save(str(folder / "index"), corpus=texts)
    built = time.perf_counter() - start
    start = time.perf_counter()
    model = engine.BM25.load(str(folder / "index"), load_corpus=True, mmap=True)

    def search(query: str) -> object:
        return model.retrieve(engine.tokenize(query, show_progress=False), k=3, show_progress=False)

    return {"build": built, "open": time.perf_counter() - start, **queries(search)}


def queries(search) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Returns the median and 95th percentile of a query in ms, and the resident memory in MB."""
    times = []
    for question in random.Random(0).sample(questions(), QUERIES):
        start = time.perf_counter()
        search(question.text)
        times.append(1000 * (time.perf_counter() - start))
    times.sort()
    return {
        "median": statistics.median(times),
        "p95": times[int(0.95 * len(times))],
        "memory": psutil.Process().memory_info().rss / 1e6,
    }


def main(counts: str = "3518,100000", one: str = "", folder: str = "") -> None:
    """Measures each engine in a separate process and writes the table."""
    if one:
        name, _, count = one.partition(":")
        typer.echo(json.dumps({"tantivy": tantivy, "bm25s": bm25s}[name](int(count), Path(folder))))
        return
    lines = ["# BM25 engines", "", "`python benchmarks/retrievers.py`", ""]
    lines += [
        (
            "| engine | passages | build s | open s | query ms, median | query ms, 95 % | resident"
            " MB | on disk MB |"
        ),
        "|---" * 8 + "|",
    ]
    for count in counts.split(","):
        for name in ("tantivy", "bm25s"):
            with tempfile.TemporaryDirectory() as place:
                command = [sys.executable, __file__, "--one", f"{name}:{count}", "--folder", place]
                row = json.loads(
                    subprocess.run(
                        command, check=True, capture_output=True, text=True
                    ).stdout.splitlines()[-1]
                )
                disk = sum(f.stat().st_size for f in Path(place).rglob("*") if f.is_file()) / 1e6
            numbers = [f"{row[k]:.2f}" for k in ("build", "open", "median", "p95")]
            lines.append(
                f"| {name} | {int(count):,} | {' | '.join(numbers)} | {row['memory']:.0f} |"
                f" {disk:.1f} |"
            )
    RESULT.write_text("\n".join(lines) + "\n")
    typer.echo(RESULT.read_text())


if __name__ == "__main__":
    typer.run(main)
