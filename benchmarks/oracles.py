"""Number of tasks that the oracle of an environment solves.

    python benchmarks/oracles.py agentgym/BabyAI-v2
    python benchmarks/oracles.py agentgym/TWCoinCollector-v1 --sample 100
    python benchmarks/oracles.py agentgym/ScienceWorld-v2 --per-difficulty 3

Adds or replaces the row of the environment in ``benchmarks/results/oracles.md``. All of
ScienceWorld and TextWorld takes hours. The work folder keeps every episode, so the same command
resumes after an interruption.
"""

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.progress import track

from agentgym_envs import registry
from agentgym_envs.evaluate.baselines import BaselineEpisode, play
from agentgym_envs.tasks import SPLITS, spread

CHUNK = 100  # episodes that are written to disk together
RESULT = Path(__file__).parent / "results" / "oracles.md"
HEAD = [
    "# Tasks that the oracles solve",
    "",
    "`python benchmarks/oracles.py ID`, with the options of the row; no step limit.",
    "A task for which an oracle has no script counts as unsolved.",
    "ScienceWorld-v2 without simplification was played in samples: see its README.",
    "",
    "| environment | tasks taken | train | dev | test | median steps | most steps |",
    "|---|---|---|---|---|---|---|",
]


def play_missing(
    env_id: str, split: str, ids: Sequence[str], workers: int, kept: Path
) -> list[BaselineEpisode]:
    """Plays the tasks that the file lacks, in chunks; returns the episodes of all tasks."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.touch()
    episodes = {
        e.task_id: e
        for e in (BaselineEpisode(*json.loads(line)) for line in kept.read_text().splitlines())
    }
    missing = [i for i in ids if i not in episodes]
    chunks = [missing[n : n + CHUNK] for n in range(0, len(missing), CHUNK)]
    for chunk in track(chunks, description=f"{env_id} {split}"):
        world: Any = registry.make(env_id, split=split, tasks=chunk).unwrapped
        if hasattr(world, "prepare"):
            world.prepare(workers=workers, on_item=lambda: None)
        played = play(
            env_id,
            "oracle",
            task_ids=chunk,
            workers=workers,
            timeout=600,
            horizon=-1,
            kwargs={"split": split},
        )
        with kept.open("a") as file:
            file.writelines(json.dumps(episode) + "\n" for episode in played)
        episodes.update({e.task_id: e for e in played})
    return [episodes[i] for i in ids]


def main(
    env_id: str,
    sample: int = 0,
    per_difficulty: int = 0,
    workers: int = 2,
    work: Path = Path("runs/oracles"),
) -> None:
    """Plays all tasks of all splits, or a sample that is spread evenly.

    Args:
        env_id: a registered id.
        sample: number of tasks over all splits; 0 plays all.
        per_difficulty: number of tasks per difficulty and split; 0 plays all.
        workers: environment processes.
        work: folder of the episodes.
    """
    counts, steps, unsolved = [], [], []
    for split in SPLITS:
        world: Any = registry.make(env_id, split=split).unwrapped
        ids = list(world.task_ids)
        if sample:
            ids = spread(ids, sample // 3 + (split == "train") * (sample % 3))
        if per_difficulty:
            groups: dict[int, list[str]] = {}
            for task_id in ids:
                groups.setdefault(world.task_set.get(task_id).difficulty, []).append(task_id)
            ids = [i for group in groups.values() for i in spread(group, per_difficulty)]
        played = play_missing(
            env_id, split, ids, workers, work / f"{env_id.partition('/')[2]}-{split}.jsonl"
        )
        counts.append(f"{sum(e.success for e in played)} / {len(played)}")
        steps += [e.turns for e in played if e.success]
        unsolved += [e.task_id for e in played if not e.success]
    taken = (
        f"{sample} spread evenly"
        if sample
        else f"up to {per_difficulty} a kind and split"
        if per_difficulty
        else "all"
    )
    row = (
        f"| {env_id} | {taken} | {' | '.join(counts)} | {statistics.median(steps):g} |"
        f" {max(steps)} |"
    )
    old = (
        [line for line in RESULT.read_text().splitlines() if line.startswith("| agentgym/")]
        if RESULT.exists()
        else []
    )
    rows = sorted([line for line in old if not line.startswith(f"| {env_id} ")] + [row])
    RESULT.write_text("\n".join([*HEAD, *rows]) + "\n")
    typer.echo(row + (f"\nunsolved: {', '.join(unsolved)}" if unsolved else ""))


if __name__ == "__main__":
    typer.run(main)
