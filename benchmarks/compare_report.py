"""Report of ``compare.py``: the data, a table and pictures."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from agentgym_envs.evaluate.metrics import wilson
from agentgym_train.reporting import plots

Curve = Sequence[dict[str, Any]]
Methods = dict[str, list[Curve]]
"""Method → the curve of each seed."""
TRAINING = {
    "turns": "turns per episode",
    "invalid": "invalid actions",
    "success": "training success",
    "entropy": "entropy (nats)",
    "grad_norm": "gradient norm",
    "gradient_noise": "gradient noise",
}
WHY = (
    "The same methods: means of the training steps between two tests, and the success at the end"
    " if fewer turns are allowed. Entropy is per token. The gradient noise is the share of chance"
    " in the squared gradient."
)


class Panel(NamedTuple):
    """One quantity of a picture.

    Attributes:
        methods: the curves of the methods that have it.
        x: returns the horizontal position of a point of a curve.
        y: returns the value of a point of a curve.
        xlabel: name of the horizontal axis, of at most 20 letters.
        ylabel: name of the vertical axis, of at most 17 letters.
        share: whether the vertical axis goes from 0 to 1.
    """

    methods: Methods
    x: Callable[[Any], float]
    y: Callable[[Any], float]
    xlabel: str
    ylabel: str
    share: bool = False


T_975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
"""The 97.5 % quantile of Student's t distribution, by degrees of freedom."""


def write(
    base: Path,
    title: str,
    command: str,
    runs: list[dict[str, Any]],
    reference: str | None = None,
) -> None:
    """Writes a comparison to ``base`` with the suffixes .json and .md, and its pictures.

    Args:
        base: path without a suffix.
        title: title of the comparison.
        command: command that made the comparison.
        runs: each with "method", "seed", "curve" and "turns". "turns" lists the turns of each
            held-out episode of the last test, None for a failure.
        reference: the method that the others are compared with, seed by seed.
    """
    base.parent.mkdir(exist_ok=True)
    base.with_suffix(".json").write_text(json.dumps(runs, indent=1) + "\n")
    methods = by_method(runs)
    lines = [
        f"# {title}",
        "",
        f"`{command}`",
        "",
        *_table(methods),
        "",
        *(_difference_table(methods, reference) if reference else []),
        *draw_pictures(base, runs),
    ]
    base.with_suffix(".md").write_text("\n".join(lines) + "\n")


def by_method(runs: list[dict[str, Any]]) -> Methods:
    """Returns the curves of the seeds of each method."""
    names = dict.fromkeys(run["method"] for run in runs)
    return {name: [run["curve"] for run in runs if run["method"] == name] for name in names}


def draw_pictures(base: Path, runs: list[dict[str, Any]]) -> list[str]:
    """Draws success to ``base.png``; returns the lines of the report that show the pictures.

    If the runs have training curves of more than one point, also draws these to ``base-why.png``.
    """
    methods = by_method(runs)
    seeds = len(runs) // len(methods)
    lines = [
        *picture(base.name, "Held-out success of each method by tokens and by steps"),
        "",
        caption(seeds) if seeds > 1 else "Held-out success of one seed.",
    ]
    plots.save_both(base.with_suffix(".png"), lambda: draw_success(methods))
    if "turns" in runs[0] and len(runs[0]["curve"]) > 2:
        why = base.with_name(f"{base.name}-why.png")
        plots.save_both(why, lambda: draw_training(methods, runs))
        lines += ["", *picture(why.stem, "Training curves of the same methods"), "", WHY]
    return lines


def caption(seeds: int) -> str:
    """Returns the text below a picture that :func:`draw_panels` has made."""
    return (
        f"Held-out success: the mean of {seeds} seeds. A bar at the right goes from the lowest to"
        " the highest seed at the end."
    )


def picture(name: str, alt: str) -> list[str]:
    """Returns the lines of Markdown that show a picture, or its dark version on dark pages."""
    return [
        "<picture>",
        f'  <source media="(prefers-color-scheme: dark)" srcset="{name}-dark.png">',
        f'  <img alt="{alt}" src="{name}.png" width="{plots.WIDTH}">',
        "</picture>",
    ]


def draw_success(methods: Methods) -> Figure:
    """Draws held-out success by tokens and by steps."""
    return draw_panels(
        parts(list(methods)),
        [
            Panel(methods, in_millions, success, "tokens (millions)", "held-out success", True),
            Panel(
                methods, lambda p: p["step"], success, "training steps", "held-out success", True
            ),
        ],
    )


def in_millions(point: dict[str, Any]) -> float:
    """Returns the tokens until a point of a curve, in millions."""
    return float(point["tokens"] / 1e6)


def success(point: dict[str, Any]) -> float:
    """Returns the success at a point of a curve."""
    return float(point["success"])


def draw_training(methods: Methods, runs: list[dict[str, Any]]) -> Figure:
    """Draws the training curves, and success by the turns that are allowed at the end."""
    trained = {method: [curve[1:] for curve in curves] for method, curves in methods.items()}
    panels = [
        Panel(
            having, in_millions, lambda p, key=key: p["training"][key], "tokens (millions)", label
        )
        for key, label in TRAINING.items()
        if (having := {m: c for m, c in trained.items() if key in c[0][0]["training"]})
    ]
    longest = max(turns or 1 for run in runs for turns in run["turns"])
    within = {m: [_within(r["turns"], longest) for r in runs if r["method"] == m] for m in methods}
    ends = Panel(within, lambda p: p["turns"], success, "turns allowed", "held-out success", True)
    return draw_panels(parts(list(methods)), [*panels, ends])


