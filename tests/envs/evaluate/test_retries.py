"""The runner's retries, over episodes whose outcomes a test lists.

An episode is retried, given up, or ends the run.
"""

import asyncio
from collections import Counter

import pytest

from agentgym_envs.errors import (
    AgentFailure,
    EnvRaised,
    NeighbourFailed,
    ProviderError,
    ProviderRefused,
)
from agentgym_envs.evaluate import runner as module
from agentgym_envs.evaluate.agents.base import AgentFactory
from agentgym_envs.evaluate.plan import EvalEnv, Item
from agentgym_envs.evaluate.record import Rows
from agentgym_envs.evaluate.runner import DISTURBANCES, GIVE_UP, OUTAGE, Limits, Runner
from agentgym_envs.evaluate.settings import Settings

PLAYED = {"success": True, "score": 1.0, "end": "terminated", "turns": [], "memory": None}
LOST, FAILED, DOWN = NeighbourFailed("lost"), EnvRaised("failed"), ProviderError("down", 500)


class Pool:
    """Stands for the environments: none is needed."""

    counts = []

    def __init__(self, env_id, count, **keywords):
        self.counts.append((count, keywords["workers"]))

    async def close(self):
        pass


@pytest.fixture
def run(monkeypatch):
    """Runs episodes whose plays have these outcomes, in this order; returns the runner."""

    def run(*outcomes, episodes=1, retries=0, concurrency=1, strict=False):
        left = iter(outcomes)

        async def play(*arguments, **options):
            outcome = next(left)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        monkeypatch.setattr(module, "play", play)
        monkeypatch.setattr(module, "AsyncEnvPool", Pool)
        monkeypatch.setattr(Pool, "counts", [])
        env = EvalEnv("agentgym/Maze-v1", {}, "", {})
        limits = Limits(retries=retries, concurrency=concurrency)
        factory = AgentFactory("x", lambda observation, info: "x", {})
        made = Runner(
            settings=Settings(agent="x"),
            factory=factory,
            record=Rows(),
            limits=limits,
            strict=strict,
        )
        asyncio.run(
            made.run([Item("", "", "Maze", f"task-{n}", 0, 0, env) for n in range(episodes)])
        )
        assert next(left, None) is None, "each outcome was asked for"
        return made

    return run


def kinds(made):
    return Counter(row["row"] for row in made.record.rows)


def test_a_disturbed_episode_costs_no_try_until_it_was_disturbed_too_often(run):
    assert kinds(run(*[LOST] * DISTURBANCES, PLAYED)) == {"episode": 1}
    assert kinds(run(*[LOST] * (DISTURBANCES + 1))) == {"fault": 1}
    assert kinds(run(*[LOST] * (DISTURBANCES + 1), PLAYED, retries=1)) == {"fault": 1, "episode": 1}


@pytest.mark.parametrize(("between", "episodes"), [(FAILED, 1), (PLAYED, 2)])
def test_only_provider_errors_in_a_row_are_an_outage(run, between, episodes):
    almost = [DOWN] * (OUTAGE - 1)
    made = run(*almost, between, *almost, PLAYED, episodes=episodes, retries=2 * OUTAGE)
    assert made.stopped == ""
    assert kinds(made)["episode"] == episodes
    assert "failed 8 times in a row" in run(*almost, DOWN, episodes=2, retries=OUTAGE).stopped


@pytest.mark.parametrize("status", [None, 301, 400, 401, 403, 404, 422])
def test_a_refusal_ends_the_run(run, status):
    with pytest.raises(ProviderRefused):
        run(ProviderRefused("no", status), episodes=2)


def test_an_agent_that_never_completes_an_episode_ends_the_run(run):
    bug = AgentFailure("bug", "trace")
    made = run(*[bug] * GIVE_UP, episodes=9, retries=2)
    assert made.stopped == f"the agent failed {GIVE_UP} times, the last time with: bug"
    made = run(PLAYED, *[bug] * 24, PLAYED, episodes=10, retries=2)
    assert made.stopped == ""
    assert kinds(made) == {"episode": 2, "fault": 24}
    faults = [row for row in made.record.rows if row["row"] == "fault"]
    assert {(row["fault"], row["error"], row["traceback"]) for row in faults} == {
        ("agent", "bug", "trace")
    }


def test_attempts_that_learn_are_played_in_their_order(monkeypatch):
    played = []

    class Learner:
        def act(self, observation, info): ...

        def end(self, ending): ...

    async def play(item, *arguments, memory, **options):
        played.append((item.task_id, item.attempt, memory))
        return PLAYED | {"memory": f"{item.task_id} {item.attempt}"}

    monkeypatch.setattr(module, "play", play)
    monkeypatch.setattr(module, "AsyncEnvPool", Pool)
    env, factory = EvalEnv("agentgym/Maze-v1", {}, "", {}), AgentFactory("x", Learner, {})
    made = Runner(
        settings=Settings(agent="x"), factory=factory, record=Rows(), limits=Limits(concurrency=1)
    )
    asyncio.run(
        made.run([Item("", "", "Maze", task, 0, n, env) for n in (2, 0, 1) for task in "ab"])
    )
    memories = [[], ["{} 0"], ["{} 0", "{} 1"]]
    assert played == [
        (task, n, [m.format(task) for m in memories[n]]) for task in "ab" for n in range(3)
    ]


def test_a_strict_run_raises_the_first_failure(run):
    with pytest.raises(EnvRaised, match="failed"):
        run(FAILED, episodes=2, retries=2, strict=True)


@pytest.mark.parametrize(("episodes", "concurrency", "most"), [(3, 8, 3), (9, 2, 2)])
def test_there_are_as_many_environments_as_are_played_at_a_time(run, episodes, concurrency, most):
    run(*[PLAYED] * episodes, episodes=episodes, concurrency=concurrency)
    assert Pool.counts == [(most, most)]
