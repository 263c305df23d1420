"""After a signal no process of a command is left, and its exit status names the signal."""

import signal
import sys
import time

import pytest
from stopped import STATUS, agentgym, started


@pytest.fixture
def script(tmp_path, pytestconfig):
    """Returns a function that starts the command of ``stopped_script.py``."""

    def start(how, *, prefix=()):
        path = pytestconfig.rootpath / "tests" / "support" / "stopped_script.py"
        return started([*prefix, sys.executable, path, how], tmp_path / "output")

    return start


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        signal.SIGKILL,
        *(pytest.param(n, marks=pytest.mark.full) for n in (signal.SIGINT, signal.SIGHUP)),
    ],
)
def test_a_signal_ends_a_command_and_what_it_has_started(script, number):
    with script("child") as command:
        command.says("ready")
        assert len(command.named("sleep", "60")) == 1
        assert command.status(number) == STATUS[number]
        killed = number == signal.SIGKILL
        assert command.output.read_text().splitlines()[1:] == ["interrupted"] * (not killed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_the_exit_status_names_the_signal(script, number):
    with script("plain") as command:
        command.says("ready")
        assert command.status(number) == STATUS[number]


def test_a_signal_cancels_the_main_task(script):
    with script("tasks") as command:
        command.says("ready")
        assert command.status(signal.SIGTERM) == 143
        assert command.output.read_text().splitlines()[1:] == ["cancelled", "interrupted"]


def test_a_second_signal_ends_a_command_at_once(script):
    with script("slow") as command:
        command.says("ready")
        command.process.send_signal(signal.SIGTERM)
        command.says("cleaning up")
        began = time.monotonic()
        assert command.status(signal.SIGINT) == 143, "of the first signal"
        assert time.monotonic() - began < 20
        assert "interrupted" not in command.output.read_text()


def test_the_time_limit_ends_a_command_that_stays_in_c_code(script):
    with script("blocked") as command:
        command.says("ready")
        assert command.status(signal.SIGTERM) == 143


def test_a_killed_command_takes_along_what_holds_its_interpreter(script):
    with script("held") as command:
        command.says("ready")
        assert command.status(signal.SIGKILL) == -9


def test_a_hangup_that_is_ignored_stays_ignored(script):
    with script("plain", prefix=["nohup"]) as command:
        command.says("ready")
        command.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert command.status(signal.SIGTERM) == 143


def test_a_signal_to_a_fork_is_none_to_the_command(script):
    with script("fork") as command:
        command.says("ready")
        assert f"a fork ended by {signal.SIGTERM:d}" in command.output.read_text()
        assert command.status(signal.SIGINT) == 130


def test_an_evaluation_that_sigterm_has_ended_goes_on(tmp_path):
    play = agentgym("eval", "agentgym/Maze-v1", "--agent", "random", "--workers", "1")
    play += ["--out", tmp_path / "results", "--episodes"]
    with started([*play, "3000"], tmp_path / "output") as command:
        lines = tmp_path / "results" / "episodes.jsonl"
        command.wait_for(lambda: lines.exists() and lines.read_bytes().count(b"\n") > 3)
        assert command.status(signal.SIGTERM) == 143
        assert "interrupted. The same command plays them" in command.output.read_text()
        assert "Traceback" not in command.output.read_text()
    played = lines.read_bytes()
    with started([*play, "3000"], tmp_path / "output") as command:
        command.wait_for(lambda: len(lines.read_bytes()) > len(played))
        assert lines.read_bytes().startswith(played)
        assert command.status(signal.SIGINT) == 130
