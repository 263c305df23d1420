"""Environments on other machines, which are processes of this one."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import gymnasium
import psutil
import pytest
from raised import raises
from started_hosts import hosts
from typer.testing import CliRunner

from agentgym_envs import cli
from agentgym_envs.errors import (
    ArgumentError,
    EnvRaised,
    EnvTimeout,
    HostLost,
    NeighbourFailed,
    NoHost,
    TaskError,
    UnknownName,
    WorkerDied,
)
from agentgym_envs.pool import AsyncEnvPool, EnvPool, describe
from agentgym_envs.pool import hosts as driver
from agentgym_envs.pool.greeting import GREETING_LONGEST, greeting
from agentgym_envs.pool.wire import MessageInbox, pack

FAULTY = "faulty_envs:support/Faulty-v0"


@pytest.fixture(scope="module")
def two():
    with hosts(2) as started:
        yield started


@pytest.fixture
def alive(two):
    """Two hosts that run, whatever the test before did to them."""
    for host in two:
        if host.process.poll() is not None:
            host.start()
    return [host.address for host in two]


def gather(pool):
    results = []
    while pool.outstanding:
        results += pool.recv()
    return {result.index: result for result in results}


def start(pool):
    for i in range(pool.num_envs):
        pool.reset(i, seed=i)
    results = gather(pool)
    assert not any(r.error for r in results.values()), results
    return results


def workers(host):
    return psutil.Process(host.process.pid).children()


def wait_until(holds, seconds=10):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def fields(result):
    return {
        **vars(result),
        "error": repr(result.error),
        "cause": repr(result.error and result.error.__cause__),
    }


def episodes(pool):
    """Makes all kinds of requests; returns the fields of the results."""
    seen = [start(pool)]
    for i in range(pool.num_envs):
        pool.ask_description(i)
    seen.append(gather(pool))
    for turn in range(4):
        for i in range(pool.num_envs):
            pool.send(
                i, ["go north", "go east", "\ud800 nothing \x00"][(turn + i) % 3], bare=turn == 2
            )
        seen.append(gather(pool))
    for ask in (
        lambda i: pool.ask_oracle(i),
        lambda i: pool.reset(i, options={"task_id": "nowhere-1"}),
        lambda i: pool.send(i, "go north"),
        lambda i: pool.reset(i, options={"colour": 1}),
        lambda i: pool.reset(i, seed=7, keywords={"admissible": True}),
        lambda i: pool.drop(i),
        lambda i: pool.send(i, "go north"),
        lambda i: pool.drop(i),
        lambda i: pool.reset(i, seed=7, keywords={"admissible": True}),
    ):
        for i in range(pool.num_envs):
            ask(i)
        seen.append(gather(pool))
    return [fields(results[i]) for results in seen for i in sorted(results)]


def test_hosts_answer_as_a_local_pool_does(alive):
    options = {"workers": 2, "action_format": "tags", "split": "dev"}
    with EnvPool("agentgym/Maze-v1", 5, **options) as local:
        expected = episodes(local)
    with EnvPool("agentgym/Maze-v1", 5, hosts=alive, **options) as pool:
        assert episodes(pool) == expected
        assert pool.pids() == []


def test_environments_and_workers_get_equal_shares(two, alive):
    with EnvPool(FAULTY, 9, hosts=alive, workers=2) as pool:
        for i in (0, 2, 4, 6):  # every second one: index % 2 is the same for all
            pool.reset(i, seed=i)
        gather(pool)
        assert [len(workers(host)) for host in two] == [2, 2]
        pool.drop(0)
        pool.drop(2)
        gather(pool)
        pool.reset(8, seed=8)
        pool.reset(1, seed=1)
        gather(pool)
        for i in (1, 4, 6, 8):
            pool.send(i, "hang" if i == 8 else "ok")
        seen = []
        while len(seen) < 3:
            seen += [r.index for r in pool.recv()]
        assert sorted(seen) == [1, 4, 6], "each of the four has a worker of its own"


def test_failures_within_a_host_arrive_as_they_are(alive):
    with EnvPool(FAULTY, 8, hosts=alive, workers=1, timeout=1.0) as pool:
        start(pool)
        pool.send(0, "raise")
        pool.send(1, "hang")
        results = gather(pool)
        assert type(results[0].error) is EnvRaised
        assert "broken on purpose" in str(results[0].error)
        assert type(results[1].error) is EnvTimeout
        assert str(results[1].error) == "support/Faulty-v0 environment 1: no answer within 1 s"
        pool.send(2, "die")
        pool.send(4, "ok")
        pool.send(3, "ok")
        pool.send(6, "ok")
        results = gather(pool)
        assert type(results[2].error) is WorkerDied
        assert "with status 7; its last words:\nabout to" in str(results[2].error)
        assert [type(results[i].error) for i in (3, 4, 6)] == [NeighbourFailed] * 3
        assert "lost with environment 1, which failed" in str(results[3].error)
        assert "lost with environment 2, which failed" in str(results[6].error)
        assert start(pool)[3].observation == "seed 3"


def test_the_loss_of_a_host_is_nobodys_fault_and_resets_move_on(two, alive):
    with EnvPool(FAULTY, 6, hosts=alive, workers=1) as pool:
        start(pool)  # host 0 has 0, 2 and 4
        pool.send(0, "hang")
        pool.send(2, "ok")
        pool.reset(4, seed=40)
        pool.send(4, "ok")
        pool.send(1, "ok")
        time.sleep(0.2)
        two[0].kill()
        results = []
        while pool.outstanding:
            results += pool.recv()
        assert len(results) == 5
        by_index = {i: [r for r in results if r.index == i] for i in range(6)}
        assert [type(r.error) for r in by_index[0] + by_index[2]] == [HostLost] * 2
        assert f"environment 2 was lost with host {alive[0]}: " in str(by_index[2][0].error)
        assert [r.observation for r in by_index[4]] == ["seed 40", "turn 1"]
        assert by_index[1][0].observation == "turn 1"
        pool.send(2, "ok")
        pool.ask_oracle(0)
        assert [type(r.error) for r in gather(pool).values()] == [HostLost] * 2
        pool.drop(0)
        assert gather(pool)[0].error is None
        assert start(pool)[2].observation == "seed 2"
        two[0].start()
        deadline = time.monotonic() + 20
        while not workers(two[0]):
            assert time.monotonic() < deadline, "it was not used again"
            start(pool)
            time.sleep(0.1)
        start(pool)
        kept = [pool.send(i, "ok") for i in range(6)]
        assert [r.observation for r in gather(pool).values()] == ["turn 1"] * len(kept)
        two[1].kill()
        for i in range(6):
            pool.send(i, "ok")
        failed = [type(r.error) for r in gather(pool).values()]
        assert failed.count(HostLost) == 3, "each host had its share again"


@pytest.mark.full
def test_two_drivers_do_not_disturb_each_other(two, alive):
    with (
        EnvPool(FAULTY, 2, hosts=alive[:1], workers=1) as first,
        EnvPool("agentgym/Maze-v1", 2, hosts=alive[:1], workers=1) as second,
    ):
        start(first)
        start(second)
        first.send(0, "die")
        second.send(0, "go north")
        assert gather(second)[0].error is None
        assert type(gather(first)[0].error) is WorkerDied
    wait_until(lambda: not workers(two[0]))


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.full)]
)
def test_a_signal_ends_a_host_with_its_workers(number):
    with hosts(1) as (host,), EnvPool(FAULTY, 2, hosts=[host.address], workers=2) as pool:
        start(pool)
        children = workers(host)
        assert len(children) == 2
        host.signal(number)
        assert host.process.wait(20) == 128 + number
        assert not any(child.is_running() for child in children)
        pool.send(0, "ok")
        assert type(gather(pool)[0].error) is HostLost


@pytest.mark.full
def test_a_second_signal_ends_a_host_at_once():
    with hosts(1) as (host,), EnvPool(FAULTY, 1, hosts=[host.address]) as pool:
        start(pool)
        (child,) = workers(host)
        pool.send(0, "hang")  # the host waits for its worker when it ends
        wait_until(lambda: child.status() == psutil.STATUS_SLEEPING)
        host.signal(signal.SIGTERM)
        time.sleep(0.5)
        assert host.process.poll() is None
        host.signal(signal.SIGTERM)
        assert host.process.wait(1) == 128 + signal.SIGTERM
        wait_until(lambda: not child.is_running())


def shorten(monkeypatch):
    """Makes drivers ask for a sign of life after a second, and wait two seconds for it."""
    monkeypatch.setattr(driver, "PING_AFTER", 1.0)
    monkeypatch.setattr(driver, "PONG_WITHIN", 2.0)


@pytest.mark.full
def test_a_silent_host_is_lost_and_a_busy_one_is_not(two, alive, monkeypatch):
    slow = "faulty_envs:support/Slow-v0"
    with EnvPool(slow, 2, hosts=alive, workers=1, delay=5.0) as pool:
        for i in range(2):
            pool.reset(i, seed=1)  # steps of an odd seed are slow
        gather(pool)
        shorten(monkeypatch)
        pool.send(0, "slow")
        pool.send(1, "slow")
        two[0].signal(signal.SIGSTOP)
        try:
            (result,) = pool.recv()
        finally:
            two[0].signal(signal.SIGCONT)
        assert result.index == 0
        assert type(result.error) is HostLost
        assert "it was silent for " in str(result.error)
        (result,) = pool.recv()
        assert (result.index, result.error) == (1, None), "5 s of work are no silence"
        pool.reset(0, seed=1)
        assert gather(pool)[0].error is None, "the other host does it"


@pytest.mark.full
def test_a_driver_that_does_other_work_loses_nothing(alive, monkeypatch):
    slow = "faulty_envs:support/Slow-v0"
    with EnvPool(slow, 2, hosts=alive[:1], workers=2, delay=5.0) as pool:
        for i in range(2):
            pool.reset(i, seed=i)
        gather(pool)
        shorten(monkeypatch)
        for i in range(2):
            pool.send(i, "ok")
        assert [r.index for r in pool.recv()] == [0]
        time.sleep(2.5)  # environment 1 needs as long again
        assert [r.observation for r in gather(pool).values()] == ["turn 1"]


@pytest.mark.full
def test_after_the_loss_of_all_hosts_a_reset_waits_then_names_each(two, alive, monkeypatch):
    monkeypatch.setattr(driver, "PAUSES", (0.1, 0.2))
    with EnvPool(FAULTY, 2, hosts=alive, timeout=0.1, start_timeout=3.0) as pool:
        start(pool)
        for host in two:
            host.kill()
        pool.send(0, "ok")
        assert type(gather(pool)[0].error) is HostLost
        begin = time.monotonic()
        pool.reset(0, seed=1)
        pool.send(0, "ok")
        results = []
        while pool.outstanding:
            results += pool.recv()
        assert time.monotonic() - begin < 5
        assert [type(r.error) for r in results] == [NoHost] * 2
        assert not isinstance(results[0].error, NeighbourFailed), "retries must come to an end"
        for address in alive:
            assert f"{address}: [Errno 111] Connection refused" in str(results[0].error)
        pool.reset(1, seed=1)
        assert pool.recv(timeout=0.2) == []
        two[0].start()
        assert gather(pool)[1].observation == "seed 1", "it is still waiting"


@pytest.mark.full
def test_with_asyncio_a_reset_waits_for_a_host_that_comes_back(two, alive):
    async def play():
        async with AsyncEnvPool(FAULTY, 2, hosts=alive[:1], workers=1) as pool:
            await pool.reset(0, seed=1)
            two[0].kill()
            assert type((await pool.send(0, "ok")).error) is HostLost
            waiting = asyncio.create_task(pool.reset(1, seed=5))
            await asyncio.sleep(0.2)
            two[0].start()
            return await asyncio.wait_for(waiting, 20)

    assert asyncio.run(play()).observation == "seed 5"


def test_a_host_refuses_with_one_line_that_names_it_and_the_field(two, alive, monkeypatch):
    for env_id, keywords, error, message in (
        ("agentgym/Nowhere-v0", {}, UnknownName, "Nowhere"),
        (FAULTY, {"hosts": []}, ArgumentError, "hosts=[]"),
        (FAULTY, {"hosts": "a:1"}, ArgumentError, "hosts='a:1'"),
        (FAULTY, {"hosts": ["nowhere"]}, ArgumentError, "hosts: 'nowhere'"),
        (FAULTY, {"hosts": ["a:0"]}, ArgumentError, "hosts: 'a:0'"),
        (FAULTY, {"hosts": alive[:1] * 2}, ArgumentError, "once"),
        (FAULTY, {"colour": {1}}, ArgumentError, "support/Faulty-v0"),
    ):
        with raises(error, message):
            EnvPool(env_id, 1, **{"hosts": alive, **keywords})
    free = free_address()
    with raises(ArgumentError, "hosts", str(free), "refused"):
        EnvPool(FAULTY, 1, hosts=[free])
    with EnvPool(FAULTY, 2, hosts=[free, alive[0]]) as pool:
        start(pool)
    causes = {"tasks": TaskError, "split": ArgumentError}
    for name in causes:
        with raises(causes[name], "agentgym/Maze-v1 of agentgym-envs", "none"):
            describe("agentgym/Maze-v1", hosts=alive, **{name: "none"})
    monkeypatch.setattr("agentgym_envs.pool.greeting.PROTOCOL", 0)
    with raises(ArgumentError, f"host {alive[0]}: protocol", "1 there and 0 here"):
        EnvPool(FAULTY, 1, hosts=alive)
    monkeypatch.undo()
    monkeypatch.setattr("agentgym_envs.pool.greeting.version", lambda name: "0.0.7")
    with raises(ArgumentError, "version", "'0.0.7'"):
        EnvPool(FAULTY, 1, hosts=alive)
    monkeypatch.undo()
    # An id that only this process knows: its module is not installed there.
    gymnasium.register("only/Here-v0", entry_point="faulty_envs:FaultyEnv")
    try:
        with raises(UnknownName, f"host {alive[0]}", "only/Here-v0"):
            EnvPool("only/Here-v0", 1, hosts=alive)
    finally:
        gymnasium.registry.pop("only/Here-v0")
    wait_until(lambda: not workers(two[0]))


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def guarded():
    seconds = {"ARRIVAL": 1.0, "GREETING_SECONDS": 1.0}
    few = ("sh", "-c", 'ulimit -n 100; ulimit -Sn 50; exec "$@"', "sh")  # open files
    with hosts(1, "--token", "secret ü", seconds=seconds, prefix=few) as (host,):
        yield host


def talk(address, data):
    """Sends bytes to a host; returns all that comes back until it closes."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), 20) as connection:
        connection.sendall(data)
        received = b""
        with suppress(ConnectionResetError):
            while more := connection.recv(2**16):
                received += more
        return received


