"""Reports: the live display, the learning curve, the final table, episodes as text."""

import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from agentgym_envs.evaluate.metrics import ConfidenceInterval, mean_interval
from agentgym_train.data.types import Trajectory

log = logging.getLogger(__name__)
SMOOTHING = 0.9
MANY_CUT = 0.1
"""Share of cut actions from which on the user is warned."""
APART = 0.1
"""Smallest distance of two horizons in the picture, as a share of the steps."""
ROWS = {
    "random": "random play",
    "before": "before RL",
    "after": "after RL",
    "checkpoint": "checkpoint",
    "oracle": "oracle",
}


class RunDisplay:
    """A live progress line. If the console cannot redraw, it prints a plain line per tenth.

    Args:
        console: the console to write to.
        quiet: show nothing; set in all processes except the main one.
    """

    def __init__(self, console: Console, *, quiet: bool = False):
        self.console, self.quiet = console, quiet
        self._progress = Progress(
            TextColumn("{task.description:20}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
        )
        self._tasks: dict[str, Any] = {}
        self._success: float | None = None
        self._warned: set[str] = set()

    def __enter__(self) -> "RunDisplay":
        self._progress.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._progress.stop()

    def advance(self, label: str, done: int, total: int, facts: str = "") -> None:
        """Shows that ``done`` of ``total`` units are done."""
        if label not in self._tasks:
            self._tasks[label] = self._progress.add_task(label, total=total, facts=facts)
        self._progress.update(self._tasks[label], completed=done, total=total, facts=facts)
        if (
            not self.quiet
            and not self.console.is_terminal
            and done in {total, *range(0, total, max(total // 10, 1))}
        ):
            self.console.print(f"{label} {done}/{total} {facts}", highlight=False)

    def step(self, row: dict[str, Any], total: int) -> None:
        """Shows a training step: its success, and the moving average over the steps so far."""
        success = "–"
        if "success" in row:
            old = row["success"] if self._success is None else self._success
            self._success = SMOOTHING * old + (1 - SMOOTHING) * row["success"]
            success = f"{row['success']:.2f}"
        if self._success is not None:
            success += f" (moving average {self._success:.2f})"
        rate = row["tokens"] / max(sum(row["time"].values()), 1e-9)
        facts = f"horizon {row['horizon']} · success {success} · {rate:,.0f} tokens/s"
        self.advance("training", row["step"], total, facts)

    def warn(self, *lines: str) -> None:
        """Shows warnings, each on one line."""
        for line in lines:
            self.console.print(f"warning: {line}", style="yellow", markup=False, soft_wrap=True)

    def warn_of_cut_actions(self, row: Mapping[str, Any], most: int) -> None:
        """Warns once per environment if ``rollout.max_new_tokens`` cuts many actions.

        Args:
            row: metrics of a training step or of an evaluation.
            most: ``rollout.max_new_tokens``.
        """
        for name, share in cut_actions(row):
            if name in self._warned or self.quiet:
                continue
            self._warned.add(name)
            self.warn(
                f"{share:.0%} of the actions{name and f' in {name}'} were cut at"
                f" rollout.max_new_tokens={most} and played as they were: raise it, or ask for"
                " shorter responses. rollout.mask_cut_actions=true excludes them from the loss"
            )


def cut_actions(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yields the environments with many cut actions, by name, and their shares.

    The name is empty if a run has one environment.
    """
    for name, own in row.get("env", {"": row}).items():
        if own.get("cut_actions", 0.0) >= MANY_CUT:
            yield name, own["cut_actions"]


def table(evaluation: dict[str, dict[str, Any]]) -> Table:
    """Returns the table of held-out results: before and after training, and baselines.

    The 95 % interval is that of ``agentgym report``: each episode counts as a task. Several
    environments have rows below their mean.
    """
    shown = Table(
        Column("agent", overflow="fold"),
        *(
            Column(head, no_wrap=True)
            for head in ("episodes", "success (95 %)", "score", "turns", "invalid")
        ),
        title="held-out tasks, full horizon",
    )
    for key, label in ROWS.items():
        if key in evaluation:
            shown.add_row(label, *_cells(evaluation[key]))
            for name, row in evaluation[key].get("env", {}).items():
                shown.add_row(f"  {name}", *_cells(row), style="dim")
    return shown


def _cells(row: dict[str, float]) -> list[str]:
    low, high = interval(row["success"], int(row["episodes"]))
    success = f"{row['success']:.3f} ({low:.2f}–{high:.2f})"
    return [
        f"{row['episodes']:.0f}",
        success,
        f"{row['score']:.3f}",
        f"{row['turns']:.1f}",
        f"{row.get('invalid', 0.0):.3f}",
    ]


def interval(success: float, episodes: int) -> ConfidenceInterval:
    """Returns the interval of the success of episodes of as many tasks."""
    solved = success * episodes  # not whole where several agents share an episode
    return mean_interval([[min(max(solved - n, 0.0), 1.0) for n in range(episodes)]])


def learning_curve(
    path: Path, metrics: Sequence[dict[str, Any]], evaluation: dict[str, dict[str, Any]]
) -> None:
    """Writes the picture of a run.

    Args:
        path: the image file.
        metrics: rows of ``metrics.jsonl``.
        evaluation: rows of ``evaluation.json``, by name.
    """
    from agentgym_train.reporting import plots

    plots.save(path, lambda: draw_curve(metrics, evaluation))


def draw_curve(metrics: Sequence[dict[str, Any]], evaluation: dict[str, dict[str, Any]]) -> Any:
    """Returns a figure of success over training steps, with held-out points.

    Horizon stages are shaded. Horizontal lines show random play and the oracle.
    """
    from agentgym_train.reporting import plots

    figure = plots.figure(380)
    axes = figure.subplots()
    axes.grid(visible=False)
    _shade(axes, metrics)
    last = metrics[-1]["step"]
    metrics = [row for row in metrics if "success" in row]
    steps = [row["step"] for row in metrics]
    success = [row["success"] for row in metrics]
    axes.plot(steps, success, color="C0", alpha=0.35, linewidth=0.8, marker="")
    smoothed = "training tasks, horizon of the stage (smoothed)"
    axes.plot(steps, smooth(success), color="C0", marker="", linewidth=2.5, label=smoothed)
    held_out = sorted((row["step"], row["success"]) for row in evaluation.values() if "step" in row)
    axes.plot(*zip(*held_out, strict=True), "o--", color="C1", label="held-out tasks, full horizon")
    for key, colour, dashes in (("random", "C3", ":"), ("oracle", "C2", "-.")):
        if key in evaluation:
            axes.axhline(
                evaluation[key]["success"], color=colour, linestyle=dashes, label=ROWS[key]
            )
    axes.set(xlabel="training step", ylabel="success rate", ylim=(0, 1.05), xlim=(0, last + 1))
    figure.legend(loc="outside lower left", borderaxespad=0)
    return figure


def smooth(values: Sequence[float]) -> list[float]:
    """Returns the exponential moving average; ``SMOOTHING`` is the weight of the past."""
    return list(
        itertools.accumulate(values, lambda old, new: SMOOTHING * old + (1 - SMOOTHING) * new)
    )


def _shade(axes: Any, metrics: Sequence[dict[str, Any]]) -> None:
    """Shades every second stage; the axis at the top has as many horizons as there is room for."""
    named: dict[float, str] = {}
    for number, (horizon, rows) in enumerate(
        itertools.groupby(metrics, key=lambda row: row["horizon"])
    ):
        steps = [row["step"] for row in rows]
        start, end = steps[0] - 1, steps[-1]
        if number % 2:
            axes.axvspan(start, end, color="0.5", alpha=0.15, linewidth=0)
        middle = (start + end) / 2
        if not named or middle - max(named) >= APART * metrics[-1]["step"]:
            named[middle] = str(horizon)
    above = axes.secondary_xaxis("top")
    above.set_xticks(list(named), list(named.values()))
    above.tick_params(length=0)
    above.set_xlabel("horizon (turns)")


def write_trajectories(path: Path, played: Mapping[str, Sequence[Trajectory]]) -> None:
    """Writes episodes as Markdown.

    Args:
        path: the file.
        played: episodes of each environment by its name, which is a heading if there are several.
    """
    parts = ["# Episodes on held-out tasks after training\n"]
    for name, episodes in played.items():
        if len(played) > 1:
            parts.append(f"# {name}\n")
        parts += map(as_text, episodes)
    path.write_text("\n".join(parts), encoding="utf-8")


def as_text(t: Trajectory) -> str:
    """Returns an episode as Markdown."""
    head = (
        f"{t.status.value}, {'success' if t.success else 'no success'}, score {t.score:.2f},"
        f" {len(t.turns)} turns"
    )
    parts = [f"## {t.task_id or f'seed {t.seed}'}: {head}\n"]
    for number, turn in enumerate(t.turns, 1):
        shown = turn.observation.replace("\n", "\n    ")
        reward = f"  (reward {turn.reward:+.2f})" if turn.reward else ""
        parts.append(
            f"    {shown}\n\n**{number}.**"
            f" `{turn.action or ' '}`{reward}{' (not understood)' if turn.invalid else ''}"
            f"{' (cut)' if turn.cut else ''}{' (lesson)' if turn.lesson else ''}\n"
        )
    return "\n".join(parts)
