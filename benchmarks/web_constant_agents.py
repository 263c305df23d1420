"""Success of answers that ignore the task, on all tasks of ``agentgym/WebSites-v1``.

    python benchmarks/web_constant_agents.py

These agents answer without another action, so only answers can solve a task. Some agents know the
text of the page on which the oracle ends; the oracle plays without a browser.
Writes ``benchmarks/results/web_constant_agents.md``.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import typer
from rich.progress import track

from agentgym_envs.envs.web.embedded import LONGEST, solved
from agentgym_envs.envs.web.evaluators import EvaluationInput, evaluate
from agentgym_websites.host import Host, snapshot
from agentgym_websites.packed import FILL
from agentgym_websites.plain import PlainBrowser
from agentgym_websites.site import open_database
from agentgym_websites.tasks.load import load
from agentgym_websites.tasks.template import KINDS

RESULT = Path(__file__).parent / "results" / "web_constant_agents.md"
SEEDS = 20  # seeds of the random agent
Task = dict[str, Any]
HEAD = f"""# What answers solve that say nothing about the task

`python benchmarks/web_constant_agents.py`: all tasks of `agentgym/WebSites-v1`. \
Nothing is done before the answer, and no more than
{LONGEST} characters of it are allowed; the last column is without that limit.

| agent | {" | ".join(KINDS)} | all | of all | without the limit |
|---|{"---|" * len(KINDS)}---|---|---|"""


def scene(task: Task, tables: dict[str, Any]) -> EvaluationInput:
    """Returns an evaluator's view if the agent did nothing."""

    def query(locator: str) -> str:
        name, _, sql = locator.partition(":")
        return "\n".join(" | ".join(map(str, row)) for row in tables[name].execute(sql))

    return EvaluationInput(SimpleNamespace(url=task["start_url"]), nullcontext, query)


def asked_for(task: Task) -> str:
    """Returns the text that an answer must contain, or nothing if any answer will do."""
    checks = task["eval"]["reference_answers"] or {}
    return str(checks["answer"]["value"]) if checks else ""


def everything(tasks: Iterable[Task]) -> str:
    """Returns one answer with the required texts of all tasks."""
    return " ".join(sorted({asked_for(task) for task in tasks}))


def packed(tasks: Iterable[Task]) -> str:
    """Returns the answer of allowed length that solves the most tasks, by dynamic programming."""
    best: list[tuple[int, list[str]]] = [(0, [])] * (LONGEST + 2)
    for text, count in sorted(Counter(filter(None, map(asked_for, tasks))).items()):
        for room in range(LONGEST + 1, len(text), -1):
            smaller = best[room - len(text) - 1]
            best[room] = max(
                best[room], (smaller[0] + count, [*smaller[1], text]), key=lambda choice: choice[0]
            )
    return " ".join(best[LONGEST + 1][1])


def last_pages(tasks: Iterable[Task]) -> dict[str, str]:
    """Returns the text of the page on which the oracle answers, by task: a line per element."""
    host, texts = Host(), dict[str, str]()
    for task in track(list(tasks), description="plans"):
        host.restore()
        browser = PlainBrowser(host)
        browser.play(task["start_url"], task["oracle"])
        shown = (line.name for line in browser.shown() if line.role == "StaticText")
        texts[task["name"]] = "\n".join(shown)
    return texts


def row(
    name: str, tasks: list[Task], answers: list[Callable[[Task], str]], tables: dict[str, Any]
) -> str:
    """Plays an agent with each of its answers; returns its line of the table, with means."""
    kinds, free = Counter[str](), 0
    for answer in answers:
        for task in tasks:
            text, view = answer(task), scene(task, tables)
            kinds[task["kind"]] += solved(task, text, view)
            free += evaluate(task, text, view).success
    counts = [f"{kinds[kind] / len(answers):.4g}" for kind in KINDS]
    share = kinds.total() / len(answers) / len(tasks)
    return (
        f"| {name} | {' | '.join(counts)} | {kinds.total() / len(answers):.4g} | {share:.1%} |"
        f" {free / len(answers):.4g} |"
    )


def main() -> None:
    """Plays all agents and writes the result."""
    start, tasks = time.perf_counter(), load()
    tables = {name: open_database(snapshot(name)) for name in FILL}
    pool = [task["oracle"][-1][1] for task in tasks]
    pages = last_pages(task for task in tasks if "string_match" in task["eval"]["eval_types"])
    all_of_it, best = everything(tasks), packed(tasks)

    def drawn(seed: int) -> Callable[[Task], str]:
        rng = random.Random(seed)
        return lambda _: rng.choice(pool)

    agents: dict[str, list[Callable[[Task], str]]] = {
        "nothing: the empty answer": [lambda _: ""],
        f"a random one of the {len(pool):,} answers, mean of {SEEDS}": [
            drawn(seed) for seed in range(SEEDS)
        ],
        f"everything: all that any task asks for, {len(all_of_it):,} characters": [
            lambda _: all_of_it
        ],
        f"the most that {LONGEST} characters can hold: “{best}”": [lambda _: best],
        "the text of the oracle's last page": [lambda task: pages.get(task["name"], "")],
        f"the first {LONGEST} characters of it": [
            lambda task: pages.get(task["name"], "").strip()[:LONGEST]
        ],
        f"the last {LONGEST} characters of it": [
            lambda task: pages.get(task["name"], "").strip()[-LONGEST:]
        ],
        "always N/A": [lambda _: "N/A"],
    }
    lines = [row(name, tasks, answers, tables) for name, answers in agents.items()]
    counts = Counter(task["kind"] for task in tasks)
    total = f"| tasks | {' | '.join(str(counts[kind]) for kind in KINDS)} | {len(tasks):,} | | |"
    shortest = min(len(text) for text in pages.values())
    note = (
        f"The shortest of the {len(pages)} last pages has {shortest} characters. Took"
        f" {time.perf_counter() - start:.0f} s."
    )
    RESULT.write_text("\n".join([HEAD, *lines, total, "", note]) + "\n", encoding="utf-8")
    typer.echo(RESULT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
