"""Checkpoints: complete or absent. Each holds the engine's state, the trainer's, and the model in Hugging Face format.

checkpoints/step-000100/engine/    DeepSpeed: weights, optimizer, one file a process
checkpoints/step-000100/model/     for transformers.AutoModelForCausalLM.from_pretrained
checkpoints/step-000100/state.json steps done, curriculum, how it was made
"""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from agentgym_train.errors import CheckpointError

if TYPE_CHECKING:
    from agentgym_train.engine.deepspeed import Engine


@dataclass(frozen=True)
class State:
    """What the trainer needs to go on. Task order and sampling noise are functions of seed and step and need no state."""

    step: int
    """Training steps done."""
    curriculum: dict[str, Any]
    zero_stage: int
    processes: int
    model: dict[str, Any]
    """The shape of the model: see :func:`shape`."""


def shape(model: PreTrainedModel) -> dict[str, Any]:
    """Returns what two models must share for one's checkpoint to fit the other."""
    parameters = {name: list(p.shape) for name, p in model.named_parameters()}
    return {"architecture": type(model).__name__, "parameters": parameters}


def latest(run: Path) -> Path | None:
    """Returns the newest complete checkpoint of a run folder, or None."""
    done = sorted((run / "checkpoints").glob("step-*"))
    return done[-1] if done else None


def read_state(folder: Path) -> State:
    """Reads ``state.json``.

    Raises:
        CheckpointError: it is missing or unreadable.
    """
    try:
        return State(**json.loads((folder / "state.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"{folder} is not a complete checkpoint: {error}") from error


def check_fits(state: State, folder: Path, *, model: Mapping[str, Any], zero_stage: int, processes: int) -> None:
    """Refuses a checkpoint that this run cannot go on from.

    Raises:
        CheckpointError: says what differs.
    """
    if state.model != dict(model):
        old, new = state.model["architecture"], model["architecture"]
        raise CheckpointError(
            f"{folder} is of another model ({old} against {new}, or other sizes): choose another run.folder or the old model"
        )
    if (state.zero_stage, state.processes) != (zero_stage, processes):
        raise CheckpointError(
            f"{folder} was written with zero_stage={state.zero_stage} and {state.processes} processes, this run has "
            f"zero_stage={zero_stage} and {processes}: go on as before, or start from {folder / 'model'} with model.path"
        )


def save(run: Path, state: State, engine: "Engine", tokenizer: PreTrainedTokenizerBase, *, keep: int) -> None:
    """Writes a checkpoint beside the final place, moves it there in one step, and drops old ones. All processes call it.

    Args:
        run: the run folder.
        state: the trainer's state.
        engine: the policy and its optimizer.
        tokenizer: saved with the model.
        keep: checkpoints to keep.
    """
    home = run / "checkpoints"
    draft, final = home / f".draft-{state.step:06d}", home / f"step-{state.step:06d}"
    if engine.rank == 0:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
    engine.barrier()
    engine.save(draft)
    engine.save_model(draft / "model")
    if engine.rank == 0:
        tokenizer.save_pretrained(draft / "model")
        (draft / "state.json").write_text(json.dumps(vars(state)), encoding="utf-8")
    engine.barrier()
    if engine.rank == 0:
        os.replace(draft, final)
        for old in sorted(home.glob("step-*"))[:-keep]:
            shutil.rmtree(old)
    engine.barrier()

