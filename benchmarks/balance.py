"""Balance of an update over processes, on simulated episode lengths.

    python benchmarks/balance.py

Eight processes collect 32 episodes each, in groups of eight. Lengths are log-normal; episodes of a
group are similar, since they have the same task. Before: each process computes its own episodes, in
its own micro-batches. Now: ``agentgym_train.data.load_balancing.plan`` distributes the episodes of
all. Writes ``benchmarks/results/balance.md`` and ``balance.csv``.
"""

import math
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import long_tables
import typer

from agentgym_train.data.load_balancing import BatchUnit, plan

RESULT = Path(__file__).parent / "results" / "balance.md"
PROCESSES, EPISODES, GROUP, CONTEXT = 8, 32, 8, 32_768
ALIKE = 0.7  # correlation of the log-lengths in a group
SHAPES = ((3000, 0.5), (2000, 0.8), (2000, 1.0))
"""Median length in tokens, and standard deviation of its logarithm."""
LIMITS = (4096, 8192, 16_384, 32_768)
SHOWN = ("2,000, σ 0.8", "16,384")  # on the page; the CSV file has all lengths and limits
HEAD = """# Balance of an update over processes

`python benchmarks/balance.py --seeds {seeds}`: {processes} processes × {episodes} episodes in
groups of {group}. Each cell is the mean of {seeds} seeds, with the largest in parentheses.

Lengths are log-normal, at least 50 and at most {context:,} tokens; "2,000, σ 0.8" is a median of
2,000 tokens and a standard deviation of 0.8 of the logarithm, and the log-lengths of a group have a
correlation of {alike}. *Heaviest*: tokens of the process with the most, over the mean. *In step*:
padded tokens of a step in which all processes wait for each other after every micro-batch, over
the mean. *Passes*: micro-batches of each process.

Before, each process computed its own episodes. Planning takes {seconds:.0f} ms per step on one
core."""


class Result(NamedTuple):
    """The ratios of one step."""

    heaviest: float
    in_step: float
    padding: float
    passes: int


def lengths(median: int, sigma: float, seed: int) -> list[list[int]]:
    """Returns the lengths of each process's episodes, group after group."""
    rng = random.Random(seed)

    def group() -> list[int]:
        task = rng.gauss(0, 1)
        own = [rng.gauss(0, 1) for _ in range(GROUP)]
        logs = [sigma * (ALIKE * task + math.sqrt(1 - ALIKE**2) * each) for each in own]
        return [max(50, min(CONTEXT, round(median * math.exp(each)))) for each in logs]

    return [[n for _ in range(EPISODES // GROUP) for n in group()] for _ in range(PROCESSES)]


def units(episodes: Sequence[int], size: int) -> list[list[int]]:
    """Returns the episodes that stay together: ``size`` neighbours."""
    return [list(episodes[n : n + size]) for n in range(0, len(episodes), size)]


def measured(rounds: Sequence[Sequence[Sequence[int]]]) -> Result:
    """Returns the ratios of rounds, which hold the lengths of each process's micro-batch."""
    tokens = [sum(sum(parts[p]) for parts in rounds) for p in range(PROCESSES)]
    sizes = [[len(part) * max(part, default=0) for part in parts] for parts in rounds]
    padded = sum(map(sum, sizes))
    return Result(
        max(tokens) / (sum(tokens) / PROCESSES),
        sum(map(max, sizes)) / (padded / PROCESSES),
        1 - sum(tokens) / padded,
        len(rounds),
    )


def before(episodes: Sequence[Sequence[int]], limit: int, size: int) -> Result:
    """Returns the result of the earlier method: each process packs its own, the shortest first."""
    own = []
    for process in episodes:
        parts: list[list[int]] = []
        for unit in sorted(units(process, size), key=max):
            if parts and (len(parts[-1]) + len(unit)) * max(unit) <= limit:
                parts[-1] += unit
            else:
                parts.append(unit)
        own.append(parts)
    rounds = max(map(len, own))
    return measured([[p[k] if k < len(p) else [] for p in own] for k in range(rounds)])


def now(episodes: Sequence[Sequence[int]], limit: int, size: int) -> Result:
    """Returns the result of the trainer's plan."""
    each = [unit for process in episodes for unit in units(process, size)]
    planned = plan([BatchUnit(len(unit), max(unit)) for unit in each], PROCESSES, limit)
    return measured([[[n for u in part for n in each[u]] for part in parts] for parts in planned])


def row(name: str, steps: Sequence[Sequence[Sequence[int]]], limit: int, size: int = 1) -> str:
    """Returns a row of the table."""
    cells = [name, f"{limit:,}"]
    results = [[method(step, limit, size) for step in steps] for method in (before, now)]
    for key in ("heaviest", "in_step"):
        for method in results:
            values = [getattr(result, key) for result in method]
            cells.append(f"{mean(values):.2f} ({max(values):.2f})")
    cells += [f"{mean(result.padding for result in method):.0%}" for method in results]
    cells += [f"{mean(result.passes for result in method):.1f}" for method in results]
    return f"| {' | '.join(cells)} |"


def table(title: str, rows: Sequence[str]) -> list[str]:
    """Returns a titled table."""
    names = "heaviest before | now | in step before | now | padding before | now"
    return [
        f"\n## {title}\n",
        f"| lengths | `micro_batch_tokens` | {names} | passes before | now |",
        f"|{'---|' * 10}",
        *rows,
    ]


def main(seeds: int = 20) -> None:
    """Simulates the steps and writes the tables."""
    named = {
        f"{median:,}, σ {sigma}": [lengths(median, sigma, seed) for seed in range(seeds)]
        for median, sigma in SHAPES
    }
    start = time.process_time()
    for step in named["2,000, σ 0.8"]:
        now(step, LIMITS[2], 1)
    seconds = (time.process_time() - start) / seeds
    parts = [
        HEAD.format(
            seeds=seeds,
            processes=PROCESSES,
            episodes=EPISODES,
            group=GROUP,
            context=CONTEXT,
            alike=ALIKE,
            seconds=1000 * seconds,
        ),
        *table(
            "Single episodes",
            [row(name, steps, limit) for name, steps in named.items() for limit in LIMITS],
        ),
        *table(
            "Four mini-batches per step: 64 episodes in each",
            [
                row(name, [[own[:GROUP] for own in step] for step in steps], limit)
                for name, steps in named.items()
                for limit in LIMITS[2:]
            ],
        ),
        *(
            line
            for size in (2, GROUP)
            for line in table(
                f"Groups of {size} that stay whole",
                [
                    row(name, steps, limit, size)
                    for name, steps in named.items()
                    for limit in LIMITS[2:]
                ],
            )
        ),
    ]
    print(long_tables.write(RESULT, "\n".join(parts), lambda cells: tuple(cells[:2]) == SHOWN))


if __name__ == "__main__":
    typer.run(main)
