"""Shared steps of several benchmarks: train a run once, play with its model, write a table."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from agentgym_envs import pool
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.data.types import Trajectory
from agentgym_train.evaluation import evaluate
from agentgym_train.models.loading import device, load_tokenizer

CHUNK = 200  # episodes of one evaluation


def train(config: Path, folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Runs a configuration to its end unless its model exists; returns its ``evaluation.json``."""
    if not (folder / "model").exists():
        sets = [
            part
            for key, value in (values | {"run.folder": folder}).items()
            for part in ("--set", f"{key}={value}")
        ]
        command = [sys.executable, "-m", "agentgym_train.cli", "run", str(config), *sets]
        print(shlex.join(command), flush=True)
        subprocess.run(command, check=True)
    notes: dict[str, Any] = json.loads((folder / "evaluation.json").read_text())
    return notes


def play(config: Config, described: pool.Description, model: Path, key: str) -> list[Trajectory]:
    """Plays ``eval.episodes`` episodes with a model; repeats tasks if there are fewer.

    Args:
        config: the configuration of the run.
        described: the environment. If it has several agents, the model plays all of them, and each
            agent has a trajectory.
        model: the folder of the model.
        key: seeds the sampling noise; evaluations with different keys have independent noise.
    """
    tokenizer = load_tokenizer(str(model))
    generator = plugins.make(plugins.GENERATOR, config.generator).build(
        str(model), device(), torch.float32
    )
    wanted, tasks = config.eval.episodes, len(described.task_ids or ()) or config.eval.episodes
    parts = [
        evaluate.evaluate(
            config, generator, tokenizer, described, share=share, key=f"{key} {turn} {share.start}"
        )
        for turn in range(-(-wanted // tasks))
        for share in (slice(n, n + CHUNK) for n in range(0, min(wanted, tasks), CHUNK))
    ]
    return [t for part in parts for t in part.trajectories]


def table(head: list[str], rows: list[list[Any]]) -> str:
    """Returns a Markdown table."""
    return "\n".join(
        f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows)
    )
