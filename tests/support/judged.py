"""Synthetic comparisons, and runs that learn from them.

    judged.py MODEL FILE HOME CASE…

A case is STAGE-DTYPE-PROCESSES, or STAGE-DTYPE-PROCESSES-last to train only the last layer and the
head.

- HOME/CASE/killed: SIGKILL ends the run during learning and while it writes a checkpoint. It is
  resumed each time and finally completes.
- HOME/CASE/undisturbed: the run completes without interruption.

``weights.pt`` in both folders holds all weights at the end.
"""

import json
import os
import signal
import sys
from pathlib import Path

import actor_critic
import processes
import tomli_w
import torch
from interrupted import KILLS, kill_at
from scoring import RULES

from agentgym_train.models.loading import load_tokenizer
from agentgym_train.reward import comparisons
from agentgym_train.reward import config as configuration
from agentgym_train.reward.trainer import RewardTrainer

STEPS, PAIRS = 4, 6
OBSERVATIONS = ("Exits: north", "Exits: east south", "Here: lamp", "Exits: north west")


def episode(number, turns, **more):
    """Returns an episode; different numbers give different episodes."""
    seen = [
        {
            "observation": OBSERVATIONS[(number + n) % 4],
            "response": f"go {'north' if (number + n) % 3 else 'east'}",
        }
        for n in range(turns)
    ]
    turns = [{**turn, "action": "parsed action", "reward": 0.0, "invalid": False} for turn in seen]
    ended = {"success": True, "score": 1.0, "end": "terminated", "last": ""}
    return {"run": "x", "attempt": number, "settings": "", **ended, "turns": turns, **more}


def comparison(number, choice, *, task=None, turns=(1, 3), **more):
    """Returns a comparison; different numbers give different episodes."""
    named = {
        "row": "comparison",
        "env_id": "m:e",
        "task_id": task or f"task {number}",
        "instructions": RULES,
    }
    a, b = (episode(2 * number + side, count) for side, count in enumerate(turns))
    return {**named, "a": a, "b": b, "choice": choice, "comment": "", "annotator": "kim", **more}


def lines(count):
    """Returns ``count`` comparisons: the shorter episode is better, equal lengths are ties."""
    sizes = [(1 + n % 4, 1 + n * 3 % 5) for n in range(count)]
    return [
        comparison(n, "tie" if a == b else "a" if a < b else "b", turns=(a, b))
        for n, (a, b) in enumerate(sizes)
    ]


def write(path, rows):
    """Writes a file of comparisons; returns its path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def settings(folder, model, file, /, **sections):
    """Writes the ``reward.toml`` of a short run; returns its path."""
    raw = {
        "run": {"folder": str(folder / "run"), "steps": STEPS, "save_every": 1},
        "model": {"path": str(model), "max_context": 256},
        "comparisons": {"files": [str(file)], "pairs": PAIRS, "held_out": 0.3},
        "engine": {"lr": 1e-3, "decay": 20, "weight_decay": 0.01, "micro_batch_tokens": 256},
    }
    path = folder / "reward.toml"
    path.write_text(
        tomli_w.dumps(
            {key: raw.get(key, {}) | sections.get(key, {}) for key in raw.keys() | sections}
        )
    )
    return path


def trainer(config_file):
    """Returns the trainer of one process; a second call resumes the run."""
    config = configuration.load(config_file)
    folder = Path(config.run.folder)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = load_tokenizer(config.model.path)
    return RewardTrainer(
        config, folder, tokenizer=tokenizer, pairs=comparisons.load(config, tokenizer)
    )


def work(rank, config_file, kill):
    """Runs one process of a run; ``kill`` ends the last process."""
    made = trainer(config_file)
    if kill and rank == made.distributed.size - 1:
        kill_at(*KILLS[kill])
    looks = [made.judge(made.pairs.held_out)]
    made.train(lambda row: None, lambda step: None)
    weights = actor_critic.full_parameters(made.engine)
    looks.append(made.judge(made.pairs.held_out))
    if made.distributed.is_main:
        torch.save({"weights": weights, "looks": looks}, made.folder / "weights.pt")
    made.distributed.barrier()


def main(model, file, home, *cases):
    for case in cases:
        stage, dtype, number, *last = case.split("-")
        for name, kills in (("undisturbed", (None,)), ("killed", ("learning", "saving", None))):
            folder = Path(home) / case / name
            folder.mkdir(parents=True)
            zero = {"stage3_param_persistence_threshold": 0} if stage == "3" else {}
            more = {
                "engine": {"zero_stage": int(stage), "zero": zero},
                "model": {"dtype": dtype, "last_layers": len(last)},
            }
            config_file = settings(folder, model, file, **more)
            for kill in kills:
                status = processes.fork(int(number), work, config_file, kill)
                assert status == (signal.SIGKILL if kill else 0), (
                    f"{case}: ended with {status} where {kill=}"
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)
