"""Checkpoints: complete or absent.

A checkpoint holds the state of the engines and of the trainer, and the model in Hugging Face
format.

    checkpoints/step-000100/
        engine/         DeepSpeed: weights and optimizer, one file per process
        critic/         the same for a separate critic model
        model/          for transformers.AutoModelForCausalLM.from_pretrained
        model/adapter/  the adapter of model.lora, for peft.PeftModel.from_pretrained
        state.json      steps done, state of the curricula, ZeRO stage, shape of the model
        manifest.json   size and checksum of every other file
        universal/      engine and critic for any number of processes; made on resuming with
                        another number of processes
    checkpoints/corrupt-000100/
        a checkpoint whose files do not match its manifest; the next checkpoint removes it
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentgym_train.errors import CheckpointError
from agentgym_train.files import publish, write_whole, writing

if TYPE_CHECKING:  # transformers' models take seconds to load
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from agentgym_train.engine.deepspeed import Engine
    from agentgym_train.engine.distributed import Distributed

MANIFEST = "manifest.json"
ENGINES = ("engine", "critic")


@dataclass(frozen=True)
class State:
    """The state that a resumed run needs.

    Task order and sampling noise are functions of seed and step, so they need no state.
    """

    step: int
    """Training steps done."""
    curricula: dict[str, Any]
    """The state of each environment's curriculum, by name of the environment."""
    zero_stage: int
    processes: int
    model: dict[str, Any]
    """The shape of the model: see :func:`shape`."""
    budgets: dict[str, Any] = field(default_factory=dict)
    """The state of each environment's token budget, by name of the environment."""


def shape(model: "PreTrainedModel", critic: str | None = None) -> dict[str, Any]:
    """Returns the properties of a model that a checkpoint must match.

    Args:
        model: the policy.
        critic: kind of the critic, "model" or "head"; None without one.
    """
    from agentgym_train.models import lora

    parameters = {
        name: list(getattr(p, "ds_shape", p.shape)) for name, p in model.named_parameters()
    }
    return (
        {"architecture": type(model).__name__, "parameters": parameters}
        | ({"critic": critic} if critic else {})
        | lora.describe(model)
    )


def intact(run: Path) -> list[Path]:
    """Returns the checkpoints of a run folder, newest first.

    Checkpoints with a file that is missing or has another size are left out. Checksums are not
    compared.
    """
    return [folder for folder in _all(run) if fault(folder, checksums=False) is None]


def latest(run: Path) -> Path | None:
    """Returns the newest checkpoint of :func:`intact`, or None if there is none."""
    return next(iter(intact(run)), None)


def newest(run: Path, distributed: "Distributed") -> tuple[Path | None, bool]:
    """Returns the newest checkpoint, and whether it was converted; see :func:`convert`.

    All processes call it. The main process looks, so that all resume from the same checkpoint.
    """
    found: Path | None = distributed.from_main(lambda: latest(run))
    return found, found is not None and distributed.from_main(lambda: is_universal(found))


def fault(folder: Path, *, checksums: bool = True) -> str | None:
    """Returns the first fault of a checkpoint's files, or None.

    Args:
        folder: the checkpoint.
        checksums: compare contents too, which reads every byte.
    """
    try:
        manifest: dict[str, dict[str, Any]] = json.loads(
            (folder / MANIFEST).read_text(encoding="utf-8")
        )
    except (OSError, ValueError) as error:
        return f"{MANIFEST} cannot be read ({error})"
    for name, entry in manifest.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != entry["bytes"]:
            return f"{name} has {path.stat().st_size} bytes, not {entry['bytes']}"
        if checksums and _entry(path) != entry:
            return f"{name} has another checksum than when it was written"
    return None


def recover(run: Path) -> list[str]:
    """Renames corrupt checkpoints, newest first, until one is intact; compares checksums.

    Returns:
        One message per renamed checkpoint, for the user.
    """
    _clear(run / "checkpoints")
    lines = []
    for folder in _all(run):
        found = fault(folder)
        if found is None:
            break
        aside = folder.with_name(folder.name.replace("step", "corrupt"))
        shutil.rmtree(aside, ignore_errors=True)
        os.replace(folder, aside)
        lines.append(f"{folder} is corrupt: {found}; going back to the checkpoint before it")
    return lines


