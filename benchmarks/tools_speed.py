"""Speed and memory of Tools: resets, and the steps of the oracle.

    python benchmarks/tools_speed.py

Writes ``benchmarks/results/tools.md``.
"""

import time
from pathlib import Path
from statistics import median
from typing import Any

import environment_memory
import gymnasium
import typer

import agentgym_envs  # noqa: F401  registers the ids

ID = "agentgym/Tools-v0"


def rates(env: Any) -> tuple[float, float]:
    """Returns resets and steps per second of CPU time, over all test tasks."""
    began, steps, resets, stepping = time.process_time(), 0, 0.0, 0.0
    for task_id in env.unwrapped.task_ids:
        began = time.process_time()
        env.reset(options={"task_id": task_id})
        resets += time.process_time() - began
        actions = env.unwrapped.oracle()
        while (action := next(actions, None)) is not None:
            began = time.process_time()
            env.step(action)
            stepping += time.process_time() - began
            steps += 1
    return len(env.unwrapped.task_ids) / resets, steps / stepping


def main(repeats: int = 5) -> None:
    """Measures and writes the page."""
    env = gymnasium.make(ID, split="test")
    rates(env)  # loads the tasks
    measured = [rates(env) for _ in range(repeats)]
    lines = [
        "# Tools: speed and memory",
        "",
        f"`python benchmarks/tools_speed.py --repeats {repeats}`, the oracle in all test tasks, one"
        " process. Rates are per second of CPU time.",
        "",
        "| call | per second, median (lowest–highest) |",
        "|---|---|",
        *(
            f"| {name} | {median(values):,.0f} ({min(values):,.0f}–{max(values):,.0f}) |"
            for name, values in zip(("reset", "step"), zip(*measured, strict=True), strict=True)
        ),
        "",
        *environment_memory.table(ID),
    ]
    target = Path(__file__).parent / "results" / "tools.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    typer.run(main)
