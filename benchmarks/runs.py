"""Shared steps of several benchmarks: train a run once, play with its model, write a table."""

import json
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from agentgym_envs import pool
from agentgym_train.config import Config
from agentgym_train.data.types import Trajectory
from agentgym_train.distributed import Distributed
from agentgym_train.evaluation import evaluate
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.loading import device, load_tokenizer
from agentgym_train.rollout.build import make_generator

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


def play(config: Config, described: pool.EnvDescription, model: Path, key: str) -> list[Trajectory]:
    """Plays ``eval.episodes`` episodes with a model; repeats tasks if there are fewer.

    Args:
        config: the configuration of the run.
        described: the environment. If it has several agents, the model plays all of them, and each
            agent has a trajectory.
        model: the folder of the model.
        key: seeds the sampling noise; evaluations with different keys have independent noise.
    """
    tokenizer = load_tokenizer(str(model))
    generator = make_generator(
        config,
        str(model),
        ChatTokens(tokenizer, **config.template_options),
        device=device(),
        distributed=Distributed(),
    )
    wanted, tasks = config.eval.episodes, len(described.task_ids or ()) or config.eval.episodes
    keys = [
        (slice(n, n + CHUNK), f"{key} {turn} {n}")
        for turn in range(-(-wanted // tasks))
        for n in range(0, min(wanted, tasks), CHUNK)
    ]
    with closing(generator):
        parts = [
            evaluate.evaluate(config, generator, tokenizer, described, share=share, key=key)
            for share, key in keys
        ]
    return [t for part in parts for t in part.trajectories]


def table(head: list[str], rows: list[list[Any]]) -> str:
    """Returns a Markdown table."""
    return "\n".join(
        f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows)
    )