def test_strangers_cost_a_host_no_thread_and_its_drivers_no_environment(guarded):
    process = psutil.Process(guarded.process.pid)
    with EnvPool(FAULTY, 2, workers=2, hosts=[guarded.address], token="secret ü") as pool:
        assert process.rlimit(psutil.RLIMIT_NOFILE) == (100, 100)  # it has raised its own
        pool.reset(0, seed=0)
        assert pool.recv()[0].observation == "seed 0"
        threads, files = process.num_threads(), process.num_fds()
        strangers = [socket.create_connection(("127.0.0.1", guarded.port), 10) for _ in range(200)]
        for stranger in strangers[::2]:
            with suppress(OSError):
                stranger.sendall(b"\0\0\x01\0 half a greeting")
        pool.reset(1, seed=1)  # this one needs another worker
        assert pool.recv()[0].observation == "seed 1"
        assert process.num_threads() <= threads + 1  # of the worker's standard error
        assert process.num_fds() <= files + 100 // 4 + 3
        wait_until(lambda: process.num_fds() <= files + 3)  # the second of a greeting is over
        for stranger in strangers:
            with stranger, suppress(ConnectionResetError):
                assert stranger.recv(1) == b""
        pool.send(0, "x")
        assert pool.recv()[0].observation == "turn 1"


