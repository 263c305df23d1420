"""Checkpoints: complete or absent.

A checkpoint holds the state of the engines and of the trainer, and the model in Hugging Face
format.

    checkpoints/step-000100/
        engine/         DeepSpeed: weights and optimizer, one file per process
        critic/         the same for a separate critic model
        model/          for transformers.AutoModelForCausalLM.from_pretrained
        model/adapter/  the adapter of model.lora, for peft.PeftModel.from_pretrained
        state.json      steps done, state of the curricula, ZeRO stage, shape of the model
        config.toml, metrics.jsonl, failures.jsonl, evaluation.json
                        copies of the run's files, up to this step
        manifest.json   size and checksum of every other file, and its own checksum
        universal/      engine and critic for any number of processes; made on resuming with
                        another number of processes; it has a manifest too
    checkpoints/corrupt-000100/
        a checkpoint whose files do not match its manifest; the next checkpoint removes it

``model/`` has a manifest too, for commands that read it alone. Other names beside the checkpoints
are ignored.
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentgym_envs import manifests
from agentgym_train.errors import CheckpointError
from agentgym_train.files import publish, remove, write_whole, writing

if TYPE_CHECKING:  # transformers' models take seconds to load
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from agentgym_train.distributed import Distributed
    from agentgym_train.engine.deepspeed import TrainingEngine

ENGINES = ("engine", "critic")
LINES = ("metrics.jsonl", "failures.jsonl")
"""Files of the run with a line per step or failure."""
COPIED = ("config.toml", "evaluation.json", *LINES)
"""Files of the run that a checkpoint has copies of."""
NAME = re.compile(r"(step|corrupt)-(\d{6}|[1-9]\d{6,})")


@dataclass(frozen=True)
class CheckpointState:
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
    code: dict[str, str] = field(default_factory=dict)
    """See :func:`agentgym_train.plugins.code`."""


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
    return [folder for folder in _all(run) if manifests.fault(folder, checksums=False) is None]


def latest(run: Path) -> Path | None:
    """Returns the newest checkpoint of :func:`intact`, or None if there is none."""
    return next(iter(intact(run)), None)


def newest(run: Path, distributed: "Distributed") -> tuple[Path | None, bool]:
    """Returns the newest checkpoint, and whether it was converted; see :func:`convert`.

    All processes call it. The main process looks, so that all resume from the same checkpoint.
    """
    found: Path | None = distributed.from_main(lambda: latest(run))
    return found, found is not None and distributed.from_main(lambda: is_universal(found))


def recover(run: Path) -> list[str]:
    """Renames corrupt checkpoints, newest first, until one is intact; compares checksums.

    Returns:
        One message per renamed checkpoint, for the user.
    """
    with writing(run / "checkpoints"):
        _clear(run / "checkpoints")
    lines = []
    for folder in _all(run):
        found = manifests.fault(folder)
        if found is None:
            if not manifests.read(folder).sealed:
                lines.append(
                    f"{folder} was written by an earlier version: its manifest has no own checksum"
                )
            break
        aside = folder.with_name(folder.name.replace("step", "corrupt"))
        with writing(folder):
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


def read_state(folder: Path) -> CheckpointState:
    """Reads ``state.json``.

    Raises:
        CheckpointError: the file is missing or unreadable.
    """
    try:
        return CheckpointState(**json.loads((folder / "state.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise CheckpointError(f"{folder} is not a complete checkpoint: {error}") from error


def check_fits(
    state: CheckpointState,
    folder: Path,
    *,
    model: Mapping[str, Any],
    zero_stage: int,
    processes: int,
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
    folder: Path, engines: "Sequence[TrainingEngine]", *, model: Mapping[str, Any], zero_stage: int
) -> CheckpointState:
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


def convert(folder: Path, *, processes: int) -> list[str]:
    """Adds a copy of the engines' state that any number of processes can load.

    DeepSpeed's tool makes the copy. Nothing is done if there is an intact copy, if the number of
    processes did not change, or if each process holds the whole state.

    Args:
        folder: a checkpoint.
        processes: number of processes of the resumed run.

    Returns:
        A message for the user if a damaged copy was made again.

    Raises:
        CheckpointError: the tool failed.
    """
    place, lines = folder / "universal", []
    if os.path.lexists(place):
        if (found := manifests.fault(place)) is None:
            return []
        lines.append(f"{place} is damaged: {found}; it is made again")
    elif read_state(folder).processes == processes or not _sharded(folder):
        return []
    draft = folder / ".universal-draft"
    with writing(draft):
        remove(draft)
        draft.mkdir()
        for state in (folder / name for name in ENGINES if (folder / name).is_dir()):
            _convert(state, draft / state.name, processes)
        manifests.seal(draft)
        remove(place)
        publish(draft, place)
    return lines


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
    state: CheckpointState,
    engine: "TrainingEngine",
    tokenizer: "PreTrainedTokenizerBase",
    *,
    keep: int,
    critic: "TrainingEngine | None" = None,
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
            _copy(run, draft, state.step)
        # The manifest lists files of all processes, so all of them must be complete. Each process
        # reads a share of the files, since checksums take time.
        engine.distributed.barrier()
        files = engine.distributed.from_main(lambda: manifests.files(draft))
        share = files[engine.distributed.rank :: engine.distributed.size]
        parts = engine.distributed.gather({name: manifests.entry(draft / name) for name in share})
        if engine.distributed.is_main:
            _write_manifests(draft, {k: entry for part in parts for k, entry in part.items()})
            remove(final)
            publish(draft, final)
            _drop(home, state.step, keep)
        engine.distributed.barrier()


def save_model(
    folder: Path, engine: "TrainingEngine", tokenizer: "PreTrainedTokenizerBase"
) -> None:
    """Writes the model and its tokenizer in Hugging Face format; replaces the folder.

    All processes call it.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    draft = folder.with_name(f".{folder.name}-draft")
    with writing(draft):
        if engine.distributed.is_main:
            remove(draft)
        _write_model(draft, engine, tokenizer)
        if engine.distributed.is_main:
            manifests.seal(draft)
            remove(folder)
            publish(draft, folder)


