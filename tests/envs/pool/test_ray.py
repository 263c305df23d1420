"""Hosts on the nodes of a Ray cluster, for `tox run -e ray`."""

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import psutil
import pytest
from players import Players
from raised import raises

from agentgym_envs.errors import ArgumentError, HostLost
from agentgym_envs.pool import EnvPool
from agentgym_envs.pool import hosts as driver

FAULTY = "faulty_envs:support/Faulty-v0"
# Without these, Ray needs 15 s to notice that a node is lost.
QUICK = {"health_check_period_ms": 500, "health_check_failure_threshold": 2}
STORE = 80_000_000  # bytes, Ray's smallest number
NOT_INSTALLED = """\
import sys
sys.modules["ray"] = None
from agentgym_envs.errors import AgentGymError
try:
    from agentgym_envs.pool.ray_hosts import RayHosts
except AgentGymError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def module():
    """The module under test, if Ray is there."""
    pytest.importorskip("ray", reason="needs Ray: run `tox run -e ray`")
    from agentgym_envs.pool import ray_hosts

    return ray_hosts


@pytest.fixture(scope="module")
def cluster(module):
    """A cluster of a head without CPUs for hosts and two nodes."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        cluster = Cluster()
        cluster.add_node(num_cpus=0, object_store_memory=STORE, _system_config=QUICK)
        for _ in range(2):
            cluster.add_node(num_cpus=1, object_store_memory=STORE)
        patch.setenv("RAY_ADDRESS", cluster.address)
        try:
            cluster.wait_for_nodes()
            yield cluster
        finally:
            module.ray.shutdown()
            cluster.shutdown()


def play(pool):
    """Returns all results of two episodes of each environment."""
    seen = []
    for index in range(pool.num_envs):
        pool.reset(index, seed=index)
    for turn in range(20):
        while pool.outstanding:
            seen += [(turn, r.index, vars(r) | {"error": repr(r.error)}) for r in pool.recv()]
        for index in range(pool.num_envs):
            if turn == 10:
                pool.reset(index, seed=100 + index)
            else:
                pool.send(index, f"go {('north', 'east', 'south')[(turn + index) % 3]}")
    while pool.outstanding:
        pool.recv()
    return sorted(seen, key=lambda each: each[:2])


def running():
    """Returns the processes of the hosts. The parent of each is Ray's process of its node."""
    return [
        process
        for process in psutil.Process().children(recursive=True)
        if "HostActor" in " ".join(process.cmdline())
    ]


