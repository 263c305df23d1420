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
COLUMNS = (
    ("scenario", "scenario"),
    ("family", "family"),
    ("tasks", "tasks"),
    ("success", "success"),
    ("interval", "95 %"),
    ("score", "score (Avg@k)"),
    ("pass", "Pass@k"),
    ("any", "paper's Pass@k"),
    ("turns", "turns"),
    ("invalid", "invalid"),
    ("truncated", "truncated"),
    ("tokens", "tokens"),
    ("faults", "faults"),
    ("note", "note"),
)


@dataclass(frozen=True)
class Table:
    """Lines under columns."""

    columns: Sequence[tuple[str, str]]
    """Keys of the lines, and what stands above them."""
    lines: Sequence[Line]


def results(rows: Sequence[Row]) -> Table:
    """Returns a line a family (a difficulty, where there is one family), a line a scenario, and the averages over both."""
    played = episodes(rows)
    lost = Counter((row["scenario"], row["family"]) for row in rows if row["row"] == "fault")
    families = {key: summarise(group) for key, group in grouped(played, lambda r: (r["scenario"], r["family"])).items()}
    scenarios = {name: summarise(group) for name, group in grouped(played, lambda r: r["scenario"]).items()}
    lines = [] if len(families) > 1 else _by_difficulty(played)
    lines += [_line(scenario, family, s, lost[scenario, family]) for (scenario, family), s in families.items()]
    if len(scenarios) > 1:
        lost_in = {name: sum(n for (scenario, _), n in lost.items() if scenario == name) for name in scenarios}
        lines += [_line(name, "all", s, lost_in[name]) for name, s in scenarios.items()]
    if len(families) > 1:
        lines.append(_average("mean of families", list(families.values())))
    if len(scenarios) > 1:
        lines.append(_average("mean of scenarios", list(scenarios.values())))
    notes = {f.name: f.note for name in {row["suite"] for row in played} if name in suites for f in suites[name]}
    lines = [{**line, "note": notes.get(line["family"], "")} for line in lines]
    return Table(_used(COLUMNS, lines), lines)


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
    heads = ("runs", "tasks", "difference", "95 %", "better", "worse", "p (sign test)")
    return Table([(head, head) for head in heads], lines) if lines else None


def _line(scenario: str, family: str, s: Summary, faults: int) -> Line:
    return {
        "scenario": scenario,
        "family": family,
        "tasks": str(s.tasks) if s.attempts == 1 else f"{s.tasks} × {s.attempts}",
        "success": f"{s.success:.3f}",
        "interval": f"{s.interval.low:.2f}–{s.interval.high:.2f}",
        "score": f"{s.score:.3f}",
        "pass": ", ".join(f"@{k} {value:.3f}" for k, value in s.pass_at.items() if k in (1, len(s.pass_at)) and s.attempts > 1),
        "any": f"{s.any_score:.3f}" if s.attempts > 1 else "",
        "turns": f"{s.turns:.1f}",
        "invalid": f"{s.invalid:.3f}",
        "truncated": f"{s.truncated:.3f}",
        "tokens": f"{s.prompt_tokens + s.completion_tokens:,.0f}" if s.prompt_tokens + s.completion_tokens else "",
        "faults": str(faults) if faults else "",
    }


def _by_difficulty(played: Sequence[Row]) -> list[Line]:
    """Returns a line a difficulty of a single family, if it has several."""
    levels = sorted(grouped(played, lambda r: r["difficulty"]).items())
    return (
        [_line(f"difficulty {level}", group[0]["family"], summarise(group), 0) for level, group in levels]
        if len(levels) > 1
        else []
    )


def _average(name: str, summaries: Sequence[Summary]) -> Line:
    means = {key: f"{fmean(getattr(s, key) for s in summaries):.3f}" for key in ("success", "score", "invalid", "truncated")}
    return {"scenario": "", "family": name, **means}


def _used(columns: Sequence[tuple[str, str]], lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Leaves out columns in which nothing stands."""
    return [(key, head) for key, head in columns if any(line.get(key) for line in lines)]


def _paired(name: str, p: Pairing) -> Line:
    interval = f"{p.interval.low:+.2f} to {p.interval.high:+.2f}"
    values = (name, str(p.tasks), f"{p.difference:+.3f}", interval, str(p.better), str(p.worse), f"{p.p:.3f}")
    return dict(zip(("runs", "tasks", "difference", "95 %", "better", "worse", "p (sign test)"), values, strict=True))
