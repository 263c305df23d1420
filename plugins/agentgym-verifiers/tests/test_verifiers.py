"""Evaluations by vf-eval itself, with a stub of a model's server; see ``tox run -e verifiers``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest
from raised import raises
from stub_model import StubModel, nonsense, ok, policy, status
from typer.testing import CliRunner

pytest.importorskip("verifiers", reason="needs verifiers: run `tox run -e verifiers`")

from agentgym_verifiers import AgentGymTaskset
from agentgym_verifiers.check import app
from agentgym_verifiers.taskset import AgentGymConfig

from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.evaluate.plan import plan
from agentgym_envs.wrappers import FORMATS

SUPPORT = Path(__file__).parents[3] / "tests" / "support"
SEVENTH = ("target", "seventh_env:support/Seventh-v0", "action-format", "plain")
STEADY = (*SEVENTH, "kwargs", '{"every": 100}')
CONTEXT = status(400, body={"error": {"message": "too long", "code": "context_length_exceeded"}})


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(SUPPORT)


def vf_eval(*arguments):
    """Runs ``vf-eval``, which ends with 0 in any case."""
    command = [Path(sys.executable).with_name("vf-eval"), *arguments]
    variables = os.environ | {"PYTHONPATH": str(SUPPORT), "STUB_API_KEY": "none"}
    done = subprocess.run(
        command, env=variables, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def play(model, taskset, *arguments):
    """Plays the tasks of a taskset; returns the episodes, as the run has them."""
    pairs = zip(taskset[::2], taskset[1::2], strict=True)
    options = [text for name, value in pairs for text in (f"--env.taskset.{name}", value)]
    server = ("--client.base-url", model.url, "--client.api-key-var", "STUB_API_KEY")
    options += [*server, "-m", "stub", "--run.dir", "run", "--no-push", "--no-rich"]
    vf_eval("agentgym-verifiers", *options, *arguments)
    return episodes()


def resume():
    """Plays what the run lacks; returns its episodes."""
    vf_eval("@", "outputs/run/configs/resolved/eval.json", "--resume")
    return episodes()


def episodes():
    return [json.loads(line) for line in Path("outputs/run/traces.jsonl").read_text().splitlines()]


def check(folder="outputs"):
    """Runs the command ``agentgym-verifiers``."""
    done = CliRunner().invoke(app, [folder])
    return done.exit_code, done.output


def scores(played):
    """The scores of the episodes that have one; nothing else may have rewards or metrics."""
    for episode in played:
        if not episode["ok"]:
            assert not any(t["rewards"] or t["metrics"] for t in episode["traces"])
            assert episode["errors"]
    return [
        trace["rewards"]["score"]["score"]
        for episode in played
        if episode["ok"]
        for trace in episode["traces"]
    ]


def test_the_model_sees_what_the_environment_says_and_solved_tasks_score():
    items, _ = plan("agentgym-rl", only=["Depth 1"], episodes=2)
    env = gymnasium.make("agentgym/TextCraft-v2", split="test")
    solutions = {}
    for item in items:
        observation, info = env.reset(options={"task_id": item.task_id})
        steps = [("", observation)]
        for action in env.unwrapped.oracle():
            steps.append((action, env.step(action)[0]))
        solutions[info["goal"]] = item.task_id, steps

    def answer(messages):
        goal = next(goal for goal in solutions if goal in messages[1]["content"])
        turn = sum(message["role"] == "assistant" for message in messages) + 1
        return f"Thought: I go on.\nAction: {solutions[goal][1][turn][0]}"

    with StubModel(policy(answer)) as model:
        played = play(model, ("only", '["Depth 1"]', "episodes", "2"))
    assert check()[0] == 0
    assert scores(played) == [1.0, 1.0]
    rules = [env.unwrapped.instructions, FORMATS["react"](env.unwrapped.tools).describe()]
    for episode in played:
        (trace,) = episode["traces"]
        messages = [node["message"] for node in trace["nodes"]]
        task_id, steps = next(s for g, s in solutions.items() if g in messages[1]["content"])
        assert episode["task"]["key"] == f"agentgym/TextCraft-v2 Depth 1 {task_id}"
        assert messages[0] == {"role": "system", "content": "\n\n".join(rules)}
        seen = [message["content"] for message in messages if message["role"] == "user"]
        assert seen == [observation for _, observation in steps[:-1]], "the last ends the episode"
        assert trace["metrics"] == {"success": 1.0, "turns": len(steps) - 1, "invalid": 0.0}
        assert trace["info"] == {"end": "terminated"}


def test_no_fault_of_an_environment_becomes_a_zero_and_resuming_plays_what_failed():
    """Twelve episodes of three steps: the environment fails in some of them."""
    with StubModel([ok("word")]) as model:
        played = play(model, SEVENTH, "-n", "12")
        assert len(played) == 12
        failed = 12 - len(scores(played))
        assert 2 <= failed <= 5
        code, said = check()
        assert code == 1
        assert f"{failed} of 12 rollouts have no reward" in said
        assert "a seventh step" in said
        for _ in range(4):  # what is played again can fail again
            if code:
                played = resume()
                code, said = check()
        assert (code, scores(played)) == (0, [12.0] * 12), said


def test_retries():
    with StubModel([ok("word")]) as model:
        played = play(model, SEVENTH, "-n", "12", "-c", "1", "--env.retries.max-retries", "4")
    assert scores(played) == [12.0] * 12
    assert check()[0] == 0


def test_no_fault_of_a_server_becomes_a_zero_and_resuming_plays_what_failed():
    """Three of five rollouts meet a fault in their second turn, three times each."""
    behaviours = [ok("word")] * 6
    for fault in (status(429), status(500), nonsense()):
        behaviours += [ok("word"), fault, fault, fault]
    with StubModel([*behaviours, ok("word")]) as model:
        played = play(model, STEADY, "-n", "5", "-c", "1")
        assert (len(played), scores(played)) == (5, [12.0, 12.0])
        assert len(model.requests) == 18
        for episode, fault in zip(played[2:], ["429", "500", "malformed"], strict=True):
            assert fault in episode["errors"][-1]["message"]
        code, said = check()
        assert code == 1
        assert "3 of 5 rollouts have no reward, first error" in said
        assert scores(resume()) == [12.0] * 5
        assert len(model.requests) == 18 + 9, "the others are not played again"
    assert check()[0] == 0


def test_the_score_so_far_counts_at_a_limit():
    """The first rollout ends at the limit of turns, the second has no room for a second turn."""
    with StubModel([*[ok("word")] * 3, CONTEXT]) as model:
        played = play(model, STEADY, "-n", "2", "-c", "1", "--env.player.max-turns", "2")
    assert scores(played) == [8.0, 4.0]
    assert [trace["info"] for episode in played for trace in episode["traces"]] == [
        {"end": "limit"}
    ] * 2
    assert check()[0] == 0


def test_what_was_not_played_is_a_fault():
    with StubModel([ok("word")]) as model:
        play(model, STEADY, "-n", "2", "-r", "2")
    traces = Path("outputs/run/traces.jsonl")
    first, second, third, fourth = traces.read_text().splitlines(keepends=True)
    assert check()[0] == 0
    traces.write_text(first + second + third + fourth[:100])  # killed while it wrote
    assert check() == (1, "run: 1 of 4 rollouts have no reward\n")
    traces.write_text(first + second + third + third.replace('"score"', '"none"'))
    assert check()[0] == 1, "a rollout counts once"


def test_the_command_needs_a_run(tmp_path):
    (tmp_path / "outputs").mkdir()
    assert check()[0] == 1


def test_names_that_do_not_exist():
    def load(**options):
        return list(AgentGymTaskset(AgentGymConfig(id="agentgym-verifiers", **options)))

    with raises(UnknownName, "Depth 2"):
        load(only=["Depth2"])
    with raises(UnknownName, "react"):
        load(action_format="reakt")
    with raises(UnknownName, "TextCraft"):
        load(target="agentgym/TextKraft-v2")
    with raises(ArgumentError, "sprit"):
        load(target="agentgym/TextCraft-v2", kwargs={"sprit": 1})
