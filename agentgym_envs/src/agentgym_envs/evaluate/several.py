"""Several models and targets in one command: each pair in its own folder, then one table."""

from collections.abc import Sequence
from typing import NamedTuple

from agentgym_envs.errors import AgentGymError, MissingExtra, escaped
from agentgym_envs.evaluate import left_out, tables
from agentgym_envs.evaluate.display import show, show_legend
from agentgym_envs.evaluate.job import EvalJob, NothingToPlay, prepared
from agentgym_envs.evaluate.options import EvalOptions
from agentgym_envs.evaluate.play_job import INTERRUPTED, JobOutcome, carry_out
from agentgym_envs.evaluate.tables import ResultTable, TableLine
from agentgym_envs.terminal import CommandConsole

MARKED = (
    "*: episodes are missing; the figure is of the finished ones, which are the short ones. In [ ]"
    " is the success if all missing episodes fail, and if all are solved"
)
out = CommandConsole(markup=False, emoji=False, highlight=False)
err = CommandConsole(stderr=True, markup=False, emoji=False, highlight=False)


class PlayerOnTarget(NamedTuple):
    """A player and a target, and how to play them."""

    player: str
    target: str
    job: EvalJob | None
    """None if the target cannot be played on this machine."""


def prepared_all(given: Sequence[EvalOptions]) -> list[PlayerOnTarget]:
    """Checks all options and plans the episodes of each pair.

    A pair that lacks an extra does not stop the others.

    Raises:
        AgentGymError: an option is invalid, or no pair can be played.
    """
    pairs: list[PlayerOnTarget] = []
    errors: list[tuple[PlayerOnTarget, AgentGymError]] = []
    for one in given:
        player = one.model or one.agent
        try:
            pairs.append(PlayerOnTarget(player, one.target, prepared(one)))
        except (MissingExtra, NothingToPlay) as error:
            pairs.append(PlayerOnTarget(player, one.target, None))
            errors.append((pairs[-1], error))
    if len(errors) == len(pairs):
        raise errors[0][1]
    for pair, why in errors:
        _complain(pair, why)
    return pairs


def carry_out_all(pairs: Sequence[PlayerOnTarget]) -> bool:
    """Plays the pairs one after the other; returns whether all episodes are there.

    A pair that fails does not stop the others, except the only one.

    Raises:
        AgentGymError: the only pair failed.
    """
    if len(pairs) == 1 and (job := pairs[0].job):
        alone = carry_out(job)
        show_legend(out, alone.legend)
        return not alone.left and not job.skipped
    done: list[tuple[PlayerOnTarget, JobOutcome | None]] = []
    for pair in pairs:
        outcome = _carried_out(pair)
        done.append((pair, outcome))
        if outcome and outcome.stopped == INTERRUPTED:
            done += [(left, JobOutcome([], 1, INTERRUPTED)) for left in pairs[len(done) :]]
            break
    show(out, table(done), "success")
    meanings = {text for _, outcome in done if outcome for text in outcome.legend}
    show_legend(out, tables.in_order(meanings))
    return all(
        pair.job and not pair.job.skipped and outcome and not outcome.left for pair, outcome in done
    )


def table(done: Sequence[tuple[PlayerOnTarget, JobOutcome | None]]) -> ResultTable:
    """Returns a row per model and a column per target, and per family of a suite."""
    lines: dict[str, TableLine] = {}
    columns = {"player": ""}
    for pair, outcome in done:
        line = lines.setdefault(pair.player, {"player": pair.player})
        cells = _cells(pair.target, outcome)
        columns |= {key: head for key, head, _ in cells}
        line |= {key: cell for key, _, cell in cells}
    marked = any("*" in str(cell) for line in lines.values() for cell in line.values())
    notes = [MARKED] if marked else []
    return ResultTable(list(columns.items()), list(lines.values()), notes)


def _carried_out(pair: PlayerOnTarget) -> JobOutcome | None:
    """Plays a pair; returns None after printing the error that ended it."""
    try:
        return carry_out(pair.job) if pair.job else None
    except AgentGymError as error:
        _complain(pair, error)
        return None


def _complain(pair: PlayerOnTarget, error: AgentGymError) -> None:
    text = f"error: {pair.player} on {pair.target}: {escaped(str(error))}"
    err.print(text, style="red", soft_wrap=True)


def _cells(target: str, outcome: JobOutcome | None) -> list[tuple[str, str, str]]:
    """Returns key, head and text of a target's cells: the whole, and each family of a suite."""
    if outcome is None:
        return [(f"of {target}", target, "failed")]
    found = tables.results(outcome.rows).lines
    families = [line for line in found if line["kind"] == "family"]
    means = [line for line in found if line.get("group") == "families"]
    of = left_out.suffix(outcome.rows)
    whole = [(f"of {target}", target, _cell(line) + of) for line in means or families]
    parts = [(f"of {target}: {f['name']}", f["name"], _cell(f)) for f in families]
    return (whole or [(f"of {target}", target, "none*")]) + (parts if means else [])


def _cell(line: TableLine) -> str:
    """Returns a line's success with its interval, and with its bounds if episodes are missing."""
    bounds = f"* [{line['least']:.2f}–{line['most']:.2f}]" if "least" in line else ""
    if "success" not in line:
        return f"none{bounds}"
    interval = f" ({line['low']:.2f}–{line['high']:.2f})" if "low" in line else ""
    return f"{line['success']:.3f}{interval}{bounds}"
