"""The tokens that a folder counts, also those of episodes that did not finish."""

import json
import os
import signal
import subprocess
import sys

import pytest
import stub_model
from evaluations import MAZE
from raised import raises
from stub_model import StubModel
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.budget import UsageTotals
from agentgym_envs.evaluate.record import USAGE, RunRecord
from agentgym_envs.evaluate.settings import RunSettings

SAMPLE = RunSettings(agent="chat", model="small")
ANSWERED = 5  # requests before the server hangs, in the second episode


class Counting:
    """Answers, counts the tokens of its answers, and hangs once."""

    def __init__(self):
        self.asked = self.tokens = 0

    def __call__(self, request):
        self.asked += 1
        if self.asked == ANSWERED + 1:
            return stub_model.hang()

        def behave(handler, request):
            words = sum(len(str(message["content"]).split()) for message in request.messages)
            self.tokens += words + 2
            stub_model.ok("go north")(handler, request)

        return behave


def test_tokens_of_an_episode_that_a_kill_ended_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server = Counting()
    with StubModel(server) as stub:
        arguments = ["eval", MAZE, "--model", "stub", "--base-url", stub.url, "--out", "out"]
        arguments += ["--agent", "chat", "--episodes", "3", "--horizon", "3", "--workers", "1"]
        arguments += ["--concurrency", "1"]
        command = [sys.executable, "-m", "agentgym_envs.cli", *arguments]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, process_group=0) as process:
            try:
                assert stub.settled(lambda: server.asked > ANSWERED, 60)
            finally:
                os.killpg(process.pid, signal.SIGKILL)
        assert counted(tmp_path / "out") == server.tokens > 0
        with (tmp_path / "out" / USAGE).open("a") as file:
            file.write('{"calls": 1, "prompt_tok')
        spent = CliRunner().invoke(app, [*arguments, "--budget-tokens", str(server.tokens)])
        assert (spent.exit_code, server.asked) == (1, ANSWERED + 1)
        assert f"({server.tokens:,} were used)" in " ".join(spent.output.split())
        end = CliRunner().invoke(app, arguments)
        assert end.exit_code == 0
        assert f"3 of 3 episodes, {server.tokens:,} tokens" in " ".join(end.output.split())
    assert counted(tmp_path / "out") == server.tokens


def line(task, **more):
    named = {"suite": "", "scenario": "", "family": "F", "env_id": "e", "task_id": task}
    ended = {"success": True, "score": 1.0, "end": "terminated", "turns": []}
    which = {"difficulty": 1, "attempt": 0, "settings": SAMPLE.key}
    return {"row": "episode", **named, **which, **ended, **more}


def counted(folder):
    rows = [json.loads(row) for row in (folder / USAGE).read_text().splitlines()]
    return sum(row["prompt_tokens"] + row["completion_tokens"] for row in rows)


def used(folder):
    opened = RunRecord(folder, SAMPLE)
    opened.close()
    return {player: usage.tokens for player, usage in opened.used().items()}


def test_a_folder_of_an_earlier_version_begins_with_the_tokens_of_its_lines(tmp_path):
    opened = RunRecord(tmp_path, SAMPLE)
    usage = {"calls": 2, "prompt_tokens": 30, "completion_tokens": 12}
    opened.add(line("a", usage=usage))
    opened.add(line("b", usages={"x": usage, "y": usage}, usage={"calls": 4}))
    opened.close()
    assert used(tmp_path) == {"": 42, "x": 42, "y": 42}
    again = RunRecord(tmp_path, SAMPLE)
    again.use(UsageTotals(calls=1, prompt_tokens=5), "x")
    again.use(UsageTotals(calls=1, cached_calls=1))
    again.close()
    assert used(tmp_path) == {"": 42, "x": 47, "y": 42}


@pytest.mark.parametrize("wrong", ["[]", '{"calls": "x"}', '{"player": 3}', "{"])
def test_a_broken_line_is_named(tmp_path, wrong):
    (tmp_path / USAGE).write_text('{"calls": 1}\n' + wrong + "\n")
    opened = RunRecord(tmp_path, SAMPLE)
    with raises(ArgumentError, "line 2", USAGE):
        opened.used()
    opened.close()
