"""Compares debate, self-consistency and a single agent, with any OpenAI-compatible server.

    export OPENAI_BASE_URL=http://localhost:8000/v1
    python benchmarks/debate.py MODEL --debaters 3 --rounds 2 --episodes 200

Every method plays the same test tasks of ``agentgym/Debate-v1``: arithmetic and multi-hop
questions. Every answer is a separate conversation. Each method has a folder under ``--work``, so
the same command resumes after an interruption. A task on which the server fails is played again. If
it still fails, it is left out and counted as missing. The script writes the table.
"""

import re
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import typer

from agentgym_envs.envs.debate.tasks import tasks
from agentgym_envs.evaluate.calls import AgentCaller
from agentgym_envs.evaluate.metrics import wilson
from agentgym_envs.evaluate.record import EpisodeRow, RunRecord
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.multi.make import make_game
from agentgym_envs.multi.players import MODEL
from agentgym_envs.tasks import matching, spread
from agentgym_envs.tournament.competitor import competitors
from agentgym_envs.tournament.loop import EventLoopThread
from agentgym_envs.tournament.players import read
from agentgym_envs.tournament.schedule import PlannedGame, TournamentRunner

DEBATE = "agentgym/Debate-v1"
LIMIT = 3600.0  # seconds that a reply may take, with all retries
KINDS = {"arithmetic": "arithmetic*", "multi-hop": "hop*"}


class Method(NamedTuple):
    """A line of the table."""

    name: str
    sees: str
    """Passages of a multi-hop question that each debater sees."""
    kwargs: dict[str, Any]


def methods(debaters: int, rounds: int) -> list[Method]:
    """Returns the methods to compare."""
    vote = {"debaters": debaters, "rounds": 1}
    discussion = {"debaters": debaters, "rounds": rounds}
    return [
        Method("single agent", "all", {"debaters": 1, "rounds": 1, "shared": True}),
        Method(f"self-consistency of {debaters}", "all", {**vote, "shared": True}),
        Method(f"debate of {debaters}, {rounds} rounds", "all", {**discussion, "shared": True}),
        Method(f"vote of {debaters} without discussion", "own", vote),
        Method(f"debate of {debaters}, {rounds} rounds", "own", discussion),
    ]


def play(
    method: Method, model: str, task_ids: Sequence[str], folder: Path, concurrency: int
) -> tuple[list[EpisodeRow], int]:
    """Plays the tasks that the folder lacks; returns the games and the number of missing ones."""
    settings = RunSettings(
        target=DEBATE, split="test", agent="debate", model=model, format=None, kwargs=method.kwargs
    )
    with ExitStack() as stack:
        loop = stack.enter_context(closing(EventLoopThread()))
        entered, game = read(MODEL + model), make_game(DEBATE, **method.kwargs)
        rivals = competitors(entered, game, loop, AgentCaller(LIMIT), connections=concurrency)
        for rival in rivals.values():
            stack.callback(rival.close)
        (name,) = rivals  # of the first seat and of the others
        contests = [PlannedGame(i, tasks().difficulty(i), (name, name), True) for i in task_ids]
        record = stack.enter_context(closing(RunRecord(folder, settings)))
        held = TournamentRunner(
            DEBATE, method.kwargs, tasks(), rivals, loop, settings.key, record, concurrency
        )
        held.run(contests)
        return held.rows(contests), len(held.missing(contests))


def cell(rows: Sequence[EpisodeRow], missing: int) -> str:
    """Returns success with its interval over tasks, and the mean number of calls per task."""
    if not rows:
        return f"none, {missing} missing"
    low, high = wilson(sum(row["success"] for row in rows), len(rows))
    share, calls = fmean(row["success"] for row in rows), fmean(len(row["turns"]) for row in rows)
    return f"{share:.2f} ({low:.2f}–{high:.2f}), {calls:g} calls" + (
        f", {missing} missing" if missing else ""
    )


def main(
    model: str,
    debaters: int = 3,
    rounds: int = 2,
    episodes: int = 200,
    concurrency: int = 8,
    work: Path = Path("runs/debate"),
    result: Path = Path(__file__).parent / "results" / "debate.md",
) -> None:
    """Plays ``--episodes`` tasks of each kind by each method and writes the table."""
    command = (
        f"`python benchmarks/debate.py {model} --debaters {debaters} --rounds {rounds} --episodes"
        f" {episodes}`"
    )
    lines = [
        "# Debate, self-consistency and a single agent",
        "",
        command,
        "",
        "A cell has the success with Wilson's 95 % interval over tasks, and the calls per task.",
        "",
        f"| method | passages seen | {' | '.join(KINDS)} |",
    ]
    lines.append("|---" * (2 + len(KINDS)) + "|")
    for method in methods(debaters, rounds):
        cells = []
        for kind, pattern in KINDS.items():
            if kind == "arithmetic" and method.sees != "all":
                cells.append("as above")  # arithmetic has no passages
                continue
            ids = spread(matching(tasks().ids("test"), [pattern]), episodes)
            folder = work / re.sub(r"\W+", "-", f"{model} {method.name} {method.sees} {kind}")
            cells.append(cell(*play(method, model, ids, folder, concurrency)))
        lines.append(f"| {method.name} | {method.sees} | {' | '.join(cells)} |")
        result.write_text("\n".join(lines) + "\n", encoding="utf-8")
        typer.echo(lines[-1])


if __name__ == "__main__":
    typer.run(main)
