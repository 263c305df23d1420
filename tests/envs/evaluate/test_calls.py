"""Calls of agents that raise, hang, or fail to stop."""

import asyncio
import signal
import subprocess
import sys
import threading
import time

import pytest
from raised import raises

from agentgym_envs.errors import AgentFailure, ArgumentError
from agentgym_envs.evaluate.calls import AgentCaller, brief, made


def call(agent, limit=None, method="act"):
    return asyncio.run(AgentCaller(limit).call(agent, method, "observation"))


def agent(act):
    return type("Mine", (), {"act": staticmethod(act)})()


async def patient(observation):
    await asyncio.sleep(30)


@pytest.mark.parametrize("act", [patient, lambda observation: time.sleep(30)])
def test_a_call_that_hangs_ends_at_the_limit(act):
    began = time.monotonic()
    with raises(AgentFailure, "'act'", "Mine", "return", "0.2 s"):
        call(agent(act), limit=0.2)
    assert time.monotonic() - began < 5


async def blocking(observation):
    try:
        time.sleep(30)
    except Exception:
        return "agents may catch every exception"


async def blocking_later(observation):
    await asyncio.sleep(0)
    time.sleep(30)


@pytest.mark.parametrize("act", [blocking, blocking_later, lambda text: blocking(text)])
def test_a_coroutine_that_blocks_the_event_loop_is_interrupted(act):
    before = signal.getsignal(signal.SIGALRM)
    began = time.monotonic()
    with raises(AgentFailure, "Mine", "event loop", "0.2 s"):
        call(agent(act), limit=0.2)
    assert time.monotonic() - began < 5
    assert signal.getsignal(signal.SIGALRM) == before


def test_an_interruptible_coroutine_gets_results_and_exceptions_of_what_it_awaits():
    async def act(observation):
        assert await asyncio.sleep(0, "slept") == "slept"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(30)
        return observation

    assert call(agent(act), limit=10) == "observation"


def test_a_thread_that_hangs_does_not_delay_the_end_of_the_process():
    code = """
import asyncio, time
from agentgym_envs.errors import AgentFailure
from agentgym_envs.evaluate.calls import AgentCaller
class Mine:
    def act(self, observation):
        time.sleep(600)
try:
    asyncio.run(AgentCaller(0.1).call(Mine(), "act", "x"))
except AgentFailure as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "(--agent-timeout)" in run.stdout
    assert run.stderr == ""


def raising(error):
    def act(observation):
        raise error

    async def act_later(observation):
        raise error

    return act, act_later


OWN = [
    TimeoutError("own"),
    StopIteration(3),
    SystemExit(4),
    BaseException("panic"),
    KeyError("bug"),
    ValueError("a\nb"),
]


# A coroutine cannot raise StopIteration.
@pytest.mark.parametrize(
    ("error", "kind"), [(e, k) for e in OWN for k in (0, 1) if not (k and e is OWN[1])]
)
def test_an_exception_is_a_failure_with_five_lines(error, kind):
    with pytest.raises(AgentFailure) as failed:
        call(agent(raising(error)[kind]), limit=5)
    assert f"raised {type(error).__name__} at test_calls.py:" in str(failed.value)
    assert len(str(failed.value).splitlines()) == 1
    assert len(failed.value.trace.splitlines()) <= 5
    assert failed.value.trace.splitlines()[-2].strip() == "raise error"
    assert failed.value.__cause__ is error


def test_a_coroutine_that_cancels_its_own_task_is_a_failure():
    with raises(AgentFailure, "'act'", "Mine", "cancelled"):
        call(agent(raising(asyncio.CancelledError())[1]), limit=5)


def test_a_call_can_be_cancelled_from_outside():
    async def go():
        task = asyncio.create_task(AgentCaller(5).call(agent(patient), "act", "observation"))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(go())


def test_an_exception_without_a_message_has_no_colon_at_its_end():
    with pytest.raises(AgentFailure, match=r"raised KeyboardInterrupt at test_calls.py:\d+$"):
        call(agent(raising(KeyboardInterrupt())[0]))


def test_errors_of_the_package_pass():
    with raises(ArgumentError, "window"):
        call(agent(raising(ArgumentError("window"))[0]))


def test_a_constructor_that_raises_is_a_failure():
    with raises(AgentFailure, "constructor", "ZeroDivisionError"):
        made(lambda: 1 / 0)


def test_a_traceback_ends_with_the_innermost_frames():
    def deep(n):
        return deep(n - 1) if n else 1 / 0

    try:
        deep(50)
    except ZeroDivisionError as error:
        lines = brief(error).splitlines()
    assert len(lines) == 5
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert lines[1].strip() == lines[3].strip() == "return deep(n - 1) if n else 1 / 0"


def test_functions_run_outside_the_event_loops_thread_and_may_return_awaitables():
    async def later():
        return threading.current_thread() is threading.main_thread()

    assert call(agent(lambda observation: later())) is True
    assert call(agent(lambda o: threading.current_thread() is threading.main_thread())) is False
    assert call(object(), method="end") is None
