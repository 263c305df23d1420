"""Checks that replays of ScienceWorld are identical, independent of other episodes.

    python benchmarks/scienceworld_determinism.py

Each variation of each task is recorded with random valid actions, which are listed at every step.
The same actions are then replayed twice, without listing:

- in the same environment after other episodes, in alternation with a second environment;
- in a fresh environment.

Writes ``benchmarks/results/scienceworld_determinism.md``.
"""

import json
import random
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gymnasium
import long_tables
import typer

import agentgym_envs  # noqa: F401  registers the ids
from agentgym_envs.envs.scienceworld.tasks import TABLE

RESULT = Path(__file__).parent / "results" / "scienceworld_determinism.md"


def world() -> Any:
    """Returns an environment without wrappers."""
    return gymnasium.make("agentgym/ScienceWorld-v2").unwrapped


def record(env: Any, task_id: str, steps: int) -> tuple[list[str], list[str]]:
    """Returns the transcript and the actions of random play, without ``focus on``.

    A wrong focus ends the episode.
    """
    rng = random.Random(task_id)
    shown, actions = [json.dumps(env.reset(options={"task_id": task_id}))], []
    for _ in range(steps):
        actions.append(rng.choice([a for a in env.actions() if not a.startswith("focus on")]))
        answer = env.step(actions[-1])
        shown.append(json.dumps(answer))
        if answer[2]:
            break
    return shown, actions


def replay(env: Any, task_id: str, actions: list[str], beside: Any = None) -> list[str]:
    """Returns the transcript of the same actions; steps a second environment in between."""
    shown = [json.dumps(env.reset(options={"task_id": task_id}))]
    if beside:
        beside.reset(options={"task_id": "boil-1"})
    for action in actions:
        shown.append(json.dumps(env.step(action)))
        if beside:
            beside.step("look around")
    return shown


def task_row(job: tuple[str, list[int], int]) -> tuple[str, int, int, int, int]:
    """Returns the task, its episodes and steps, and the diverged episodes of each replay."""
    name, variations, steps = job
    env, beside = world(), world()
    total = after = anew = 0
    for variation in variations:
        task_id = f"{name}-{variation}"
        shown, actions = record(env, task_id, steps)
        total += len(actions)
        after += replay(env, task_id, actions, beside) != shown
        fresh = world()
        anew += replay(fresh, task_id, actions) != shown
        fresh.close()
    env.close()
    beside.close()
    return name, len(variations), total, after, anew


def main(variations: int = 5, steps: int = 100, workers: int = 2) -> None:
    """Measures every task and writes the table."""
    jobs = [
        (row.name, [i * row.variations // variations for i in range(variations)], steps)
        for row in TABLE
    ]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        rows = list(pool.map(task_row, jobs))
    lines = [
        "# ScienceWorld: identical replays",
        "",
        (
            f"`python benchmarks/scienceworld_determinism.py --variations {variations} --steps"
            f" {steps}`"
        ),
        "",
        "The replays compare observations, rewards and infos byte by byte.",
        "The actions are random valid ones, except `focus on`.",
        "The valid actions were listed at every step of the recording and never in the replays.",
        "An episode ends early if an action decides it.",
        "",
        (
            "| task | episodes | steps | diverged in the used environment | diverged in a fresh"
            " environment |"
        ),
        "|---|---|---|---|---|",
        *[f"| {' | '.join(map(str, row))} |" for row in rows],
        f"| all | {' | '.join(str(sum(row[i] for row in rows)) for i in range(1, 5))} |",  # type: ignore[misc]
    ]

    def shown(cells: list[str]) -> bool:
        return cells[0] == "all" or cells[3:] != ["0", "0"]

    long_tables.write(RESULT, "\n".join(lines), shown)
    typer.echo(lines[-1])


if __name__ == "__main__":
    typer.run(main)
