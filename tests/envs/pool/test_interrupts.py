"""After an interrupt in any call of a pool, every request that it took gets exactly one result."""

import dis
import socket
import sys
from itertools import count
from pathlib import Path

import pytest
import scripted_worker
from started_hosts import hosts
from stopped import started

import agentgym_envs.pool
from agentgym_envs.errors import EnvTimeout, HostLost, NeighbourFailed, WorkerDied
from agentgym_envs.pool import EnvPool

FAULTY = "faulty_envs:support/Faulty-v0"
FOLDER = Path(agentgym_envs.pool.__file__).parent
HANDLED_AFTER = ("CALL", "RESUME", "JUMP_BACKWARD")


class Interrupt:
    """Context manager that raises KeyboardInterrupt at the ``number``-th point.

    Points are where CPython handles signals: after calls, at the start of functions and at the end
    of each loop iteration. Only code of files in ``folder`` counts.

    Attributes:
        raised: True once the exception was raised.
    """

    def __init__(self, number, folder):
        self.left, self.folder, self.raised = number, str(folder), False

    def __enter__(self):
        sys.settrace(self._called)
        return self

    def __exit__(self, *exc):
        sys.settrace(None)

    def _called(self, frame, event, arg):
        if not frame.f_code.co_filename.startswith(self.folder):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        latest = ""

        def follow(frame, event, arg):
            nonlocal latest
            if event == "opcode":
                self.left -= latest.startswith(HANDLED_AFTER)
                if self.left == 0 and not self.raised:
                    self.raised = True
                    raise KeyboardInterrupt
                latest = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            return follow

        return follow


def start(pool):
    """Resets all environments."""
    for i in range(pool.num_envs):
        pool.reset(i)
    while pool.outstanding:
        pool.recv()


class Caller:
    """Calls a pool, and calls again after an interrupt.

    Args:
        pool: to be called.
        interrupt: comes in one of the calls.
    """

    def __init__(self, pool, interrupt):
        self.pool, self.interrupt, self.results = pool, interrupt, []

    def ask(self, name, *arguments):
        """Makes a request once, even if the interrupt comes before the pool has accepted it."""
        before = self.pool.outstanding
        try:
            with self.interrupt:
                getattr(self.pool, name)(*arguments)
        except KeyboardInterrupt:
            if self.pool.outstanding == before:
                getattr(self.pool, name)(*arguments)

    def receive(self):
        """Receives until every request has its result."""
        while self.pool.outstanding:
            try:
                with self.interrupt:
                    results = self.pool.recv()
            except KeyboardInterrupt:
                continue
            self.results += results

    def shown(self, index):
        """Returns an environment's results: observations, and types of errors."""
        return [
            type(r.error) if r.error else r.observation for r in self.results if r.index == index
        ]


def each_place(step=1):
    """Yields interrupts, one in ``step`` places, until one has no place left."""
    for number in count(1, step):
        interrupt = Interrupt(number, FOLDER)
        yield interrupt
        if not interrupt.raised:
            assert number > 100, "the calls were not watched"
            break


def test_an_interrupt_loses_and_repeats_no_result():
    with EnvPool(FAULTY, 2, workers=1, length=10**9, max_episode_steps=-1) as pool:
        start(pool)
        for turn, interrupt in enumerate(each_place(), 1):
            caller = Caller(pool, interrupt)
            for i in range(2):
                caller.ask("send", i, "ok")
            caller.receive()
            assert [caller.shown(i) for i in range(2)] == [[f"turn {turn}"]] * 2


def test_an_interrupt_loses_no_request_of_those_sent_together():
    with EnvPool(FAULTY, 3, workers=2, length=10**9, max_episode_steps=-1) as pool:
        start(pool)
        turns = [0, 0, 0]
        for interrupt in each_place(5):
            caller = Caller(pool, interrupt)
            try:
                with interrupt, pool.together():
                    for i in range(3):
                        pool.send(i, "ok")
            except KeyboardInterrupt:
                pass
            asked = pool.outstanding
            caller.receive()
            assert asked == 3 or interrupt.raised
            turns = [turn + (i < asked) for i, turn in enumerate(turns)]
            assert [caller.shown(i) for i in range(3)] == [
                [f"turn {turn}"] if i < asked else [] for i, turn in enumerate(turns)
            ]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of a worker whose start was interrupted
