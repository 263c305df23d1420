"""The tables of a run as data: families, scenarios and averages.

``rich`` and the report draw them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from agentgym_envs.errors import escaped
from agentgym_envs.evaluate import left_out
from agentgym_envs.evaluate.metrics import (
    Pairing,
    Summary,
    by_task,
    compare,
    cut_replies,
    grouped,
    mean_interval,
    summarise,
    unscored,
    without_refused,
)
from agentgym_envs.evaluate.paper import NOTE, PUBLISHED
from agentgym_envs.evaluate.prompt_limit import warning
from agentgym_envs.evaluate.record import Row, episodes
from agentgym_envs.evaluate.suites import suites

Line = dict[str, Any]
COLUMNS = (  # the most important first: a narrow terminal shows those
    ("name", ""),
    ("tasks", "tasks"),
    ("success", "success"),
    ("low", "95 %"),
    ("score", "score"),
    ("pass", "Pass@k"),
    ("all", "Pass^k"),
    ("faults", "faults"),
    ("turns", "turns"),
    ("invalid", "invalid"),
    ("truncated", "truncated"),
    ("refused", "refused"),
    ("cut", "cut replies"),
    ("tokens", "tokens"),
    ("any", "score > 0"),
)
IN_PAGE = {"name": [("scenario", "scenario"), ("family", "family")], "low": [("interval", "95 %")]}
PAIRED = ("runs", "tasks", "difference", "95 %", "better", "worse", "p")  # of the sign test
LEGEND = (
    "success and score: means over tasks, of a task over its attempts. 95 %: the confidence"
    " interval of the success, over tasks. score: the paper's Avg@k. Pass@k: unbiased, one"
    " of k attempts succeeds. Pass^k: unbiased, all of k attempts succeed. score > 0: the paper's"
    " Pass@k, tasks with an attempt that scored. turns, tokens: means over episodes."
    " invalid: share of all turns whose action was not understood. truncated: share of episodes"
    " that ran out of turns or context. refused: share of episodes that the model or a filter"
    " refused; they count as they stand. cut replies: share of replies that reached --max-tokens."
    " A mean of families or scenarios counts each the same. Faults are never scored."
)
PARTLY = (
    "In brackets: how many families of the scenario have results. Do not compare such a figure with"
    " published ones."
)
COMMONEST = 3  # number of errors in a table
LONG = 140  # characters of an error


@dataclass(frozen=True)
class Table:
    """Lines under columns."""

    columns: Sequence[tuple[str, str]]
    """Keys of the lines, and what stands above them."""
    lines: Sequence[Line]
    """Numbers by column; columns without a value are left out."""
    notes: Sequence[str] = ()
    """Explanations of the numbers for a reader."""


def results(rows: Sequence[Row]) -> Table:
    """Returns one line per family and per scenario, and their averages.

    With a single family there is one line per difficulty. A family with only faults has a line too.
    ``kind`` is the kind of a line. ``name`` is its name in the terminal, ``scenario`` and
    ``family`` in the page. The page groups the lines of several runs by kind, scenario and family
    (or ``group``).
    """
    ordered = sorted([*episodes(rows), *(row for row in rows if row["row"] == "fault")], key=_place)
    families = {
        key: _group(group)
        for key, group in grouped(ordered, lambda r: (r["scenario"], r["family"])).items()
    }
    scenarios = {
        name: _group(group) for name, group in grouped(ordered, lambda r: r["scenario"]).items()
    }
    lines = [] if len(families) > 1 else _by_difficulty(episodes(rows))
    lines += [
        _line("family", name, scenario, name, *found)
        for (scenario, name), found in families.items()
    ]
    if len(scenarios) > 1:
        lines += [
            _line("scenario", f"{part} of {name}", name, part, *found) | {"group": f"all of {name}"}
            for name, found in scenarios.items()
            for part in [left_out.fraction(ordered, name) or "all"]
        ]
    listed = left_out.families(ordered)
    if len(families) > 1:
        lines += _average("families", [s for s, _ in families.values()], len(listed))
    if len(scenarios) > 1:
        number = len({f.scenario for f in listed})
        lines += _average("scenarios", [s for s, _ in scenarios.values()], number)
    columns = [(key, head) for key, head in COLUMNS if any(key in line for line in lines)]
    played = episodes(rows)
    about = (_fewer, _unscored, _too_long, _refused, _cut_replies, _cut_prompts)
    notes = [note for tell in about for note in tell(played)]
    return Table(columns, lines, [*notes, *errors(rows)])


def errors(rows: Sequence[Row]) -> list[str]:
    """Returns the commonest errors of a run's faults, and how often each was met."""
    faults = [row for row in rows if row["row"] == "fault"]
    met = Counter(
        f"{row['fault']}: {' '.join(escaped(str(row.get('error', ''))).split())}" for row in faults
    )
    most = [
        f"{counted(n, 'fault')}, {text if len(text) <= LONG else text[:LONG] + '…'}"
        for text, n in met.most_common(COMMONEST)
    ]
    rest = len(faults) - sum(n for _, n in met.most_common(COMMONEST))
    return [*most, *([f"{counted(rest, 'fault')} with other errors"] if rest else [])]


