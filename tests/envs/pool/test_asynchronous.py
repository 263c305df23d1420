import asyncio
import os
import signal
import time

import gymnasium
import pytest
from raised import raises

from agentgym_envs.errors import ArgumentError, EnvRaised, EnvTimeout, WorkerDied
from agentgym_envs.pool import AsyncEnvPool

FAULTY = "faulty_envs:support/Faulty-v0"
SLOW = "faulty_envs:support/Slow-v0"


def test_episodes_at_the_same_time_are_those_of_single_environments():
    async def play(pool, index):
        shown = [(await pool.reset(index, seed=index)).observation]
        while (
            (result := await pool.send(index, "go north"))
            and not result.truncated
            and len(shown) < 5
        ):
            shown.append(result.observation)
        return shown

    async def go():
        async with AsyncEnvPool("agentgym/Maze-v1", 4, workers=2) as pool:
            return await asyncio.gather(*(play(pool, i) for i in range(4)))

    def alone(seed):
        env = gymnasium.make("agentgym/Maze-v1")
        return [env.reset(seed=seed)[0], *(env.step("go north")[0] for _ in range(4))]

    assert asyncio.run(go()) == [alone(seed) for seed in range(4)]


def test_no_request_waits_for_a_slow_environment_in_another_process():
    async def go():
        async with AsyncEnvPool(SLOW, 2, workers=2, delay=2.0) as pool:
            await asyncio.gather(pool.reset(0, seed=0), pool.reset(1, seed=1))
            slow = asyncio.create_task(pool.send(1, "x"))
            await asyncio.sleep(0.1)  # the pool waits for the slow one by now
            began = time.monotonic()
            for _ in range(4):
                assert (await pool.send(0, "x")).error is None
            assert time.monotonic() - began < 1.0
            assert not slow.done()
            assert (await slow).observation == "turn 1"

    asyncio.run(go())


def test_failures_are_results_and_refusals_are_raised():
    async def go():
        async with AsyncEnvPool(FAULTY, 2, workers=1) as pool:
            await pool.reset(0, seed=0)
            assert isinstance((await pool.send(0, "raise")).error, EnvRaised)
            with raises(ArgumentError, "seed=-1"):
                await pool.reset(1, seed=-1)
            assert (await pool.reset(1, seed=3)).observation == "seed 3"

    asyncio.run(go())


def test_closing_cancels_what_waits_and_a_closed_pool_says_so():
    async def go():
        pool = AsyncEnvPool(FAULTY, 1)
        await pool.reset(0, seed=0)
        hung = asyncio.create_task(pool.send(0, "hang"))
        await asyncio.sleep(0.2)
        await pool.close()
        with pytest.raises(asyncio.CancelledError):
            await hung
        with pytest.raises(gymnasium.error.ClosedEnvironmentError):
            await pool.reset(0, seed=0)

    asyncio.run(go())


def test_a_request_that_is_given_up_disturbs_no_other():
    async def go():
        async with AsyncEnvPool(SLOW, 2, workers=2, delay=0.5) as pool:
            await asyncio.gather(pool.reset(0, seed=0), pool.reset(1, seed=1))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(pool.send(1, "x"), 0.1)
            assert (await pool.send(0, "x")).observation == "turn 1"

    asyncio.run(go())


def test_a_request_that_is_given_up_takes_no_answer_from_the_next_one():
    complaints = []

    async def go():
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: complaints.append(context)
        )
        async with AsyncEnvPool(SLOW, 1, delay=0.3) as pool:
            await pool.reset(0, seed=1)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(pool.send(0, "x"), 0.1)
            assert (await pool.send(0, "x")).observation == "turn 2"
            assert (await pool.send(0, "x")).observation == "turn 3"

    asyncio.run(go())
    assert complaints == []


def test_a_second_request_for_an_environment_is_refused_while_one_runs():
    async def go():
        async with AsyncEnvPool(SLOW, 2, workers=2, delay=0.3) as pool:
            await asyncio.gather(pool.reset(0, seed=1), pool.reset(1, seed=1))
            first = asyncio.create_task(pool.send(0, "x"))
            await asyncio.sleep(0.05)
            with raises(ArgumentError, "environment 0"):
                await pool.send(0, "x")
            assert (await pool.send(1, "x")).observation == "turn 1"
            assert (await first).observation == "turn 1"
            assert (await pool.send(0, "x")).observation == "turn 2"

    asyncio.run(go())


