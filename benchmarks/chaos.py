"""A training run of two processes under random faults, each followed by the same command.

    python benchmarks/chaos.py

A run without a fault gives the wanted weights. Its processes must listen on the loopback alone.
Each fault then hits a run at a random moment, or a file of a run that was stopped. The same command
must go on to the same weights, or say in one line which file is damaged. No process may be left.
The exit status is 1 if this fails once. Writes ``benchmarks/results/chaos.md``.

A full disk is a limit on the size of files (RLIMIT_FSIZE), which every process of the run gets at a
random moment. It needs no privileges, and writes fail as on a full disk.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import long_tables
import psutil
import typer
from safetensors.numpy import load_file

CONFIG = """\
[run]
folder = "run"
steps = 6
save_every = 1
threads = 1
[env]
id = "agentgym/Maze-v1"
kwargs = { rooms = [3] }
groups = 4
group_size = 4
workers = 1
[model]
max_context = 256
[scratch]
hidden = 32
episodes = 100
steps = 120
turns = 8
[rollout]
max_new_tokens = 5
[engine]
lr = 1e-3
[curriculum]
name = "scaling_inter"
rounds = [3, 5]
every = 2
[eval]
kwargs = { split = "test" }
episodes = 4
horizon = 4
"""
MARKER = "AGENTGYM_CHAOS"  # a variable of all processes of a command
SIGNALS = ("TERM", "INT", "HUP", "KILL")
ROLES = {
    "command": "agentgym-train run ",
    "launcher": "-m deepspeed.launcher.",
    "rank": "-m agentgym_train.cli work ",
    "worker": "-m agentgym_envs.pool.worker ",
}
"""Part of the command line of each kind of process."""
SIZES = (0, 2**10, 2**14, 2**17)  # limits of a file's bytes on a full disk
LEAVE = 20.0  # seconds for the last process of a command to end
LOOK = 0.1  # seconds between two looks at the processes
TAIL = 12  # lines of output that a violation shows

Strike = Callable[[list[psutil.Process]], str]
"""Does harm to the processes of a command; returns what was done, or nothing while it cannot."""


class Stop(NamedTuple):
    """The end of a command."""

    status: int | None
    """None: the command did not end in time."""
    output: str
    left: list[str]
    """Command lines of processes that have outlived the command."""
    struck: str
    seconds: float


class Case(NamedTuple):
    """A fault and what became of the run."""

    number: int
    fault: str
    outcome: str
    violation: str = ""
    output: str = ""

    def row(self) -> str:
        """Returns a table row."""
        return f"| {self.number} | {self.fault} | {self.violation or self.outcome} |"


def processes(mark: str) -> list[psutil.Process]:
    """Returns the living processes that a command has started, itself included."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARKER) == mark and process.status() != "zombie":
                found.append(process)
    return found


class Runs:
    """Starts the command in folders of their own.

    Args:
        home: a folder for all of them.
        limit: seconds for a command.
    """

    def __init__(self, home: Path, limit: float):
        self.home, self.limit, self._number = home, limit, 0

    def start(self, place: Path, strike: Strike | None = None, moment: float = 0.0) -> Stop:
        """Runs the command in a folder to its end.

        Args:
            place: the folder, which has the configuration.
            strike: is called from ``moment`` on, until it has struck.
            moment: seconds after the start.
        """
        self._number += 1
        mark, output = f"{os.getpid()}-{self._number}", self.home / f"output-{self._number}"
        program = Path(sys.executable).with_name("agentgym-train")
        command = [program, "run", "run.toml", "--processes", "2"]
        env = os.environ | {MARKER: mark, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
        began, struck = time.monotonic(), ""
        with output.open("wb") as file:
            process = subprocess.Popen(
                command, cwd=place, env=env, stdout=file, stderr=file, start_new_session=True
            )
        while process.poll() is None and time.monotonic() - began < self.limit:
            if strike and not struck and time.monotonic() - began > moment:
                struck = strike(processes(mark))
            time.sleep(LOOK)
        status, seconds = process.poll(), time.monotonic() - began
        left = self._leave(mark, time.monotonic() + (LEAVE if status is not None else 0))
        process.wait()
        return Stop(status, output.read_text(errors="replace"), left, struck, seconds)

    def _leave(self, mark: str, deadline: float) -> list[str]:
        """Waits for the end of all processes; kills and returns those that do not end."""
        while (left := processes(mark)) and time.monotonic() < deadline:
            time.sleep(LOOK)
        shown = []
        for process in left:
            with suppress(psutil.Error):
                shown.append(" ".join(process.cmdline())[:100])
                process.kill()
        psutil.wait_procs(left)
        return shown

    def place(self, origin: Path | None = None) -> Path:
        """Returns a new folder with the configuration, and with the files of another one."""
        place = Path(tempfile.mkdtemp(dir=self.home))
        if origin:
            shutil.copytree(origin, place, dirs_exist_ok=True)
        (place / "run.toml").write_text(CONFIG)
        return place


def signalled(rng: random.Random, role: str, name: str) -> Strike:
    """Returns a strike that sends a signal to a random process of a kind."""

    def strike(all_: list[psutil.Process]) -> str:
        with suppress(psutil.Error):
            those = [p for p in all_ if ROLES[role] in f"{' '.join(p.cmdline())} "]
            if those:
                rng.choice(those).send_signal(getattr(signal, f"SIG{name}"))
                return f"SIG{name} to the {role}"
        return ""

    return strike


def listening(addresses: set[str]) -> Strike:
    """Returns a strike that harms nothing and collects the addresses on which processes listen."""

    def strike(all_: list[psutil.Process]) -> str:
        for process in all_:
            with suppress(psutil.Error):
                sockets = process.net_connections("inet")
                addresses.update(s.laddr.ip for s in sockets if s.status == psutil.CONN_LISTEN)
        return ""

    return strike


def full_disk(size: int) -> Strike:
    """Returns a strike after which no file can grow beyond a size."""

    def strike(all_: list[psutil.Process]) -> str:
        for process in all_:
            with suppress(psutil.Error):
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, size))
        return f"no file longer than {size:,} bytes" if all_ else ""

    return strike


