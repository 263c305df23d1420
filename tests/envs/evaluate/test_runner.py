import sys
import time
from collections import Counter
from dataclasses import replace

import gymnasium
import pytest
from evaluations import MAZE, Model, evaluate, mazes
from raised import raises

from agentgym_envs import registry
from agentgym_envs.agents import ASK_ORACLE, load
from agentgym_envs.agents.base import AgentFactory
from agentgym_envs.errors import (
    AgentGymError,
    ArgumentError,
    BrokenPlugin,
    ContextExceeded,
    ConversationRefused,
    ProviderError,
    ProviderRefused,
    TaskError,
    UnknownName,
)
from agentgym_envs.evaluate.budget import UsageBudget
from agentgym_envs.evaluate.plan import plan
from agentgym_envs.evaluate.record import episodes

FAULTY = "faulty_envs:support/Faulty-v0"
SLOW = "faulty_envs:support/Slow-v0"


def test_episodes_are_those_of_gymnasium(tmp_path):
    actions = ["go north", "go east", "look", "dance"]
    factory = AgentFactory("walk", lambda observation, info: actions[info["turn"] % 4], {})
    items = mazes(6)
    runner = evaluate(tmp_path, items, factory, horizon=5)
    assert [
        row["task_id"] for row in sorted(runner.record.rows, key=lambda r: r["task_id"])
    ] == sorted(i.task_id for i in items)
    for row in runner.record.rows:
        env = gymnasium.make(MAZE, split="test", max_episode_steps=5)
        observation, info = env.reset(options={"task_id": row["task_id"]})
        assert row["goal"] == info["goal"]
        for turn in row["turns"]:
            assert (turn["observation"], turn["response"]) == (
                observation,
                actions[info["turn"] % 4],
            )
            observation, reward, terminated, truncated, info = env.step(turn["response"])
            assert (turn["reward"], turn["invalid"]) == (reward, info["invalid"])
        assert (row["last"], row["success"], row["score"]) == (
            observation,
            info["success"],
            info["score"],
        )
        assert row["end"] == ("terminated" if terminated else "truncated")
        assert terminated or truncated
        assert row["difficulty"] == env.unwrapped.task.difficulty


def test_the_oracle_solves_and_random_play_repeats_itself(tmp_path):
    solved = evaluate(tmp_path / "oracle", mazes(5), "oracle", horizon=None).record.rows
    assert all(row["success"] for row in solved)
    assert all(
        turn["action"] and turn["response"] == turn["action"]
        for row in solved
        for turn in row["turns"]
    )
    played = [evaluate(tmp_path / str(n), mazes(5, 2), "random").record.rows for n in range(2)]
    first, second = (
        {(r["task_id"], r["attempt"]): [t["action"] for t in r["turns"]] for r in rows}
        for rows in played
    )
    assert first == second
    assert len({tuple(actions) for actions in first.values()}) > 5, "attempts differ"


@pytest.mark.full
def test_no_model_call_waits_for_another_nor_for_an_environment(tmp_path):
    """Twelve episodes of three turns, a model that takes 0.3 s: one after the other 10.8 s."""
    model = Model(delay=0.3)
    evaluate(tmp_path / "warm", mazes(1), client=Model())
    began = time.monotonic()
    evaluate(tmp_path, mazes(12), client=model, concurrency=12)
    assert model.most == 12
    assert time.monotonic() - began < 9

    def slowly(observation, info):
        calls.append((time.monotonic(), observation))
        return "x"

    calls = []
    items = plan(SLOW, episodes=2, kwargs={"delay": 1.0, "length": 3})[0]
    evaluate(
        tmp_path / "slow",
        items,
        AgentFactory("slowly", slowly, {}),
        horizon=None,
        concurrency=2,
        workers=2,
    )
    steps = Counter(observation for _, observation in calls)
    assert steps == {"seed 0": 1, "seed 1": 1, "turn 1": 2, "turn 2": 2}
    first_done = sorted(at for at, seen in calls if seen == "turn 2")[0]
    assert first_done < min(
        at for at, seen in calls if seen == "turn 1" and at > calls[0][0] + 0.75
    ), "one had to wait"


def test_a_failing_environment_is_a_row_of_its_own_and_is_played_again(tmp_path):
    kwargs = {"fault": "die", "at": 2, "length": 3, "marker": str(tmp_path / "marker")}
    items = plan(FAULTY, episodes=1, kwargs=kwargs)[0]
    rows = evaluate(
        tmp_path, items, AgentFactory("x", lambda o, i: "x", {}), horizon=None
    ).record.rows
    assert [(row["row"], row.get("fault")) for row in rows] == [
        ("fault", "environment"),
        ("episode", None),
    ]
    assert (rows[0]["try"], rows[0]["turns"]) == (1, 1)
    assert "status 7" in rows[0]["error"]
    assert rows[1]["success"] is True