def notes(rows: Sequence[Row]) -> list[str]:
    """Returns what a reader of the table must know of its families."""
    played = {(row["suite"], row["family"]) for row in rows}
    noted = [
        (f.note, f.name)
        for suite in suites
        for f in suites[suite]
        if f.note and (suite, f.name) in played
    ]
    return [
        f"{', '.join(name for n, name in noted if n == note)}: {note}"
        for note in dict.fromkeys(note for note, _ in noted)
    ]


def published(runs: Sequence[tuple[str, Sequence[Row]]]) -> Table | None:
    """Returns the success of runs by scenario beside published figures, in percent.

    None if no paper has a figure for a scenario of the runs.
    """
    played = {run: episodes(rows) for run, rows in runs}
    found = {run: grouped(rows, lambda r: r["scenario"]) for run, rows in played.items()}
    names = [
        name
        for name in dict.fromkeys(name for row in PUBLISHED for name in row.figures)
        if any(name in scenarios for scenarios in found.values())
    ]
    if not names:
        return None
    here = [
        {
            "who": run + left_out.suffix(played[run]),
            **{
                name: f"{100 * summarise(scenarios[name]).success:.1f}"
                + _brackets(scenarios[name], name)
                for name in names
                if name in scenarios
            },
        }
        for run, scenarios in found.items()
    ]
    there = [
        {"who": row.who, **figures, "source": row.source}
        for row in PUBLISHED
        if (figures := {n: f"{row.figures[n]:.1f}" for n in names if n in row.figures})
    ]
    columns = [("who", ""), *[(name, name) for name in names], ("source", "source")]
    partly = any(_brackets(rows, name) for one in found.values() for name, rows in one.items())
    return Table(columns, [*here, *there], [NOTE, *([PARTLY] if partly else [])])


def _brackets(rows: Sequence[Row], scenario: str) -> str:
    """Returns how many families of a scenario have results, in brackets; empty if all."""
    part = left_out.fraction(rows, scenario)
    return f" ({part})" if part else ""


def pairings(runs: Sequence[tuple[str, Sequence[Row]]]) -> Table | None:
    """Compares each further run with the first, on the tasks that both played.

    None for fewer than two runs.
    """
    if len(runs) < 2:
        return None
    (base, first), *others = [(name, episodes(rows)) for name, rows in runs]
    pairs = [(name, compare(first, rows)) for name, rows in others]
    lines = [_paired(f"{name} − {base}", pairing) for name, pairing in pairs if pairing]
    apart = [f"{name} and {base} have no task in common" for name, pairing in pairs if not pairing]
    return Table([(head, head) for head in PAIRED], lines, apart)


def _group(rows: Sequence[Row]) -> tuple[Summary | None, int]:
    """Returns the summary of a group's episodes, if it has any, and its faults."""
    played = [row for row in rows if row["row"] == "episode"]
    return summarise(played) if played else None, len(rows) - len(played)


def _line(kind: str, name: str, scenario: str, family: str, s: Summary | None, faults: int) -> Line:
    line: Line = {"kind": kind, "name": name, "scenario": scenario, "family": family, "tasks": "0"}
    if s:
        line |= {
            "tasks": _tasks(s),
            "success": s.success,
            "low": s.interval.low,
            "high": s.interval.high,
            "score": s.score,
        }
        line |= {"turns": s.turns, "invalid": s.invalid, "truncated": s.truncated}
        line |= {key: share for key in ("refused", "cut") if (share := getattr(s, key))}
        line |= (
            {
                "pass": s.pass_at[s.attempts],
                "all": s.pass_all[s.attempts],
                "k": s.attempts,
                "any": s.any_score,
            }
            if s.attempts > 1
            else {}
        )
        line |= {"tokens": tokens} if (tokens := s.prompt_tokens + s.completion_tokens) else {}
    return line | ({"faults": faults} if faults else {})


def _tasks(s: Summary) -> str:
    """Returns the number of tasks, and of attempts if several: 10, 10×2, 10×1–2."""
    if s.attempts == 1:
        return str(s.tasks)
    return (
        f"{s.tasks}×{s.attempts}"
        if s.fewest == s.attempts
        else f"{s.tasks}×{s.fewest}–{s.attempts}"
    )


def _fewer(played: Sequence[Row]) -> list[str]:
    """Tells that attempts are missing."""
    attempts = [len(rows) for rows in by_task(played).values()]
    fewer = sum(n < max(attempts) for n in attempts)
    warning = (
        f"{fewer} of {len(attempts)} tasks have fewer attempts; Pass@k, Pass^k and score > 0 are"
        " of those that have the most of their line"
    )
    return [warning] if fewer else []


