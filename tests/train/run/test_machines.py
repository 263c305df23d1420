"""A run on several machines that another launcher starts: `prepare` and `work`."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import machines
import over_ssh as over_ssh_script
import processes
import psutil
import pytest
import small_run
import tiny
import together
from typer.testing import CliRunner
from warm import Warm

from agentgym_train.cli import app
from agentgym_train.files import FolderLock
from agentgym_train.run import hosts
from agentgym_train.run.hosts import check_hosts
from agentgym_train.run.launch import join_launcher, note_prepared
from agentgym_train.run.ports import PORTS


@pytest.fixture
def two():
    with ExitStack() as stack:
        try:
            names = stack.enter_context(machines.two())
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"NO TEST OF SEVERAL MACHINES, they need root and iproute2: {error}")
        yield names


@pytest.fixture
def config_file(tmp_path):
    sections = {name: dict(values) for name, values in small_run.HASH.items()}
    sections["run"]["folder"] = str(tmp_path / "run")
    sections["env"]["groups"] = 4
    sections["model"]["path"] = tiny.save(tmp_path / "model", template=tiny.CHATML)
    return small_run.write(tmp_path, **sections)


def steps(folder):
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["step"] for line in lines]


def check_lost(output, lost, size):
    """The output of a machine has one line about a process that another machine has lost."""
    errors = [line for line in output.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, output
    assert errors[0].startswith(f"error: process {lost} of {size} (counted from 0) has ended")
    assert "Traceback" not in output.partition("torch/distributed/elastic")[0], "of torchrun"


def do(warm, output, *arguments):
    warm.start(output, *arguments)
    assert warm.status() == 0, output.read_text()


@contextmanager
def started(two, warm, folder, kill):
    """Starts a process on each machine; yields their connections, and the files of their output."""
    outputs = [folder / "first", folder / "second"]
    with ExitStack() as stack:
        starts = [stack.enter_context(Warm(*warm.server)) for _ in two]
        for rank, (start, name) in enumerate(zip(starts, two, strict=True)):
            env = machines.MEETING | {"RANK": str(rank), "WORLD_SIZE": "2"}
            arguments = (name, kill, "work", folder / "run")
            start.start(outputs[rank], *arguments, script=machines.__file__, env=env)
        yield starts, outputs


@pytest.mark.slow
def test_a_process_that_dies_ends_the_other_machines_and_fewer_go_on(
    two, config_file, warm, tmp_path
):
    output = tmp_path / "output"
    do(warm, output, "prepare", config_file, "--processes", 2)
    with started(two, warm, tmp_path, "collecting") as (starts, outputs):
        assert starts[1].status() == -9
        died = time.monotonic()
        assert starts[0].status() == 1, "the documented status"
        assert time.monotonic() - died < 60
    check_lost(outputs[0].read_text(), 1, 2)
    assert steps(tmp_path / "run") == [1]
    do(warm, output, "prepare", config_file)
    other = FolderLock(tmp_path / "run", name=".main-lock")  # of another start of `work`
    warm.start(output, "work", tmp_path / "run")
    assert warm.status() == 1
    other.release()
    assert "error: another run is at work in" in output.read_text()
    do(warm, output, "work", tmp_path / "run")
    assert steps(tmp_path / "run") == [1, 2, 3, 4]


@pytest.mark.slow
@pytest.mark.full
def test_a_machine_that_is_switched_off_ends_the_others_within_a_minute(
    two, config_file, warm, tmp_path
):
    more = ("--processes", 2, "--set", "run.steps=1000")
    do(warm, tmp_path / "output", "prepare", config_file, *more)
    with started(two, warm, tmp_path, "-") as (starts, outputs):
        while not (tmp_path / "run" / "metrics.jsonl").exists() or not steps(tmp_path / "run"):
            time.sleep(0.1)
        for name, address in zip(two, machines.ADDRESSES, strict=True):
            least_first = socket.inet_aton(address)[::-1]
            assert machines.listening(name) == {least_first.hex().upper()}, "no other address"
        machines.ip("-n", two[1], "link", "set", machines.DEVICE, "down")
        began = time.monotonic()
        assert [start.status() for start in starts] == [1, 1]
        assert time.monotonic() - began < 60
    for rank, output in enumerate(outputs):
        check_lost(output.read_text(), 1 - rank, 2)


def test_processes_know_what_the_main_one_sees_and_wait_no_longer_than_the_limit(warm, tmp_path):
    lines = warm.play(together.__file__, tmp_path).splitlines()
    texts = [line for line in lines if line.startswith(("this process", "process 0"))]
    assert len(texts) == 2, lines
    assert {"rank 0 knows of 0", "rank 1 knows of 0"} < set(lines)
    assert {"rank 0: found by 0", "rank 1: found by 0"} < set(lines)
    assert "longer than engine.collective_timeout=1 s" in texts[0]
    assert "process 0 of 2 did not meet the others at 127.0.0.1:" in texts[1]
    assert "in 1 s" in texts[1]
    assert "Start WORLD_SIZE=2 processes" in texts[1]


JOINED = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "one", "MASTER_PORT": "20000"}
STEP = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "3", "SLURM_LOCALID": "1"}


def alone():
    """Returns the environment without the variables that earlier tests and `work` set."""
    return {
        name: value for name, value in os.environ.items() if name not in (*JOINED, "LOCAL_RANK")
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (JOINED | {"WORLD_SIZE": "3"}, "is prepared for 2 processes, and this process is one of 3"),
        ({}, "is prepared for 2 processes, and this process is one of 1"),
        (STEP, "one of 4, and MASTER_ADDR and MASTER_PORT are not set"),
        (JOINED | {"RANK": "2"}, "RANK=2 must be from 0 to 1, since WORLD_SIZE is 2"),
        (JOINED | {"WORLD_SIZE": "two"}, "WORLD_SIZE='two' must be a number"),
    ],
)
def test_a_wrong_number_of_processes_is_one_line(tmp_path, monkeypatch, given, message):
    note_prepared(tmp_path, 2)
    monkeypatch.setattr(os, "environ", alone() | given)
    result = CliRunner().invoke(app, ["work", str(tmp_path)])
    assert result.exit_code == 2
    assert message in result.output
    assert result.output.count("\n") == 1


def test_a_folder_that_is_not_prepared_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", alone())
    result = CliRunner().invoke(app, ["work", str(tmp_path / "absent")])
    assert result.exit_code == 2
    assert "absent is not a prepared run folder here" in result.output
    assert "'agentgym-train prepare CONFIG --processes 1' prepares it" in result.output
    assert result.output.count("\n") == 1


def test_sruns_variables_become_torchs():
    given = STEP | {"MASTER_ADDR": "one", "MASTER_PORT": "20000"}
    assert join_launcher(given) == 4
    assert (given["RANK"], given["WORLD_SIZE"], given["LOCAL_RANK"]) == ("3", "4", "1")


@pytest.fixture
def network(tmp_path, monkeypatch):
    """Puts an ssh on the path that reaches every machine but "off"."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in {
        "ssh": """while [ "${1#-}" != "$1" ]; do shift 2; done
            [ "$1" = off ] && echo "ssh: connect to host off: No route to host" >&2 && exit 255
            shift; exec sh -c "$*" """,
        "pdsh": "exit 1",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return programs


