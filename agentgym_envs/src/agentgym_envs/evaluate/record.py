"""A run's folder: ``settings.json`` and ``episodes.jsonl``.

``episodes.jsonl`` is append-only and has one line per episode or fault.

A line of an episode::

    {"row": "episode", "suite": "agentgym-rl", "scenario": "babyai", "family": "GoTo", "env_id":
    "agentgym/BabyAI-v2",
     "task_id": "GoToObj-3", "difficulty": 1, "attempt": 0, "settings": "5f…", "goal": "go to the
     red ball",
     "success": true, "score": 1.0, "end": "terminated", "last": "the last observation",
     "turns": [{"observation": …, "response": …, "thought": …, "action": …, "reward": 1.0,
     "invalid": false}, …],
     "usage": {"calls": 4, "prompt_tokens": 812, "completion_tokens": 90, "cost": 0.0,
     "cached_tokens": 600, "cached_calls": 0}, "seconds": 3.1, "memory": null}

If ``info["seat"]`` names the acting seat, a turn also has ``"seat"``, and ``memory`` is by seat.

``end`` is "terminated" (the task was decided), "truncated" (the step limit was reached), "context"
(the model's context was used up) or "refused" (the model or a filter refused the conversation). The
last two have the server's message in ``"error"``. A turn with ``"cut": true`` plays a reply that
reached the limit of tokens.

A fault has the same first nine keys, and ``"row": "fault"``, ``"fault": "environment"``,
``"provider"`` (the server failed), ``"rejected"`` (the server rejected a request of this episode
alone) or ``"agent"``, ``"try"``, ``"error"`` and ``"turns"`` (the number played). A fault of an
agent also has ``"traceback"``. Faults are never scored. The next run plays their episodes again.

The episode of a model also has ``"messages"`` and ``"calls"``: see :mod:`.transcript`. Texts that
repeat a turn's are references: see :mod:`.packing`. Functions of this module return rows without
references.

``prompts.jsonl`` has the system prompts and tools that the lines name, each once.
``settings.json`` has the settings, the sessions (see :mod:`.sessions`), and the planned episodes
(see :mod:`.planned`).

``usage.jsonl`` has one line per reply of the model, written when the reply arrives::

    {"calls": 1, "prompt_tokens": 812, "completion_tokens": 90}

Zeros are left out. A line of a tournament also has ``"player"``. The sum is the usage of the
folder, also of episodes that did not finish.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from agentgym_envs import lines, manifests
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import planned
from agentgym_envs.evaluate.budget import UsageTotals
from agentgym_envs.evaluate.packing import packed, unpacked
from agentgym_envs.evaluate.sessions import SessionEntry, played_by, version_of
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.evaluate.transcript import fits
from agentgym_envs.files import replacing
from agentgym_envs.lines import has

EpisodeRow = lines.JsonRow
EPISODES, SETTINGS, PROMPTS = "episodes.jsonl", "settings.json", "prompts.jsonl"
USAGE = "usage.jsonl"
FILES = {SETTINGS, EPISODES, PROMPTS, USAGE}
LAYOUT = 3  # of a folder; raised by a change that older versions cannot read
NUMBER = (int, float)
HEAD = {
    **dict.fromkeys(("suite", "scenario", "family", "env_id", "task_id", "settings"), str),
    "difficulty": NUMBER,
    "attempt": int,
    "usage": dict,
}
KINDS: Mapping[str, Mapping[str, Any]] = {  # required keys of a line, and their types
    "episode": {**HEAD, "success": bool, "score": (*NUMBER, type(None)), "end": str, "turns": list},
    "fault": {**HEAD, "fault": str, "try": int, "turns": int},
}
TURN = {"observation": str, "action": str, "reward": (*NUMBER, type(None)), "invalid": bool}


class EpisodeKey(NamedTuple):
    """Identifies an episode in a folder."""

    suite: str
    family: str
    task_id: str
    attempt: int
    settings: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "EpisodeKey":
        """Returns the key of a line."""
        return cls(*(row[name] for name in cls._fields))


class EpisodeRows:
    """Lines that are kept in memory."""

    folder: Path | None = None

    def __init__(self) -> None:
        self.rows: list[EpisodeRow] = []
        self.prompts: dict[str, Any] = {}
        """System prompts and tools by their names."""

    def add(self, row: EpisodeRow) -> None:
        """Adds a line."""
        self.rows.append(row)

    def share(self, value: Any) -> str:
        """Stores a value that several episodes have; returns its name, a hash."""
        name = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]
        self.prompts.setdefault(name, value)
        return name

    def served(self, model: str) -> None:
        """Notes the name by which the server knows the model; nothing keeps it here."""

    def use(self, usage: UsageTotals, player: str = "") -> None:
        """Notes the usage of a reply; nothing keeps it here."""

    def used(self) -> dict[str, UsageTotals]:
        """Returns the usage of all lines by player; that of an evaluation has the name ""."""
        found: dict[str, UsageTotals] = {}
        for row in self.rows:
            for player, usage in (row.get("usages") or {"": row["usage"]}).items():
                found.setdefault(player, UsageTotals()).add(usage)
        return found


class RunRecord(EpisodeRows):
    """A run's folder, open for appending by one process at a time.

    Args:
        folder: the folder; created if it does not exist.
        settings: the run's settings.

    Raises:
        ArgumentError: the folder holds other files, other settings or invalid lines, or another run
            uses it.
    """

    def __init__(self, folder: Path, settings: RunSettings):
        super().__init__()
        self.folder: Path = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentError(f"cannot write {folder}: {error.strerror}") from error
        _claim(folder, settings)
        busy = f"another run is at work in {folder}: wait for its end, or give another --out"
        self._lines = lines.JsonLinesFile(folder / EPISODES, busy=busy)
        self.rows, self.cut = read(folder)
        """The lines so far, and the bytes of a partial last line, which is dropped."""
        self._lines.drop(self.cut)
        self.torn = [folder / EPISODES] if self.cut else []
        """The files that ended in a partial line."""
        self.torn += [folder / name for name in (USAGE, PROMPTS) if _dropped(folder / name)]
        self._settings = read_settings(folder)
        self._shared: lines.JsonLinesFile | None = None
        self._usage: lines.JsonLinesFile | None = None

    def begin(self, session: SessionEntry, *, change: bool) -> None:
        """Adds the session that is about to play to the settings.

        Args:
            session: the session.
            change: whether another version of agentgym-envs may go on with the results.

        Raises:
            ArgumentError: another version played the results, and ``change`` is false.
        """
        before: list[SessionEntry] = self._settings.setdefault("sessions", [])
        if self.rows and not change and (was := played_by(before)) != version_of(session):
            raise ArgumentError(
                f"{self.folder} holds results of agentgym-envs {was}, and this is"
                f" {version_of(session)}: pass --allow-version-change to mix them, or give another"
                " --out"
            )
        before.append(session)
        self._save()

    def plan(self, episodes: Iterable[EpisodeRow]) -> None:
        """Adds episodes to those that the folder is planned to hold.

        Args:
            episodes: rows with the first keys of a line.
        """
        before = self._settings.get("planned", [])
        if (extended := planned.extended(before, episodes)) != before:
            self._settings["planned"] = extended
            self._save()

    def add(self, row: EpisodeRow) -> None:
        """Adds a line; it is on the disk when this returns."""
        if self._settings.get("layout") != LAYOUT:  # an earlier version cannot read the line
            self._settings["layout"] = LAYOUT
            self._save()
        self._lines.add(packed(row))
        super().add(row)

    def share(self, value: Any) -> str:
        """Stores a value on the disk, once; returns its name."""
        if self._shared is None:
            self._shared, self.prompts = _open_prompts(self.folder)
        known = len(self.prompts)
        name = super().share(value)
        if len(self.prompts) > known:
            self._shared.add({"name": name, "value": value})
        return name

    def served(self, model: str) -> None:
        """Adds the served model's name to the session."""
        session = (self._settings.get("sessions") or [{}])[-1]
        if model and model not in session.setdefault("served", []):
            session["served"].append(model)
            self._save()

    def use(self, usage: UsageTotals, player: str = "") -> None:
        """Adds the usage of a reply; it is kept if the process is killed."""
        if self._usage is None:
            self._usage = self._opened_usage()
        self._usage.add(_use(usage, player), sync=False)

    def used(self) -> dict[str, UsageTotals]:
        """Returns the usage of all replies; that of the lines for a folder of earlier versions.

        Raises:
            ArgumentError: the file cannot be read, or an invalid line; the message has its number.
        """
        found: dict[str, UsageTotals] = {}
        for row in _read_if_there(self.folder / USAGE, fits=_counts, what="usage")[0]:
            found.setdefault(row.get("player", ""), UsageTotals()).add(row)
        return found or super().used()

    def close(self) -> None:
        """Closes the files; other processes can open them."""
        for file in (self._lines, self._shared, self._usage):
            if file is not None:
                file.close()

    def _opened_usage(self) -> lines.JsonLinesFile:
        """Opens the file; a folder of an earlier version gets the usage of its lines first."""
        path = self.folder / USAGE
        opened = lines.JsonLinesFile(path, busy=f"another run is at work in {self.folder}")
        rows, cut = lines.read(path, fits=_counts, what="usage")
        opened.drop(cut)
        earlier = {} if rows else super().used()
        for player, usage in earlier.items():
            if usage.calls:
                opened.add(_use(usage, player), sync=False)
        return opened

    def _save(self) -> None:
        _write_settings(self.folder, self._settings)