def test_a_greeting_comes_in_few_parts(guarded):
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", guarded.port), 10) as stranger:
        stranger.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):
            for byte in (400).to_bytes(4, "big") + b" " * 396:
                stranger.sendall(bytes([byte]))
                time.sleep(0.001)
            assert stranger.recv(1) == b""
        assert time.monotonic() - begun < 0.9  # before the second of a greeting is over


def test_a_worker_that_cannot_start_on_a_host_fails_its_environment_alone(guarded):
    with EnvPool(FAULTY, 2, workers=2, hosts=[guarded.address], token="secret ü") as pool:
        pool.reset(0, seed=0)
        assert pool.recv()[0].observation == "seed 0"
        host = psutil.Process(guarded.process.pid)
        limit = host.rlimit(psutil.RLIMIT_NOFILE)
        host.rlimit(psutil.RLIMIT_NOFILE, (host.num_fds(), limit[1]))
        try:
            pool.reset(1, seed=1)
            (result,) = pool.recv()
            assert isinstance(result.error, WorkerDied)
            assert "Too many open files" in str(result.error)
            pool.send(0, "x")
            assert pool.recv()[0].observation == "turn 1"
        finally:
            host.rlimit(psutil.RLIMIT_NOFILE, limit)
        pool.reset(1, seed=1)
        assert pool.recv()[0].observation == "seed 1"