def test_a_machine_that_cannot_be_reached_is_named_before_any_work(tmp_path, network):
    hosts = tmp_path / "hosts"
    hosts.write_text("one slots=2\noff slots=2  # broken\n")
    path = small_run.write(tmp_path)
    result = CliRunner().invoke(app, ["run", str(path), "--hostfile", str(hosts)])
    assert result.exit_code == 2
    assert result.output.startswith("error: the machine off of the hostfile does not answer: ssh:")
    assert result.output.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_the_processes_of_all_machines_are_counted(tmp_path, network):
    hosts = tmp_path / "hosts"
    hosts.write_text("# two machines\none slots=4\ntwo slots=3  # half of it\n")
    path = small_run.write(tmp_path)
    result = CliRunner().invoke(app, ["run", str(path), "--hostfile", str(hosts)])
    assert result.exit_code == 2
    assert "env.groups=4 leaves some of the 7 processes" in result.output


def test_the_first_machine_looks_for_the_port(network):
    assert check_hosts(["one", "two"]) in PORTS


def test_variables_travel_in_a_file_that_only_the_user_reads(tmp_path):
    ours = {"HF_HOME": "/disk", "WANDB_API_KEY": "secret", "HOME": "/root", "https_proxy": "p"}
    with hosts.carried_variables(tmp_path, ours) as file:
        assert file.stat().st_mode & 0o777 == 0o600
        theirs = {"HF_HOME": "/mine"}
        hosts.adopt_variables(file, theirs)
    assert theirs == {"HF_HOME": "/mine", "WANDB_API_KEY": "secret", "https_proxy": "p"}
    assert not list(tmp_path.iterdir())


def test_the_guide_lists_the_variables_that_travel():
    page = (Path(__file__).parents[3] / "docs" / "guides" / "machines.md").read_text()
    rows = page.partition("| for | names |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`(.*?)`", rows)) == sorted(hosts.CARRIED)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(900)
