"""The tables of a run as data: families, scenarios and averages.

``rich`` and the report draw them.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from agentgym_envs.errors import escaped
from agentgym_envs.evaluate import left_out, planned
from agentgym_envs.evaluate.grouping import parts
from agentgym_envs.evaluate.metrics import (
    MetricSummary,
    PairedRuns,
    by_task,
    compare,
    grouped,
    mean_interval,
    summarise,
    unscored,
    without_refused,
)
from agentgym_envs.evaluate.paper import NOTE, PUBLISHED
from agentgym_envs.evaluate.planned import PlanCoverage, coverage, without_lines
from agentgym_envs.evaluate.prompt_limit import warning
from agentgym_envs.evaluate.record import EpisodeRow, episodes
from agentgym_envs.evaluate.suites import suites

TableLine = dict[str, Any]
COLUMNS = (  # the most important first: a narrow terminal shows those
    ("name", ""),
    ("tasks", "tasks"),
    ("success", "success"),
    ("low", "95 %"),
    ("least", "bounds"),
    ("score", "score"),
    ("pass", "Pass@k"),
    ("all", "Pass^k"),
    ("unplayed", "not played"),
    ("failed", "failed"),
    ("faults", "faults"),
    ("turns", "turns"),
    ("invalid", "invalid"),
    ("truncated", "truncated"),
    ("refused", "refused"),
    ("cut", "cut replies"),
    ("tokens", "tokens"),
    ("any", "score > 0"),
)
IN_PAGE = {
    "name": [("scenario", "scenario"), ("family", "family")],
    "low": [("interval", "95 %")],
    "least": [("bounds", "bounds")],
}
PAIRED = ("runs", "tasks", "difference", "95 %", "better", "worse", "p")  # of the sign test
LEGEND = {  # of columns and kinds of lines, in the order of the columns
    "success": "success: mean over tasks, of a task over its attempts.",
    "low": "95 %: the confidence interval of the success, over tasks.",
    "least": "bounds: the success if all missing episodes fail, and if all are solved.",
    "score": "score: mean over tasks as the success; Avg@k of the AgentGym-RL paper.",
    "pass": "Pass@k: unbiased, one of k attempts succeeds.",
    "all": "Pass^k: unbiased, all of k attempts succeed.",
    "unplayed": "not played: missing episodes without a try.",
    "failed": "failed: missing episodes of which each try so far failed.",
    "faults": "faults: failed tries, which are never scored.",
    "turns": "turns: mean over episodes.",
    "invalid": "invalid: share of all turns whose action was not understood.",
    "truncated": "truncated: share of episodes that ran out of turns or context.",
    "refused": (
        "refused: share of episodes that the model or a filter refused; they count as they stand."
    ),
    "cut": "cut replies: share of replies that reached --max-tokens.",
    "tokens": "tokens: mean over episodes.",
    "any": "score > 0: share of tasks with an attempt that scored; Pass@k of that paper.",
    "mean": "A mean of families or scenarios counts each the same.",
}
PARTLY = (
    "In brackets: how many families of the scenario have results. Do not compare such a figure with"
    " published ones."
)
COMMONEST = 3  # number of errors in a table
LONG = 140  # characters of an error


@dataclass(frozen=True)
class ResultTable:
    """Lines under columns."""

    columns: Sequence[tuple[str, str]]
    """Keys of the lines, and what stands above them."""
    lines: Sequence[TableLine]
    """Numbers by column; columns without a value are left out."""
    notes: Sequence[str] = ()
    """Explanations of the numbers for a reader."""
    warning: str = ""
    """A warning before the numbers; empty for none."""

    def meanings(self, shown: Collection[str] | None = None) -> list[str]:
        """Returns the sentences of the legend.

        Args:
            shown: the keys of the columns that a reader sees; None for all.
        """
        keys = {key for key, _ in self.columns if shown is None or key in shown}
        keys |= {line.get("kind", "") for line in self.lines}
        return [text for key, text in LEGEND.items() if key in keys]


def in_order(sentences: Collection[str]) -> list[str]:
    """Returns sentences of the legend, each once, in the order of the columns."""
    return [text for text in LEGEND.values() if text in sentences]


def results(rows: Sequence[EpisodeRow]) -> ResultTable:
    """Returns one line per family and per scenario, and their averages.

    With a single family there are lines by kind of task and by difficulty. A family without an
    episode has a line too, if it has faults or missing episodes (see :mod:`.planned`).

    ``kind`` is the kind of a line. ``name`` is its name in the terminal, ``scenario`` and
    ``family`` in the page. The page groups the lines of several runs by kind, scenario and family
    (or ``group``).
    """
    ordered = sorted(
        [*episodes(rows), *(row for row in rows if row["row"] != "episode")], key=_place
    )
    families = {
        key: _group(group)
        for key, group in grouped(ordered, lambda r: (r["scenario"], r["family"])).items()
    }
    scenarios = {
        name: _group(group) for name, group in grouped(ordered, lambda r: r["scenario"]).items()
    }
    lines = [] if len(families) > 1 else _parts(ordered)
    lines += [
        _line("family", name, scenario, name, found) for (scenario, name), found in families.items()
    ]
    if len(scenarios) > 1:
        lines += [
            _line("scenario", f"{part} of {name}", name, part, found) | {"group": f"all of {name}"}
            for name, found in scenarios.items()
            for part in [left_out.fraction(ordered, name) or "all"]
        ]
    listed = left_out.families(ordered)
    if len(families) > 1:
        lines += _average("families", list(families.values()), len(listed))
    if len(scenarios) > 1:
        number = len({f.scenario for f in listed})
        lines += _average("scenarios", list(scenarios.values()), number)
    columns = [(key, head) for key, head in COLUMNS if any(key in line for line in lines)]
    played = episodes(rows)
    about = (_fewer, _unscored, _too_long, _refused, _cut_replies, _cut_prompts)
    notes = [note for tell in about for note in tell(played)]
    return ResultTable(columns, lines, [*notes, *errors(rows)], planned.warning(coverage(ordered)))


def errors(rows: Sequence[EpisodeRow]) -> list[str]:
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


def notes(rows: Sequence[EpisodeRow]) -> list[str]:
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


def published(runs: Sequence[tuple[str, Sequence[EpisodeRow]]]) -> ResultTable | None:
    """Returns the success of runs by scenario beside published figures.

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
                name: f"{summarise(scenarios[name]).success:.3f}" + _brackets(scenarios[name], name)
                for name in names
                if name in scenarios
            },
        }
        for run, scenarios in found.items()
    ]
    there = [
        {"who": row.who, **figures, "source": row.source}
        for row in PUBLISHED
        if (figures := {n: f"{row.figures[n] / 100:.3f}" for n in names if n in row.figures})
    ]
    columns = [("who", ""), *[(name, name) for name in names], ("source", "source")]
    partly = any(_brackets(rows, name) for one in found.values() for name, rows in one.items())
    notes = [NOTE, *([PARTLY] if partly else [])]
    return ResultTable(columns, [*here, *there], notes, _incomplete(runs))