def test_a_host_lets_nobody_in_without_the_token(guarded, monkeypatch):
    address = guarded.address
    for token in (None, "", "secret", "secret ü "):
        with raises(ArgumentError, f"host {address}: token"):
            EnvPool(FAULTY, 1, hosts=[address], token=token)
    with EnvPool(FAULTY, 1, hosts=[address], token="secret ü") as pool:
        start(pool)
    monkeypatch.setenv("AGENTGYM_POOL_TOKEN", "secret ü")
    with EnvPool(FAULTY, 1, hosts=[address]) as pool:
        start(pool)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        pack(greeting("secret ü"))[:-1],
        pack(greeting("secret ü")),
        b"GET / HTTP/1.1\r\n\r\n",
        (GREETING_LONGEST + 1).to_bytes(4, "big") + b" " * 50,
        b"\x00\x00\x00\x02[]",
        b"\x00\x00\x00\x02{]",
        pack({"token": ["secret ü"]}),
        pack(greeting("secret ü")) + pack({"id": FAULTY}),
        pack(greeting("secret ü")) + pack({"id": 7, "kwargs": {}, "num_envs": 1}),
        pack(greeting("secret ü")) + pack({"id": FAULTY, "kwargs": {}, "num_envs": 0}),
        pack(greeting("secret ü")) + pack({"id": FAULTY, "kwargs": [], "num_envs": 1}),
        *(
            pack(greeting("secret ü")) + pack({"id": FAULTY, "kwargs": {}, "num_envs": 1}) + request
            for request in (
                b"\xff" * 50,
                pack({}),
                pack({"id": 1, "do": "step", "index": 1, "action": "x"}),
                pack({"id": 1, "do": "step", "index": "0", "action": "x"}),
                pack({"id": 1, "do": [], "index": 0}),
            )
        ),
    ],
)
def test_garbage_ends_its_connection_alone(guarded, data):
    begin = time.monotonic()
    received = talk(guarded.address, data)
    assert time.monotonic() - begin < 5
    for answer in MessageInbox().feed(received):
        assert not answer or answer["kind"] in ("ArgumentError", "AgentGymError", "UnknownName")
    wait_until(lambda: not workers(guarded))
    assert guarded.process.poll() is None


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00\x00\x00\x02[]"])
def test_a_server_of_another_kind_is_named(said):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"

        def answer():
            accepted, _ = server.accept()
            with accepted:
                accepted.recv(100)
                accepted.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        with raises(ArgumentError, f"host {address}"):
            EnvPool(FAULTY, 1, hosts=[address])
        thread.join()


