import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gymnasium
import psutil
import pytest
from raised import raises

from agentgym_envs.errors import (
    ArgumentError,
    EnvRaised,
    EnvTimeout,
    NeighbourFailed,
    TaskError,
    UnknownName,
    WorkerDied,
)
from agentgym_envs.pool import EnvDescription, EnvPool, describe
from agentgym_envs.pool.workers import CLOSE_TIMEOUT
from agentgym_envs.wrappers import FORMATS, ActionFormat

FAULTY = "faulty_envs:support/Faulty-v0"
ODD = "faulty_envs:support/Odd-v0"
SLOW_START = "faulty_envs:support/SlowStart-v0"


def gather(pool, count):
    results = []
    while len(results) < count:
        results += pool.recv()
    assert len(results) == count
    return {r.index: r for r in results}


def gone(pid):
    """Says whether a process has ended; a zombie has."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(holds, seconds=10):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def start(pool):
    for i in range(pool.num_envs):
        pool.reset(i, seed=i)
    return gather(pool, pool.num_envs)


def test_episodes_equal_those_of_a_single_environment():
    with EnvPool("agentgym/Maze-v1", 3, workers=2, admissible=True) as pool:
        shown = start(pool)
        for i in range(3):
            env = gymnasium.make("agentgym/Maze-v1", admissible=True)
            observation, info = env.reset(seed=i)
            assert (shown[i].observation, shown[i].info) == (observation, info)
            for action in info["admissible_actions"]:
                pool.send(i, action)
                (result,) = pool.recv()
                assert (
                    result.observation,
                    result.reward,
                    result.terminated,
                    result.truncated,
                    result.info,
                ) == env.step(action)


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
        assert type(gather(pool, 1)[2].error) is NeighbourFailed, (
            "the state of environment 2 went with its worker"
        )
        pool.ask_oracle(2)
        assert type(gather(pool, 1)[2].error) is NeighbourFailed
        pool.send(0, "ok")
        assert type(gather(pool, 1)[0].error) is WorkerDied, (
            "the one that failed is no neighbour of itself"
        )
        for i in (0, 2):
            pool.reset(i, seed=i)
        assert all(r.error is None for r in gather(pool, 2).values())
        assert before[1] in pool.pids()
        assert not psutil.pid_exists(before[0])


def test_after_a_kill_from_outside_each_step_fails_as_its_own_and_a_reset_starts_a_new_worker():
    with EnvPool(FAULTY, 3, workers=1) as pool:
        start(pool)
        os.kill(pool.pids()[0], signal.SIGKILL)
        pool.send(0, "ok")
        pool.send(1, "ok")
        pool.reset(2, seed=5)
        results = gather(pool, 3)
        assert [type(results[i].error) for i in (0, 1)] == [WorkerDied] * 2
        assert "ended by SIGKILL" in str(results[0].error)
        assert results[2].observation == "seed 5"


def test_a_worker_that_dies_between_requests_is_the_fault_of_all_its_environments():
    with EnvPool(ODD, 2, workers=1) as pool:
        start(pool)
        pool.send(0, "later")
        assert gather(pool, 1)[0].error is None
        wait_until(lambda: gone(pool.pids()[0]))
        for i in range(2):
            pool.send(i, "ok")
        results = gather(pool, 2)
        assert [type(r.error) for r in results.values()] == [WorkerDied] * 2, (
            "who counts failures must come to an end"
        )
        assert "with status 6" in str(results[1].error)


def test_only_the_environment_that_kills_its_worker_is_to_blame():
    with EnvPool(FAULTY, 5, workers=1) as pool:
        start(pool)
        pool.send(0, "ok")
        pool.send(1, "die")
        pool.send(2, "ok")
        pool.send(1, "ok")
        pool.reset(3, seed=9)
        pool.send(3, "ok")
        results = []
        while len(results) < 6:
            results += pool.recv()
        assert [type(r.error) for r in results if r.index == 0] == [type(None)], (
            "it was done before"
        )
        assert [type(r.error) for r in results if r.index == 1] == [WorkerDied, WorkerDied]
        assert [type(r.error) for r in results if r.index == 2] == [NeighbourFailed]
        assert [r.observation for r in results if r.index == 3] == [
            "seed 9",
            "turn 1",
        ], "a reset needs no state: the new worker does it"
        pool.send(4, "ok")
        assert "environment 1, which failed" in str(gather(pool, 1)[4].error)


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("die", "with status 7"),
        ("crash", "by SIGSEGV"),
        ("orphan", "with status 8"),
        ("linger", "with status 9"),
    ],
)
def test_a_death_tells_how_and_the_last_words(fault, status):
    with EnvPool(FAULTY, 1) as pool:
        start(pool)
        begin = time.monotonic()
        pool.send(0, fault)
        error = str(gather(pool, 1)[0].error)
        assert time.monotonic() - begin < 8.0, "the orphan's 10 seconds are not waited for"
        assert f"its worker ended {status}" in error
        assert f"about to {fault}" in error


def test_the_last_words_are_the_latest():
    with EnvPool(ODD, 1) as pool:
        start(pool)
        for _ in range(6):  # 500 characters each
            pool.send(0, "print")
            gather(pool, 1)
        pool.send(0, "die")
        error = str(gather(pool, 1)[0].error)
        assert error.endswith("about to die")
        assert len(error) < 2200


@pytest.mark.parametrize("fault", ["garbage", "lie"])
def test_a_worker_that_sends_what_is_no_answer_is_replaced(fault):
    with EnvPool(FAULTY, 2, workers=1) as pool:
        start(pool)
        pool.send(0, fault)
        pool.send(1, "ok")
        results = gather(pool, 2)
        assert type(results[0].error) is WorkerDied
        assert type(results[1].error) is NeighbourFailed
        pool.reset(0, seed=3)
        assert gather(pool, 1)[0].observation == "seed 3"


@pytest.fixture(scope="module")
def odd():
    with EnvPool(ODD, 3, workers=1) as pool:
        yield pool


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("set", r"info\['bad'\].*set"),
        ("numpy", r"info\['count'\].*int64"),
        ("key", "keys must be"),
        ("loop", r"info\['self'\].*Circular"),
        ("none", "NoneType"),
        ("bytes", "bytes"),
    ],
)
def test_an_answer_that_is_no_json_fails_its_environment_alone(odd, action, message):
    start(odd)
    before = odd.pids()
    for i, a in enumerate(["ok", action, "ok"]):
        odd.send(i, a)
    results = gather(odd, 3)
    assert isinstance(results[1].error, EnvRaised)
    assert re.search(message, str(results[1].error))
    assert results[0].error is results[2].error is None
    assert odd.pids() == before


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    ("action", "message"),
    [("reward", "reward"), ("score", r"info\['score'\]"), ("seat", r"info\['rewards'\]\['b'\]")],
)
def test_a_number_that_is_not_finite_fails_its_environment_alone(odd, action, number, message):
    start(odd)
    for i, a in enumerate(["ok", f"{action} {number}", f"{action} 1e30"]):
        odd.send(i, a)
    results = gather(odd, 3)
    assert isinstance(results[1].error, EnvRaised)
    assert re.fullmatch(
        rf"support/Odd-v0: {message} must be a finite number, not {number}", str(results[1].error)
    )
    assert results[0].error is results[2].error is None
    odd.send(1, "ok")
    assert "never reset, or failed since" in str(gather(odd, 1)[1].error)


def test_numpy_numbers_become_plain_ones(odd):
    start(odd)
    odd.send(0, "ok")
    result = gather(odd, 1)[0]
    assert (result.reward, result.terminated, result.truncated) == (0.5, False, False)
    assert {type(result.reward), type(result.terminated), type(result.truncated)} == {float, bool}


@pytest.mark.parametrize("text", ["\ud800 a lone surrogate", "\x00\u2028 🙂 \n", "x" * 2_000_000])
def test_every_string_arrives_as_it_was_sent(odd, text):
    start(odd)
    odd.send(0, f"echo {text}")
    assert gather(odd, 1)[0].observation == text


def test_what_environments_print_disturbs_nothing(odd, capfd):
    start(odd)
    odd.send(0, "print")
    assert gather(odd, 1)[0].error is None
    assert capfd.readouterr().out == ""


def test_sending_does_not_wait_for_a_neighbour_that_holds_the_interpreter(odd):
    start(odd)
    begin = time.monotonic()
    odd.send(0, "hold 2")
    odd.send(1, "length " + "x" * 4_000_000)
    assert time.monotonic() - begin < 1.0
    assert gather(odd, 2)[1].observation == "4000007"


def test_the_time_to_send_a_large_action_does_not_count_as_the_environments():
    with EnvPool(ODD, 1, timeout=1.0) as pool:
        start(pool)
        pool.send(0, "length " + "x" * 4_000_000)
        time.sleep(1.5)
        assert gather(pool, 1)[0].observation == "4000007"


def test_what_waits_to_be_sent_gives_a_hung_environment_no_more_time():
    with EnvPool(ODD, 2, workers=1, timeout=1.0) as pool:
        start(pool)
        pool.send(0, "hang")
        begin = time.monotonic()
        while not (results := pool.recv(timeout=0.2)):
            pool.send(1, "length " + "x" * 1_000_000)
            assert time.monotonic() - begin < 3.0
        assert "no answer within 1 s" in str(results[0].error)


@pytest.mark.parametrize(
    ("fault", "child"),
    [(None, "spawn"), ("die", "spawn"), ("hang", "spawn"), ("die", "spawn away")],
)
def test_children_of_a_worker_end_with_it(fault, child):
    with EnvPool(ODD, 2, workers=1, timeout=1.0) as pool:
        start(pool)
        pool.send(0, child)
        child = int(gather(pool, 1)[0].observation)
        assert not gone(child)
        if fault:
            pool.send(1, fault)
            assert gather(pool, 1)[1].error
            wait_until(lambda: gone(child), 2)
    wait_until(lambda: gone(child), 2)


def test_stubborn_workers_are_killed_at_the_same_time(monkeypatch):
    monkeypatch.setattr("agentgym_envs.pool.workers.CLOSE_TIMEOUT", 0.1)
    pool = EnvPool(ODD, 3, workers=3)
    start(pool)
    for i in range(3):
        pool.send(i, "stubborn")
    while pool.recv(timeout=0.5):
        pass
    pids, begin = pool.pids(), time.monotonic()
    pool.close()
    assert time.monotonic() - begin < 4.0, "2 s after the first signal, whatever their number"
    assert all(map(gone, pids))


@pytest.mark.parametrize("fault", ["mute", "mute ours"])
def test_an_exception_that_cannot_be_printed_fails_its_environment_alone(odd, fault):
    start(odd)
    before = odd.pids()
    for i, action in enumerate(["ok", fault, "ok"]):
        odd.send(i, action)
    results = gather(odd, 3)
    assert isinstance(results[1].error, EnvRaised)
    assert "raised Mute" in str(results[1].error)
    assert results[0].error is results[2].error is None
    assert odd.pids() == before


def test_ctrl_c_does_not_reach_the_workers():
    with EnvPool(FAULTY, 1) as pool:
        start(pool)
        os.kill(pool.pids()[0], signal.SIGINT)
        assert os.getpgid(pool.pids()[0]) != os.getpgrp(), "a terminal sends it to the whole group"
        pool.send(0, "ok")
        assert gather(pool, 1)[0].observation == "turn 1"


@pytest.mark.full
def test_starting_has_a_limit_of_its_own():
    with EnvPool(SLOW_START, 1, timeout=0.5, delay=1.5) as pool:
        assert start(pool)[0].observation == "seed 0"
        pool.send(0, "raise")
        gather(pool, 1)
        pool.reset(0, seed=1)
        assert gather(pool, 1)[0].observation == "seed 1", "an environment that failed is made anew"
    assert EnvPool(SLOW_START, 1, timeout=90, start_timeout=2).start_timeout == 90, (
        "no first reset has less time than others"
    )
    with EnvPool(SLOW_START, 1, timeout=0.5, delay=1.5, each=True) as pool:
        start(pool)
        pool.reset(0, seed=1)
        assert "no answer within 0.5 s" in str(gather(pool, 1)[0].error)
    with EnvPool(SLOW_START, 1, timeout=0.5, start_timeout=2, delay=60) as pool:
        assert "no answer within 2 s" in str(start(pool)[0].error)


def test_an_environment_is_described_as_it_says_itself():
    env = gymnasium.make("agentgym/Maze-v1", split="dev")
    described = describe("agentgym/Maze-v1", split="dev")
    difficulties = [env.unwrapped.task_set.get(i).difficulty for i in env.unwrapped.task_ids]
    assert described == (
        env.unwrapped.instructions,
        list(env.unwrapped.task_ids),
        difficulties,
        dict(env.unwrapped.tools),
        True,
        [],
        "",
    )
    react = describe("agentgym/Maze-v1", split="dev", action_format="react")
    assert react.instructions == ActionFormat(env, "react").instructions != described.instructions
    assert (react.rules, react.format_rules) == (
        env.unwrapped.instructions,
        FORMATS["react"](env.unwrapped.tools).describe(),
    )
    assert describe(FAULTY) == ("", None, None, {}, False, [], "")


def test_one_agent_is_not_several():
    several = [
        EnvDescription("", [], [], {}, True, agents).several for agents in ([], ["a"], ["a", "b"])
    ]
    assert several == [(), (), ["a", "b"]]


@pytest.mark.parametrize(
    ("env_id", "keywords", "error", "message"),
    [
        (
            FAULTY,
            {"construct": "hang", "timeout": 0.5, "start_timeout": 2},
            EnvTimeout,
            "no answer within 2 s",
        ),
        (FAULTY, {"construct": "raise"}, EnvRaised, "broken on purpose"),
        (FAULTY, {"colour": 1}, ArgumentError, "does not take 'colour'"),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in [
                (FAULTY, {"construct": "die"}, WorkerDied, "with status 7"),
                (FAULTY, {"construct": "exit"}, EnvRaised, "SystemExit.*leaving"),
                ("agentgym/Maze-v1", {"tasks": "none-*"}, TaskError, "none-"),
                (
                    "agentgym/Maze-v1",
                    {"split": "odd"},
                    ArgumentError,
                    "agentgym-envs: unknown split 'odd'",
                ),
            ]
        ),
        ("agentgym/Nowhere-v0", {}, UnknownName, "Nowhere"),
    ],
)
def test_a_constructor_that_fails_or_refuses_is_an_error_of_one_line(
    env_id, keywords, error, message
):
    with pytest.raises(error, match=message) as caught:
        describe(env_id, **keywords)
    assert len(str(caught.value).splitlines()) == 1 or "last words" in str(caught.value)


def test_being_described_does_not_shorten_the_time_of_the_first_reset():
    with EnvPool(SLOW_START, 1, timeout=0.5, delay=1.5) as pool:
        pool.ask_description(0)
        assert gather(pool, 1)[0].info["task_ids"] is None
        assert start(pool)[0].observation == "seed 0"


def test_a_worker_that_cannot_start_is_an_error_of_all_that_waits(monkeypatch):
    monkeypatch.setattr(
        "agentgym_envs.pool.handle.python_command",
        lambda *a: [sys.executable, "-c", "raise SystemError('no luck')"],
    )
    with EnvPool(FAULTY, 2, workers=1) as pool:
        results = start(pool)
        assert [type(r.error) for r in results.values()] == [WorkerDied] * 2
        assert "did not start" in str(results[1].error)
        assert "no luck" in str(results[1].error)


def test_a_module_in_the_working_directory_stands_in_for_no_other_and_can_be_used(
    tmp_path, monkeypatch
):
    for name in ("queue", "random", "json", "sched"):
        (tmp_path / f"{name}.py").write_text("raise SystemError('a stray file was imported')")
    (tmp_path / "envs_of_mine.py").write_text(
        "import gymnasium, faulty_envs\ngymnasium.register('mine/Odd-v0',"
        " entry_point=faulty_envs.OddEnv)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    with EnvPool("envs_of_mine:mine/Odd-v0", 1) as pool:
        assert start(pool)[0].error is None
        pool.send(0, "modules")
        result = gather(pool, 1)[0]
        assert result.error is None
        assert "sched.py" in result.observation
        assert str(tmp_path) not in result.observation


@pytest.mark.parametrize("style", ["plain", "tags"])
def test_the_oracle_plays_through_the_pool(style):
    with EnvPool("agentgym/Maze-v1", 1, action_format=style) as pool:
        expected = gymnasium.make("agentgym/Maze-v1")
        for seed in (3, 3, 8):  # the oracle begins anew with each episode
            expected.reset(seed=seed)
            pool.reset(0, seed=seed)
            gather(pool, 1)
            for action in expected.unwrapped.oracle():
                pool.ask_oracle(0)
                result = gather(pool, 1)[0]
                assert result.action == (
                    action if style == "plain" else f"<think></think><action>{action}</action>"
                )
                seen = (
                    result.observation,
                    result.reward,
                    result.terminated,
                    result.truncated,
                    result.info,
                )
                assert seen == expected.step(action)
            assert result.terminated
            assert result.info["success"]
            pool.ask_oracle(0)
            over = gather(pool, 1)[0]
            assert (over.action, over.info, over.error) == (None, None, None)


def test_a_bare_action_is_written_in_the_format():
    with EnvPool("agentgym/Maze-v1", 1, action_format="react") as pool:
        start(pool)
        pool.send(0, "go north", bare=True)
        result = gather(pool, 1)[0]
        assert result.action.endswith("Action: go north")
        pool.send(0, "go north")
        assert gather(pool, 1)[0].info["invalid"]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2))]
)
def test_every_request_gets_one_result_whatever_happens(seed):
    rng = random.Random(seed)
    faults = ["raise", "die", "exit", "garbage", "crash", "x" * 3_000_000, "hang"]
    rng.shuffle(faults)
    asked, got = {i: [] for i in range(6)}, {i: [] for i in range(6)}

    def receive(**kwargs):
        for result in pool.recv(**kwargs):
            got[result.index].append(result)

    with EnvPool(FAULTY, 6, workers=2, timeout=2.0, length=10**6) as pool:
        for number in range(120):
            index = rng.randrange(6)
            if number % 12 == 11 and faults:
                asked[index].append(faults.pop())
                pool.send(index, asked[index][-1])
            elif rng.random() < 0.3 or not asked[index]:
                asked[index].append(number)
                pool.reset(index, seed=number)
            else:
                asked[index].append("ok")
                pool.send(index, "ok")
            if rng.random() < 0.2:
                receive(timeout=rng.choice([0, 0.05]))
        while pool.outstanding:
            receive()
        assert pool.recv(timeout=3 if seed == 0 else 0) == []
    for index in range(6):
        assert len(got[index]) == len(asked[index])
        turn = None
        for request, result in zip(asked[index], got[index], strict=True):
            turn = None if result.error else 0 if isinstance(request, int) else turn + 1
            if turn is not None:
                assert result.observation == (f"turn {turn}" if turn else f"seed {request}")


def test_hung_workers_are_closed_at_once_and_leave_no_draft(tmp_path):
    pool = EnvPool(ODD, 3, workers=3)
    start(pool)
    for i in range(3):
        pool.send(i, f"build {tmp_path / str(i)}")
    while len(os.listdir(tmp_path)) < 3:
        time.sleep(0.05)
    begin = time.monotonic()
    pool.close()
    assert time.monotonic() - begin < CLOSE_TIMEOUT
    assert os.listdir(tmp_path) == []


def test_a_build_that_takes_too_long_leaves_no_draft(tmp_path):
    with EnvPool(ODD, 1, timeout=1.0) as pool:
        start(pool)
        pool.send(0, f"build {tmp_path / 'index'}")
        assert isinstance(gather(pool, 1)[0].error, EnvTimeout)
        assert os.listdir(tmp_path) == []


def test_the_timeout_starts_when_a_request_is_reached():
    # Six steps of 0.3 s in one worker: together longer than the timeout, each of them shorter.
    with EnvPool("faulty_envs:support/Slow-v0", 6, workers=1, timeout=1.0, delay=0.3) as pool:
        for i in range(6):
            pool.reset(i, seed=1)
        gather(pool, 6)
        for i in range(6):
            pool.send(i, "x")
        assert all(r.error is None for r in gather(pool, 6).values())


@pytest.mark.parametrize("end", ["die", "hang", "ok"])
def test_the_temporary_files_of_a_worker_end_with_it(end, monkeypatch):
    above = tempfile.mkdtemp()  # not in tmp_path, which is too long for sockets
    monkeypatch.setattr(tempfile, "tempdir", above)
    with EnvPool(FAULTY, 1, timeout=2) as pool:
        start(pool)
        pool.send(0, "litter")
        assert gather(pool, 1)[0].error is None
        (folder,) = Path(above).iterdir()
        assert len(list(folder.iterdir())) == 1
        pool.send(0, end)
        gather(pool, 1)
        assert folder.exists() == (end == "ok")
    os.rmdir(above)  # fails if a file is left


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
    above = tempfile.mkdtemp()
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": above}
    done = subprocess.run(
        [sys.executable, script], env=environ, capture_output=True, text=True, check=False
    )
    pids = [int(p) for p in done.stdout.split()]
    assert len(pids) == 2
    end = time.monotonic() + 20
    while any(psutil.pid_exists(p) for p in pids) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(psutil.pid_exists(p) for p in pids)
    os.rmdir(above)  # fails if a file of a worker is left


def test_a_fork_of_the_parent_leaves_its_workers_alone(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        "import gc, os, sys\n"
        "import gymnasium\n"
        "from agentgym_envs.pool import EnvPool\n"
        f"pool = EnvPool({FAULTY!r}, 2, workers=2)\n"
        "def gather():\n"
        "    results = []\n"
        "    while pool.outstanding: results += pool.recv()\n"
        "    return sorted(result.observation for result in results)\n"
        "for i in range(2): pool.reset(i, seed=i)\n"
        "print(*gather(), sep=', ')\n"
        "if os.fork() == 0:\n"
        "    del pool\n"
        "    gc.collect()\n"
        "    os._exit(0)\n"
        "if os.fork() == 0:\n"
        "    for use in (lambda: pool.send(0, 'ok'), pool.recv):\n"
        "        try: use()\n"
        "        except gymnasium.error.ClosedEnvironmentError as error: print(error, flush=True)\n"
        "    sys.exit()\n"
        "print(os.wait()[1], os.wait()[1], os.getpid())\n"
        "for i in range(2): pool.send(i, 'ok')\n"
        "print(*gather(), sep=', ')\n"
        "pool.close()\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-u", "-Xdev", script],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    lines = done.stdout.splitlines()
    pid = lines[3].split()[2]
    refusal = f"the pool belongs to process {pid}: make one in this process"
    assert lines == [
        "seed 0, seed 1",
        refusal,
        refusal,
        f"0 0 {pid}",
        "turn 1, turn 1",
    ], done.stderr
    assert "ResourceWarning: subprocess" not in done.stderr


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
    with raises(UnknownName, "'agentgym/Maze-v1'"):
        EnvPool("agentgym/Mase-v0", 1)
    for bad in (
        {"num_envs": 0},
        {"workers": 0},
        {"timeout": 0},
        {"start_timeout": -1},
        {"timeout": float("nan")},
    ):
        with raises(ArgumentError, "positive"):
            EnvPool("agentgym/Maze-v1", **{"num_envs": 1, **bad})
    for limit in (0, -2, 1.5, True, "5"):
        with raises(ArgumentError, "max_episode_steps"):
            EnvPool("agentgym/Maze-v1", 1, max_episode_steps=limit)
    with raises(ArgumentError, "sent"):
        EnvPool("agentgym/Maze-v1", 1, rooms={4})
    with EnvPool("agentgym/Maze-v1", 1) as pool:
        with raises(ArgumentError, "environment 1"):
            pool.reset(1)
        with pytest.raises(TypeError, match="an action is a str"):
            pool.send(0, None)
        with raises(ArgumentError, "seed=-1"):
            pool.reset(0, seed=-1)
        assert pool.pids() == []


def test_a_reset_that_is_refused_leaves_a_lost_environment_lost():
    with EnvPool(FAULTY, 2, workers=1) as pool:
        start(pool)
        pool.send(0, "die")
        gather(pool, 1)
        for bad in ({"seed": -1}, {"options": {"x": {1}}}):
            with pytest.raises(ArgumentError):
                pool.reset(1, **bad)
        pool.send(1, "ok")
        assert type(gather(pool, 1)[1].error) is NeighbourFailed


@pytest.mark.parametrize(
    ("options", "cause", "message"),
    [
        ({"task_id": "nowhere-1"}, TaskError, "agentgym/Maze-v1 of agentgym-envs: .*nowhere-1"),
        (
            {"colour": 1},
            ArgumentError,
            "agentgym/Maze-v1 of agentgym-envs: unknown reset option 'colour'",
        ),
    ],
)
def test_a_reset_that_an_environment_refuses_says_whose_fault_it_is(options, cause, message):
    with EnvPool("agentgym/Maze-v1", 1) as pool:
        pool.reset(0, options=options)
        result = gather(pool, 1)[0]
        assert isinstance(result.error, EnvRaised)
        assert re.match(message, str(result.error))
        assert type(result.error.__cause__) is cause
        with pytest.raises(cause, match=message):
            result.check()
        pool.reset(0, seed=1)
        gather(pool, 1)[0].check()


def test_a_poll_neither_waits_nor_replaces_a_worker():
    with EnvPool(FAULTY, 2, workers=2) as pool:
        pool.reset(0, seed=0)
        began = time.monotonic()
        assert pool.poll() == []  # the worker imports for longer than this
        assert time.monotonic() - began < 0.2
        assert [result.observation for result in pool.recv()] == ["seed 0"]
        pids = pool.pids()
        pool.send(0, "die")
        while not pool.broken:
            assert pool.poll() == []
        assert pool.poll() == []
        assert pool.pids() == pids
        (result,) = pool.recv()
        assert isinstance(result.error, WorkerDied)
        assert not pool.broken
        assert pool.pids() == []


def test_requests_that_are_made_together_leave_at_the_end_of_the_block():
    with EnvPool(FAULTY, 4, workers=1) as pool:
        with pool.together():
            for index in range(4):
                pool.reset(index, seed=index)
            assert pool.pids() == []
        assert len(pool.pids()) == 1
        found = []
        while pool.outstanding:
            found += pool.recv()
        assert [result.observation for result in found] == [f"seed {i}" for i in range(4)]