def write(folder: Path, settings: Mapping[str, Any], rows: Sequence[EpisodeRow]) -> None:
    """Writes a whole folder and replaces its content: for episodes that were played elsewhere."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_settings(folder, {**settings, "layout": LAYOUT})
    (folder / EPISODES).write_text(
        "".join(json.dumps(packed(row)) + "\n" for row in rows), encoding="utf-8"
    )


def read(folder: Path) -> tuple[list[EpisodeRow], int]:
    """Returns the lines of a run's folder, and the length in bytes of a partial last line.

    Raises:
        ArgumentError: no such folder, an invalid line, or a file that differs from the manifest;
            the message has the number of the line or the name of the file.
    """
    check_manifest(folder)
    try:
        return lines.read(folder / EPISODES, fits=_fits, what="episode", unpack=unpacked)
    except OSError as error:
        raise ArgumentError(
            f"{folder} holds no results: {EPISODES} cannot be read ({error.strerror})"
        ) from error


def check_manifest(folder: Path) -> None:
    """Compares a folder with its manifest; agentgym-train writes one for its evaluations.

    Raises:
        ArgumentError: a file is damaged; names it.
    """
    if os.path.lexists(folder / manifests.MANIFEST) and (found := manifests.fault(folder)):
        raise ArgumentError(f"{folder} is damaged: {found}")


def parsed(line: bytes, folder: Path, number: int) -> EpisodeRow:
    """Returns the row of a line of a run's folder.

    Raises:
        ArgumentError: an invalid line; the message has its number.
    """
    return lines.parsed(line, folder / EPISODES, number, _fits, "episode", unpacked)


def read_settings(folder: Path) -> dict[str, Any]:
    """Returns the settings of a folder's run.

    Raises:
        ArgumentError: the folder has no readable settings.
    """
    try:
        found = json.loads((folder / SETTINGS).read_bytes())
    except OSError as error:
        raise ArgumentError(
            f"{folder} holds no results: {SETTINGS} cannot be read ({error.strerror})"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ArgumentError(
            f"{folder} holds no results: {SETTINGS} cannot be read ({error})"
        ) from error
    if not isinstance(found, dict):
        raise ArgumentError(f"{folder} holds no results: {SETTINGS} is no JSON object")
    layout = found.get("layout", 1)
    if not isinstance(layout, int) or layout > LAYOUT:
        raise ArgumentError(
            f"{folder} was written by a newer version of agentgym-envs (its layout is {layout}, and"
            f" {LAYOUT} is the latest known here): upgrade agentgym-envs, or give another folder"
        )
    if not planned.is_plan(found.get("planned", [])):
        raise ArgumentError(
            f"{folder} holds no results: {SETTINGS} is damaged at 'planned'. Remove this key"
            " to go on without the plan"
        )
    return found


def prompts(folder: Path) -> dict[str, Any]:
    """Returns the system prompts and tools of a folder by name; empty if it has none.

    Raises:
        ArgumentError: the file cannot be read, or an invalid line; the message has its number.
    """
    rows, _ = _read_if_there(folder / PROMPTS, fits=_names, what="prompt")
    return {row["name"]: row["value"] for row in rows}


def episodes(rows: Sequence[EpisodeRow]) -> list[EpisodeRow]:
    """Returns the lines of episodes; of several with the same key, the last."""
    return list({EpisodeKey.of(row): row for row in rows if row["row"] == "episode"}.values())


def _claim(folder: Path, settings: RunSettings) -> None:
    """Writes the settings into a folder without lines, or compares them with its settings."""
    path, played = folder / SETTINGS, folder / EPISODES
    begun = played.exists() and played.stat().st_size > 0
    there = read_settings(folder) if path.exists() else {}
    if there and begun:
        if different := settings.difference(there):
            raise ArgumentError(
                f"{folder} holds results of other settings: {different}. Give another --out"
            )
    elif begun or not all(_is_ours(item.name) for item in folder.iterdir()):
        raise ArgumentError(
            f"{folder} is not empty and holds no results of an evaluation. Give another --out"
        )
    else:
        _write_settings(folder, {**asdict(settings), "layout": LAYOUT})


def _is_ours(name: str) -> bool:
    """Returns whether a file is a run's, or the draft of its settings."""
    return name in FILES or name.startswith(f".{SETTINGS}")


