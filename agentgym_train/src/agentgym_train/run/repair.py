"""Checks the files of a run folder before work, and repairs them.

Checkpoints have copies of the files. A file without a copy is made again. Each function returns a
line for the user per damaged file: the file, its damage, and the replacement.
"""

from itertools import count, takewhile
from pathlib import Path
from typing import Any

from agentgym_envs import manifests
from agentgym_train.config import Config, SharedSettings
from agentgym_train.engine import checkpoint
from agentgym_train.errors import RunFolderError
from agentgym_train.files import publish, remove, sealed_fault, write_sealed, write_whole, writing
from agentgym_train.models.loading import use_threads
from agentgym_train.reporting import metrics, report

BASELINES = ("random", "oracle")


def repair(folder: Path, config: SharedSettings) -> list[str]:
    """Checks everything that a resumed run reads, except ``config.toml`` and ``init/``.

    Checkpoints come first, since the other files are repaired from the newest intact one.
    """
    lines = checkpoint.recover(folder)
    newest = checkpoint.latest(folder)
    with writing(folder):
        for name in checkpoint.LINES:
            lines += _repair_lines(folder / name, newest)
        lines += _repair_evaluation(folder / "evaluation.json", newest)
        if config.policy:
            lines += _check_episodes(folder, newest)
    return lines


def _repair_lines(path: Path, newest: Path | None) -> list[str]:
    """Repairs a file of lines: its lines up to the checkpoint must be those of the copy in it."""
    place = newest and newest / path.name
    copy = place.read_bytes() if place and place.is_file() else b""
    found = path.read_bytes() if path.is_file() else b""
    if not found.startswith(copy):
        write_whole(path, copy.decode())
        if not found:
            return [f"{path} is missing or empty: its lines are taken from {newest}"]
        same = takewhile(lambda pair: pair[0] == pair[1], zip(found, copy, strict=False))
        number = bytes(byte for byte, _ in same).count(b"\n") + 1
        return [f"line {number} of {path} is damaged: the lines are taken from {newest}"]
    whole, _, cut = found.rpartition(b"\n")
    rows = whole.split(b"\n") if whole else []
    lines = [
        f"line {number} of {path} is damaged and removed: {row[:40]!r}"
        for number, row in zip(count(1), rows, strict=False)
        if not metrics.is_row(row)
    ]
    if cut:
        lines.append(f"the last line of {path} is cut off, and its {len(cut)} bytes are removed")
    if lines:
        kept = [row for row in rows if metrics.is_row(row)]
        write_whole(path, b"".join(row + b"\n" for row in kept).decode())
    return lines


def _repair_evaluation(path: Path, newest: Path | None) -> list[str]:
    found = sealed_fault(path) or metrics.notes_fault(path)
    place = newest and newest / path.name
    if place and place.is_file():
        if not found:
            return []
        write_sealed(path, place.read_text(encoding="utf-8"))
        return [f"{path} {found}: its results are taken from {newest}"]
    if not found or not path.exists():  # no result was written yet, or it is played again
        return []
    remove(path)
    return [f"{path} {found}: its held-out episodes are played again"]


def _check_episodes(folder: Path, newest: Path | None) -> list[str]:
    """Checks the episodes of the evaluations that are not played again."""
    path, lines = folder / "evaluation.json", []
    rows = metrics.read_notes(path) if path.exists() else {}
    done = checkpoint.read_state(newest).step if newest else 0
    for key in rows.keys() - {*BASELINES, "after"}:
        place = folder / "episodes" / key.replace(" ", "-")
        found = _episodes_fault(place)
        if found is None or rows[key].get("step", 0) > done:
            continue
        if newest is None:
            write_sealed(path, metrics.written({k: row for k, row in rows.items() if k != key}))
        rest = "its episodes are played again" if newest is None else f"{path} has its results"
        lines.append(f"{place} is damaged: {found}; {rest}")
    return lines


def _episodes_fault(place: Path) -> str | None:
    if place.is_dir() and not (place / manifests.MANIFEST).exists():  # of an earlier version
        return None
    return manifests.fault(place)


def prepare_init(config: Config, folder: Path, display: report.RunDisplay) -> list[str]:
    """Makes the small model if it is missing, or again if it is damaged.

    Raises:
        RunFolderError: the model is damaged, and made again it would differ.
    """
    place, draft = folder / "init", folder / ".init-draft"
    found = init_fault(place)
    if found is None:
        return []
    begun = checkpoint.latest(folder) is not None
    if place.is_dir() and not (place / manifests.MANIFEST).exists():
        manifests.seal(place)
        return [f"{place} {found}: its files are taken as they are"]
    _make_init(config, draft, display)
    if place.is_dir() and _listed(place) != manifests.read(draft).files:
        raise RunFolderError(
            f"{place} {found}. Made again on this machine, it differs from the first one: restore"
            " the file from a copy of the folder, or choose another run.folder"
        )
    with writing(place):
        remove(place)
        publish(draft, place)
    return [f"{place} {found}: it is made again"] if begun or found != "is missing" else []


def init_fault(place: Path) -> str | None:
    """Returns the fault of the small model's folder, or None."""
    if not place.is_dir():
        return "is missing"
    if not (place / manifests.MANIFEST).exists():
        return f"has no {manifests.MANIFEST}"
    found = manifests.fault(place)
    return found and f"is damaged: {found}"


def _listed(place: Path) -> dict[str, Any]:
    """Returns the files that the manifest of a damaged folder lists, or the files in it."""
    try:
        return manifests.read(place).files
    except (OSError, ValueError):
        return {name: manifests.entry(place / name) for name in manifests.files(place)}


def _make_init(config: Config, draft: Path, display: report.RunDisplay) -> None:
    """Makes the small model, of random play in every environment."""
    from agentgym_train.models import scratch
    from agentgym_train.rollout.build import make_agent, replay

    use_threads(config.run.threads)
    sizes: dict[str, int] = {"seed": config.run.seed, "max_context": config.model.max_context}
    with writing(draft):
        remove(draft)
    scratch.make(
        draft,
        config.envs,
        config.scratch,
        progress=display.advance,
        replay=replay(make_agent(config.each()[0])),
        **sizes,
    )
    with writing(draft):
        manifests.seal(draft)