def test_a_driver_that_is_killed_leaves_nothing(two, alive, tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(
        "import os\n"
        "from agentgym_envs.pool import EnvPool\n"
        f"pool = EnvPool({FAULTY!r}, 4, hosts={alive}, workers=2)\n"
        "for i in range(4): pool.reset(i)\n"
        "while pool.outstanding: pool.recv()\n"
        "pool.send(0, 'hang')\n"
        "print('ready', flush=True)\n"
        "input()\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, script]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environ, **pipes) as process:
        process.stdout.readline()
        assert [len(workers(host)) for host in two] == [2, 2]
        process.kill()
    wait_until(lambda: not any(workers(host) for host in two), 20)


@pytest.fixture
def drivers(monkeypatch):
    """The backends that connected to hosts."""
    connected, connect = [], driver.HostBackend._start
    monkeypatch.setattr(
        driver.HostBackend, "_start", lambda backend: (connect(backend), connected.append(backend))
    )
    return connected


def test_make_vec_through_hosts_equals_the_local_one(alive, drivers):
    seen = []
    for more in ({}, {"hosts": alive}):
        envs = gymnasium.make_vec("agentgym/Maze-v1", num_envs=3, workers=1, **more)
        first = envs.reset(seed=5)
        steps = [envs.step(["go north", "go east", "go south"]) for _ in range(3)]
        seen.append(repr([first, steps, envs.call("actions"), envs.get_attr("task_ids")]))
        envs.close()
    assert seen[0] == seen[1]
    assert len(drivers) == 1


def test_an_evaluation_through_hosts_equals_the_local_one(alive, drivers, tmp_path):
    def rows(name, *more):
        options = ["--agent", "random", "--split", "test", "--episodes", "4", "--horizon", "5"]
        arguments = ["eval", "agentgym/Maze-v1", *options, "--out", str(tmp_path / name), *more]
        done = CliRunner().invoke(cli.app, arguments)
        assert done.exit_code == 0, done.output
        lines = map(json.loads, (tmp_path / name / "episodes.jsonl").read_text().splitlines())
        return sorted(
            (row["task_id"], row["score"], repr(row["turns"]))
            for row in lines
            if row["row"] == "episode"
        )

    local = rows("local")
    assert len(local) == 4
    assert drivers == []
    assert rows("hosts", "--hosts", ",".join(alive)) == local
    assert len(drivers) == 1
    pictures = ["--hosts", alive[0], "--screenshots", "--out", str(tmp_path / "pictures")]
    done = CliRunner().invoke(cli.app, ["eval", "agentgym/Maze-v1", "--agent", "random", *pictures])
    assert done.exit_code == 2
    assert "--hosts keep no pictures" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["agentgym/Maze-v1"], "--pool takes no id"),
        (["--workers", "2"], "--pool takes no --workers"),
        (["--set", "split=dev"], "--pool takes no --set"),
        (["--idle", "5"], "--pool takes no --sessions, --idle or --rate"),
        (["--address", "0.0.0.0"], "is open to other machines: set --token"),
        (["--token", ""], "must not be empty"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(arguments, message, monkeypatch):
    monkeypatch.delenv("AGENTGYM_POOL_TOKEN", raising=False)
    done = CliRunner().invoke(cli.app, ["serve", "--pool", *arguments])
    assert done.exit_code == 2
    assert message in done.output


def test_answers_are_passed_on_at_once(alive):
    with EnvPool(FAULTY, 1, hosts=alive, length=100) as pool:
        start(pool)
        began = time.monotonic()
        for turn in range(1, 11):
            pool.send(0, "ok")
            assert gather(pool)[0].observation == f"turn {turn}"
        assert time.monotonic() - began < 3.0


def test_actions_that_do_not_fit_into_the_connection_arrive_whole(alive):
    with EnvPool("agentgym/TextCraft-v2", 2, hosts=alive[:1]) as pool:
        start(pool)
        actions = ["x" * 2**24, "y" * 2**24]
        with pool.together():
            for index, action in enumerate(actions):
                pool.send(index, action)
        for result in gather(pool).values():
            assert result.error is None, result.error
            assert result.info["invalid"]
