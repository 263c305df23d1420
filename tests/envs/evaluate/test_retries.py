"""The runner's retries, over episodes whose outcomes a test lists.

An episode is retried, given up, or ends the run.
"""

import asyncio
from collections import Counter

import pytest
from raised import raises

from agentgym_envs.agents.base import AgentFactory
from agentgym_envs.errors import (
    AgentFailure,
    EnvRaised,
    NeighbourFailed,
    ProviderError,
    ProviderRefused,
)
from agentgym_envs.evaluate import runner as module
from agentgym_envs.evaluate.plan import EvalEnv, PlannedEpisode
from agentgym_envs.evaluate.record import EpisodeKey, EpisodeRows
from agentgym_envs.evaluate.runner import DISTURBANCES, GIVE_UP, REFUSALS, EvalRunner, RunLimits
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.models.answers import ModelReply

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

    def run(*outcomes, episodes=1, client=None, strict=False, replied=False, **limits):
        left = iter(outcomes)

        async def play(*arguments, **options):
            outcome = next(left)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        monkeypatch.setattr(module, "play", play)
        monkeypatch.setattr(module, "AsyncEnvPool", Pool)
        monkeypatch.setattr(module, "PAUSE", 0.0)
        monkeypatch.setattr(Pool, "counts", [])
        env = EvalEnv("agentgym/Maze-v1", {}, "", {})
        limits = RunLimits(**{"retries": 0, "concurrency": 1, **limits})
        factory = AgentFactory("x", lambda observation, info: "x", {})
        record = EpisodeRows()
        if replied:  # in an earlier run
            key = EpisodeKey("", "Maze", "task-0", 1, RunSettings(agent="x").key)._asdict()
            record.add({"row": "episode", **key, "usage": {"calls": 1}})
        made = EvalRunner(
            settings=RunSettings(agent="x"),
            factory=factory,
            record=record,
            limits=limits,
            strict=strict,
            client=client,
        )
        asyncio.run(
            made.run(
                [PlannedEpisode("", "", "Maze", f"task-{n}", 0, 0, env) for n in range(episodes)]
            )
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


class Server:
    """Greets with these outcomes, in this order; the last one repeats."""

    def __init__(self, *outcomes):
        self.outcomes, self.greetings = list(outcomes), 0

    async def greet(self, tools=None):
        self.greetings += 1
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


HELLO = ModelReply(text="hello")


def test_an_outage_costs_no_try_and_ends_the_run_by_its_time(run):
    away = [DOWN] * 20
    made = run(*away, PLAYED, client=Server(DOWN))
    assert (kinds(made), made.stopped) == ({"episode": 1}, "")
    made = run(DOWN, episodes=2, client=Server(DOWN), outage=0)
    assert "gave no good reply for 0 s (--outage 0), the last error: down" in made.stopped
    assert kinds(made) == {}


def test_a_server_that_fails_one_episode_alone_is_no_outage(run):
    made = run(DOWN, DOWN, PLAYED, episodes=2, retries=1, client=Server(HELLO), outage=0)
    assert (kinds(made), made.stopped) == ({"fault": 2, "episode": 1}, "")
    assert {row.get("fault") for row in made.record.rows} == {"provider", None}


@pytest.mark.parametrize("status", [None, 301, 400, 401, 403, 404, 422])
@pytest.mark.parametrize("client", [None, Server(ProviderRefused("no"))])
def test_a_refusal_before_any_good_reply_ends_the_run(run, status, client):
    with pytest.raises(ProviderRefused):
        run(ProviderRefused("no", status), episodes=2, client=client)


def test_a_refusal_of_one_episode_is_its_fault_and_is_tried_once(run):
    server = Server(HELLO)
    no = ProviderRefused("no", 400)
    made = run(no, PLAYED, no, PLAYED, episodes=4, retries=2, client=server)
    assert (kinds(made), made.stopped) == ({"fault": 2, "episode": 2}, "")
    assert {(row["fault"], row["try"]) for row in made.record.rows if "fault" in row} == {
        ("rejected", 1)
    }
    assert server.greetings == 1


@pytest.mark.parametrize("status", [400, 401, 402, 404])
@pytest.mark.parametrize("works", [True, False])
def test_after_eight_refusals_in_a_row_a_greeting_decides(run, status, works):
    """A key is withdrawn, or many conversations in a row are refused for their content."""
    refusal = ProviderRefused("no", status)
    server = Server(HELLO, HELLO if works else ProviderRefused("gone", status))
    count = 3 * REFUSALS if works else 1 + REFUSALS  # the first is answered by a greeting
    made = run(*[refusal] * count, episodes=3 * REFUSALS, client=server, replied=True)
    assert kinds(made) == {"episode": 1, "fault": count}
    text = f"the server refused {REFUSALS} requests in a row, the last with: no"
    assert made.stopped == ("" if works else text)


def test_a_server_that_greets_and_refuses_each_episode_ends_the_run(run):
    refusals = [ProviderRefused("no pictures", 400)] * REFUSALS
    with raises(ProviderRefused, "pictures"):
        run(*refusals, episodes=2 * REFUSALS, client=Server(HELLO))


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
    made = EvalRunner(
        settings=RunSettings(agent="x"),
        factory=factory,
        record=EpisodeRows(),
        limits=RunLimits(concurrency=1),
    )
    asyncio.run(
        made.run(
            [PlannedEpisode("", "", "Maze", task, 0, n, env) for n in (2, 0, 1) for task in "ab"]
        )
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
