"""Coverage and width of the 95 % intervals of a mean success, by simulation.

    python benchmarks/intervals.py

Writes ``benchmarks/results/intervals.md``. Each task has a chance of success from a beta
distribution. The interval covers if it contains the mean of that distribution, or the mean over
the families' distributions. The earlier method is Wilson's interval with one attempt per task or
equal results, else the bootstrap's percentile interval. It had no interval for several families.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import long_tables
import numpy as np

from agentgym_envs.evaluate.metrics import ConfidenceInterval, mean_interval, wilson

RESULT = Path(__file__).parent / "results" / "intervals.md"
REPETITIONS = 1000
RESAMPLES = 1000
BETAS = ((0.5, 0.5), (1, 1), (2, 2), (8, 1), (30, 1))
DIFFERENT = ((1, 8), (2, 2), (8, 1), (30, 1))
TASKS = (6, 20, 100)
ATTEMPTS = (1, 4)
Families = Sequence[tuple[tuple[float, float], int]]
"""Beta distribution and number of tasks of each family."""
Method = Callable[[Sequence[tuple[float, ...]], int], ConfidenceInterval]
HEAD = """# Coverage of the intervals

`python benchmarks/intervals.py`: {repetitions:,} simulated evaluations per row. Nominal coverage
is 95 %. One standard error of a coverage is at most {error:.1f} percentage points near 95 %.

Each task has a chance of success from Beta(a, b); tasks are split evenly among the families.
A cell has the coverage in percent and the mean width. The earlier method had no interval for
several families.
"""


@cache
def new(groups: tuple[tuple[float, ...], ...]) -> ConfidenceInterval:
    """Returns the interval of the package; equal results are computed once."""
    return mean_interval(groups)


def earlier(means: Sequence[float], attempts: int, rng: np.random.Generator) -> ConfidenceInterval:
    """Returns the interval of the earlier method, for one family."""
    if attempts == 1 or min(means) == max(means):
        return wilson(min(sum(means), len(means)), len(means))
    draws = rng.choice(means, size=(RESAMPLES, len(means))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return ConfidenceInterval(float(low), float(high))


def played(
    families: Families, attempts: int, rng: np.random.Generator
) -> tuple[tuple[float, ...], ...]:
    """Returns the mean success of each task of each family, sorted."""
    return tuple(
        tuple(sorted((rng.binomial(attempts, rng.beta(a, b, tasks)) / attempts).tolist()))
        for (a, b), tasks in families
    )


def coverage(families: Families, attempts: int, *, old: bool) -> str:
    """Returns the coverage in percent and the mean width of a method."""
    rng = np.random.default_rng(0)
    truth = np.mean([a / (a + b) for (a, b), _ in families])
    found = []
    for _ in range(REPETITIONS):
        groups = played(families, attempts, rng)
        found.append(earlier(groups[0], attempts, rng) if old else new(groups))
    covered = np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in found])
    width = np.mean([high - low for low, high in found])
    return f"{100 * covered:.1f} / {width:.2f}"


def alike() -> list[str]:
    """Returns the table of designs whose families have the same distribution."""
    lines = [
        "| Beta(a, b) | tasks | attempts | earlier, 1 family | now, 1 family | now, 4 families |",
        "|---|---|---|---|---|---|",
    ]
    for beta in BETAS:
        for tasks in TASKS:
            for attempts in ATTEMPTS:
                one, four = [(beta, tasks)], [(beta, max(tasks // 4, 2))] * 4
                cells = [
                    coverage(one, attempts, old=True),
                    coverage(one, attempts, old=False),
                    coverage(four, attempts, old=False),
                ]
                named = f"{beta[0]}, {beta[1]} | {tasks} | {attempts}"
                lines.append(f"| {named} | {' | '.join(cells)} |")
    return lines


def different() -> list[str]:
    """Returns the table of designs whose families differ."""
    lines = ["| tasks of the families | attempts | now |", "|---|---|---|"]
    for sizes in ((2, 2, 2, 2), (5, 5, 5, 5), (25, 25, 25, 25), (31, 41, 25, 3)):
        for attempts in ATTEMPTS:
            families = list(zip(DIFFERENT, sizes, strict=True))
            cell = coverage(families, attempts, old=False)
            lines.append(f"| {', '.join(map(str, sizes))} | {attempts} | {cell} |")
    return lines


def main() -> None:
    """Writes the result."""
    error = 100 * (0.95 * 0.05 / REPETITIONS) ** 0.5
    betas = ", ".join(f"Beta({a}, {b})" for a, b in DIFFERENT)
    parts = [
        HEAD.format(repetitions=REPETITIONS, error=error),
        *alike(),
        "\nWith 6 tasks, 4 families have 2 tasks each.",
        f"\n## Families that differ\n\nFour families: {betas}. The interval counts the differences"
        " between families as chance, so it is wide.\n",
        *different(),
    ]
    long_tables.write(RESULT, "\n".join(parts), lambda cells: len(cells) == 3 or cells[1] == "6")


if __name__ == "__main__":
    main()
