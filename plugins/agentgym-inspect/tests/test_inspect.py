"""Evaluations by Inspect itself, with a stub of a model's server; see ``tox run -e inspect``."""

import gc
import itertools
import math
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest
from raised import raises
from stub_model import StubModel, nonsense, ok, policy, status

pytest.importorskip("inspect_ai", reason="needs Inspect: run `tox run -e inspect`")

from agentgym_inspect import environment, family, interval, suite
from agentgym_inspect.pools import _pools
from inspect_ai import Epochs, eval_retry
from inspect_ai import eval as evaluate
from inspect_ai.scorer import SampleScore, Score

from agentgym_envs.errors import UnknownName
from agentgym_envs.evaluate.metrics import mean_interval
from agentgym_envs.evaluate.plan import plan

pytestmark = pytest.mark.filterwarnings("ignore")  # of Inspect, about its own insides
SEVENTH = "seventh_env:support/Seventh-v0"
CHECK = Path(sys.executable).with_name("agentgym-inspect")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STUB_API_KEY", "none")
    yield
    gc.collect()  # connections that Inspect leaves open warn here, where warnings are ignored


def play(task, behaviour, **options):
    """Evaluates with the stub; returns the log and what the command ``agentgym-inspect`` says."""
    with StubModel(behaviour) as model:
        (log,) = evaluate(
            task,
            model="openai-api/stub/stub",
            display="none",
            log_dir="logs",
            max_connections=4,
            **{"model_base_url": model.url} | options,
        )
    assert not _pools, "the environments have ended"
    return log, *check()