def damage(rng: random.Random, run: Path, how: str) -> tuple[str, Path]:
    """Damages a random file of a run; returns what was done, and the file."""
    files = [p for p in sorted(run.rglob("*")) if p.is_file()]
    path = rng.choice([p for p in files if how == "deleted" or p.stat().st_size])
    if how == "deleted":
        path.unlink()
    elif how == "truncated":
        os.truncate(path, rng.randrange(path.stat().st_size))
    else:
        data = bytearray(path.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
    return f"{path.relative_to(run)} {how}", path


def same_weights(run: Path, wanted: Path) -> bool:
    """Whether two finished runs have the same final weights, bit for bit."""
    found, right = (load_file(each / "model" / "model.safetensors") for each in (run, wanted))
    return found.keys() == right.keys() and all(
        found[name].tobytes() == right[name].tobytes() for name in right
    )


def fault_of(stop: Stop, run: Path, wanted: Path, damaged: Path | None) -> tuple[str, str]:
    """Returns the outcome of the command after a fault, and the violation if it is one."""
    reported = "" if damaged is None else _report(stop.output, damaged, run)
    if stop.status is None:
        return "", "the same command did not end"
    if stop.left:
        return "", f"the same command left {'; '.join(stop.left)}"
    if "Traceback (most recent call last)" in stop.output:
        return "", "the same command ended with a traceback"
    if stop.status:
        if reported:
            return f"refused: {reported}", ""
        return "", f"the same command ended with exit status {stop.status}"
    try:
        exact = same_weights(run, wanted)
    except Exception as error:
        return "", f"exit status 0 without a readable model: {error}"
    if reported:
        return f"{'exact' if exact else 'other weights'}, reported: {reported}", ""
    return ("exact", "") if exact else ("", "other weights without a line")


def _report(output: str, damaged: Path, run: Path) -> str:
    """Returns the line of an output that names a damaged file, or nothing."""
    parts = damaged.relative_to(run).parts
    folder = parts[1] if parts[0] == "checkpoints" else f"/{parts[0]}"
    names = (damaged.name, folder)
    lines = [line.strip() for line in output.splitlines()]
    told = [each for each in lines if each.startswith(("warning:", "error:"))]
    line = next((each for each in told if any(name in each for name in names)), "")
    return line.replace(str(run.parent), "").replace("|", "/")


class Chaos:
    """All cases of a benchmark.

    Args:
        runs: starts the command.
        seed: of the faults.
    """

    def __init__(self, runs: Runs, seed: int):
        self.runs, self.seed = runs, seed
        self.undisturbed = runs.place()
        """The folder of the run without a fault."""
        self.addresses: set[str] = set()
        """The addresses on which its processes listened."""
        stop = runs.start(self.undisturbed, listening(self.addresses))
        if stop.status != 0 or stop.left:
            sys.exit(f"the run without a fault failed, {stop.left=}:\n{stop.output}")
        if self.addresses != {"127.0.0.1"}:
            sys.exit(f"the run without a fault listened on {self.addresses}")
        self.seconds = stop.seconds
        self.stopped: list[Path] = []
        """Folders of runs that a fault has stopped. Further cases begin with copies of them."""

    def case(self, number: int) -> Case:
        """Plays one case."""
        rng = random.Random(f"{self.seed}/{number}")
        begun = rng.choice([None, *self.stopped[-8:]])
        place = self.runs.place(begun)
        run, moment = place / "run", rng.uniform(0, (0.6 if begun else 0.9) * self.seconds)
        kind = rng.choice(["signal", "signal", "signal", "file", "file", "file", "disk"])
        damaged = None
        if kind == "file":
            if begun is None:  # stopped after half of the time
                self.runs.start(place, signalled(rng, "command", "KILL"), 0.7 * self.seconds)
            how = rng.choice(["with a flipped bit", "truncated", "deleted"])
            fault, damaged = damage(rng, run, how)
        else:
            role, name, size = rng.choice(list(ROLES)), rng.choice(SIGNALS), rng.choice(SIZES)
            strike = full_disk(size) if kind == "disk" else signalled(rng, role, name)
            first = self.runs.start(place, strike, moment)
            fault = f"{first.struck or 'ended before the fault'} after {moment:.1f} s"
            if violation := self._violation(first, run, kind):
                return Case(number, fault, "", violation, first.output)
            stopped = self.runs.place(place) if first.status else None
        second = self.runs.start(place)
        outcome, violation = fault_of(second, run, self.undisturbed / "run", damaged)
        if kind != "file" and not violation and stopped and (stopped / "run").is_dir():
            self.stopped.append(stopped)
        shutil.rmtree(place)
        return Case(number, fault, outcome, violation, second.output)

    def _violation(self, first: Stop, run: Path, kind: str) -> str:
        """Returns what is wrong with the end of a command that was hit by a fault."""
        if first.status is None:
            return "the command did not end"
        if first.left:
            return f"left {len(first.left)} processes: {'; '.join(first.left)}"
        if kind == "disk" and "Traceback (most recent call last)" in first.output:
            return "a traceback"
        if first.status == 0:
            return fault_of(first, run, self.undisturbed / "run", None)[1]
        return ""


def report(cases: list[Case], command: str, seconds: float) -> list[str]:
    """Returns the lines of the results."""
    counts = Counter("violation" if c.violation else c.outcome.partition(":")[0] for c in cases)
    lines = [
        "# A training run under random faults",
        "",
        f"`{command}`, {os.cpu_count()} CPU cores.",
        "",
        f"The run without a fault takes {seconds:.0f} s. Its processes listen on 127.0.0.1 alone.",
        "",
        "Two processes train for 6 steps, with a checkpoint after each. The same command follows"
        " each fault. *Exact*: the final weights are those of the run without a fault, bit for"
        " bit. *Reported*: a line names the damaged file. *Refused*: that line ends the command.",
        "",
        "| outcome | faults |",
        "|---|---|",
        *(f"| {outcome} | {count} |" for outcome, count in sorted(counts.items())),
        "",
        "| | fault | outcome |",
        "|---|---|---|",
        *(case.row() for case in cases),
    ]
    for case in (each for each in cases if each.violation):
        tail = case.output.rstrip().splitlines()[-TAIL:]
        lines += [
            "",
            f"Case {case.number}: {case.fault}: {case.violation}.",
            "",
            "```text",
            *tail,
            "```",
        ]
    return lines


def main(
    faults: int = 60,
    seed: int = 0,
    first: int = 1,
    limit: float = 600.0,
    out: Path = Path("benchmarks/results/chaos.md"),
) -> None:
    """Plays the faults and writes the table; ``first`` is the number of the first one."""
    # A command in the background of a shell, or under nohup, would ignore these signals.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # After Ctrl-C, the processes of the last run can still write.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        chaos = Chaos(Runs(Path(home), limit), seed)
        cases = []
        with suppress(KeyboardInterrupt):  # Ctrl-C: the table of the faults so far
            for number in range(first, first + faults):
                cases.append(chaos.case(number))
                print(cases[-1].row(), flush=True)
    command = f"python benchmarks/chaos.py --faults {len(cases)} --seed {seed} --first {first}"
    lines = report(cases, command, chaos.seconds)

    def shown(cells: list[str]) -> bool:
        return len(cells) == 2 or int(cells[0]) < first + 6 or not cells[2].startswith("exact")

    print(long_tables.write(out, "\n".join(lines), shown))
    if violations := sum(bool(case.violation) for case in cases):
        sys.exit(f"{violations} of {len(cases)} faults violate the promises")


if __name__ == "__main__":
    typer.run(main)
