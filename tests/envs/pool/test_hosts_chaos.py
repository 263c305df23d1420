"""Hosts, workers and the network fail at random while many environments play."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import cable_driver
import psutil
import pytest
from players import Players
from started_hosts import hosts

from agentgym_envs.errors import HostLost, NeighbourFailed, WorkerDied
from agentgym_envs.pool import EnvPool
from agentgym_envs.pool import hosts as driver

FAULTY = "faulty_envs:support/Faulty-v0"
EPISODES = 600
LENGTH = 12


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_every_episode_is_played_although_hosts_and_workers_are_killed(seed, monkeypatch):
    monkeypatch.setattr(driver, "PAUSES", (0.1, 1.0))
    monkeypatch.setattr(driver, "PING_AFTER", 1.0)
    monkeypatch.setattr(driver, "PONG_WITHIN", 3.0)
    rng = random.Random(seed)
    faults = ["host"] * 4 + ["worker"] * 8 + ["stop"]
    rng.shuffle(faults)
    with hosts(3) as started:
        addresses = [host.address for host in started]
        with EnvPool(FAULTY, 64, hosts=addresses, workers=2, length=LENGTH) as pool:
            players = Players(pool, EPISODES, LENGTH)
            marks = [EPISODES * (i + 1) // (len(faults) + 1) for i in range(len(faults))]

            def disturb():
                if marks and len(players.done) >= marks[0]:
                    marks.pop(0)
                    fault = faults.pop()
                    host = rng.choice(started)
                    host.signal(signal.SIGCONT)
                    children = psutil.Process(host.process.pid).children()
                    if fault == "worker" and children:
                        rng.choice(children).kill()
                    elif fault == "stop":
                        host.signal(signal.SIGSTOP)
                    else:
                        host.kill()
                        host.start()

            players.play(disturb)
            assert not marks
    assert sorted(players.done) == [*range(EPISODES)]
    assert {HostLost, WorkerDied} <= set(players.errors) <= {HostLost, WorkerDied, NeighbourFailed}


@pytest.mark.full
def test_a_cable_that_is_pulled_loses_the_host_and_frees_its_environments():
    pytest.importorskip("agentgym_train")
    import machines

    with ExitStack() as stack:
        try:
            names = stack.enter_context(machines.two())
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"NO TEST OF SEVERAL MACHINES, they need root and iproute2: {error}")
        host = stack.enter_context(
            hosts(
                1,
                *("--address", "0.0.0.0", "--token", "secret"),
                seconds={"LOOK": 1.0, "UNANSWERED": 3},
                prefix=("ip", "netns", "exec", names[1]),
            )
        )[0]
        address = f"{machines.ADDRESSES[1]}:{host.port}"
        command = ["ip", "netns", "exec", names[0], sys.executable, cable_driver.__file__, address]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = stack.enter_context(subprocess.Popen(command, env=environ, **pipes))
        assert process.stdout.readline() == "ready\n"
        served = psutil.Process(host.process.pid)
        assert served.children()
        machines.ip("-n", names[1], "link", "set", machines.DEVICE, "down")
        assert process.stdout.readline() == "HostLost\n"
        end = time.monotonic() + 60
        while served.children():
            assert time.monotonic() < end, "the host still holds the environments"
            time.sleep(0.1)
        machines.ip("-n", names[1], "link", "set", machines.DEVICE, "up")
        assert process.stdout.readline() == "seed 7\n"
        assert process.wait(30) == 0
