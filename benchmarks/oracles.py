"""How many tasks each environment's own oracle solves.

    python benchmarks/oracles.py agentgym/BabyAI-v0
    python benchmarks/oracles.py agentgym/TWCoinCollector-v0 --sample 100
    python benchmarks/oracles.py agentgym/ScienceWorld-v0 --per-difficulty 3

Adds a row to ``benchmarks/results/oracles.md``, or replaces the environment's.
"""

import statistics
from pathlib import Path
from typing import Any

import typer
from rich.progress import track

from agentgym_envs import registry
from agentgym_envs.baselines import play_parallel, spread
from agentgym_envs.tasks import SPLITS

RESULT = Path(__file__).parent / "results" / "oracles.md"
HEAD = [
    "# What the oracles solve",
    "",
    "`python benchmarks/oracles.py ID`, with the options of the row; no step limit.",
    "",
    "| environment | tasks taken | train | dev | test | median steps | most steps |",
    "|---|---|---|---|---|---|---|",
]


def main(env_id: str, sample: int = 0, per_difficulty: int = 0, workers: int = 2) -> None:
    """Plays all tasks of all splits, ``--sample`` of them, or ``--per-difficulty`` of each difficulty, spread evenly."""
    counts, steps, unsolved = [], [], []
    for split in track(SPLITS, description=env_id):
        world: Any = registry.make(env_id, split=split).unwrapped
        ids = list(world.task_ids)
        if sample:
            ids = spread(ids, sample // 3 + (split == "train") * (sample % 3))
        if per_difficulty:
            groups: dict[int, list[str]] = {}
            for task_id in ids:
                groups.setdefault(world.task_set.get(task_id).difficulty, []).append(task_id)
            ids = [i for group in groups.values() for i in spread(group, per_difficulty)]
        if hasattr(world, "prepare"):
            registry.make(env_id, split=split, tasks=ids).unwrapped.prepare(workers=workers, on_item=lambda: None)  # type: ignore[attr-defined]
        played = play_parallel(env_id, "oracle", ids, workers=workers, split=split, horizon=-1)
        counts.append(f"{sum(e.success for e in played)} / {len(played)}")
        steps += [e.turns for e in played if e.success]
        unsolved += [e.task_id for e in played if not e.success]
    taken = f"{sample} spread evenly" if sample else f"{per_difficulty} a task and split" if per_difficulty else "all"
    row = f"| {env_id} | {taken} | {' | '.join(counts)} | {statistics.median(steps):g} | {max(steps)} |"
    old = [line for line in RESULT.read_text().splitlines() if line.startswith("| agentgym/")] if RESULT.exists() else []
    rows = sorted([line for line in old if not line.startswith(f"| {env_id} ")] + [row])
    RESULT.write_text("\n".join([*HEAD, *rows]) + "\n")
    typer.echo(row + (f"\nunsolved: {', '.join(unsolved)}" if unsolved else ""))


if __name__ == "__main__":
    typer.run(main)