def _brackets(rows: Sequence[EpisodeRow], scenario: str) -> str:
    """Returns how many families of a scenario have results, in brackets; empty if all."""
    part = left_out.fraction(rows, scenario)
    return f" ({part})" if part else ""


def pairings(runs: Sequence[tuple[str, Sequence[EpisodeRow]]]) -> ResultTable | None:
    """Compares each further run with the first, on the tasks that both played.

    None for fewer than two runs.
    """
    if len(runs) < 2:
        return None
    (base, first), *others = [(name, episodes(rows)) for name, rows in runs]
    pairs = [(name, compare(first, rows)) for name, rows in others]
    lines = [_paired(f"{name} − {base}", pairing) for name, pairing in pairs if pairing]
    apart = [f"{name} and {base} have no task in common" for name, pairing in pairs if not pairing]
    return ResultTable([(head, head) for head in PAIRED], lines, apart, _incomplete(runs))


def _incomplete(runs: Sequence[tuple[str, Sequence[EpisodeRow]]]) -> str:
    """Names the runs of a comparison that lack episodes."""
    found = [(name, coverage([*episodes(rows), *without_lines(rows)])) for name, rows in runs]
    parts = [f"{name} ({c.finished:,} of {c.episodes:,} episodes)" for name, c in found if c]
    text = "incomplete: figures are of the finished episodes, which are the short ones:"
    return f"{text} {', '.join(parts)}" if parts else ""


class LineContent(NamedTuple):
    """The content of a line."""

    summary: MetricSummary | None
    """Of its episodes; None without any."""
    faults: int
    coverage: PlanCoverage | None
    """None if no episode is missing."""


def _group(rows: Sequence[EpisodeRow]) -> LineContent:
    played = [row for row in rows if row["row"] == "episode"]
    faults = sum(row["row"] == "fault" for row in rows)
    return LineContent(summarise(played) if played else None, faults, coverage(rows))


def _line(kind: str, name: str, scenario: str, family: str, group: LineContent) -> TableLine:
    line: TableLine = {
        "kind": kind,
        "name": name,
        "scenario": scenario,
        "family": family,
        "tasks": "0",
    }
    if s := group.summary:
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
    if c := group.coverage:
        whole = f"{c.tasks}×{c.attempts}" if c.attempts > 1 else str(c.tasks)
        line |= {"tasks": f"{line['tasks']} of {whole}", "least": c.least, "most": c.most}
        line |= {key: n for key in ("unplayed", "failed") if (n := getattr(c, key))}
    return line | ({"faults": group.faults} if group.faults else {})