def where_to_go_on(run: Path, *, steps: int) -> str:
    """Returns a sentence for the user: where a run of ``steps`` steps resumes."""
    newest = latest(run)
    if newest is not None and _step(newest) >= steps:
        return (
            f"All {steps} steps are done: to train again, change the configuration and run.folder."
        )
    if newest is None:
        return f"No checkpoint was written to {run}: the same command starts again."
    return f"The same command goes on from {newest}."


def read_state(folder: Path) -> State:
    """Reads ``state.json``.

    Raises:
        CheckpointError: the file is missing or unreadable.
    """
    try:
        return State(**json.loads((folder / "state.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"{folder} is not a complete checkpoint: {error}") from error


def check_fits(
    state: State, folder: Path, *, model: Mapping[str, Any], zero_stage: int, processes: int
) -> None:
    """Rejects a checkpoint from which this run cannot resume.

    Raises:
        CheckpointError: the model, the ZeRO stage or the number of processes differs; says which.
    """
    if state.model != dict(model):
        old, new = (
            f"{shape['architecture']} with critic {shape.get('critic', 'none')} and"
            f" {_adapter(shape)}"
            for shape in (state.model, model)
        )
        raise CheckpointError(
            f"{folder} is of another model ({old}, this run has {new}, or the sizes differ): choose"
            " another run.folder or the old model"
        )
    if state.zero_stage != zero_stage or not (
        state.processes == processes or is_universal(folder) or not _sharded(folder)
    ):
        raise CheckpointError(
            f"{folder} was written with zero_stage={state.zero_stage} and {state.processes}"
            f" processes, this run has zero_stage={zero_stage} and {processes}: use the old"
            f" settings, or start from {folder / 'model'} with model.path"
        )


def _adapter(shape: Mapping[str, Any]) -> str:
    """Returns the adapter of a shape in words."""
    if not (adapter := shape.get("lora")):
        return "no adapter"
    return (
        f"an adapter of rank {adapter['rank']}, alpha {adapter['alpha']:g} on"
        f" {', '.join(adapter['targets'])}"
    )


def restore(
    folder: Path, engines: "Sequence[Engine]", *, model: Mapping[str, Any], zero_stage: int
) -> State:
    """Loads each engine's part of a checkpoint; returns the trainer's state.

    Raises:
        CheckpointError: see :func:`check_fits`.
    """
    state = read_state(folder)
    check_fits(
        state, folder, model=model, zero_stage=zero_stage, processes=engines[0].distributed.size
    )
    for engine in engines:
        engine.load(folder)
    return state


def is_universal(folder: Path) -> bool:
    """Whether a checkpoint was converted for any number of processes; see :func:`convert`."""
    return (folder / "universal").is_dir()


def convert(folder: Path, *, processes: int) -> None:
    """Adds a copy of the engines' state that any number of processes can load.

    DeepSpeed's tool makes the copy. Nothing is done if the number of processes did not change, or
    if each process holds the whole state.

    Args:
        folder: a checkpoint.
        processes: number of processes of the resumed run.

    Raises:
        CheckpointError: the tool failed.
    """
    if is_universal(folder) or read_state(folder).processes == processes or not _sharded(folder):
        return
    draft = folder / ".universal-draft"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    for state in (folder / name for name in ENGINES if (folder / name).is_dir()):
        _convert(state, draft / state.name, processes)
    publish(draft, folder / "universal")


def _convert(state: Path, universal: Path, processes: int) -> None:
    places = ["--input_folder", str(state), "--output_folder", str(universal)]
    counts = ["--num_extract_workers", "1", "--num_merge_workers", "1", "--inject_missing_state"]
    command = [sys.executable, "-m", "deepspeed.checkpoint.ds_to_universal", *places, *counts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:]
        raise CheckpointError(
            f"{state.parent} cannot be converted for {processes} processes: {' '.join(reason)}"
        )


def _sharded(folder: Path) -> bool:
    """Whether processes hold different parts of the optimizer; without ZeRO each holds all."""
    return any((folder / "engine").glob("*optim_states.pt"))


def save(
    run: Path,
    state: State,
    engine: "Engine",
    tokenizer: "PreTrainedTokenizerBase",
    *,
    keep: int,
    critic: "Engine | None" = None,
) -> None:
    """Writes a checkpoint to a draft folder, renames it in one step, and removes old checkpoints.

    All processes call it.

    Args:
        run: the run folder.
        state: the trainer's state.
        engine: the policy and its optimizer.
        tokenizer: saved with the model.
        keep: number of checkpoints to keep.
        critic: a separate critic model and its optimizer.

    Raises:
        RunFolderError: the checkpoint cannot be written; earlier checkpoints are unchanged.
    """
    home = run / "checkpoints"
    draft, final = home / f".draft-{state.step:06d}", home / f"step-{state.step:06d}"
    with writing(draft):
        if engine.distributed.is_main:
            _clear(home)
            draft.mkdir(parents=True)
        # The other processes write into the draft folder only once it exists.
        engine.distributed.barrier()
        engine.save(draft)
        if critic:
            critic.save(draft)
        _write_model(draft / "model", engine, tokenizer)
        if engine.distributed.is_main:
            write_whole(draft / "state.json", json.dumps(vars(state)))
        # The manifest lists files of all processes, so all of them must be complete. Each process
        # reads a share of the files, since checksums take time.
        engine.distributed.barrier()
        files = engine.distributed.from_main(lambda: _files(draft))
        share = files[engine.distributed.rank :: engine.distributed.size]
        parts = engine.distributed.gather({name: _entry(draft / name) for name in share})
        if engine.distributed.is_main:
            write_whole(
                draft / MANIFEST,
                json.dumps(
                    {name: entry for part in parts for name, entry in part.items()}, indent=1
                ),
            )
            shutil.rmtree(final, ignore_errors=True)
            publish(draft, final)
            _drop(home, state.step, keep)
        engine.distributed.barrier()


def save_model(folder: Path, engine: "Engine", tokenizer: "PreTrainedTokenizerBase") -> None:
    """Writes the model and its tokenizer in Hugging Face format; replaces the folder.

    All processes call it.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    draft = folder.with_name(f".{folder.name}-draft")
    with writing(draft):
        _write_model(draft, engine, tokenizer)
        if engine.distributed.is_main:
            shutil.rmtree(folder, ignore_errors=True)
            publish(draft, folder)


def _write_model(folder: Path, engine: "Engine", tokenizer: "PreTrainedTokenizerBase") -> None:
    engine.save_model(folder)
    if engine.distributed.is_main:
        tokenizer.save_pretrained(folder)


def _clear(home: Path) -> None:
    """Removes drafts of interrupted writes."""
    for draft in home.glob(".draft-*"):
        shutil.rmtree(draft)


def _files(folder: Path) -> list[str]:
    """Returns the names of all files in a folder and its folders."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def _entry(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {
            "bytes": path.stat().st_size,
            "blake2b": hashlib.file_digest(file, "blake2b").hexdigest(),
        }


def _all(run: Path) -> list[Path]:
    return sorted((run / "checkpoints").glob("step-*"), key=_step, reverse=True)


def _step(folder: Path) -> int:
    return int(folder.name.rpartition("-")[2])


def _drop(home: Path, step: int, keep: int) -> None:
    """Removes all but the newest ``keep`` checkpoints up to this step, and corrupt ones.

    Later steps are removed too: they come from before the run went back to an older checkpoint.
    """
    done = [folder for folder in _all(home.parent) if _step(folder) <= step]
    for folder in {*home.glob("step-*"), *home.glob("corrupt-*")} - set(done[:keep]):
        shutil.rmtree(folder)
