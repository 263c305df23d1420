"""The live display, over events at times that a test sets."""

import asyncio
import io

import pytest
from rich.console import Console

from agentgym_envs.errors import ProviderError
from agentgym_envs.evaluate import live as module
from agentgym_envs.evaluate.budget import UsageTotals
from agentgym_envs.evaluate.live import LiveDisplay, RunCounts
from agentgym_envs.models.answers import ModelReply

DONE = {"row": "episode", "success": True}
FAULT = {"row": "fault", "fault": "agent", "error": "bug 1", "task_id": "t", "try": 1}


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def state(used=None, done=(), total=9):
    clock = Clock()
    return RunCounts(done, total, used or UsageTotals(), clock), clock


def test_calls_turns_and_the_rate_are_of_this_run():
    used = UsageTotals(calls=50, prompt_tokens=1000, completion_tokens=500)
    counts, clock = state(used, [DONE])
    used.add({"calls": 4, "prompt_tokens": 80, "completion_tokens": 30})
    clock.now += 10
    for _ in range(3):
        counts.turn()
    counts.row(FAULT)
    assert counts.news == (
        "success 1.00 of the finished (0.11–1.00 of all), 1 fault, 1,610 tokens,"
        " 3 turns, 4 calls, 3.0 generated tokens/s"
    )


def test_the_latest_error_has_its_age_and_the_time_of_the_next_try():
    counts, clock = state()
    assert counts.trouble == ""
    counts.failure("answered 500: no", 8.0)
    clock.now += 3
    assert counts.trouble == "3 s ago, next try in 5 s: answered 500: no"
    counts.failure("answered 500: gone")
    assert counts.trouble == "0 s ago: answered 500: gone"


def shown(events, *, terminal=False, every=10.0, monkeypatch=None, seconds=0.0):
    if monkeypatch:
        monkeypatch.setattr(module, "EVERY", every)
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=200, color_system=None)
    counts, _ = state()

    async def go():
        async with LiveDisplay(console, "m on Maze", counts) as live:
            events(live)
            await asyncio.sleep(seconds)

    asyncio.run(go())
    return written.getvalue()


def test_an_error_of_a_new_kind_is_printed_at_once_and_only_once():
    def events(live):
        for n in range(50):
            live.failure(ProviderError(f"answered 500: request {n}"), 0.5)
        live.failure(ProviderError("answered 500: request 51"), None)
        live.row(FAULT)
        live.row(FAULT | {"error": "bug 2", "task_id": "u"})

    assert shown(events).splitlines() == [
        "answered 500: request 0; the next try follows in 0.5 s",
        "bug 1 (task t, try 1)",
    ]


def test_control_characters_of_an_error_are_escaped():
    text = shown(lambda live: live.row(FAULT | {"error": "\x1b[31mred\x07"}))
    assert text == "\\x1b[31mred\\x07 (task t, try 1)\n"


def test_many_kinds_of_errors_are_cut():
    def events(live):
        for letter in "abcdefghijklmnopqrst":
            live.failure(ProviderError(f"error {letter}"), 0.5)

    lines = shown(events).splitlines()
    assert len(lines) == module.KINDS + 1
    assert "further kinds of errors are not printed" in lines[-1]


def test_outside_a_terminal_a_line_follows_every_few_seconds(monkeypatch):
    def events(live):
        live.row(DONE)
        live.failure(ProviderError("answered 500: no"), 8.0)

    lines = shown(events, every=0.05, seconds=0.3, monkeypatch=monkeypatch).splitlines()
    assert len(lines) >= 3
    assert lines[1] == (
        "m on Maze: 1/9, success 1.00 of the finished (0.11–1.00 of all), 0 turns;"
        " latest error 0 s ago, next try in 8 s:"
        " answered 500: no"
    )


@pytest.mark.parametrize("text", ["next try in 8 s: answered 500: [/b]", "0 turns", "1/9"])
def test_in_a_terminal_the_lines_are_redrawn(text):
    def events(live):
        live.row(DONE)
        live.failure(ProviderError("answered 500: [/b]"), 8.0)

    assert text in shown(events, terminal=True, seconds=0.3)


def test_replies_that_reach_the_limit_are_shown_and_warned_about_once():
    def events(live):
        for n in range(60):
            live.reply(ModelReply(text="x", finish="length" if n % 3 == 0 else "stop"))
        assert "20 of 60 replies cut" in live.state.news

    (warning,) = shown(events).splitlines()
    assert warning.startswith("7 of 20 replies reached --max-tokens")
    assert "raise it" in warning

    def few(live):
        for n in range(60):
            live.reply(ModelReply(text="x", finish="length" if n == 0 else "stop"))

    assert shown(few) == ""