def test_torchrun_on_two_machines_killed_at_every_phase(two, config_file, tmp_path):
    def prepare(count):
        command = ["prepare", str(config_file), "--processes", str(count)]
        done = start([sys.executable, "-m", "agentgym_train.cli", *command])
        assert "is ready" in done.communicate()[0]

    def start(command):
        return subprocess.Popen(
            command,
            env=processes.environment() | machines.MEETING,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def work(each, kill):
        prepare(2 * each)
        launchers = []
        for number, name in enumerate(two):
            command = ["ip", "netns", "exec", name, *machines.torchrun(number, each)]
            launchers.append(start([*command, name, kill, "work", str(tmp_path / "run")]))
        outputs = [launcher.communicate(timeout=280)[0] for launcher in launchers]
        statuses = [launcher.returncode for launcher in launchers]
        assert statuses == ([0, 0] if kill == "-" else [1, 1]), outputs
        if kill != "-":
            check_lost(outputs[0], 2 * each - 1, 2 * each)

    for each, kill in ((1, "collecting"), (2, "learning"), (1, "saving"), (2, "-")):
        work(each, kill)
    assert steps(tmp_path / "run") == [1, 2, 3, 4]
    assert not list((tmp_path / "run" / "checkpoints").glob("*draft*"))


@pytest.fixture
def over_ssh(two, tmp_path):
    """Returns a function that starts ``agentgym-train`` on the first of two machines."""
    missing = [name for name in ("/usr/sbin/sshd", "/usr/bin/pdsh") if not os.path.exists(name)]
    if missing:
        pytest.skip(f"NO TEST OVER SSH, not installed: {', '.join(missing)}")

    def start(name, *arguments):
        (tmp_path / name).mkdir()
        script = [sys.executable, over_ssh_script.__file__, str(tmp_path / name), *two]
        with open(tmp_path / name / "output", "w") as output:
            return subprocess.Popen(
                ["unshare", "--mount", *script, sys.executable, "-m", "agentgym_train.cli"]
                + [str(each) for each in arguments],
                env=processes.environment(),
                stdout=output,
                stderr=output,
            )

    yield start
    for name in two:
        left = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
        for pid in left.stdout.split():
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(600)
def test_a_run_over_ssh_ends_when_a_machine_is_cut_off_and_resumes(
    two, over_ssh, config_file, tmp_path
):
    hosts, folder = tmp_path / "hosts", tmp_path / "run"
    hosts.write_text("one slots=1\ntwo slots=1\n")
    run = ["run", config_file, "--hostfile", hosts]
    first = over_ssh("first", *run, "--set", "run.steps=1000")
    while not (folder / "metrics.jsonl").exists() or len(steps(folder)) < 3:
        assert first.poll() is None, (tmp_path / "first" / "output").read_text()
        time.sleep(0.1)
    assert (folder / ".variables.json").exists()
    machines.ip("-n", two[1], "link", "set", machines.DEVICE, "down")
    assert first.wait(timeout=90) == 1, "the documented status"
    output = (tmp_path / "first" / "output").read_text()
    errors = [line for line in output.splitlines() if "error: " in line]
    assert len(errors) == 1, output
    assert errors[0].startswith("one: error: process 1 of 2 (counted from 0) has ended")
    assert "Traceback" not in output
    assert f"The same command goes on from {folder}" in output.splitlines()[-1]
    assert not (folder / ".variables.json").exists()
    machines.ip("-n", two[1], "link", "set", machines.DEVICE, "up")
    done = len(steps(folder))
    second = over_ssh("second", *run, "--set", f"run.steps={done + 2}")
    assert second.wait(timeout=200) == 0, (tmp_path / "second" / "output").read_text()
    assert steps(folder) == list(range(1, done + 3))
    assert (folder / "model").is_dir()


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGKILL, 247)])
def test_a_signal_to_a_run_over_ssh_leaves_no_process_on_any_machine(
    two, over_ssh, config_file, tmp_path, number, status
):
    hosts, folder = tmp_path / "hosts", tmp_path / "run"
    hosts.write_text("one slots=1\ntwo slots=1\n")
    first = over_ssh("first", "run", config_file, "--hostfile", hosts, "--set", "run.steps=1000")
    while not (folder / "metrics.jsonl").exists() or not steps(folder):
        assert first.poll() is None, (tmp_path / "first" / "output").read_text()
        time.sleep(0.1)
    assert all(map(workers_of, two))
    (command,) = (p for p in psutil.Process(first.pid).children() if "run" in p.cmdline())
    command.send_signal(number)
    assert first.wait(timeout=60) == status
    end = time.monotonic() + 30
    while any(map(workers_of, two)):
        assert time.monotonic() < end
        time.sleep(0.1)


def workers_of(name):
    """Returns the processes of ``work`` on a machine."""
    listed = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
    found = []
    for pid in listed.stdout.split():
        with suppress(psutil.Error):
            found += [pid] if "work" in psutil.Process(int(pid)).cmdline() else []
    return found


def test_the_first_machine_chooses_the_port(network):
    script = "for host; do case $host in one) echo 20100;; two) echo 20200;; esac; done"
    (network / "ssh").write_text(f"#!/bin/sh\n{script}\n")
    assert check_hosts(["one", "two"]) == 20100
