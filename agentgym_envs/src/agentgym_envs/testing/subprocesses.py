"""Plays the same episodes in other processes under different conditions.

A transcript must not depend on these conditions.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from agentgym_envs import plugins
from agentgym_envs.multi.env import SEAT_KEYWORDS
from agentgym_envs.processes import module_folders, python_command, python_environment
from agentgym_envs.testing.side_effects import SideEffects
from agentgym_envs.testing.subject import expect

TIMEOUT = 300  # seconds


@dataclass(frozen=True)
class ProcessConditions:
    """The conditions of another process.

    Attributes:
        variables: environment variables.
        moved: whether the process has another working folder.
        home: whether HOME is another folder.
        machine: whether the host name and the number of CPUs are others.
        later: seconds by which its clocks are ahead.
    """

    variables: dict[str, str] = field(default_factory=dict)
    moved: bool = False
    home: bool = False
    machine: bool = False
    later: float = 0.0

    def __str__(self) -> str:
        named = [f"{name}={value}" for name, value in self.variables.items()]
        named += ["in another folder"] * self.moved + ["another HOME"] * self.home
        named += ["another host name and number of CPUs"] * self.machine
        return ", ".join([*named, *["at another time"] * bool(self.later)])

    def parts(self) -> "Iterator[ProcessConditions]":
        """Yields conditions that each differ from the plain ones in one respect."""
        yield from (
            ProcessConditions(PLAIN.variables | {name: value})
            for name, value in self.variables.items()
        )
        for name in ("moved", "home", "machine", "later"):
            yield replace(PLAIN, **{name: getattr(self, name)})


PLAIN = ProcessConditions({"PYTHONHASHSEED": "0"})
CONDITIONS = (
    ProcessConditions({"PYTHONHASHSEED": "0", "LC_ALL": "C", "LANG": "C"}),
    ProcessConditions(
        {
            "PYTHONHASHSEED": "4242",
            "PYTHONOPTIMIZE": "1",
            "OMP_NUM_THREADS": "3",
            "TZ": "KIT-13:37",
            "LC_ALL": "tr_TR.UTF-8",
            "LANG": "tr_TR.UTF-8",
            "LANGUAGE": "tr",
            **dict.fromkeys(("USER", "LOGNAME", "USERNAME", "HOSTNAME"), "kit"),
            **{"TERM": "dumb", "COLUMNS": "57", "LINES": "13", "SHELL": "/bin/kit"},
        },
        moved=True,
        home=True,
        machine=True,
        later=1000 * 86400 + 12345.6,
    ),
)
REMEDY = "texts may depend on the seed and the actions only"


class SubprocessResult(NamedTuple):
    """The transcript of another process, its output, and the files that it left."""

    lines: list[str]
    printed: str
    left: list[str]


def compare_subprocesses(
    transcript: Callable[[], list[str]], setup: dict[str, Any], evidence: SideEffects
) -> str:
    """Expects that a transcript is the same a second time and under all conditions.

    Args:
        transcript: plays in this process.
        setup: the id, the keywords, and whether it is a game, for the other processes.
        evidence: receives the results of the other processes.
    """
    with ThreadPoolExecutor(len(CONDITIONS)) as pool:
        jobs = [pool.submit(play, setup, conditions) for conditions in CONDITIONS]
        here, again = transcript(), transcript()
        played = [job.result() for job in jobs]
    evidence.subprocesses.extend(played)
    _expect_same(here, again, "again in one process")
    for conditions, there in zip(CONDITIONS, played, strict=True):
        if here != there.lines:
            _expect_same(here, there.lines, _blame(setup, conditions))
    return f"{len(here)} turns in this process and {len(CONDITIONS)} others"


def play(setup: dict[str, Any], conditions: ProcessConditions) -> SubprocessResult:
    """Plays in another process with a separate folder for temporary files."""
    with tempfile.TemporaryDirectory(prefix="agentgym-") as folder:
        result, *folders = (
            Path(folder, name) for name in ("result", "working", "temporary", "home")
        )
        for each in folders:
            each.mkdir()
        working, temporary, home = folders
        kwargs = _absolute(setup["kwargs"]) if conditions.moved else setup["kwargs"]
        job = setup | {
            "env_id": plugins.absolute(setup["env_id"]),
            "kwargs": kwargs,
            "path": module_folders()[1],
            "later": conditions.later,
            "machine": conditions.machine,
            "result": str(result),
        }
        variables = conditions.variables | {"TMPDIR": str(temporary)}
        if conditions.moved:
            variables["PWD"] = str(working)
        if conditions.home:
            _link_folders(home)
            variables["HOME"] = str(home)
        status, printed = start(job, variables, variables.get("PWD", os.getcwd()))
        expect(status == 0, f"a second process failed: {printed[-500:]}")
        expect(result.exists(), "a second process ended with status 0 before it had played")
        left = sorted(path.name for path in (*working.iterdir(), *temporary.iterdir()))
        return SubprocessResult(json.loads(result.read_text()), printed, left)


def _link_folders(home: Path) -> None:
    """Fills another home folder: caches and data remain in reach, files with settings do not."""
    with suppress(OSError, RuntimeError):  # this process has no home folder
        for path in Path.home().iterdir():
            if path.is_dir():
                (home / path.name).symlink_to(path)


def start(job: dict[str, Any], variables: dict[str, str], folder: str) -> tuple[int, str]:
    """Runs a process to its end; returns its exit status and output."""
    command = python_command("agentgym_envs.testing", json.dumps(job))
    environ = python_environment(PYTHONWARNINGS="ignore", **variables)
    done = subprocess.run(
        command,
        env=environ,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=TIMEOUT,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _absolute(value: Any) -> Any:
    """Makes those keywords of the environment absolute that name an existing file."""
    if isinstance(value, dict):
        return {
            key: item if key in SEAT_KEYWORDS else _absolute(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_absolute(item) for item in value]
    return (
        os.path.abspath(value)
        if isinstance(value, str) and value and os.path.exists(value)
        else value
    )


def _blame(setup: dict[str, Any], conditions: ProcessConditions) -> str:
    """Returns the condition that changes the transcript, if a single one does."""
    plain = play(setup, PLAIN).lines
    if play(setup, PLAIN).lines != plain:
        return "in two processes alike"
    for part in sorted(
        chain(*(each.parts() for each in CONDITIONS)), key=lambda part: len(part.variables)
    ):
        if part != PLAIN and play(setup, part).lines != plain:
            return f"with {part}"
    return f"in another process with {conditions}"


def _expect_same(here: list[str], there: list[str], where: str) -> None:
    if here == there:
        return
    pairs = zip([*here, "the end"], [*there, "the end"], strict=False)
    one, other = next((a, b) for a, b in pairs if a != b)
    begin = max(
        next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0) - 80, 0
    )
    expect(
        False,
        f"played {where}, {one[begin : begin + 240]} became {other[begin : begin + 240]}; {REMEDY}",
    )
