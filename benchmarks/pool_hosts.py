"""Throughput of a pool on hosts beside a pool of worker processes.

    python benchmarks/pool_hosts.py

The hosts are processes of this machine (``agentgym serve --pool``), so a step costs a connection
and one process more, and no cable. Both pools have the same number of worker processes in all. The
kinds alternate in each round, and the table has the ratios of the rounds.

Writes ``benchmarks/results/pool_hosts.md``.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import typer
from runs import table

from agentgym_envs.pool import EnvPool

TEXTCRAFT = "agentgym/TextCraft-v2"
SIZES = (1, 8, 64, 256)  # environments
WORKERS = 2  # processes in all
KINDS = {"local": 0, "one host": 1, "two hosts": 2}


@contextmanager
def host() -> Iterator[str]:
    """Starts a host; yields its address."""
    command = [sys.executable, "-m", "agentgym_envs.cli", "serve", "--pool", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.send_signal(signal.SIGTERM)


def cpu_seconds() -> float:
    """Returns the CPU time of this process and its child processes."""
    processes = (psutil.Process(), *psutil.Process().children(recursive=True))
    times = [process.cpu_times() for process in processes]
    return sum(one.user + one.system for one in times)


def measure(size: int, seconds: float, hosts: list[str]) -> tuple[float, float]:
    """Returns steps per second, and CPU milliseconds per step."""
    where: dict[str, Any] = {"hosts": hosts} if hosts else {}
    workers = WORKERS // max(1, len(hosts))
    with EnvPool(TEXTCRAFT, size, workers=workers, max_episode_steps=-1, **where) as pool:
        for index in range(size):
            pool.reset(index, seed=index)
        results = []
        while len(results) < size:
            results += pool.recv()
        steps, cpu, begun = 0, cpu_seconds(), time.perf_counter()
        while time.perf_counter() - begun < seconds:
            with pool.together():
                for result in results:
                    pool.send(result.index, "inventory")
            results = pool.recv()
            assert all(result.error is None for result in results)
            steps += len(results)
        wall = time.perf_counter() - begun
        return steps / wall, 1000 * (cpu_seconds() - cpu) / steps


def main(
    seconds: float = 5.0,
    rounds: int = 5,
    out: Path = Path("benchmarks/results/pool_hosts.md"),
) -> None:
    """Measures and writes the table."""
    rows = []
    with host() as first, host() as second:
        for size in SIZES:
            found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
            for _ in range(rounds):
                for kind, count in KINDS.items():
                    found[kind].append(measure(size, seconds, [first, second][:count]))
            for kind, figures in found.items():
                ratios = [a[0] / b[0] for a, b in zip(figures, found["local"], strict=True)]
                rate, cpu = (median(column) for column in zip(*figures, strict=True))
                share = f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
                rows.append([size, kind, f"{rate:,.0f}", share, f"{cpu:.3f}"])
                print(rows[-1], flush=True)
    text = [
        "# Throughput of a pool on hosts",
        "",
        f"`python benchmarks/pool_hosts.py --seconds {seconds:g} --rounds {rounds}`",
        "",
        f"TextCraft, {WORKERS} worker processes in all, {os.cpu_count()} CPU cores, driver and"
        f" hosts on one machine, medians of {rounds} rounds of {seconds:g} s. CPU time is that of"
        " all processes.",
        "",
        table(["environments", "pool", "steps/s", "share of local", "CPU ms per step"], rows),
    ]
    out.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    typer.run(main)
