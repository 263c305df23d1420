"""An engine that only writes files, and checkpoints of it."""

import dataclasses

from agentgym_train.distributed import Distributed
from agentgym_train.engine import checkpoint

STATE = checkpoint.CheckpointState(
    step=2,
    curricula={"Maze": {"turns": 5}},
    zero_stage=2,
    processes=1,
    model={"architecture": "A", "parameters": {}},
)


class FakeEngine:
    """Writes ``content`` instead of the engine's part and the model; a single process."""

    def __init__(self, content=b"weights" * 100):
        self.content, self.distributed = content, Distributed()

    def save(self, folder):
        (folder / "engine").mkdir()
        (folder / "engine" / "part.pt").write_bytes(self.content)

    def save_model(self, folder):
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(self.content)


class FakeTokenizer:
    """Writes the file of a tokenizer."""

    def save_pretrained(self, folder):
        (folder / "tokenizer.json").write_text("{}")


def save(run, step, *, keep=3, engine=None):
    """Writes a checkpoint; returns its folder."""
    checkpoint.save(
        run,
        dataclasses.replace(STATE, step=step),
        engine or FakeEngine(),
        FakeTokenizer(),
        keep=keep,
    )
    return run / "checkpoints" / f"step-{step:06d}"
