"""Compares horizon curricula with fixed horizons on short, medium and long tasks.

    python benchmarks/horizons.py --seeds 5 --first-seed 31 --jobs 2 --work FOLDER

The tasks are the sets of ``benchmarks/compare/horizons.toml``. All methods have the same settings
in all sets, and all runs of a set have the same budget of tokens. The command resumes after an
interruption. It writes ``benchmarks/results/horizons.{json,md,png}`` and ``horizons-curves.png``.

A method's share in a set is its success divided by that of the best fixed horizon there. The worst
case of a method is its smallest share.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from compare_report import (
    Methods,
    Panel,
    caption,
    differences,
    draw_panels,
    in_millions,
    picture,
    signed,
    success,
)
from matplotlib.figure import Figure
from numpy.typing import NDArray

from agentgym_train.reporting import plots

NAME = "horizons"
RESULT = Path(__file__).parent / "results" / NAME
DRAWS = 100_000
MARKERS = ("o", "s", "^")
"""The marks of the sets in the picture of the worst case."""

Curves = dict[str, Methods]
"""Set → method → the curve of each seed."""
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
    curves: Curves,
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
    seeds: int,
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
            *picture(NAME, "Share of the best fixed horizon's success, by method"),
            "",
            "A mark is a method's share in a set. A bar is the 95 % interval of its worst case.",
            "",
            *picture(
                f"{NAME}-curves", "Held-out success by tokens on short, medium and long tasks"
            ),
            "",
            f'{caption(seeds)} "best fixed" is the best fixed horizon of the set.',
            "",
        ]
    )


def draw_shares(found: Shares) -> Figure:
    """Draws the share of each method in each set, and the interval of its worst case."""
    methods = list(found.sets)
    figure = plots.figure(130 + 34 * len(methods))
    axes = figure.subplots()
    for place, worst in enumerate(found.worst.values()):
        axes.plot(
            [worst.low, worst.high],
            [place, place],
            color="0.55",
            linewidth=7,
            alpha=0.5,
            marker="",
            solid_capstyle="butt",
        )
    for number, (name, marker) in enumerate(zip(found.best, MARKERS, strict=True)):
        values = [found.sets[method][name].value for method in methods]
        axes.plot(
            values,
            range(len(methods)),
            marker,
            color=f"C{number}",
            markersize=9,
            label=f"{name} tasks",
        )
    axes.set_yticks(range(len(methods)), methods)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="success / success of the best fixed horizon", xlim=(0, 1.05))
    figure.legend(loc="outside upper center", ncols=len(found.best))
    return figure


def draw_curves(curves: Curves, best: dict[str, str]) -> Figure:
    """Draws success by tokens in each set: fixed horizons at the left, curricula at the right."""
    methods = list(next(iter(curves.values())))
    fixed = [method for method in methods if method.startswith("fixed")]
    others = [method for method in methods if method not in fixed]
    return draw_panels(
        [fixed, [*others, "best fixed"]],
        [
            Panel(
                own | {"best fixed": own[best[name]]},
                in_millions,
                success,
                "tokens (millions)",
                f"success, {name}",
                True,
            )
            for name, own in curves.items()
        ],
    )


def draw_pictures(curves: Curves) -> None:
    """Draws both pictures."""
    found = shares(ends_of(curves))
    plots.save_both(RESULT.with_suffix(".png"), lambda: draw_shares(found))
    plots.save_both(RESULT.with_name(f"{NAME}-curves.png"), lambda: draw_curves(curves, found.best))


def ends_of(curves: Curves) -> Ends:
    """Returns the success at the end."""
    return {
        name: {method: [curve[-1]["success"] for curve in own] for method, own in methods.items()}
        for name, methods in curves.items()
    }


def main(
    seeds: int = 5,
    first_seed: int = 0,
    jobs: int = 2,
    work: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Trains all methods in all sets; writes the report, the data and the pictures."""
    import compare  # not above: pictures need no torch

    sets = compare.read(NAME)["sets"]
    results = compare.train_all(
        {f"{NAME}/{name}": chosen["tokens"] for name, chosen in sets.items()},
        range(first_seed, first_seed + seeds),
        jobs,
        work,
    )
    curves: Curves = {
        name: {
            method: [run["curve"] for run in runs if run["method"] == method]
            for method in dict.fromkeys(run["method"] for run in runs)
        }
        for name, runs in zip(sets, results, strict=True)
    }
    ends = ends_of(curves)
    means = {
        name: {method: float(np.mean(values)) for method, values in methods.items()}
        for name, methods in ends.items()
    }
    command = (
        f"python benchmarks/horizons.py --seeds {seeds} --first-seed {first_seed} --jobs {jobs}"
    )
    RESULT.with_suffix(".json").write_text(json.dumps(curves, indent=1) + "\n")
    text = report(command, shares(ends), means, leads_by_seed(curves), seeds)
    RESULT.with_suffix(".md").write_text(text)
    draw_pictures(curves)


if __name__ == "__main__":
    typer.run(main)
