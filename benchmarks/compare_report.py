"""Report of ``compare.py``: the data, a table and pictures."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from matplotlib.figure import Figure

from agentgym_envs.evaluate.metrics import wilson

Curve = Sequence[dict[str, Any]]
TRAINING = {
    "turns": "turns per training episode",
    "invalid": "share of invalid actions",
    "success": "success of training episodes",
    "entropy": "entropy (nats per token)",
    "grad_norm": "gradient norm",
    "gradient_noise": "gradient noise (share of chance)",
}


T_975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
"""The 97.5 % quantile of Student's t distribution, by degrees of freedom."""


def write(
    base: Path,
    title: str,
    command: str,
    runs: list[dict[str, Any]],
    reference: str | None = None,
) -> None:
    """Writes a comparison to ``base`` with the suffixes .json, .md and .png.

    With more than two points, also writes -why.png with the training curves.

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
    methods = {
        m: [r["curve"] for r in runs if r["method"] == m]
        for m in dict.fromkeys(r["method"] for r in runs)
    }
    seeds = len(runs) // len(methods)
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, key, unit, label in (
        (left, "tokens", 1e6, "training tokens (millions)"),
        (right, "step", 1, "training steps"),
    ):
        draw_lines(
            axes, methods, lambda p, key=key, unit=unit: p[key] / unit, lambda p: p["success"]
        )
        axes.set(xlabel=label, ylim=(0, 1.02))
    left.set_ylabel("held-out success at the full horizon")
    left.legend(fontsize=8)
    found = differences(methods, reference) if reference else {}
    caption = [f"{title}: mean of {seeds} seeds, band from lowest to highest"]
    if found:
        ends = "; ".join(f"{method} {signed(points[-1])}" for method, points in found.items())
        caption.append(f"{reference} minus the others at the end, with 95 % intervals: {ends}")
    figure.suptitle("\n".join(caption), fontsize=11 if len(caption) == 1 else 9)
    figure.savefig(base.with_suffix(".png"), dpi=120)
    why = (
        _why(base.with_name(f"{base.name}-why.png"), methods, runs)
        if len(runs[0]["curve"]) > 2
        else []
    )
    lines = [
        f"# {title}",
        "",
        f"`{command}`",
        "",
        *_table(methods),
        "",
        *(_difference_table(methods, reference, found) if reference else []),
        f"![curves]({base.name}.png)",
        *why,
    ]
    base.with_suffix(".md").write_text("\n".join(lines) + "\n")


def _table(methods: dict[str, list[Curve]]) -> list[str]:
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


def differences(
    methods: dict[str, list[Curve]], reference: str
) -> dict[str, list[tuple[float, float]]]:
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


def _difference_table(
    methods: dict[str, list[Curve]],
    reference: str,
    found: dict[str, list[tuple[float, float]]],
) -> list[str]:
    """Returns the lines of the table of differences."""
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


def _why(path: Path, methods: dict[str, list[Curve]], runs: list[dict[str, Any]]) -> list[str]:
    """Draws the training curves and success by allowed turns; returns the lines for the report."""
    figure = Figure(figsize=(14, 6.5), layout="constrained")
    axes = figure.subplots(2, 4).ravel()
    trained = {method: [c[1:] for c in curves] for method, curves in methods.items()}
    for ax, (key, label) in zip(axes, TRAINING.items(), strict=False):
        having = {m: curves for m, curves in trained.items() if key in curves[0][0]["training"]}
        draw_lines(ax, having, lambda p: p["tokens"] / 1e6, lambda p, key=key: p["training"][key])
        ax.set(xlabel="training tokens (millions)", ylabel=label)
    axes[-2].remove()
    longest = max(turns or 1 for r in runs for turns in r["turns"])
    within = {m: [_within(r["turns"], longest) for r in runs if r["method"] == m] for m in methods}
    draw_lines(axes[-1], within, lambda p: p["turns"], lambda p: p["success"])
    axes[-1].set(xlabel="turns allowed at the end", ylabel="held-out success", ylim=(0, 1.02))
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=120)
    return ["", f"![training curves]({path.name})"]


def _within(turns: Sequence[int | None], longest: int) -> Curve:
    """Returns success for every limit of turns.

    A policy does not know the limit, so one long test gives the success for all shorter limits.
    """
    return [
        {"turns": limit, "success": fmean(t is not None and t <= limit for t in turns)}
        for limit in range(1, longest + 1)
    ]


def draw_lines(
    axes: Any, methods: dict[str, list[Curve]], x: Callable[[Any], float], y: Callable[[Any], float]
) -> None:
    """Draws one line per method: the mean over seeds, with a band from lowest to highest."""
    for method, curves in methods.items():
        points = list(zip(*curves, strict=False))  # cut to the shortest curve
        at, values = [fmean(map(x, p)) for p in points], [list(map(y, p)) for p in points]
        (line,) = axes.plot(at, [fmean(v) for v in values], "o-", markersize=3, label=method)
        axes.fill_between(
            at,
            [min(v) for v in values],
            [max(v) for v in values],
            alpha=0.15,
            color=line.get_color(),
        )


def _last(curves: Sequence[Curve], key: str) -> float:
    return fmean(c[-1][key] for c in curves)
