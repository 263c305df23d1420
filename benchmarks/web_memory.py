"""Memory and processes of the web environments over many episodes.

    python benchmarks/web_memory.py

Plays the oracle in one environment after the other, each in a separate process. The memory of that
process, Playwright's driver and the browser is added up. Writes
``benchmarks/results/web_memory.md``.
"""

import itertools
import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import gymnasium
import psutil
import typer
from rich.progress import track

import agentgym_envs
from agentgym_envs.envs.web.miniwob.scripts import SCRIPTS

ENVS = ("agentgym/WebSites-v1", "agentgym/MiniWoB-v1")
LOOKS = 10  # measurements per run
RESULT = Path(__file__).parent / "results" / "web_memory.md"


def family() -> list[psutil.Process]:
    """Returns this process and all its descendants."""
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def play(env_id: str, episodes: int, out: Connection) -> None:
    """Sends (megabytes, processes) at each measurement, then the number of remaining processes."""
    tasks = [f"{page}-*" for page in SCRIPTS] if "MiniWoB" in env_id else None
    env: Any = gymnasium.make(env_id, tasks=tasks, max_episode_steps=-1)
    order = itertools.cycle(env.unwrapped.task_ids[:: len(env.unwrapped.task_ids) // episodes or 1])
    for episode, task_id in zip(range(1, episodes + 1), order, strict=False):
        env.reset(options={"task_id": task_id})
        for action in env.unwrapped.oracle():
            if env.step(action)[2]:
                break
        if episode % (episodes // LOOKS) == 0:
            sizes = [p.memory_full_info().pss for p in family()]
            out.send((sum(sizes) / 1e6, len(sizes)))
    env.close()
    out.send(len(family()) - 1)


def main(episodes: int = 1000) -> None:
    """Plays and writes the table."""
    looks = " | ".join(f"after {episodes // LOOKS * n}" for n in range(1, LOOKS + 1))
    lines = [
        "# Memory over many episodes in a browser",
        "",
        (
            f"`python benchmarks/web_memory.py --episodes {episodes}`, agentgym-envs"
            f" {agentgym_envs.__version__}. Megabytes"
        ),
        (
            "(proportional set size) and number of processes of one environment: Python,"
            " Playwright's driver and the browser."
        ),
        "",
        f"| environment | {looks} | processes left after `close` |",
        f"|---{'|---' * LOOKS}|---|",
    ]
    context = multiprocessing.get_context("spawn")
    for env_id in ENVS:
        ours, theirs = context.Pipe()
        process = context.Process(target=play, args=(env_id, episodes, theirs))
        process.start()
        theirs.close()
        cells = [ours.recv() for _ in track(range(LOOKS), description=env_id)]
        lines.append(
            f"| {env_id} | {' | '.join(f'{size:.0f} MB, {count}' for size, count in cells)} |"
            f" {ours.recv()} |"
        )
        process.join()
    RESULT.write_text("\n".join(lines) + "\n")
    typer.echo("\n".join(lines))


if __name__ == "__main__":
    typer.run(main)