def _tasks(s: MetricSummary) -> str:
    """Returns the number of tasks, and of attempts if several: 10, 10×2, 10×1–2."""
    if s.attempts == 1:
        return str(s.tasks)
    return (
        f"{s.tasks}×{s.attempts}"
        if s.fewest == s.attempts
        else f"{s.tasks}×{s.fewest}–{s.attempts}"
    )


def _fewer(played: Sequence[EpisodeRow]) -> list[str]:
    """Tells that attempts are missing."""
    attempts = [len(rows) for rows in by_task(played).values()]
    fewer = sum(n < max(attempts) for n in attempts)
    warning = (
        f"{fewer} of {len(attempts)} tasks have fewer attempts; Pass@k, Pass^k and score > 0 are"
        " of those that have the most of their line"
    )
    return [warning] if fewer else []


def _unscored(played: Sequence[EpisodeRow]) -> list[str]:
    """Tells that scores are no numbers."""
    n = sum(map(unscored, played))
    has, counts = ("has", "counts") if n == 1 else ("have", "count")
    return [f"{counted(n, 'episode')} {has} no finite score and {counts} as 0"] if n else []


def _too_long(played: Sequence[EpisodeRow]) -> list[str]:
    """Tells how many episodes ended at the model's context."""
    ended = [row for row in played if row["end"] == "context"]
    if not ended:
        return []
    of = f"{len(ended)} of {counted(len(played), 'episode')}"
    early = sum(not row["turns"] for row in ended)
    remedy = f", {early} of them before the first turn (is --max-tokens too high?)" if early else ""
    return [f"{of} ended because the conversation was too long for the model{remedy}"]


def _refused(played: Sequence[EpisodeRow]) -> list[str]:
    """Tells how many episodes were refused, and the figures without them."""
    n = sum(row["end"] == "refused" for row in played)
    if not n:
        return []
    left = without_refused(played)
    without = f"success {left[0]:.3f} and score {left[1]:.3f}" if left else "no episode is left"
    of = f"{n} of {counted(len(played), 'episode')}"
    return [f"{of} refused by the model or a filter; without them, over all tasks: {without}"]


def _cut_replies(played: Sequence[EpisodeRow]) -> list[str]:
    """Tells that replies reached the limit of tokens."""
    calls = [call for row in played for call in row.get("calls", ())]
    cut = sum(call.get("finish") == "length" for call in calls)
    of = f"{cut} of {counted(len(calls), 'reply', 'replies')}"
    return [f"{of} reached --max-tokens (reasoning counts; raise it)"] if cut else []


def _cut_prompts(played: Sequence[EpisodeRow]) -> list[str]:
    """Tells that the server seems to cut prompts."""
    limits = [row["prompt_limit"] for row in played if row.get("prompt_limit")]
    return [f"{counted(len(limits), 'episode')}: {warning(max(limits))}"] if limits else []


def counted(n: int, what: str, plural: str = "") -> str:
    """Returns a number with a noun.

    >>> counted(1, "fault"), counted(2, "fault"), counted(2, "reply", "replies")
    ('1 fault', '2 faults', '2 replies')
    """
    return f"{n} {what if n == 1 else plural or what + 's'}"


def _place(row: EpisodeRow) -> int:
    """Returns where the suite lists an episode's family."""
    return next(
        (n for n, f in enumerate(suites.get(row["suite"], ())) if f.name == row["family"]), 0
    )


def _parts(rows: Sequence[EpisodeRow]) -> list[TableLine]:
    """Returns lines by kind of task and by difficulty of a single family."""
    return [
        _line(kind, name, group[0]["scenario"], f"{group[0]['family']}, {name}", _group(group))
        for kind, name, group in parts(rows)
    ]


def _average(what: str, groups: Sequence[LineContent], listed: int) -> list[TableLine]:
    """Returns a line with the means of what has results, if anything has.

    ``listed``: the number in the suite.
    """
    there = [group.summary for group in groups if group.summary]
    whole = max(len(groups), listed)
    number = str(whole) if len(there) == whole else f"{len(there)} of {whole}"
    name = f"mean of {number} {what}"
    named = {"kind": "mean", "name": name, "scenario": "", "family": name, "group": what}
    return [{**named, **_means(there), **_bounds(groups)}] if there else []


def _bounds(groups: Sequence[LineContent]) -> TableLine:
    """Returns the means of the bounds, if an episode is missing."""
    if not any(group.coverage for group in groups):
        return {}
    found = [(c.least, c.most) for group in groups if (c := group.coverage)]
    whole = [s.success for group in groups if (s := group.summary) and not group.coverage]
    least, most = (fmean([*ends, *whole]) for ends in zip(*found, strict=True))
    return {"least": least, "most": most}


def _means(summaries: Sequence[MetricSummary]) -> TableLine:
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


def _paired(name: str, p: PairedRuns) -> TableLine:
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
