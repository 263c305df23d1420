"""The event loop of a tournament's agents."""

import asyncio
import threading
import time
from contextlib import closing

import pytest
from raised import raises

from agentgym_envs.errors import AgentFailure
from agentgym_envs.tournament.loop import EventLoopThread, RunStopped


async def slowly(seconds):
    await asyncio.sleep(seconds)
    return seconds


async def cancels():
    raise asyncio.CancelledError


def test_calls_of_several_threads_run_at_the_same_time():
    with closing(EventLoopThread()) as loop:
        began = time.monotonic()
        threads = [threading.Thread(target=loop.call, args=(slowly(0.3),)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - began < 1.5
        assert loop.run(slowly(0)) == 0


def test_a_task_that_cancels_itself_is_a_failure():
    with (
        closing(EventLoopThread()) as loop,
        raises(AgentFailure, "cancelled"),
    ):
        loop.call(cancels())


def test_a_stop_ends_calls_under_way_and_later_ones():
    with closing(EventLoopThread()) as loop:
        threading.Timer(0.1, loop.stop).start()
        began = time.monotonic()
        for _ in range(2):
            with pytest.raises(RunStopped):
                loop.call(slowly(5))
        assert time.monotonic() - began < 3
        assert loop.run(slowly(0)) == 0, "ours goes on"
