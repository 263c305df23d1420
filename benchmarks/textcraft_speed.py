"""Speed of TextCraft's resets and steps.

    python benchmarks/textcraft_speed.py

The original takes 0.9-1.3 ms per reset and makes 220,000 ``get`` steps per second. These figures
were measured on the published package, which is not installed here, on two cores of the same kind
as those of the results. Writes ``benchmarks/results/textcraft_speed.md``.
"""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import gymnasium
import typer

import agentgym_envs  # noqa: F401  registers the ids


def rates(call: Callable[[int], object], calls: int, repeats: int) -> list[float]:
    """Returns the calls per second of each repeat."""
    out = []
    for _ in range(repeats):
        start = time.perf_counter()
        for number in range(calls):
            call(number)
        out.append(calls / (time.perf_counter() - start))
    return out


def main(repeats: int = 7) -> None:
    """Measures and writes the table."""
    env = gymnasium.make("agentgym/TextCraft-v2").unwrapped
    env.reset(seed=0)
    world = {
        "reset(seed)": rates(lambda n: env.reset(seed=n), 3000, repeats),
        "reset(task)": rates(
            lambda n: env.reset(options={"task_id": env.task_ids[n % 400]}), 3000, repeats
        ),
        "step, get": rates(lambda n: env.step("get 2 oak logs"), 30000, repeats),
        "step, inventory": rates(lambda n: env.step("inventory"), 30000, repeats),
    }
    lines = [
        "# TextCraft: resets and steps",
        "",
        f"`python benchmarks/textcraft_speed.py --repeats {repeats}`, one process.",
        "",
    ]
    lines += ["| call | per second, median (lowest-highest) | µs |", "|---|---|---|"]
    for name, values in world.items():
        middle = median(values)
        lines.append(
            f"| {name} | {middle:,.0f} ({min(values):,.0f}-{max(values):,.0f}) |"
            f" {1e6 / middle:.1f} |"
        )
    target = Path(__file__).parent / "results" / "textcraft_speed.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    typer.run(main)