def wait_until(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_without_ray_one_line_says_what_to_install():
    command = [sys.executable, "-c", NOT_INSTALLED]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    (line,) = done.stdout.splitlines()
    assert line.startswith("RayHosts needs an extra")
    assert "agentgym-envs[ray]" in line


def test_without_a_cluster_one_line_says_what_to_set(module, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    message = rf"^no Ray cluster at RAY_ADDRESS='{address}' \(.*refused\): set it to the address"
    with pytest.raises(ArgumentError, match=message):
        module.RayHosts(1)
    monkeypatch.delenv("RAY_ADDRESS")
    monkeypatch.setattr(module.ray, "init", _no_cluster)  # the real one can find another cluster
    with raises(ArgumentError, "RAY_ADDRESS=''"):
        module.RayHosts(1)
    assert not module.ray.is_initialized()


def _no_cluster(address):
    raise ConnectionError("none")


def test_episodes_are_those_of_a_local_pool_and_nothing_is_left(module, cluster):
    with EnvPool("agentgym/Maze-v1", 4, workers=1) as local:
        expected = play(local)
    with module.RayHosts(2) as hosts:
        started = running()
        assert len({process.ppid() for process in started}) == 2, "one on each node"
        options = {"hosts": hosts.addresses, "token": hosts.token, "workers": 1}
        pool = EnvPool("agentgym/Maze-v1", 4, **options)
        assert play(pool) == expected
        workers = [worker for process in started for worker in process.children()]
        assert len(workers) == 2
        with raises(ArgumentError, "token"):
            EnvPool("agentgym/Maze-v1", 1, hosts=hosts.addresses, token="another")
    wait_until(lambda: not any(process.is_running() for process in started + workers))
    assert not module.ray.is_initialized()
    hosts.close()
    assert not module.ray.is_initialized(), "a second call starts no cluster"
    pool.send(0, "go north")
    assert type(pool.recv()[0].error) is HostLost
    pool.close()


def test_too_many_hosts_are_one_line_and_leave_nothing(module, cluster):
    message = r"^hosts=3, cpus=1: Ray started 2 of the hosts in 10 s: use fewer hosts or CPUs"
    with pytest.raises(ArgumentError, match=message):
        module.RayHosts(3, start_timeout=10)
    with module.RayHosts(2, start_timeout=30) as hosts:
        assert len(hosts.addresses) == 2


class Refused:
    def __init__(self, token):
        raise OSError("no port is free")

    def address(self):
        """Is called."""


def test_hosts_that_fail_are_one_line(module, cluster, monkeypatch):
    monkeypatch.setattr(module, "HostActor", Refused)
    with raises(ArgumentError, "OSError"):
        module.RayHosts(1)
    elsewhere = ModuleType("only_here")
    elsewhere.Refused = Refused
    monkeypatch.setitem(sys.modules, "only_here", elsewhere)
    monkeypatch.setattr(Refused, "__module__", "only_here")
    with raises(ArgumentError, "'only_here'"):
        module.RayHosts(1)
    assert not module.ray.is_initialized()


def test_a_cluster_of_the_caller_stays(module, cluster):
    module.ray.init(address=cluster.address)
    with module.RayHosts(1):
        pass
    assert module.ray.is_initialized()
    hosts = module.RayHosts(1)
    module.ray.shutdown()
    hosts.close()
    assert not module.ray.is_initialized()


def test_the_snippet_of_the_guide(module, cluster):
    page = (Path(__file__).parents[3] / "docs/guides/environment_hosts.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "PoolResult(index=0" in done.stdout
    assert "take the lamp" in done.stdout, "the goal of seed 7"


def cut_off(cluster, node):
    """Ends all processes of a node, as the loss of the machine does."""
    parent = psutil.Process(node.all_processes["raylet"][0].process.pid)
    left = parent.children(recursive=True)
    cluster.remove_node(node, allow_graceful=False)
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def test_a_killed_node_costs_no_episode_and_its_host_moves(module, cluster, monkeypatch):
    monkeypatch.setattr(module, "LOOK", 0.5)
    monkeypatch.setattr(driver, "PAUSES", (0.1, 1.0))
    with module.RayHosts(2) as hosts:
        before = list(hosts.addresses)
        options = {"hosts": hosts.addresses, "token": hosts.token, "workers": 2, "length": 12}
        with EnvPool(FAULTY, 24, **options) as pool:
            players = Players(pool, 400, 12)
            node = next(iter(cluster.worker_nodes))
            killed = []

            def disturb():
                # A reset that a lost host did not answer moves to another host without an error.
                if not killed and len(players.done) >= 100 and all(players.turn.values()):
                    killed.append(node)
                    cut_off(cluster, node)

            players.play(disturb)
            assert killed
            assert sorted(players.done) == [*range(400)]
            assert set(players.errors) == {HostLost}
            assert len(players.errors) <= 12, "the environments of one of the two hosts"
            cluster.add_node(num_cpus=1, object_store_memory=STORE)
            wait_until(lambda: hosts.addresses != before)
            assert len(set(hosts.addresses) & set(before)) == 1

            def is_shared():
                Players(pool, 24, 12).play(lambda: None)
                return [bool(process.children()) for process in running()] == [True, True]

            wait_until(is_shared)
