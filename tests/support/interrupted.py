"""Runs that are killed and resumed, and the same runs without interruption.

    interrupted.py MODEL HOME CASE…

A case is STAGE-DTYPE-PROCESSES, STAGE-DTYPE-PROCESSES-CRITIC for PPO, STAGE-DTYPE-PROCESSES-last to
train only the last layer, or STAGE-DTYPE-PROCESSES-ahead to collect ahead.

- HOME/CASE/killed: SIGKILL ends the run during collection, during learning and while it writes a
  checkpoint. It is resumed each time and finally completes.
- HOME/CASE/undisturbed: the run completes without interruption.
"""

import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path

import actor_critic
import processes
import small_run
import torch
import torch.distributed as dist

from agentgym_train import config as configuration
from agentgym_train.assembly import assemble
from agentgym_train.engine.deepspeed import TrainingEngine
from agentgym_train.rollout.collector import EpisodeCollector
from agentgym_train.trainer import PolicyTrainer

KILLS = {
    "collecting": (EpisodeCollector, "_act", 12),  # in the second step of the first run
    "learning": (TrainingEngine, "step", 2),  # between the two minibatches
    "saving": (
        TrainingEngine,
        "save_model",
        1,
    ),  # the engine's part is written, the model's part is not
}
"""Name → class, method and number of the call that kills the process."""
KILLS_AHEAD = {
    "saving": (TrainingEngine, "save_model", 1),  # of step 2
    "collecting": (
        EpisodeCollector,
        "_act",
        18,
    ),  # in step 4, which is collected during the update of 3
    "learning": (TrainingEngine, "step", 4),  # of step 4
}
"""The same where two steps are between checkpoints. The first kill leaves no checkpoint."""


def kill_at(cls, name, number):
    """Patches a method: its ``number``-th call kills this process."""
    method, calls = getattr(cls, name), []

    def fatal(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(self, *args, **kwargs)

    setattr(cls, name, fatal)


COLLECTIVES = (
    "all_reduce",
    "all_gather_into_tensor",
    "all_gather",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "reduce_scatter_tensor",
)


def watch_collectives():
    """Patches the collective operations: another thread than the main one cannot call them."""

    def checked(operation, *args, **kwargs):
        assert threading.current_thread() is threading.main_thread()
        return operation(*args, **kwargs)

    for name in COLLECTIVES:
        setattr(dist, name, partial(checked, getattr(dist, name)))


def work(rank, config_file, kill):
    """Runs one process of a run; ``kill`` ends the last process."""
    config = configuration.load(config_file)
    folder = Path(config.run.folder)
    folder.mkdir(parents=True, exist_ok=True)
    trainer = PolicyTrainer(assemble(config, folder))
    if kill and rank == trainer.distributed.size - 1:
        kill_at(*kill)
    watch_collectives()
    trainer.train(lambda row, groups: None, lambda step: None)
    trainer.engine.save_model(folder / "model")
    weights = [actor_critic.full_parameters(engine) for engine in trainer.engines]
    if trainer.distributed.is_main:
        torch.save(weights, folder / "weights.pt")
    trainer.distributed.barrier()


def play(config_file, number, kill=None):
    """Runs all processes of a run."""
    status = processes.fork(number, work, config_file, kill)
    assert status == (signal.SIGKILL if kill else 0), (
        f"{config_file}: ended with {status} where {kill=}"
    )


def main(model, home, *cases):
    for case in cases:
        stage, dtype, number, *kind = case.split("-")
        ahead = kind == ["ahead"]
        killed = (KILLS_AHEAD if ahead else KILLS).values()
        for name, kills in (("undisturbed", (None,)), ("killed", (*killed, None))):
            folder = Path(home) / case / name
            folder.mkdir(parents=True)
            zero = {"stage3_param_persistence_threshold": 0} if stage == "3" else {}
            sections = {k: dict(v) for k, v in small_run.HASH.items()}
            sections["run"]["folder"] = str(folder)
            sections["model"] |= {"path": model, "dtype": dtype}
            sections["engine"] |= {"zero_stage": int(stage), "zero": zero}
            if kind == ["last"]:
                sections["model"]["last_layers"] = 1
            elif ahead:
                sections["run"]["save_every"] = 2
                sections["rollout"] = {"ahead": 1}
            elif kind:
                sections |= small_run.with_critic(kind[0])
            config_file = small_run.write(folder, **sections)
            for kill in kills:
                play(config_file, int(number), kill)


if __name__ == "__main__":
    main(*sys.argv[1:])