def test_what_fails_each_time_is_missing_and_never_a_zero(tmp_path):
    items = plan(FAULTY, episodes=2, kwargs={"fault": "raise", "at": 1, "seeds": [1]})[0]
    factory = AgentFactory("x", lambda o, i: "x", {})
    runner = evaluate(tmp_path, items, factory, horizon=None, retries=2)
    assert Counter(row["row"] for row in runner.record.rows) == {"fault": 3, "episode": 1}
    assert [item.task_id for item in runner.missing(items)] == ["seed-1"]
    again = evaluate(tmp_path, items, factory, horizon=None, retries=0)
    assert Counter(row["row"] for row in again.record.rows) == {"fault": 4, "episode": 1}, (
        "only what is missing is played"
    )


def test_a_server_that_fails_now_and_then_costs_rows_and_no_episode(tmp_path):
    calls = []

    def answer(messages):
        calls.append(1)
        return ProviderError("500 busy") if len(calls) % 4 == 1 else "go north"

    runner = evaluate(tmp_path, mazes(6), client=Model(answer), retries=20)
    kinds = Counter((row["row"], row.get("fault")) for row in runner.record.rows)
    assert kinds["episode", None] == 6
    assert kinds["fault", "provider"] >= 4
    assert runner.stopped == ""


def test_an_outage_ends_the_run_and_the_same_run_goes_on_later(tmp_path):
    items = mazes(30)
    runner = evaluate(
        tmp_path, items, client=Model(lambda m: ProviderError("502 gone")), concurrency=2, outage=0
    )
    assert "(--outage 0), the last error: 502 gone" in runner.stopped
    assert runner.record.rows == []
    assert len(runner.missing(items)) == 30
    assert evaluate(tmp_path, items, client=Model()).missing(items) == []


def test_a_refusal_ends_the_run_at_once(tmp_path):
    with raises(ProviderRefused, "'x'"):
        evaluate(tmp_path, mazes(9), client=Model(lambda m: ProviderRefused("no model 'x'")))


def test_an_agent_that_raises_is_a_fault_and_other_episodes_are_played(tmp_path):
    def act(observation, info):
        if info["task_id"] == items[1].task_id:
            return {}["bug"]
        return "look"

    items = mazes(4)
    runner = evaluate(tmp_path, items, AgentFactory("x", act, {}), concurrency=1, retries=1)
    assert runner.missing(items) == items[1:2]
    faults = [row for row in runner.record.rows if row["row"] == "fault"]
    assert [(row["fault"], row["try"]) for row in faults] == [("agent", 1), ("agent", 2)]
    assert (
        "'act' of the agent _FunctionAdapter raised KeyError at test_runner.py:"
        in faults[0]["error"]
    )
    trace = faults[0]["traceback"].splitlines()
    assert len(trace) <= 5
    assert trace[-2:] == ['    return {}["bug"]', "KeyError: 'bug'"]


def test_a_context_that_is_spent_ends_the_episode_and_it_counts(tmp_path):
    def answer(messages):
        return ContextExceeded("too long") if len(messages) > 4 else "look"

    (row,) = evaluate(tmp_path, mazes(1), client=Model(answer), horizon=9).record.rows
    assert (row["row"], row["end"], len(row["turns"]), row["success"]) == (
        "episode",
        "context",
        2,
        False,
    )


@pytest.mark.parametrize(
    ("budget", "calls"),
    [(UsageBudget(tokens=1000), 12), (UsageBudget(tokens=990), 9), (UsageBudget(cost=2.0), 9)],
)
def test_a_budget_begins_no_more_episodes_and_counts_what_earlier_runs_used(
    tmp_path, budget, calls
):
    """Running episodes finish after the budget is spent, so no call is wasted.

    Each call has 110 tokens and costs 0.25; an episode has three calls.
    """
    model, items = Model(), mazes(20)
    runner = evaluate(tmp_path, items, client=model, budget=budget, concurrency=1)
    assert len(model.asked) == calls
    assert "is spent" in runner.stopped
    assert len(episodes(runner.record.rows)) == calls // 3
    assert sum(row["usage"]["calls"] for row in runner.record.rows) == calls
    evaluate(tmp_path, items, client=model, budget=budget)
    assert len(model.asked) == calls


def test_a_budget_needs_a_server_that_counts(tmp_path):
    class Silent(Model):
        async def complete(self, messages, *, tools=None, sample=""):
            return replace(await super().complete(messages), usage=None)

    for budget in (UsageBudget(tokens=10), UsageBudget(cost=10.0)):
        with raises(ArgumentError, "tokens"):
            evaluate(tmp_path, mazes(1), client=Silent(), budget=budget)
    assert (
        evaluate(tmp_path / "free", mazes(1), client=Silent()).record.rows[0]["usage"]["calls"] == 3
    )


