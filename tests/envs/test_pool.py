import os
import signal
import subprocess
import sys
import time

import gymnasium
import psutil
import pytest

from agentgym_envs.errors import EnvRaised, EnvTimeout, UnknownName, WorkerDied
from agentgym_envs.pool import EnvPool

FAULTY = "faulty_envs:support/Faulty-v0"


def gather(pool, count):
    results = []
    while len(results) < count:
        results += pool.recv()
    assert len(results) == count
    return {r.index: r for r in results}


def start(pool):
    for i in range(pool.num_envs):
        pool.reset(i, seed=i)
    return gather(pool, pool.num_envs)


def test_episodes_equal_those_of_a_single_environment():
    with EnvPool("agentgym/Maze-v0", 3, workers=2, admissible=True) as pool:
        shown = start(pool)
        for i in range(3):
            env = gymnasium.make("agentgym/Maze-v0", admissible=True)
            observation, info = env.reset(seed=i)
            assert (shown[i].observation, shown[i].info) == (observation, info)
            for action in info["admissible_actions"]:
                pool.send(i, action)
                (result,) = pool.recv()
                assert (result.observation, result.reward, result.terminated, result.truncated, result.info) == env.step(action)


def test_recv_returns_whoever_is_ready_first():
    with EnvPool("faulty_envs:support/Slow-v0", 2, workers=2, delay=1.0) as pool:
        start(pool)
        pool.send(1, "slow")
        pool.send(0, "fast")
        assert [r.index for r in pool.recv()] == [0]
        assert [r.index for r in pool.recv()] == [1]
        assert pool.recv() == []


def test_an_exception_fails_its_environment_alone():
    with EnvPool(FAULTY, 4, workers=1) as pool:
        start(pool)
        for i, action in enumerate(["ok", "raise", "ok", "ok"]):
            pool.send(i, action)
        results = gather(pool, 4)
        assert isinstance(results[1].error, EnvRaised)
        assert "broken on purpose" in str(results[1].error)
        assert "faulty_envs.py" in str(results[1].error)
        assert all(results[i].error is None for i in (0, 2, 3))
        pool.reset(1, seed=1)
        assert gather(pool, 1)[1].observation == "seed 1"


@pytest.mark.parametrize(("fault", "error"), [("die", WorkerDied), ("hang", EnvTimeout)])
def test_a_dead_or_hung_worker_is_replaced_and_only_its_environments_fail(fault, error):
    with EnvPool(FAULTY, 4, workers=2, timeout=1.0) as pool:
        start(pool)
        before = pool.pids()
        pool.send(0, fault)  # worker 0 holds 0 and 2, worker 1 holds 1 and 3
        pool.send(1, "ok")
        pool.send(3, "ok")
        results = gather(pool, 3)
        assert type(results[0].error) is error
        assert results[1].error is None
        assert results[3].error is None
        pool.send(2, "ok")
        assert isinstance(gather(pool, 1)[2].error, WorkerDied), "the state of environment 2 went with its worker"
        for i in (0, 2):
            pool.reset(i, seed=i)
        assert all(r.error is None for r in gather(pool, 2).values())
        assert before[1] in pool.pids()
        assert not psutil.pid_exists(before[0])


def test_kill_from_outside_is_a_failure_and_not_a_hang():
    with EnvPool(FAULTY, 2, workers=1) as pool:
        start(pool)
        os.kill(pool.pids()[0], signal.SIGKILL)
        pool.send(0, "ok")
        pool.send(1, "ok")
        assert all(isinstance(r.error, WorkerDied) for r in gather(pool, 2).values())


def test_the_timeout_starts_when_a_request_is_reached():
    # Six steps of 0.3 s in one worker: together longer than the timeout, each of them shorter.
    with EnvPool("faulty_envs:support/Slow-v0", 6, workers=1, timeout=1.0, delay=0.3) as pool:
        for i in range(6):
            pool.reset(i, seed=1)
        gather(pool, 6)
        for i in range(6):
            pool.send(i, "x")
        assert all(r.error is None for r in gather(pool, 6).values())


def test_workers_end_when_the_parent_is_killed_even_while_an_environment_hangs(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        "import os\n"
        "from agentgym_envs.pool import EnvPool\n"
        f"pool = EnvPool({FAULTY!r}, 2, workers=2)\n"
        "for i in range(2): pool.reset(i, seed=i)\n"
        "while len(pool.pids()) < 2 or len(pool.recv()) == 0: pass\n"
        "pool.send(0, 'hang')\n"
        "print(*pool.pids(), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, script], env=environ, capture_output=True, text=True, check=False)
    pids = [int(p) for p in done.stdout.split()]
    assert len(pids) == 2
    end = time.monotonic() + 20
    while any(psutil.pid_exists(p) for p in pids) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(psutil.pid_exists(p) for p in pids)


def test_close_is_idempotent_and_leaves_no_process():
    pool = EnvPool(FAULTY, 2, workers=2)
    start(pool)
    pids = pool.pids()
    pool.close()
    pool.close()
    assert not any(psutil.pid_exists(p) for p in pids)
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        pool.reset(0)


def test_bad_arguments_are_refused_before_a_process_starts():
    with pytest.raises(UnknownName, match="Did you mean 'agentgym/Maze-v0'"):
        EnvPool("agentgym/Mase-v0", 1)
    with pytest.raises(ValueError, match="num_envs=0"):
        EnvPool("agentgym/Maze-v0", 0)
