"""Comparisons that are made up, and runs that learn from them: ``judged.py MODEL FILE HOME CASE…``, a case being
STAGE-DTYPE-PROCESSES, or STAGE-DTYPE-PROCESSES-last where the last layer and the head alone learn.

HOME/CASE/killed is a run that died by SIGKILL while it learned and while it wrote a checkpoint, and then went on to its end;
HOME/CASE/undisturbed one that never did. ``weights.pt`` in each has every weight at the end.
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
    """An episode of some turns, unlike those of other numbers."""
    told = [
        {"observation": OBSERVATIONS[(number + n) % 4], "response": f"go {'north' if (number + n) % 3 else 'east'}"}
        for n in range(turns)
    ]
    turns = [{**turn, "action": "what it was read as", "reward": 0.0, "invalid": False} for turn in told]
    ended = {"success": True, "score": 1.0, "end": "terminated", "last": ""}
    return {"run": "x", "attempt": number, "settings": "", **ended, "turns": turns, **more}


def comparison(number, choice, *, task=None, turns=(1, 3), **more):
    """A line, of episodes that no other number has."""
    named = {"row": "comparison", "env_id": "m:e", "task_id": task or f"task {number}", "instructions": RULES}
    a, b = (episode(2 * number + side, count) for side, count in enumerate(turns))
    return {**named, "a": a, "b": b, "choice": choice, "comment": "", "annotator": "kim", **more}


def lines(count):
    """Comparisons of as many tasks: the shorter episode is the better one, and some are equal."""
    sizes = [(1 + n % 4, 1 + n * 3 % 5) for n in range(count)]
    return [comparison(n, "tie" if a == b else "a" if a < b else "b", turns=(a, b)) for n, (a, b) in enumerate(sizes)]


def write(path, rows):
    """Writes a file of comparisons; returns its path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def settings(folder, model, file, /, **sections):
    """Writes ``reward.toml`` of a run that takes seconds; returns its path."""
    raw = {
        "run": {"folder": str(folder / "run"), "steps": STEPS, "save_every": 1},
        "model": {"path": str(model), "max_context": 256},
        "comparisons": {"files": [str(file)], "pairs": PAIRS, "held_out": 0.3},
        "engine": {"lr": 1e-3, "decay": 20, "weight_decay": 0.01, "micro_batch_tokens": 256},
    }
    path = folder / "reward.toml"
    path.write_text(tomli_w.dumps({key: raw.get(key, {}) | sections.get(key, {}) for key in raw.keys() | sections}))
    return path


def trainer(config_file):
    """One process's trainer, in its folder; again, it goes on."""
    config = configuration.load(config_file)
    folder = Path(config.run.folder)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = load_tokenizer(config.model.path)
    return RewardTrainer(config, folder, tokenizer=tokenizer, pairs=comparisons.load(config, tokenizer))


def work(rank, config_file, kill):
    """One process of a run, which dies in it if it is the last one."""
    made = trainer(config_file)
    if kill and rank == made.distributed.size - 1:
        kill_at(*KILLS[kill])
    looks = [made.judge(made.pairs.held_out)]
    made.train(lambda row: None, lambda step: None)
    weights = actor_critic.whole(made.engine)
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
            more = {"engine": {"zero_stage": int(stage), "zero": zero}, "model": {"dtype": dtype, "last_layers": len(last)}}
            config_file = settings(folder, model, file, **more)
            for kill in kills:
                status = processes.fork(int(number), work, config_file, kill)
                assert status == (signal.SIGKILL if kill else 0), f"{case}: ended with {status} where {kill=}"


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)