def _write_model(
    folder: Path, engine: "TrainingEngine", tokenizer: "PreTrainedTokenizerBase"
) -> None:
    engine.save_model(folder)
    if engine.distributed.is_main:
        tokenizer.save_pretrained(folder)


def _write_manifests(draft: Path, entries: dict[str, manifests.ManifestEntry]) -> None:
    """Writes the manifest of a checkpoint, and that of its model."""
    model = draft / "model"
    own = {
        name.removeprefix("model/"): each
        for name, each in entries.items()
        if name.startswith("model/")
    }
    manifests.write(model, own)
    name = f"model/{manifests.MANIFEST}"
    manifests.write(draft, entries | {name: manifests.entry(draft / name)})


def _copy(run: Path, draft: Path, step: int) -> None:
    """Copies files of the run into a checkpoint, without damaged lines and those of later steps."""
    for name in (name for name in COPIED if (run / name).is_file()):
        content = (run / name).read_bytes()
        if name in LINES:
            kept = (line for line in content.splitlines(True) if _step_of_line(line) <= step)
            content = b"".join(kept)
        (draft / name).write_bytes(content)


def _step_of_line(line: bytes) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, TypeError, LookupError, RecursionError):
        return math.inf


def _clear(home: Path) -> None:
    """Removes drafts of interrupted writes."""
    for draft in home.glob(".draft-*"):
        remove(draft)


def _all(run: Path) -> list[Path]:
    """Returns the folders of checkpoints, newest first."""
    return sorted(_named(run / "checkpoints", "step"), key=_step, reverse=True)


def _named(home: Path, kind: str) -> list[Path]:
    """Returns the folders of a kind, "step" or "corrupt"; other names are ignored."""
    try:
        found = [
            path for path in home.iterdir() if (m := NAME.fullmatch(path.name)) and m[1] == kind
        ]
        return [path for path in found if path.is_dir()]
    except OSError:
        return []


def _step(folder: Path) -> int:
    return int(folder.name.rpartition("-")[2])


def _drop(home: Path, step: int, keep: int) -> None:
    """Removes all but the newest ``keep`` checkpoints up to this step, and corrupt ones.

    Later steps are removed too: they come from before the run went back to an older checkpoint.
    """
    done = [folder for folder in _all(home.parent) if _step(folder) <= step]
    for folder in {*_all(home.parent), *_named(home, "corrupt")} - set(done[:keep]):
        shutil.rmtree(folder, ignore_errors=True)
