"""Runs that are killed, and the same runs undisturbed: ``interrupted.py MODEL HOME CASE…``, a case being STAGE-DTYPE-PROCESSES.

Each run is a fork of this process, which has imported everything already, and dies by SIGKILL: in HOME/CASE/killed a run that was
killed while it collected, while it learned, and while it wrote a checkpoint, and then went on to its end; in HOME/CASE/undisturbed
one that never was.
"""

import os
import signal
import sys
from pathlib import Path

import small_run

from agentgym_train import config as configuration
from agentgym_train import run
from agentgym_train.engine.deepspeed import Engine
from agentgym_train.launch import free_port
from agentgym_train.rollout.chat import Chat
from agentgym_train.rollout.collector import Collector
from agentgym_train.trainer import Trainer

KILLS = {
    "collecting": (Collector, "_act", 12),  # in the second step of the first run
    "learning": (Engine, "step", 2),  # between the two mini-batches
    "saving": (Engine, "save_model", 1),  # the engine's part is written, the model's is not
}
"""Name → what a run does at the call that it does not survive."""


def kill_at(cls, name, number):
    """Makes the ``number``-th call of a method the last thing that this process does."""
    method, calls = getattr(cls, name), []

    def fatal(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(self, *args, **kwargs)

    setattr(cls, name, fatal)


def work(config_file, rank, processes, port, kill):
    """One process of a run."""
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(processes), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)
    )
    config = configuration.load(config_file)
    folder, model = Path(config.run.folder), config.model.path
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = run.load_tokenizer(model)
    trainer = Trainer(config, folder, model_path=model, tokenizer=tokenizer, chat=Chat(tokenizer))
    if kill and rank == processes - 1:
        kill_at(*KILLS[kill])
    trainer.train(lambda row, groups: None)
    trainer.engine.save_model(folder / "model")
    trainer.engine.barrier()


def fork(config_file, processes, kill=None):
    """Runs all processes of a run; when one is killed the others go too, as a launcher sees to it."""
    port, children = free_port(), set()
    for rank in range(processes):
        pid = os.fork()
        if pid == 0:
            try:
                work(config_file, rank, processes, port, kill)
                os._exit(0)
            finally:
                sys.stderr.flush()
                os._exit(1)
        children.add(pid)
    statuses = []
    while children:
        pid, status = os.wait()
        children.discard(pid)
        statuses.append(status)
        for other in children if status else ():
            os.kill(other, signal.SIGKILL)
    assert statuses[0] == (signal.SIGKILL if kill else 0), f"{config_file}: ended with {statuses} where {kill=}"


def main(model, home, *cases):
    for case in cases:
        stage, dtype, processes = case.split("-")
        for name, kills in (("undisturbed", (None,)), ("killed", (*KILLS, None))):
            folder = Path(home) / case / name
            folder.mkdir(parents=True)
            zero = {"stage3_param_persistence_threshold": 0} if stage == "3" else {}
            sections = {k: dict(v) for k, v in small_run.HASH.items()}
            sections["run"]["folder"] = str(folder)
            sections["model"] |= {"path": model, "dtype": dtype}
            sections["engine"] |= {"zero_stage": int(stage), "zero": zero}
            config_file = small_run.write(folder, **sections)
            for kill in kills:
                fork(config_file, int(processes), kill)


if __name__ == "__main__":
    main(*sys.argv[1:])