def check(folder="logs"):
    done = subprocess.run([CHECK, folder], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def values(log, scorer="success"):
    (found,) = [one for one in log.results.scores if one.name == scorer]
    return {name: metric.value for name, metric in found.metrics.items()}


@pytest.fixture(scope="module")
def solutions():
    """The oracle's actions and the observations, by goal, of tasks of two depths."""
    found, env = {}, gymnasium.make("agentgym/TextCraft-v2", split="test")
    items, _ = plan("agentgym-rl", only=["Depth 1", "Depth 2"], episodes=3)
    for item in items:
        observation, info = env.reset(options={"task_id": item.task_id})
        steps = [("", observation)]
        for action in env.unwrapped.oracle():
            steps.append((action, env.step(action)[0]))
        found[info["goal"]] = item.family, steps
    assert len(found) == 6
    return found


def solver(solutions, solved=("Depth 1", "Depth 2")):
    """Answers with the oracle's action if the family is to be solved."""

    def answer(messages):
        goal = next(goal for goal in solutions if goal in messages[1]["content"])
        family, steps = solutions[goal]
        turn = sum(message["role"] == "assistant" for message in messages) + 1
        action = steps[turn][0] if family in solved else "inventory"
        return f"Thought: I go on.\nAction: {action}"

    return policy(answer)


def test_the_model_sees_what_the_environment_says_and_solved_tasks_score(solutions):
    log, code, said = play(family("Depth 1", episodes=3), solver(solutions))
    assert (log.status, code) == ("success", 0), said
    for sample in log.samples:
        family_name, steps = next(
            s for goal, s in solutions.items() if goal in sample.messages[1].text
        )
        seen = [message.text for message in sample.messages if message.role == "user"]
        assert family_name == "Depth 1"
        assert seen == [observation for _, observation in steps]
        assert sample.scores["success"].value == sample.scores["score"].value == 1.0
    low, high = mean_interval([[1.0] * 3])
    assert values(log) == {"all": 1.0, "all, low": low, "all, high": high}


def test_intervals_are_by_family(solutions):
    with_limit = suite(episodes=3)
    with_limit.dataset = with_limit.dataset.filter(
        lambda sample: sample.metadata["family"] in ("Depth 1", "Depth 2")
    )
    log, code, said = play(with_limit, solver(solutions, ["Depth 1"]), message_limit=30)
    found = values(log)
    assert code == 0, said
    assert (found["all"], found["Depth 1"], found["Depth 2"]) == (0.5, 1.0, 0.0)
    assert (found["Depth 2, low"], found["Depth 2, high"]) == mean_interval([[0.0] * 3])
    assert (found["all, low"], found["all, high"]) == mean_interval([[0.0, 1.0] * 3])
    ends = {sample.scores["success"].metadata["end"] for sample in log.samples}
    assert ends == {"terminated", "limit"}


@pytest.mark.parametrize("options", [{}, {"fail_on_error": False}, {"score_on_error": True}])
def test_no_fault_of_an_environment_becomes_a_zero(options):
    """Twelve episodes of three steps: the environment fails in some of them."""
    task = environment(SEVENTH, episodes=12, action_format="plain")
    log, code, said = play(task, [ok("word")], **options)
    failed = [sample for sample in log.samples if sample.error]
    whole = [sample for sample in log.samples if not sample.error]
    assert len(failed) + len(whole) == 12
    assert 2 <= len(failed) <= 5
    assert all("a seventh step" in sample.error.message for sample in failed)
    assert all(math.isnan(s.value) for one in failed for s in (one.scores or {}).values())
    assert {sample.scores["score"].value for sample in whole} == {12.0}
    assert values(log)["all"] == 1.0
    assert code == 1
    assert f"{len(failed)} of 12 samples failed" in said


@pytest.mark.parametrize("behaviour", [status(429), status(500), nonsense()])
def test_no_fault_of_a_server_becomes_a_zero(behaviour):
    """Every second request fails."""
    calls = itertools.count()

    def script(request):
        return ok("word") if next(calls) < 6 else behaviour

    task = environment(SEVENTH, episodes=4, action_format="plain", every=100)
    log, code, said = play(task, script, max_retries=0, max_samples=1)
    failed = [sample for sample in log.samples if sample.error]
    assert len(failed) == 2
    assert values(log)["all"] == 1.0
    assert code == 1
    assert "2 of 4 samples failed" in said


def test_a_retry_plays_what_failed():
    """The second of three samples fails in its second turn."""
    calls = itertools.count()

    def script(request):
        return nonsense() if next(calls) == 4 else ok("word")

    task = environment(SEVENTH, episodes=3, action_format="plain", every=100)
    with StubModel(script) as model:
        log, code, _ = play(task, script, max_samples=1, max_retries=0, model_base_url=model.url)
        assert (code, len(model.requests)) == (1, 8)
        (again,) = eval_retry(log, display="none", log_dir="again")
        assert len(model.requests) == 11, "the other samples are not played again"
    assert check("again")[0] == 0
    assert values(again)["all"] == 1.0


def test_epochs():
    task = environment(SEVENTH, episodes=2, action_format="plain", every=100)
    log, code, _ = play(task, [ok("word")], epochs=Epochs(2, ["mean", "pass_at_2"]))
    assert code == 0
    assert len(log.samples) == 4
    assert [one.reducer for one in log.results.scores] == ["mean", "pass_at_2"] * 2


def test_interval_of_one_family_and_of_none():
    def scores(*pairs):
        return [
            SampleScore(score=Score(value=value), sample_metadata={"family": name})
            for name, value in pairs
        ]

    assert interval()(scores()) == {}
    assert set(interval()(scores(("a", 1), ("a", 0)))) == {"all", "all, low", "all, high"}
    found = interval()(scores(("a", 1), ("b", 0), ("b", 1)))
    assert (found["a"], found["b"], found["all"]) == (1.0, 0.5, pytest.approx(2 / 3))


def test_names_that_do_not_exist():
    with raises(UnknownName, "Depth 2"):
        family("Depth2")
    with raises(UnknownName, "react"):
        suite(action_format="reakt")


def test_the_command_needs_a_log(tmp_path):
    (tmp_path / "logs").mkdir()
    assert check()[0] == 1