def _unscored(played: Sequence[Row]) -> list[str]:
    """Tells that scores are no numbers."""
    n = sum(map(unscored, played))
    has, counts = ("has", "counts") if n == 1 else ("have", "count")
    return [f"{counted(n, 'episode')} {has} no finite score and {counts} as 0"] if n else []


def _too_long(played: Sequence[Row]) -> list[str]:
    """Tells how many episodes ended at the model's context."""
    ended = [row for row in played if row["end"] == "context"]
    if not ended:
        return []
    share = f"{100 * len(ended) / len(played):.0f} %"
    of = f"{len(ended)} of {counted(len(played), 'episode')} ({share})"
    early = sum(not row["turns"] for row in ended)
    remedy = f", {early} of them before the first turn (is --max-tokens too high?)" if early else ""
    return [f"{of} ended because the conversation was too long for the model{remedy}"]


def _refused(played: Sequence[Row]) -> list[str]:
    """Tells how many episodes were refused, and the figures without them."""
    n = sum(row["end"] == "refused" for row in played)
    if not n:
        return []
    left = without_refused(played)
    without = f"success {left[0]:.3f} and score {left[1]:.3f}" if left else "no episode is left"
    of = f"{n} of {counted(len(played), 'episode')} ({100 * n / len(played):.0f} %)"
    return [f"{of} refused by the model or a filter; without them, over all tasks: {without}"]


def _cut_replies(played: Sequence[Row]) -> list[str]:
    """Tells that replies reached the limit of tokens."""
    share = cut_replies(played)
    remedy = "reasoning counts; raise it"
    return [f"{100 * share:.0f} % of the replies reached --max-tokens ({remedy})"] if share else []


def _cut_prompts(played: Sequence[Row]) -> list[str]:
    """Tells that the server seems to cut prompts."""
    limits = [row["prompt_limit"] for row in played if row.get("prompt_limit")]
    return [f"{counted(len(limits), 'episode')}: {warning(max(limits))}"] if limits else []


def counted(n: int, what: str) -> str:
    """Returns a number with a noun.

    >>> counted(1, "fault"), counted(2, "fault")
    ('1 fault', '2 faults')
    """
    return f"{n} {what}{'' if n == 1 else 's'}"


def _place(row: Row) -> int:
    """Returns where the suite lists an episode's family."""
    return next(
        (n for n, f in enumerate(suites.get(row["suite"], ())) if f.name == row["family"]), 0
    )


def _by_difficulty(played: Sequence[Row]) -> list[Line]:
    """Returns a line a difficulty of a single family, if it has several."""
    levels = sorted(
        grouped(played, lambda r: (r["difficulty"], r["scenario"], r["family"])).items()
    )
    lines = [
        _line(
            "difficulty",
            f"difficulty {level}",
            scenario,
            f"{family}, difficulty {level}",
            *_group(group),
        )
        for (level, scenario, family), group in levels
    ]
    return lines if len(lines) > 1 else []


def _average(what: str, summaries: Sequence[Summary | None], listed: int) -> list[Line]:
    """Returns a line with the means of what has results, if anything has.

    ``listed``: the number in the suite.
    """
    there, whole = [s for s in summaries if s], max(len(summaries), listed)
    number = str(whole) if len(there) == whole else f"{len(there)} of {whole}"
    name = f"mean of {number} {what}"
    named = {"kind": "mean", "name": name, "scenario": "", "family": name, "group": what}
    return [{**named, **_means(there)}] if there else []


def _means(summaries: Sequence[Summary]) -> Line:
    """Returns the means of summaries; Pass@k and Pass^k at the largest k that all of them have."""
    averaged = ("success", "score", "invalid", "truncated")
    low, high = mean_interval([s.successes for s in summaries])
    line = {key: fmean(getattr(s, key) for s in summaries) for key in averaged}
    line |= {"low": low, "high": high}
    shares = {key: fmean(getattr(s, key) for s in summaries) for key in ("refused", "cut")}
    line |= {key: share for key, share in shares.items() if share}
    k = min(s.attempts for s in summaries)
    if k > 1:
        line |= {"pass": fmean(s.pass_at[k] for s in summaries), "k": k}
        line["all"] = fmean(s.pass_all[k] for s in summaries)
    if k > 1 and all(s.attempts == k for s in summaries):
        line["any"] = fmean(s.any_score for s in summaries)
    return line


def _paired(name: str, p: Pairing) -> Line:
    interval = f"{p.interval.low:+.2f} to {p.interval.high:+.2f}"
    values = (
        name,
        str(p.tasks),
        f"{p.difference:+.3f}",
        interval,
        str(p.better),
        str(p.worse),
        f"{p.p:.2g}",
    )
    return dict(zip(PAIRED, values, strict=True))
