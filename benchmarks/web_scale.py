"""Memory and CPU time of parallel WebSites environments, extrapolated to a thousand.

    python benchmarks/web_scale.py

Each environment plays the oracle in a worker process of ``EnvPool``. The environments of a worker
share one browser, so two arrangements are measured: one environment and four environments per
worker. Writes ``benchmarks/results/web_scale.md``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import gymnasium
import typer
from rich.progress import track
from web_memory import family

import agentgym_envs
from agentgym_envs.pool import EnvPool
from agentgym_envs.tasks import spread

COUNTS = (1, 2, 4, 8, 16)
PER_WORKER = (1, 4)
WARM, EPISODES = 1, 2  # episodes per environment, before and during the measurement
FLEET = 1000  # number of environments of the extrapolation
THINKING = 5.0  # seconds in which a model chooses an action
RESULT = Path(__file__).parent / "results" / "web_scale.md"


class Load(NamedTuple):
    """The resources of some environments together."""

    envs: int
    megabytes: float
    processes: int
    step: float
    """CPU milliseconds per step, resets included."""


def spent() -> float:
    """Returns the CPU seconds so far of this process and its descendants, ended ones included."""
    me, *others = family()
    return float(sum(me.cpu_times()[:2]) + sum(sum(process.cpu_times()[:4]) for process in others))


def play(pool: EnvPool, tasks: Sequence[str], episodes: int) -> int:
    """Plays some episodes in each environment; returns the number of steps."""
    steps, left = 0, {index: own_tasks(tasks, index, episodes) for index in range(pool.num_envs)}
    for index, own in left.items():
        pool.reset(index, options={"task_id": own.pop()})
    while results := pool.recv():
        for result in results:
            result.check()
            steps += result.action is not None
            if not result.terminated:
                pool.ask_oracle(result.index)
            elif left[result.index]:
                pool.reset(result.index, options={"task_id": left[result.index].pop()})
    return steps


def own_tasks(tasks: Sequence[str], index: int, episodes: int) -> list[str]:
    """Returns an environment's tasks; each environment starts at another place in the list."""
    return [tasks[(index + n) % len(tasks)] for n in range(episodes)]


def measured(count: int, per_worker: int, tasks: Sequence[str]) -> Load:
    """Plays in a separate pool; returns the resources."""
    workers = -(-count // per_worker)
    with EnvPool(
        "agentgym/WebSites-v1",
        count,
        workers=workers,
        split="train",
        max_episode_steps=-1,
        timeout=120,
    ) as pool:
        play(pool, tasks, WARM)
        before = spent()
        steps = play(pool, tasks, EPISODES)
        step = 1000 * (spent() - before) / steps
        sizes = [process.memory_full_info().pss for process in family()]
    return Load(count, sum(sizes) / 1e6, len(sizes), step)


def fleet(few: Load, many: Load) -> str:
    """Returns the resources of a thousand environments, as cells of the table.

    The memory per environment is the slope from ``few`` to ``many``.
    """
    each = (many.megabytes - few.megabytes) / (many.envs - few.envs)
    cores = FLEET * many.step / 1000 / THINKING
    return f"{each:.0f} MB | {each * FLEET / 1000:.0f} GB | {cores:.1f}"


def main() -> None:
    """Measures and writes the tables."""
    env = gymnasium.make("agentgym/WebSites-v1", split="train")
    tasks = spread(env.unwrapped.task_ids, COUNTS[-1])
    few, many = COUNTS[-2:]
    runs = [
        (count, per_worker)
        for count in COUNTS
        for per_worker in PER_WORKER
        if count > 1 or per_worker == 1
    ]
    loads = {run: measured(*run, tasks) for run in track(runs, description="environments")}
    lines = [
        "# WebSites side by side",
        "",
        (
            f"`python benchmarks/web_scale.py`, agentgym-envs {agentgym_envs.__version__}. Memory"
            " is the proportional set size of all"
        ),
        (
            "processes: the pool, its workers, Playwright's drivers and the browsers. CPU time is"
            " of all processes."
        ),
        "The time of a step includes its share of the reset.",
        "",
        (
            "| environments | environments per worker | memory | memory per environment | processes"
            " | CPU time per step |"
        ),
        "|---|---|---|---|---|---|",
    ]
    for (count, per_worker), load in loads.items():
        memory = f"{load.megabytes:.0f} MB | {load.megabytes / count:.0f} MB"
        lines.append(
            f"| {count} | {min(count, per_worker)} | {memory} | {load.processes} | {load.step:.0f}"
            " ms |"
        )
    lines += [
        "",
        f"Calculated for {FLEET:,} environments from the rows with {few} and {many}.",
        (
            f"Assumption: a model takes {THINKING:g} seconds to choose an action. Cores are those"
            " that are busy on average."
        ),
        "",
        (
            f"| environments per worker | memory of a further environment | memory of {FLEET:,} |"
            " cores |"
        ),
        "|---|---|---|---|",
        *(f"| {per} | {fleet(loads[few, per], loads[many, per])} |" for per in PER_WORKER),
    ]
    RESULT.write_text("\n".join(lines) + "\n")
    typer.echo("\n".join(lines))


if __name__ == "__main__":
    typer.run(main)