@pytest.mark.parametrize("step", [17, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    ("fault", "error", "timeout"),
    [
        ("die", WorkerDied, 60),
        pytest.param("hang", EnvTimeout, 1e-6, marks=pytest.mark.full),
    ],
)
def test_an_interrupt_while_a_worker_is_replaced_blames_nobody_else(
    fault, error, timeout, step, monkeypatch
):
    monkeypatch.setattr("agentgym_envs.pool.handle._start", scripted_worker.start)
    for interrupt in each_place(step):
        with EnvPool(FAULTY, 3, workers=1, timeout=timeout) as pool:
            caller = Caller(pool, interrupt)
            for i in range(3):
                caller.ask("reset", i)
            caller.receive()
            for i, action in enumerate(["ok", fault, "ok"]):
                caller.ask("send", i, action)
            caller.ask("reset", 2)
            caller.ask("send", 2, "ok")
            caller.receive()
            caller.ask("send", 0, "ok")
            caller.ask("reset", 1)
            caller.receive()
            assert caller.shown(0) == ["turn 0", "turn 1", NeighbourFailed]
            assert caller.shown(1) == ["turn 0", error, "turn 0"]
            assert caller.shown(2) == ["turn 0", NeighbourFailed, "turn 0", "turn 1"]


@pytest.mark.full
@pytest.mark.parametrize("step", [29, pytest.param(1, marks=pytest.mark.full)])
def test_an_interrupt_of_a_driver_loses_and_repeats_no_result(step):
    with hosts(2) as started:
        addresses = [host.address for host in started]
        options = {"length": 10**9, "max_episode_steps": -1, "hosts": addresses}
        with EnvPool(FAULTY, 3, workers=1, **options) as pool:
            start(pool)
            for turn, interrupt in enumerate(each_place(step), 1):
                caller = Caller(pool, interrupt)
                for i in range(2):
                    caller.ask("send", i, "ok")
                caller.ask("drop", 2)
                caller.ask("reset", 2)
                caller.receive()
                assert [caller.shown(i) for i in range(3)] == [
                    *([[f"turn {turn}"]] * 2),
                    ["", "seed None"],
                ]


@pytest.mark.full
@pytest.mark.parametrize("step", [97, pytest.param(7, marks=pytest.mark.full)])
def test_an_interrupt_while_a_host_is_lost_blames_nobody_else(step, monkeypatch):
    monkeypatch.setattr("agentgym_envs.pool.hosts.PAUSES", (3600.0, 3600.0))
    with hosts(2) as started:
        addresses = [host.address for host in started]
        for interrupt in each_place(step):
            with EnvPool(FAULTY, 4, workers=1, hosts=addresses) as pool:
                start(pool)
                caller = Caller(pool, interrupt)
                for i, action in enumerate(["hang", "ok", "ok"]):  # 0 and 2 share a worker
                    caller.ask("send", i, action)
                caller.ask("reset", 2)
                pool._backend.state.links[0].socket.shutdown(socket.SHUT_RDWR)
                caller.receive()
                caller.ask("send", 0, "ok")
                caller.ask("send", 2, "ok")
                caller.receive()
                caller.ask("reset", 0)
                caller.receive()
                shown = [caller.shown(i) for i in range(3)]
                assert shown == [
                    [HostLost, HostLost, "seed None"],
                    ["turn 1"],
                    [HostLost, "seed None", "turn 1"],
                ]


SCRIPT = """
import sys, time
from agentgym_envs.pool import EnvPool
with EnvPool("faulty_envs:support/Odd-v0", 1, timeout=600) as pool:
    pool.reset(0)
    pool.recv()
    for action in sys.argv[1:]:
        pool.send(0, action)
        print(*(result.observation for result in pool.recv(timeout=1.0)), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("last", [(), pytest.param(("hang",), marks=pytest.mark.full)])
def test_nothing_is_left_of_a_killed_script(tmp_path, last):
    command = [sys.executable, "-c", SCRIPT, "spawn away", "spawn", *last]
    with started(command, tmp_path / "output", env={"TMPDIR": str(tmp_path)}) as script:
        script.wait_for(lambda: len(script.named("sleep", "60")) == 2)
        script.process.kill()
        script.process.wait()
        script.check_gone()
    assert [path.name for path in tmp_path.iterdir()] == ["output"]
