"""The episodes of runs that may still be played, as ``agentgym view`` shows them.

Each call reads only the new lines. Texts stay in the files: the memory holds the data of the list
and of the tables, and the place of each line. A folder that cannot be read does not stop the
others.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import planned, record
from agentgym_envs.evaluate.folders import expanded, named
from agentgym_envs.evaluate.record import EPISODES, FILES, EpisodeRow
from agentgym_envs.locks import held
from agentgym_envs.report.command import legend, shown_run, shown_sections
from agentgym_envs.report.data import entry, finite, overview, png, texts

SHARE = 0.05  # of the time that the tables may take
TRAINING = ".lock"  # in the folder of a run of agentgym-train
TAIL = 256  # bytes before the new lines; if they changed, the file is another one
COUNTED = ("row", *record.EpisodeKey._fields, "scenario", "difficulty", "usage", "fault", "error")
RESULT = ("success", "score", "end", "prompt_limit")


@dataclass(frozen=True)
class LinePlace:
    """The place of a line."""

    folder: Path
    number: int
    """From 1."""
    start: int
    """In bytes."""
    size: int

    def row(self) -> EpisodeRow:
        """Reads the line."""
        with (self.folder / EPISODES).open("rb") as file:
            file.seek(self.start)
            return record.parsed(file.read(self.size), self.folder, self.number)


@dataclass
class FollowedRun:
    """One run, of which the lines before ``read`` are known."""

    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    read: int = 0
    rows: list[EpisodeRow] = field(default_factory=list)
    """The lines without their texts."""
    tail: bytes = b""
    """The last bytes before ``read``."""

    def news(self) -> Iterator[tuple[LinePlace, EpisodeRow]]:
        """Reads the new lines; a partial last line waits for its rest.

        Raises:
            ArgumentError: an invalid line, or a file that cannot be read or is damaged.
        """
        if not self.read:
            record.check_manifest(self.folder)
        try:
            with (self.folder / EPISODES).open("rb") as file:
                file.seek(self.read)
                whole, end, _ = file.read().rpartition(b"\n")
        except FileNotFoundError:
            return  # the run has no episode yet
        except OSError as error:
            raise ArgumentError(
                f"{self.folder} holds no results: {EPISODES} cannot be read ({error.strerror})"
            ) from error
        for line in whole.split(b"\n") if end else ():
            place = LinePlace(self.folder, len(self.rows) + 1, self.read, len(line))
            row = record.parsed(line, self.folder, place.number)
            self.rows.append(_counted(row))
            self.read += len(line) + 1
            self.tail = (self.tail + line + b"\n")[-TAIL:]
            yield place, row

    @property
    def live(self) -> bool | None:
        """Whether a process plays the run; None if the file system has no locks.

        A run of agentgym-train locks its own folder, which holds those of its evaluations.
        """
        files = [self.folder / EPISODES]
        if self.folder.parent.name == "episodes":
            files.append(self.folder.parent.parent / TRAINING)
        found = [held(file) for file in files]
        return True if True in found else None if None in found else False

    @property
    def replaced(self) -> bool:
        """Whether another file is in the place of the one that was read."""
        if not self.read:
            return False
        try:
            with (self.folder / EPISODES).open("rb") as file:
                file.seek(self.read - len(self.tail))
                return file.read(len(self.tail)) != self.tail
        except OSError:
            return True


class FollowedRuns:
    """Runs in the order of their names, and their episodes in the order in which they were read.

    Args:
        folders: results of ``agentgym eval``, folders of them, or runs of agentgym-train.

    Raises:
        ArgumentError: no folder holds results or waits for them.
    """

    def __init__(self, folders: Sequence[Path]):
        self._given, self.version, self._counted = folders, 0, -1
        self.waiting: list[str] = []
        """Messages about folders without results; they may come."""
        self.broken: list[str] = []
        """Messages about folders that cannot be read."""
        self._begin()
        self.update()
        if self.broken and not (self._runs or self.waiting):
            raise ArgumentError(self.broken[0])
        self._tables()

    def _begin(self) -> None:
        self._runs: list[FollowedRun] = []
        self._entries: list[dict[str, Any]] = []
        self._places: list[LinePlace] = []
        self._overview: Mapping[str, Any] = {}
        self._next = 0.0
        self.version += 1

    def update(self) -> None:
        """Reads the new lines; starts again if a file was replaced or removed."""
        known = [run.folder for run in self._runs]
        found = self._readable()
        if any(run.folder not in found or run.replaced for run in self._runs):
            self._begin()
            known = []
        self._runs += [FollowedRun(folder) for folder in found if folder not in known]
        for run in self._runs:
            run.settings = found[run.folder]
        for number, run in enumerate(self._runs):
            try:
                for place, row in run.news():
                    self._entries.append(entry(number, row))
                    self._places.append(place)
            except ArgumentError as error:
                self.broken.append(str(error))

    def _readable(self) -> dict[Path, Mapping[str, Any]]:
        """Returns the settings of the folders of results; notes why others have none."""
        self.waiting, self.broken = [], []
        found: dict[Path, Mapping[str, Any]] = {}
        for folder in self._folders():
            try:
                settings = record.read_settings(folder)
                record.prompts(folder)
            except ArgumentError as error:
                empty = folder.is_dir() and not any((folder / name).exists() for name in FILES)
                if empty:
                    self.waiting.append(f"{folder} holds no results yet")
                else:
                    self.broken.append(str(error))
            else:
                found[folder] = settings
        return found

    def _folders(self) -> list[Path]:
        found: list[Path] = []
        for folder in self._given:
            try:
                found += expanded([folder])
            except ArgumentError as error:
                self.waiting.append(str(error))
        return expanded(found)

    def news(self, version: int, start: int, shown: int) -> dict[str, Any]:
        """Returns what the page does not know yet.

        Args:
            version: the version of the page's data; another one makes the page start again.
            start: number of episodes that the page has.
            shown: number of runs, planned and read episodes in the page's tables; -1: no tables.
        """
        self.update()
        if version != self.version:
            start, shown = 0, -1
        counted = self._tables()
        found: dict[str, Any] = finite(
            {
                "version": self.version,
                "entries": self._entries[start:],
                "counted": counted,
                "overview": self._overview if counted != shown else None,
                "age": self._age(),
                "live": [run.live for run in self._runs],
                "problems": self.broken + self.waiting,
            }
        )
        return found

    def texts(self, number: int) -> dict[str, Any]:
        """Returns the texts of an episode.

        Raises:
            ArgumentError: an unknown episode.
        """
        if not 0 <= number < len(self._places):
            raise ArgumentError(
                f"unknown episode {number}: the runs have {len(self._places)} episodes, from 0"
            )
        place = self._places[number]
        prompts = record.prompts(place.folder)
        found: dict[str, Any] = finite(
            texts(place.row(), lambda name: _picture(place.folder, name), prompts)
        )
        return found

    def search(self, text: str, start: int) -> list[int]:
        """Returns the episodes from ``start`` on whose texts contain this one, in any case."""
        wanted = text.lower()
        return [
            number
            for number in range(max(start, 0), len(self._places))
            if any(wanted in found.lower() for found in _searched(self._places[number].row()))
        ]

    def _tables(self) -> int:
        """Computes the tables again, but not all the time.

        Returns the number of runs, planned and read episodes in them. A run can join before its
        first episode.
        """
        begun = time.monotonic()
        known = len(self._overview.get("runs", ()))
        plans = [run.settings.get("planned", ()) for run in self._runs]
        planned_episodes = sum(entry["episodes"] for plan in plans for entry in plan)
        size = len(self._runs) + planned_episodes + len(self._entries)
        current = self._counted == size or begun < self._next
        if current and known == len(self._runs):
            return self._counted
        names = named([run.folder for run in self._runs])
        rows = [
            (name, planned.with_missing(run.rows, run.settings))
            for name, run in zip(names, self._runs, strict=True)
        ]
        runs = [
            shown_run(name, run.folder, found, run.settings)
            for run, (name, found) in zip(self._runs, rows, strict=True)
        ]
        self._overview = overview(runs, shown_sections(rows)) | {
            "comparisons": {"notes": [], "pairs": []},
            "legend": legend(runs),
        }
        self._counted = size
        self._next = begun + (time.monotonic() - begun) / SHARE
        return self._counted

    def _age(self) -> float | None:
        """Returns the seconds since the last line; None without one."""
        files = [run.folder / EPISODES for run in self._runs]
        times = [file.stat().st_mtime for file in files if file.exists()]
        return max(0.0, time.time() - max(times)) if times else None


def _counted(row: EpisodeRow) -> EpisodeRow:
    """Returns what the tables need of a line."""
    kept = {key: row[key] for key in COUNTED if key in row}
    if row["row"] == "fault":
        return kept
    turns = [{"invalid": turn["invalid"]} for turn in row["turns"]]
    return kept | {key: row[key] for key in RESULT if key in row} | {"turns": turns}


def _searched(row: EpisodeRow) -> Iterator[str]:
    """Yields the texts of a line in which a reader searches."""
    turns = row["turns"] if row["row"] == "episode" else []
    for part in (row, *turns):
        for key in ("goal", "last", "error", "observation", "response", "action"):
            if isinstance(part.get(key), str):
                yield part[key]


def _picture(folder: Path, name: str) -> str | int:
    """Returns the address of a picture, or -1 if it is missing."""
    content = png(folder, name)
    return -1 if content is None else f"data:image/png;base64,{content}"
