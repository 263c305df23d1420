"""The kit finds planted bugs.

Each bug is a tiny environment in ``tests/support/planted_*.py`` with its expected message.
"""

import re
import signal
import warnings

import planted_play
import planted_process
import planted_state
import planted_tasks
import planted_turns
import pytest
from raised import raises
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing import check_text_env, limits

MODULES = {
    "turns": planted_turns,
    "tasks": planted_tasks,
    "play": planted_play,
    "process": planted_process,
    "state": planted_state,
}
BUGS = [
    pytest.param(
        f"planted_{name}:{name}/{cls.__name__}-v0",
        what,
        length,
        id=f"{cls.__name__}-{length}",
        marks=[pytest.mark.full] * (length == "whole"),
    )
    for name, module in MODULES.items()
    for number, (cls, what) in enumerate(module.PLANTED.items())
    for length in ("whole", "brief")[: 1 + (number % 4 == 0)]
]


@pytest.mark.usefixtures("warm", "length")
@pytest.mark.parametrize(("env_id", "what", "length"), BUGS, indirect=["length"])
def test_every_planted_bug_is_found(env_id, what):
    with pytest.raises(ConformanceError, match=what) as caught:
        check_text_env(env_id)
    assert env_id in str(caught.value)


@pytest.mark.usefixtures("warm", "length")
@pytest.mark.parametrize(
    "env_id",
    [
        "planted_tasks:tasks/Words-v0",
        "planted_process:process/Reporting-v0",
        *(f"planted_play:play/{cls.__name__}-v0" for cls in planted_play.CORRECT),
    ],
)
def test_a_correct_environment_passes(env_id):
    """One of them logs and warns, which is not printing. Two of them need trial and error."""
    with warnings.catch_warnings(record=True):
        assert check_text_env(env_id)


@pytest.mark.timeout(0)
@pytest.mark.usefixtures("warm")
def test_an_action_that_never_returns_is_found(monkeypatch):
    monkeypatch.setattr(limits, "ANSWER_S", 0.5)
    with raises(ConformanceError, "CallTimeout: step(", "0.5"):
        check_text_env("planted_process:process/Hanging-v0")


@pytest.mark.parametrize("timer", [0.0, 50.0])
def test_a_time_limit_leaves_the_timer_of_others(timer):
    handler, before = signal.getsignal(signal.SIGALRM), signal.setitimer(signal.ITIMER_REAL, timer)
    try:
        with limits.answering("nothing"):
            pass
        assert timer - 1 <= signal.getitimer(signal.ITIMER_REAL)[0] <= timer
        assert signal.getsignal(signal.SIGALRM) == handler
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)


@pytest.mark.usefixtures("warm", "length")
@pytest.mark.parametrize("where", ["", "AtReset", "InActions", "InOracle", "AtClose", "AtOnce"])
def test_check_fails_where_an_environment_exits(where):
    checked = CliRunner().invoke(app, ["check", f"planted_turns:turns/Exiting{where}-v0"])
    assert checked.exit_code == 1, checked.output
    assert "SystemExit" in checked.output
    if "FAILED" in checked.output:
        assert len(re.findall("^(?:ok|--|FAILED) ", checked.output, re.M)) == 29


def test_the_user_can_interrupt():
    with pytest.raises(KeyboardInterrupt):
        check_text_env("planted_turns:turns/Interrupted-v0")
