"""Speed and memory of Household, and the speed of ALFWorld's engine in the same run.

    python benchmarks/household_speed.py
    PYTHONPATH=tests/support python benchmarks/household_speed.py --engine

The second command needs the packages of ``tox run -e household``. Both play the same tasks with the
same commands. Writes ``benchmarks/results/household.md``.
"""

import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import environment_memory
import gymnasium
import typer

import agentgym_envs  # noqa: F401  registers the ids
from agentgym_envs.envs.household.env import goal_words
from agentgym_envs.envs.household.rooms import TaskDesign, furnish, goal_of
from agentgym_envs.tasks import spread

ID = "agentgym/Household-v0"


def walks(env: Any, tasks: int, turns: int) -> list[tuple[str, list[str]]]:
    """Returns tasks with random listed commands; no episode ends."""
    found = []
    for task_id in spread(env.task_ids, tasks):
        rng, commands = random.Random(task_id), list[str]()
        env.reset(options={"task_id": task_id})
        for _ in range(turns):
            commands.append(rng.choice(env.actions()))
            if env.step(commands[-1])[2]:
                break
        found.append((task_id, commands))
    return found


def timed(call: Callable[[], object]) -> float:
    """Returns the milliseconds of a call."""
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def own(played: list[tuple[str, list[str]]], admissible: bool) -> tuple[list[float], list[float]]:
    """Returns the milliseconds of each reset and each step here."""
    env = gymnasium.make(ID, split="test", admissible=admissible)
    resets, steps = [], []
    for task_id, commands in played:
        resets.append(timed(lambda task_id=task_id: env.reset(options={"task_id": task_id})))  # type: ignore[misc]
        steps += [timed(lambda c=c: env.step(c)) for c in commands]  # type: ignore[misc]
    return resets, steps


def engines(played: list[tuple[str, list[str]]]) -> tuple[list[float], list[float]]:
    """Returns the milliseconds of each reset and each step of the engine."""
    from household_engine import Engine

    env: Any = gymnasium.make(ID, split="test").unwrapped
    resets, steps = [], []
    for task_id, commands in played:
        design, made = TaskDesign(*env.task_set.get(task_id).data["design"]), list[Any]()
        arguments = furnish(design), goal_of(design), goal_words(design).removesuffix(".")
        resets.append(timed(lambda: made.append(Engine(*arguments))))  # noqa: B023
        steps += [timed(lambda c=c: made[0].step(c)) for c in commands]  # type: ignore[misc]  # noqa: B023
    return resets, steps


def row(name: str, times: tuple[list[float], list[float]]) -> str:
    """Returns a table row: medians and the largest value, in milliseconds."""
    cells = [f"{median(values):.3f} ({max(values):.3f})" for values in times]
    return f"| {name} | {' | '.join(cells)} |"


def main(tasks: int = 20, turns: int = 30, engine: bool = False) -> None:
    """Measures and writes the tables."""
    env: Any = gymnasium.make(ID, split="test").unwrapped
    played = walks(env, tasks, turns)
    command = f"python benchmarks/household_speed.py{' --engine' * engine}"
    lines = [
        "# Household: speed and memory",
        "",
        f"`{command}`, one process, {len(played)} test tasks, {turns} random turns each.",
        "",
        "| | reset, ms: median (largest) | step, ms: median (largest) |",
        "|---|---|---|",
        row("Household", own(played, admissible=False)),
        row("Household, with admissible commands", own(played, admissible=True)),
        *([row("ALFWorld's engine, with admissible commands", engines(played))] if engine else []),
        "",
        *environment_memory.table(ID),
    ]
    target = Path(__file__).parent / "results" / "household.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    typer.run(main)