def _write_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Replaces the settings of a folder in one step, and leaves the old ones if that fails."""
    try:
        with replacing(folder / SETTINGS) as file:
            file.write(json.dumps(settings, indent=1) + "\n")
    except OSError as error:
        raise ArgumentError(f"cannot write {folder / SETTINGS}: {error.strerror}") from error


def _open_prompts(folder: Path) -> tuple[lines.JsonLinesFile, dict[str, Any]]:
    """Opens the prompts of a folder for appending; drops a partial last line."""
    path = folder / PROMPTS
    opened = lines.JsonLinesFile(path, busy=f"another run is at work in {folder}")
    opened.drop(lines.read(path, fits=_names, what="prompt")[1])
    return opened, prompts(folder)


def _dropped(path: Path) -> bool:
    try:
        return lines.drop_partial(path)
    except OSError as error:
        raise ArgumentError(f"cannot read or write {path}: {error.strerror}") from error


def _read_if_there(path: Path, **options: Any) -> tuple[list[EpisodeRow], int]:
    """Returns what :func:`.lines.read` does; no rows if the file does not exist."""
    try:
        return lines.read(path, **options)
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise ArgumentError(f"cannot read {path}: {error.strerror}") from error


def _use(usage: UsageTotals, player: str) -> EpisodeRow:
    counts = {name: count for name, count in vars(usage).items() if count}
    return {"player": player, **counts} if player else counts


def _counts(row: EpisodeRow) -> bool:
    return isinstance(row.get("player", ""), str) and all(
        isinstance(count, NUMBER) for name, count in row.items() if name != "player"
    )


def _names(row: EpisodeRow) -> bool:
    return has(row, {"name": str}) and "value" in row


def _fits(row: EpisodeRow) -> bool:
    return has(row, KINDS[row["row"]]) and (
        row["row"] == "fault" or (all(has(turn, TURN) for turn in row["turns"]) and fits(row))
    )