def test_a_dropped_environment_is_created_again_with_the_keywords_of_its_reset():
    async def go():
        async with AsyncEnvPool(FAULTY, 2, workers=1, length=2) as pool:
            await asyncio.gather(pool.reset(0, seed=0), pool.reset(1, seed=1))
            await pool.reset(0, seed=0, keywords={"length": 1})  # it exists: they do not apply
            assert not (await pool.send(0, "x")).terminated
            assert (await pool.drop(0)).error is None
            assert isinstance((await pool.send(0, "x")).error, EnvRaised)
            await pool.reset(0, seed=0, keywords={"length": 1})
            assert (await pool.send(0, "x")).terminated
            assert not (await pool.send(1, "x")).terminated  # the neighbour kept its state
            assert (await pool.drop(0)).error is None
            assert (await pool.drop(0)).error is None

    asyncio.run(go())


def test_an_environment_that_was_lost_with_its_worker_can_be_dropped():
    async def go():
        async with AsyncEnvPool(FAULTY, 2, workers=1) as pool:
            await asyncio.gather(pool.reset(0, seed=0), pool.reset(1, seed=1))
            lost, dropped = await asyncio.gather(pool.send(0, "die"), pool.drop(1))
            assert lost.error is not None
            assert dropped.error is None
            assert (await pool.drop(0)).error is None
            assert (await pool.reset(0, seed=3)).observation == "seed 3"

    asyncio.run(go())


def test_the_event_loop_runs_on_while_a_worker_is_replaced():
    gaps = []

    async def tick():
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            gaps.append(time.monotonic() - began)

    async def go():
        async with AsyncEnvPool(FAULTY, 2, workers=2) as pool:
            await asyncio.gather(pool.reset(0, seed=0), pool.reset(1, seed=1))
            ticking = asyncio.create_task(tick())
            lost = asyncio.create_task(pool.send(0, "linger"))  # its process ends after 0.5 s
            await asyncio.sleep(0.2)
            assert (await pool.send(1, "x")).observation == "turn 1"  # after the replacement
            assert isinstance((await lost).error, WorkerDied)
            assert (await pool.reset(0, seed=3)).observation == "seed 3"
            ticking.cancel()

    asyncio.run(go())
    assert max(gaps) < 0.45


def test_an_action_that_does_not_fit_into_the_connection_arrives_whole():
    async def go():
        async with AsyncEnvPool(FAULTY, 2, workers=1) as pool:
            await asyncio.gather(pool.reset(0, seed=0), pool.reset(1, seed=1))
            long, short = await asyncio.gather(pool.send(0, "x" * 2**24), pool.send(1, "x"))
            assert long.observation == short.observation == "turn 1"

    asyncio.run(asyncio.wait_for(go(), 20))


def test_a_hung_environment_is_given_up_without_another_event():
    async def go():
        async with AsyncEnvPool(FAULTY, 1, timeout=0.3) as pool:
            await pool.reset(0, seed=0)
            assert isinstance((await pool.send(0, "hang")).error, EnvTimeout)

    asyncio.run(asyncio.wait_for(go(), 20))


def test_a_worker_that_cannot_be_started_fails_its_environments_until_one_can(monkeypatch):
    def fail():
        raise OSError("no process is left")

    async def go():
        async with AsyncEnvPool(FAULTY, 3, workers=2) as pool:
            assert not (await pool.reset(1, seed=1)).error
            with monkeypatch.context() as patched:
                patched.setattr("agentgym_envs.pool.handle._start", fail)
                found = await asyncio.gather(*(pool.reset(i, seed=i) for i in range(3)))
                assert isinstance(found[0].error, WorkerDied)
                assert "no process is left" in str(found[0].error)
                assert (found[1].observation, found[1].error) == ("seed 1", None)
            assert (await pool.reset(2, seed=2)).observation == "seed 2"

    asyncio.run(go())


def test_a_worker_that_dies_without_a_request_keeps_the_loop_idle():
    async def go():
        async with AsyncEnvPool(FAULTY, 2, workers=1) as pool:
            await asyncio.gather(pool.reset(0, seed=0), pool.reset(1, seed=1))
            (pid,) = pool._pool.pids()
            os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.2)
            before = time.thread_time()
            await asyncio.sleep(0.3)
            assert time.thread_time() - before < 0.1
            assert isinstance((await pool.send(0, "x")).error, WorkerDied)
            assert (await pool.reset(1, seed=3)).observation == "seed 3"

    asyncio.run(go())
