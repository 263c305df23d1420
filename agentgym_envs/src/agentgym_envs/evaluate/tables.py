"""The tables of a run, as data: families, scenarios and their averages; `rich` and the report draw them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from agentgym_envs.evaluate.metrics import Pairing, Summary, compare, grouped, summarise
from agentgym_envs.evaluate.paper import PUBLISHED
from agentgym_envs.evaluate.record import Row, episodes
from agentgym_envs.suite import suites

Line = dict[str, Any]
COLUMNS = (  # the most important first: a narrow terminal shows those
    ("name", ""),
    ("tasks", "tasks"),
    ("success", "success"),
    ("interval", "95 %"),
    ("score", "score"),
    ("pass", "Pass@k"),
    ("faults", "faults"),
    ("turns", "turns"),
    ("invalid", "invalid"),
    ("truncated", "cut"),
    ("tokens", "tokens"),
    ("any", "score > 0"),
)
PAIRED = ("runs", "tasks", "difference", "95 %", "better", "worse", "p")  # of the sign test
LEGEND = (
    "Means and intervals are over tasks. score: the paper's Avg@k. Pass@k: unbiased. score > 0: the paper's Pass@k, tasks with an "
    "attempt that scored. invalid: actions that were not understood. cut: episodes that ran out of turns or context."
)


@dataclass(frozen=True)
class Table:
    """Lines under columns."""

    columns: Sequence[tuple[str, str]]
    """Keys of the lines, and what stands above them."""
    lines: Sequence[Line]


def results(rows: Sequence[Row]) -> Table:
    """Returns a line a family (a difficulty, where there is one family), a line a scenario, and the averages over both."""
    played = sorted(episodes(rows), key=_place)
    lost = Counter((row["scenario"], row["family"]) for row in rows if row["row"] == "fault")
    families = {key: summarise(group) for key, group in grouped(played, lambda r: (r["scenario"], r["family"])).items()}
    scenarios = {name: summarise(group) for name, group in grouped(played, lambda r: r["scenario"]).items()}
    lines = [] if len(families) > 1 else _by_difficulty(played)
    lines += [_line(family, s, lost[scenario, family]) for (scenario, family), s in families.items()]
    if len(scenarios) > 1:
        lost_in = {name: sum(n for (scenario, _), n in lost.items() if scenario == name) for name in scenarios}
        lines += [_line(f"all of {name}", s, lost_in[name]) for name, s in scenarios.items()]
    if len(families) > 1:
        lines.append(_average("mean of families", list(families.values())))
    if len(scenarios) > 1:
        lines.append(_average("mean of scenarios", list(scenarios.values())))
    return Table([(key, head) for key, head in COLUMNS if any(line.get(key) for line in lines)], lines)


def notes(rows: Sequence[Row]) -> list[str]:
    """Returns what a reader of the table must know of its families."""
    played = {(row["suite"], row["family"]) for row in rows}
    told = [(f.note, f.name) for suite in suites for f in suites[suite] if f.note and (suite, f.name) in played]
    return [f"{', '.join(name for n, name in told if n == note)}: {note}" for note in dict.fromkeys(note for note, _ in told)]


def published(rows: Sequence[Row]) -> Table | None:
    """Returns the run's success by scenario beside the paper's figures, in percent; None where no scenario is the paper's."""
    by_scenario = {name: summarise(g) for name, g in grouped(episodes(rows), lambda r: r["scenario"]).items()}
    names = [name for name in next(iter(PUBLISHED.values())) if name in by_scenario]
    if not names:
        return None
    here: Line = {"who": "this run", **{name: f"{100 * by_scenario[name].success:.1f}" for name in names}}
    there = [{"who": who, **{name: f"{figures[name]:.1f}" for name in names}} for who, figures in PUBLISHED.items()]
    return Table([("who", ""), *[(name, name) for name in names]], [here, *there])


def pairings(runs: Sequence[tuple[str, Sequence[Row]]]) -> Table | None:
    """Compares each further run with the first, on the tasks that both played; None where there is nothing to compare."""
    (base, first), *others = [(name, episodes(rows)) for name, rows in runs]
    pairs = [(name, compare(first, rows)) for name, rows in others]
    lines = [_paired(f"{name} − {base}", pairing) for name, pairing in pairs if pairing]
    return Table([(head, head) for head in PAIRED], lines) if lines else None


def _line(name: str, s: Summary, faults: int) -> Line:
    tokens, several = s.prompt_tokens + s.completion_tokens, s.attempts > 1
    return {
        "name": name,
        "tasks": f"{s.tasks}×{s.attempts}" if several else str(s.tasks),
        "success": f"{s.success:.3f}",
        "interval": f"{s.interval.low:.2f}–{s.interval.high:.2f}",
        "score": f"{s.score:.3f}",
        "pass": f"{s.pass_at[max(s.pass_at)]:.3f} @{max(s.pass_at)}" if several else "",
        "any": f"{s.any_score:.3f}" if several else "",
        "turns": f"{s.turns:.1f}",
        "invalid": f"{s.invalid:.2f}",
        "truncated": f"{s.truncated:.2f}",
        "tokens": f"{tokens:,.0f}" if tokens else "",
        "faults": str(faults) if faults else "",
    }


def _place(row: Row) -> int:
    """Returns where the suite lists an episode's family."""
    return next((n for n, f in enumerate(suites.get(row["suite"], ())) if f.name == row["family"]), 0)


def _by_difficulty(played: Sequence[Row]) -> list[Line]:
    """Returns a line a difficulty of a single family, if it has several."""
    levels = sorted(grouped(played, lambda r: r["difficulty"]).items())
    return [_line(f"difficulty {level}", summarise(group), 0) for level, group in levels] if len(levels) > 1 else []


def _average(name: str, summaries: Sequence[Summary]) -> Line:
    digits = {"success": 3, "score": 3, "invalid": 2, "truncated": 2}
    means = {key: f"{fmean(getattr(s, key) for s in summaries):.{n}f}" for key, n in digits.items()}
    return {"name": name, **means}


def _paired(name: str, p: Pairing) -> Line:
    interval = f"{p.interval.low:+.2f} to {p.interval.high:+.2f}"
    values = (name, str(p.tasks), f"{p.difference:+.3f}", interval, str(p.better), str(p.worse), f"{p.p:.2g}")
    return dict(zip(PAIRED, values, strict=True))
