"""One policy for five families, and a separate policy for each family.

    python benchmarks/suite.py run --seeds 3 --jobs 2

Each seed trains `configs/suite.toml`, and a policy with the same layers once per family, on the
family's episodes and tasks only. A separate policy has its own tokenizer, the same steps of
copying, and about as many tokens as its family has in the other parts of the common training.
All models play the same held-out tasks of the dev and test splits. The command writes
``benchmarks/results/suite.{json,md}``. After an interruption, the same command resumes.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import long_tables
import runs
import suite_episodes
import suite_report
import typer

from agentgym_envs import pool
from agentgym_train import config as configuration
from agentgym_train.config import Config
from agentgym_train.files import write_whole
from agentgym_train.models import scratch

RESULTS = Path(__file__).parent / "results"
SPLITS = ("dev", "test")
TASKS = 150
"""Largest number of tasks of a family and split."""
app = typer.Typer(add_completion=False)


@app.command()
def run(
    seeds: Annotated[int, typer.Option(min=2, help="Number of seeds, starting at 0.")] = 3,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes side by side.")] = 1,
    work: Annotated[Path, typer.Option(help="Folder of episodes and runs.")] = Path("runs/suite"),
) -> None:
    """Plays the teachers' episodes, trains and tests all policies, and writes the results."""
    if not (work / "episodes").exists():
        suite_episodes.main(work / "episodes")
    config = configuration.load(suite_episodes.CONFIG)
    names = [suite_report.COMMON, *(env.name for env in config.envs)]
    orders = [(name, seed) for name in names for seed in range(seeds)]

    def finish(order: tuple[str, int]) -> Path:
        name, seed = order
        out = work / f"{name}-{seed}.json"
        if not out.exists():
            command = [sys.executable, __file__, "one", name, str(seed), str(work), str(out)]
            subprocess.run(command, check=True)
        return out

    with ThreadPoolExecutor(jobs) as threads:
        rows = [row for out in threads.map(finish, orders) for row in json.loads(out.read_text())]
    write_whole(RESULTS / "suite.json", json.dumps(rows, indent=1) + "\n")
    command = f"python benchmarks/suite.py run --seeds {seeds} --jobs {jobs}"
    long_tables.write(RESULTS / "suite.md", suite_report.page(rows, command), suite_report.shown)


@app.command()
def one(name: str, seed: int, work: Path, out: Path) -> None:
    """Trains and tests the common policy or a family's separate policy."""
    config = with_episodes(configuration.load(suite_episodes.CONFIG), work / "episodes")
    if name != suite_report.COMMON:
        config = alone(config, name)
    file, folder = out.with_suffix(".toml"), out.with_suffix("")
    write_whole(file, configuration.dumps(config))
    runs.train(file, folder, {"run.seed": seed})
    models = {"cloned": folder / "init", "trained": folder / "model"}
    rows = [
        {
            **{"policy": name, "seed": seed, "model": when, "family": own.env.name},
            **tested(own, model),
            "training_tokens": tokens(folder, own.env.name, single=name != suite_report.COMMON),
        }
        for when, model in models.items()
        for own in config.each()
    ]
    write_whole(out, json.dumps(rows))


def with_episodes(config: Config, folder: Path) -> Config:
    """Returns the configuration with the families' folders of episodes in another folder."""
    folders = tuple(str(folder / env.name) for env in config.envs)
    return replace(config, scratch=replace(config.scratch, folders=folders))


def alone(config: Config, name: str) -> Config:
    """Returns the configuration of a separate policy, which clones its family's share of tokens.

    The families have equal shares of the text in the common training. So a family's share of the
    episodes is the share of the steps whose episodes are all of this family.
    """
    counts = {}
    for env in config.envs:
        played = scratch.recorded_play(env, config.scratch.folders)
        counts[env.name] = 1 / fmean(sum(len(m["content"]) for m in one) for one in played)
    (own,) = (one for one in config.each() if one.env.name == name)
    (folder,) = (one for one in config.scratch.folders if Path(one).name == name)
    steps = round(config.scratch.steps * counts[name] / sum(counts.values()))
    return replace(own, scratch=replace(own.scratch, folders=(folder,), steps=steps))


def tested(config: Config, model: Path) -> dict[str, float]:
    """Plays a family's held-out tasks with a model; returns means over episodes."""
    played = []
    for split in SPLITS:
        held_out = config.eval.kwargs | {"split": split}
        described = pool.describe(config.env.id, **config.env.kwargs | held_out)
        tasks = min(TASKS, len(described.task_ids or ()))
        chosen = replace(config, eval=replace(config.eval, kwargs=held_out, episodes=tasks))
        played += runs.play(chosen, described, model, f"suite {split}")
    turns = [turn for t in played for turn in t.turns]
    return {
        "success": fmean(t.success for t in played),
        "invalid": fmean(turn.invalid for turn in turns),
        "turns": len(turns) / len(played),
        "episodes": len(played),
    }


def tokens(folder: Path, name: str, *, single: bool) -> int:
    """Returns a family's tokens of reinforcement learning."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    steps: Sequence[dict[str, Any]] = [json.loads(line) for line in lines]
    return round(sum(step["tokens"] if single else step["env"][name]["tokens"] for step in steps))


if __name__ == "__main__":
    app()