@pytest.mark.parametrize("said", ["refused", "rejected"])
def test_one_conversation_that_the_server_refuses_costs_its_episode_alone(tmp_path, said):
    env = gymnasium.make(MAZE, split="test")
    items_by_goal = {env.reset(options={"task_id": item.task_id})[0]: item for item in mazes(12)}
    goals = {goal: item.task_id for goal, item in items_by_goal.items()}
    items = list(items_by_goal.values())[:4]
    bad = items[2].task_id
    kind = ConversationRefused if said == "refused" else ProviderRefused

    def answer(messages):
        return kind("400: no", 400) if calls and calls[-1] == bad else "go north"

    class Named(Model):
        async def complete(self, messages, *, tools=None, sample=""):
            calls.append(goals[messages[1]["content"]])
            return await super().complete(messages)

    calls = []
    assert len(items) == 4
    runner = evaluate(tmp_path, items, client=Named(answer), retries=2, concurrency=1)
    assert runner.stopped == ""
    (row,) = (row for row in runner.record.rows if row["task_id"] == bad)
    assert row["error"] == "400: no"
    assert calls.count(bad) == 1, "it is tried once"
    if said == "refused":
        assert (row["row"], row["end"], row["success"], row["turns"]) == (
            "episode",
            "refused",
            False,
            [],
        )
        assert runner.missing(items) == []
    else:
        assert (row["row"], row["fault"], row["try"]) == ("fault", "rejected", 1)
        assert [item.task_id for item in runner.missing(items)] == [bad]


@pytest.mark.parametrize(
    ("finish", "end"), [("refusal", "refused"), ("context", "context"), ("length", "truncated")]
)
def test_how_a_reply_ends_can_end_the_episode(tmp_path, finish, end):
    class Ending(Model):
        async def complete(self, messages, *, tools=None, sample=""):
            reply = await super().complete(messages)
            return replace(reply, finish=finish if len(self.asked) == 2 else "stop")

    (row,) = evaluate(tmp_path, mazes(1), client=Ending(), horizon=3).record.rows
    assert (row["row"], row["end"]) == ("episode", end)
    assert [turn.get("cut", False) for turn in row["turns"]] == (
        [False, True, False] if finish == "length" else [False]
    )
    assert ("error" in row) == (finish != "length")
    assert row["usage"]["calls"] == (3 if finish == "length" else 2), "a refusal is paid for"
    assert row["calls"][1]["finish"] == finish


def test_a_lesson_that_cannot_be_had_costs_no_episode(tmp_path):
    def answer(messages):
        if "What went wrong" in messages[-1]["content"]:
            return ProviderRefused("429 for a day", 429)
        return "Thought: x\nAction: go north"

    (row,) = evaluate(tmp_path, mazes(1), "reflect", client=Model(answer)).record.rows
    assert (row["row"], row["memory"], len(row["turns"])) == ("episode", None, 3)


def test_what_an_end_returns_reaches_the_next_attempt(tmp_path):
    """No more is needed of an agent that learns than an ``end``."""
    seen = []

    class Mine:
        def start(self, opening):
            self.memory = list(opening.memory)
            seen.append((opening.attempt, self.memory))

        def act(self, observation, info):
            return "look"

        def end(self, ending):
            return len(self.memory)

    evaluate(tmp_path, mazes(1, attempts=3), AgentFactory("mine", Mine, {}))
    assert seen == [(0, []), (1, [0]), (2, [0, 1])]


def test_agents_that_wait_do_not_wait_for_each_other(tmp_path):
    """Eight episodes of two turns that block for 0.3 s: 4.8 s one after the other."""

    def act(observation, info):
        waiting.append(1)
        most.append(len(waiting))
        time.sleep(0.3)
        waiting.pop()
        return "look"

    waiting, most = [], []
    evaluate(tmp_path, mazes(8), AgentFactory("waits", act, {}), horizon=2, concurrency=8)
    assert max(most) >= 6


def test_a_model_cannot_call_the_oracle(tmp_path):
    (row,) = evaluate(tmp_path, mazes(1), client=Model(lambda m: str(ASK_ORACLE))).record.rows
    assert [turn["response"] for turn in row["turns"]] == ["oracle"] * 3
    assert not row["success"]


def test_an_end_that_leaves_no_json_is_the_agents_error(tmp_path):
    class Mine:
        def act(self, observation, info):
            return "look"

        def end(self, ending):
            return {1, 2}

    runner = evaluate(tmp_path, mazes(1), AgentFactory("mine", Mine, {}))
    assert "'end' of the agent Mine returned what is no JSON" in runner.last_error
    assert {row["fault"] for row in runner.record.rows} == {"agent"}


