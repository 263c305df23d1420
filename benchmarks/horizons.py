"""Compares horizon curricula with fixed horizons on short, medium and long tasks.

    python benchmarks/horizons.py --seeds 5 --first-seed 31 --jobs 2 --work FOLDER

The tasks are the sets of ``benchmarks/compare/horizons.toml``. All methods have the same settings
in all sets, and all runs of a set have the same budget of tokens. The command resumes after an
interruption. It writes ``benchmarks/results/horizons.{json,md,png}``.

A method's share in a set is its success divided by that of the best fixed horizon there. The worst
case of a method is its smallest share.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import compare
import numpy as np
import typer
from compare_report import Curve, differences, draw_lines, signed
from matplotlib.figure import Figure
from numpy.typing import NDArray

NAME = "horizons"
RESULT = Path(__file__).parent / "results" / NAME
DRAWS = 100_000
GROWING = "10→20→40→80"
"""The method of the picture's captions."""

Ends = dict[str, dict[str, list[float]]]
"""Set → method → the success of each seed at the end."""


class Share(NamedTuple):
    """A share of success, with a 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


class Shares(NamedTuple):
    """The numbers of the table and the picture.

    Attributes:
        best: set → its best fixed horizon.
        sets: method → set → share.
        worst: method → its smallest share.
        leads: method → how much the worst case of each curriculum exceeds its worst case.
    """

    best: dict[str, str]
    sets: dict[str, dict[str, Share]]
    worst: dict[str, Share]
    leads: dict[str, dict[str, Share]]


def shares(ends: Ends) -> Shares:
    """Computes all shares.

    An interval comes from draws of each method's mean in each set from Student's t distribution of
    its seeds. The best fixed horizon of a set is the same in all draws.
    """
    rng = np.random.default_rng(0)
    methods = list(next(iter(ends.values())))
    fixed = [method for method in methods if method.startswith("fixed")]
    curricula = [method for method in methods if method not in fixed]
    best = {name: max(fixed, key=lambda m: np.mean(found[m])) for name, found in ends.items()}
    draws = {
        name: {method: _drawn(found[method], rng) for method in methods}
        for name, found in ends.items()
    }
    ratios = {
        method: {name: draws[name][method] / draws[name][best[name]] for name in ends}
        for method in methods
    }
    worst = {method: np.min(list(ratios[method].values()), axis=0) for method in methods}
    return Shares(
        best,
        {m: {name: _share(drawn) for name, drawn in ratios[m].items()} for m in methods},
        {m: _share(drawn) for m, drawn in worst.items()},
        {m: {c: _share(worst[c] - worst[m]) for c in curricula} for m in fixed},
    )


def _drawn(values: Sequence[float], rng: np.random.Generator) -> NDArray[np.float64]:
    """Returns the mean, followed by draws of it."""
    count = len(values)
    error = np.std(values, ddof=1) / count**0.5
    drawn = np.mean(values) + error * rng.standard_t(count - 1, DRAWS)
    return np.concatenate([[np.mean(values)], np.clip(drawn, 0.001, 1.0)])


def _share(drawn: NDArray[np.float64]) -> Share:
    low, high = np.quantile(drawn[1:], [0.025, 0.975])
    return Share(float(drawn[0]), float(low), float(high))


def leads_by_seed(
    curves: dict[str, dict[str, list[Curve]]],
) -> dict[str, dict[str, dict[str, str]]]:
    """Returns how much each curriculum exceeds each fixed horizon at the end, paired by seed.

    Returns:
        Curriculum → set → fixed horizon → the mean difference and half of its 95 % interval.
    """
    curricula = [m for m in next(iter(curves.values())) if not m.startswith("fixed")]
    return {
        curriculum: {
            name: {
                method: signed(points[-1])
                for method, points in differences(methods, curriculum).items()
                if method.startswith("fixed")
            }
            for name, methods in curves.items()
        }
        for curriculum in curricula
    }


def report(
    command: str,
    found: Shares,
    means: dict[str, dict[str, float]],
    by_seed: dict[str, dict[str, dict[str, str]]],
) -> str:
    """Returns the report in Markdown."""
    names = list(found.best)
    rows = [
        f"| {method} | {found.worst[method]} | "
        + " | ".join(f"{means[s][method]:.2f}, {found.sets[method][s]}" for s in names)
        + " |"
        for method in found.sets
    ]
    leads = [
        f"| {method} | {' | '.join(map(str, leads.values()))} |"
        for method, leads in found.leads.items()
    ]
    curricula = list(next(iter(found.leads.values())))
    paired = [
        line
        for curriculum, sets in by_seed.items()
        for line in (
            f"Success of {curriculum} minus that of each fixed horizon at the end, paired by seed;"
            " ± is half of the 95 % interval by Student's t distribution:",
            "",
            f"| set | {' | '.join(found.leads)} |",
            "|---|" + "---|" * len(found.leads),
            *(f"| {name} | {' | '.join(own.values())} |" for name, own in sets.items()),
            "",
        )
    ]
    return "\n".join(
        [
            "# Horizon curricula and fixed horizons on short, medium and long tasks",
            "",
            f"`{command}`",
            "",
            "A cell has the success at the end and, after the comma, its share of the success of"
            " the best fixed horizon in this set ("
            + ", ".join(f"{name}: {best}" for name, best in found.best.items())
            + "). Brackets hold 95 % intervals over seeds.",
            "",
            f"| method | worst case | {' | '.join(names)} |",
            "|---|---|" + "---|" * len(names),
            *rows,
            "",
            "Worst case of a curriculum minus that of a fixed horizon:",
            "",
            f"| method | {' | '.join(curricula)} |",
            "|---|" + "---|" * len(curricula),
            *leads,
            "",
            *paired,
            f"![worst case by method, and the curves of each set]({NAME}.png)",
            "",
        ]
    )


def draw(
    found: Shares,
    curves: dict[str, dict[str, list[Curve]]],
    by_seed: dict[str, dict[str, str]],
    seeds: int,
) -> Figure:
    """Draws the worst case by method, and the curves of each set.

    Args:
        found: the shares.
        curves: set → method → the curve of each seed.
        by_seed: set → fixed horizon → how much the growing horizon exceeds it.
        seeds: number of seeds.
    """
    figure = Figure(figsize=(14, 4.8), layout="constrained")
    axes = figure.subplots(1, 1 + len(curves), width_ratios=[1.3, *[1] * len(curves)])
    for place, share in enumerate(found.worst.values()):
        axes[0].errorbar(
            share.value,
            -place,
            xerr=[[share.value - share.low], [share.high - share.value]],
            fmt="o",
            capsize=4,
        )
    axes[0].set(
        yticks=[-place for place in range(len(found.worst))],
        yticklabels=list(found.worst),
        xlabel="worst case over the sets:\nsuccess / success of the set's best fixed horizon",
    )
    axes[0].set_xlim(left=0)
    axes[0].grid(axis="x", alpha=0.3)
    for panel, (name, methods) in zip(axes[1:], curves.items(), strict=True):
        draw_lines(panel, methods, lambda p: p["tokens"] / 1e6, lambda p: p["success"])
        gains = "\n".join(f"minus {method}: {gain}" for method, gain in by_seed[name].items())
        panel.set(title=f"{name} tasks", ylim=(0, 1.02))
        panel.set_xlabel(f"training tokens (millions)\n\n{GROWING} at the end\n{gains}")
    axes[1].set_ylabel("held-out success")
    axes[1].legend(fontsize=8, loc="lower right")
    figure.suptitle(
        f"{seeds} seeds: mean, with 95 % intervals (left and below) or range (bands)", fontsize=11
    )
    return figure


def main(
    seeds: int = 5,
    first_seed: int = 0,
    jobs: int = 2,
    work: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Trains all methods in all sets; writes the report, the data and the picture."""
    sets = compare.read(NAME)["sets"]
    results = compare.train_all(
        {f"{NAME}/{name}": chosen["tokens"] for name, chosen in sets.items()},
        range(first_seed, first_seed + seeds),
        jobs,
        work,
    )
    curves: dict[str, dict[str, list[Curve]]] = {
        name: {
            method: [run["curve"] for run in runs if run["method"] == method]
            for method in dict.fromkeys(run["method"] for run in runs)
        }
        for name, runs in zip(sets, results, strict=True)
    }
    ends: Ends = {
        name: {method: [curve[-1]["success"] for curve in own] for method, own in methods.items()}
        for name, methods in curves.items()
    }
    found = shares(ends)
    means = {
        name: {method: float(np.mean(values)) for method, values in methods.items()}
        for name, methods in ends.items()
    }
    command = (
        f"python benchmarks/horizons.py --seeds {seeds} --first-seed {first_seed} --jobs {jobs}"
    )
    by_seed = leads_by_seed(curves)
    RESULT.with_suffix(".json").write_text(json.dumps(curves, indent=1) + "\n")
    RESULT.with_suffix(".md").write_text(report(command, found, means, by_seed))
    draw(found, curves, by_seed[GROWING], seeds).savefig(RESULT.with_suffix(".png"), dpi=120)


if __name__ == "__main__":
    typer.run(main)
