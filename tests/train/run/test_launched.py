"""The end of the command or of its launcher ends the training processes."""

import os
import signal
import socket
import subprocess
import sys

import processes
import pytest
import small_run
import tiny
import two_ranks
from stopped import STATUS, started

KILL, TERM = signal.SIGKILL, signal.SIGTERM


@pytest.fixture
def ranks(tmp_path):
    """Yields the running command of ``two_ranks.py``; both ranks work."""
    file = tmp_path / "lines"
    script = [sys.executable, two_ranks.__file__, "command", file]
    with started(script, tmp_path / "output") as command:
        command.wait_for(lambda: file.exists() and len(set(file.read_text().split())) == 2)
        yield command
        done = file.read_text()
        assert not command.processes()
        assert file.read_text() == done, "nothing works any more"


@pytest.mark.parametrize(
    "number", [TERM, KILL, pytest.param(signal.SIGINT, marks=pytest.mark.full)]
)
def test_a_signal_to_the_command_stops_its_processes(ranks, number):
    assert ranks.status(number) == STATUS[number]
    assert ranks.output.read_text().count("a rank has stopped") == 2


@pytest.mark.parametrize("number", [KILL, pytest.param(TERM, marks=pytest.mark.full)])
def test_the_end_of_the_launcher_ends_its_processes_and_fails_the_run(ranks, number):
    ranks.named(two_ranks.__file__, "launcher")[0].send_signal(number)
    assert ranks.process.wait(30) == 1
    ranks.check_gone()


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """Returns the configuration of a run that does not end; its folder is beside it."""
    home = tmp_path_factory.mktemp("run")
    sections = {name: dict(values) for name, values in small_run.HASH.items()}
    sections["run"] |= {"folder": str(home / "run"), "steps": 10**6}
    sections["env"] |= {"groups": 4}
    sections["model"]["path"] = tiny.save(home / "tiny")
    return small_run.write(home, **sections)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", STATUS)
def test_a_signal_ends_a_run_of_two_processes_which_then_resumes(config, tmp_path, number):
    lines = config.parent / "run" / "metrics.jsonl"
    before = lines.read_bytes() if lines.exists() else b""
    run = [sys.executable, "-m", "agentgym_train.cli", "run", config, "--processes", "2"]
    with started(run, tmp_path / "output", env=processes.environment()) as command:
        command.wait_for(
            lambda: lines.exists() and lines.read_bytes().count(b"\n") > before.count(b"\n") + 1,
            seconds=600,
        )
        assert len(command.named("work", "-u")) == 3, "two processes, and DeepSpeed's launcher"
        assert command.status(number, seconds=60) == STATUS[number]
        after = {path: path.stat().st_mtime_ns for path in config.parent.rglob("*")}
        text = command.output.read_text()
        assert text.count("interrupted") == (number != KILL)
        assert "Traceback" not in text
        assert number == KILL or "The same command goes on from" in text.splitlines()[-1]
        assert after == {path: path.stat().st_mtime_ns for path in config.parent.rglob("*")}


@pytest.mark.parametrize(("end", "status"), [("kill -TERM $$", 1), ("exit 0", 0)])
def test_a_launcher_whose_child_was_killed_fails(tmp_path, end, status):
    """DeepSpeed's launcher ends with 0 then."""
    code = f"import subprocess\nsubprocess.Popen(['sh', '-c', {end!r}]).wait()\n"
    (tmp_path / "launching.py").write_text(code)
    command = [sys.executable, "-m", "agentgym_train.run.launcher", "launching"]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        done = subprocess.run(
            command, stdin=theirs, env={**os.environ, "PYTHONPATH": str(tmp_path)}, check=False
        )
    assert done.returncode == status