def parts(names: list[str]) -> list[list[str]]:
    """Returns the names in parts of about the same size, each few enough for one panel."""
    count = -(-len(names) // plots.CURVES)
    size = -(-len(names) // count)
    return [names[start : start + size] for start in range(0, len(names), size)]


def draw_panels(columns: list[list[str]], panels: list[Panel]) -> Figure:
    """Draws panels in columns.

    Args:
        columns: the methods of each column. Methods that are all in one column have two columns of
            panels.
        panels: the panels of a column, from top to bottom.
    """
    alone = len(columns) == 1
    rows = -(-len(panels) // 2) if alone else len(panels)
    legend = -(-len(columns[0]) // 2) if alone else max(map(len, columns))
    figure = plots.figure(210 * rows + 24 * legend)
    grid = figure.subplots(
        rows, 2 if alone else len(columns), squeeze=False, sharey="none" if alone else "row"
    )
    cells = [(panel, names) for panel in panels for names in columns]
    for axes, (panel, names) in zip(grid.flat, cells, strict=False):
        draw_lines(axes, {n: panel.methods[n] for n in names if n in panel.methods}, panel)
        if alone or names is columns[0]:
            axes.set_ylabel(panel.ylabel)
    for axes in grid.flat[len(cells) :]:
        axes.remove()
    if alone:
        figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    else:
        for axes in grid[0]:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def _table(methods: Methods) -> list[str]:
    single = any(len(curves) == 1 for curves in methods.values())
    spread = "95 % interval over tasks (Wilson's)" if single else "mean ± sd"
    rows = [
        (
            f"| method | before | at half | best | at the end ({spread}) | seeds at the end | steps"
            " | invalid at the end |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for method, curves in methods.items():
        end = [c[-1]["success"] for c in curves]
        before = fmean(c[0]["success"] for c in curves)
        half = (
            f"{fmean(c[len(c) // 2]['success'] for c in curves):.3f}" if len(curves[0]) > 2 else "–"
        )
        ended = f"{fmean(end):.3f} " + (
            f"({_interval(curves[0][-1])})" if single else f"± {stdev(end):.3f}"
        )
        best, steps, invalid = (
            fmean(max(p["success"] for p in c) for c in curves),
            _last(curves, "step"),
            _last(curves, "invalid"),
        )
        rows.append(
            f"| {method} | {before:.3f} | {half} | {best:.3f} | {ended} "
            f"| {', '.join(f'{e:.3f}' for e in end)} | {steps:.0f} | {invalid:.1%} |"
        )
    return rows


def differences(methods: Methods, reference: str) -> dict[str, list[tuple[float, float]]]:
    """Returns how much the reference exceeds each other method in success, seed by seed.

    Returns:
        For each other method and each point after the start, the mean of the differences and half
        the width of their 95 % interval by Student's t distribution.
    """
    return {
        method: [
            paired([a["success"] - b["success"] for a, b in zip(first, second, strict=True)])
            for first, second in zip(
                zip(*methods[reference], strict=True), zip(*curves, strict=True), strict=True
            )
        ][1:]
        for method, curves in methods.items()
        if method != reference
    }


def paired(differences: Sequence[float]) -> tuple[float, float]:
    """Returns the mean of the differences and half of its 95 % interval by Student's t."""
    count = len(differences)
    return fmean(differences), T_975[count - 1] * stdev(differences) / count**0.5


def signed(difference: tuple[float, float]) -> str:
    """Returns a difference with half of its interval as text."""
    return f"{difference[0]:+.2f} ± {difference[1]:.2f}"


def _difference_table(methods: Methods, reference: str) -> list[str]:
    """Returns the lines of the table of differences."""
    found = differences(methods, reference)
    at = [f"{point['tokens'] / 1e6:.2f} M" for point in methods[reference][0][1:]]
    return [
        f"Success of {reference} minus that of each other method after so many tokens. The"
        " differences are paired by seed; ± is half of the 95 % interval by Student's t"
        " distribution.",
        "",
        f"| method | {' | '.join(at)} |",
        "|---|" + "---|" * len(at),
        *(f"| {method} | {' | '.join(map(signed, points))} |" for method, points in found.items()),
        "",
    ]


def _interval(point: dict[str, Any]) -> str:
    low, high = wilson(round(point["success"] * point["episodes"]), point["episodes"])
    return f"{low:.3f}–{high:.3f}"


def _within(turns: Sequence[int | None], longest: int) -> Curve:
    """Returns success for every limit of turns.

    A policy does not know the limit, so one long test gives the success for all shorter limits.
    """
    return [
        {"turns": limit, "success": fmean(t is not None and t <= limit for t in turns)}
        for limit in range(1, longest + 1)
    ]


def draw_lines(axes: Any, methods: Methods, panel: Panel) -> None:
    """Draws the mean over seeds of each method, and bars from lowest to highest at the end."""
    for place, (method, curves) in enumerate(methods.items()):
        points = list(zip(*curves, strict=False))  # cut to the shortest curve
        at, values = (
            [fmean(map(panel.x, p)) for p in points],
            [list(map(panel.y, p)) for p in points],
        )
        (line,) = axes.plot(
            at, [fmean(v) for v in values], markevery=max(1, len(at) // 8), label=method
        )
        axes.plot(
            [1.02 + 0.03 * place] * 2,
            [min(values[-1]), max(values[-1])],
            color=line.get_color(),
            marker="_",
            transform=axes.get_yaxis_transform(),
            clip_on=False,
        )
    axes.locator_params(nbins=5)
    axes.set_xlabel(panel.xlabel)
    if panel.share:
        axes.set_ylim(0, 1.02)


def _last(curves: Sequence[Curve], key: str) -> float:
    return fmean(c[-1][key] for c in curves)