def test_tokens_and_cost_are_written_down(tmp_path):
    (row,) = evaluate(tmp_path, mazes(1), client=Model()).record.rows
    counts = {"calls": 3, "prompt_tokens": 300, "completion_tokens": 30, "cost": 0.75}
    assert row["usage"] == {**counts, "cached_tokens": 0, "cached_calls": 0}


def test_what_cannot_be_planned():
    for target, options, error, message in [
        ("agentgym-lr", {}, UnknownName, "Did you mean 'agentgym-rl'"),
        ("agentgym/Maze-v9", {}, UnknownName, "Did you mean 'agentgym/Maze-v1'"),
        ("agentgym-rl", {"only": ["babyia"]}, UnknownName, "Did you mean 'babyai'"),
        ("agentgym-rl", {"tasks": ["x"]}, ArgumentError, "a suite with fixed tasks"),
        (MAZE, {"only": ["babyai"]}, ArgumentError, "narrows a suite"),
        (MAZE, {"attempts": 0}, ArgumentError, "attempts=0"),
        (MAZE, {"tasks": ["nothing-*"]}, TaskError, "nothing-"),
        (MAZE, {"split": "tset"}, ArgumentError, "unknown split 'tset'. Did you mean 'test'"),
        ("hash_env:support/Hash-v0", {"tasks": ["*"]}, ArgumentError, "lists no tasks"),
        ("faulty_envs:support/Unsplit-v0", {}, ArgumentError, "does not take 'split'"),
    ]:
        with pytest.raises(error, match=message):
            plan(target, **options)


def test_a_suite_is_planned_family_by_family():
    items, skipped = plan("agentgym-rl", only=["babyai", "Depth 4"], attempts=2)
    counts = Counter((item.scenario, item.family) for item in items)
    assert counts["babyai", "GoTo"] == 2 * 55
    assert counts["textcraft", "Depth 4"] == 2 * 3
    assert {scenario for scenario, _ in counts} == {"babyai", "textcraft"}
    assert skipped == []


def test_a_family_whose_extra_is_missing_is_skipped_with_its_command(monkeypatch):
    monkeypatch.setattr(registry, "_installed", lambda name: name != "minigrid")
    items, skipped = plan("agentgym-rl", only=["babyai", "textcraft"])
    assert {item.scenario for item in items} == {"textcraft"}
    assert {(s.extra, s.reason) for s in skipped} == {
        ("babyai", 'python -m pip install "agentgym-envs[babyai]"')
    }


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("raect", {}, UnknownName, "unknown agent 'raect'. Did you mean 'react'"),
        ("no_such_module:agent", {}, BrokenPlugin, "cannot be imported: No module named"),
        ("math:pi", {}, BrokenPlugin, "neither a function nor a class"),
        ("collections:Counter", {}, BrokenPlugin, "neither a function nor a class"),
        (
            "chat",
            {"windw": 3},
            ArgumentError,
            "agent 'chat' does not take 'windw'. Did you mean 'window'?",
        ),
    ],
)
def test_agents_that_cannot_be(name, options, error, message):
    with pytest.raises(error, match=message):
        load(name, options)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cartographer:Maper", "cartographer has no attribute 'Maper'. Did you mean 'Mapper'?"),
        ("cartographr:Mapper", "No module named 'cartographr' in .* Did you mean 'cartographer'?"),
        ("cartographer:Mapper.act.first", "cartographer has no attribute 'first'"),
        ("cartographer:", "is not of the form module:name"),
        (":Mapper", "is not of the form module:name"),
        ("needy_agent:Mapper", "ModuleNotFoundError at needy_agent.py:2: .*'no_such_package'"),
        ("bent_agent:Mapper", r"SyntaxError: .*\(bent_agent.py, line 1\)"),
        ("quitting_agent:Mapper", "SystemExit at quitting_agent.py:1"),
    ],
)
def test_a_wrong_name_of_an_agent_is_one_line(tmp_path, monkeypatch, name, message):
    mapper = (
        "import os\n\nclass Mapper:\n    def act(self, observation, info):\n        return ''\n"
    )
    (tmp_path / "cartographer.py").write_text(mapper)
    (tmp_path / "needy_agent.py").write_text("import os\nimport no_such_package\n")
    (tmp_path / "bent_agent.py").write_text("def (\n")
    (tmp_path / "quitting_agent.py").write_text("raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path)])
    with pytest.raises(AgentGymError, match=message) as raised:
        load(name)
    assert "\n" not in str(raised.value)
    sys.modules.pop("cartographer", None)
