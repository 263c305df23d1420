"""Episodes through skyrl-gym; see ``tox run -e skyrl``. The loop is that of SkyRL's generator."""

from concurrent.futures import ThreadPoolExecutor

import gymnasium
import pytest
from raised import raises

pytest.importorskip("skyrl_gym", reason="needs skyrl-gym: run `tox run -e skyrl`")

import skyrl_gym
from agentgym_skyrl import pools, register, rows

from agentgym_envs.errors import ArgumentError, EnvFailure, UnknownName
from agentgym_envs.wrappers import FORMATS

SEVENTH = "seventh_env:support/Seventh-v0"


@pytest.fixture
def name(request):
    """The test's own ``env_class``."""
    return request.node.name


def play(row, act, max_turns=50):
    """Plays an episode as SkyRL does: returns the first messages, all outputs and the metrics."""
    extras = {key: value for key, value in row.items() if key not in ("prompt", "env_class")}
    env = skyrl_gym.make(row["env_class"], env_config={}, extras=extras | {"max_turns": max_turns})
    opening, _ = env.init(row["prompt"])
    outputs = []
    while not (outputs and outputs[-1]["done"]):
        outputs.append(env.step(act(len(outputs))))
    metrics = env.get_metrics()
    env.close()
    return opening, outputs, metrics


def test_an_episode_is_that_of_the_environment(name):
    register(name, "agentgym/TextCraft-v2", split="test")
    row = rows(name)[0]
    env = gymnasium.make("agentgym/TextCraft-v2", split="test")
    first, _ = env.reset(seed=row["seed"], options={"task_id": row["task_id"]})
    actions = list(env.unwrapped.oracle())
    steps = [env.step(action) for action in actions]
    opening, outputs, metrics = play(row, lambda n: f"Thought: on.\nAction: {actions[n]}")
    rules = env.unwrapped.instructions, FORMATS["react"](env.unwrapped.tools).describe()
    assert opening == [
        {"role": "system", "content": "\n\n".join(rules)},
        {"role": "user", "content": first},
    ]
    seen = [message["content"] for output in outputs for message in output["observations"]]
    assert seen == [step[0] for step in steps[:-1]]
    assert [output["reward"] for output in outputs] == [step[1] for step in steps]
    assert metrics == {"success": 1.0, "score": 1.0, "turns": len(actions), "invalid": 0}


def test_turns_end_an_episode_and_bad_responses_count(name):
    register(name, "agentgym/TextCraft-v2", split="test")
    _, outputs, metrics = play(rows(name, 1)[0], lambda n: "no action", max_turns=3)
    assert [output["done"] for output in outputs] == [False, False, True]
    assert metrics == {"success": 0.0, "score": 0.0, "turns": 3, "invalid": 3}


def test_a_failed_step_is_played_again_and_no_fault_becomes_a_zero(name):
    """Twelve episodes of three steps, one after another: every seventh step fails."""
    register(name, SEVENTH, action_format="plain", workers=1)
    played = [play(row, lambda n: "word") for row in rows(name, 12)]
    assert [opening[-1]["content"] for opening, _, _ in played] == [f"seed {n}" for n in range(12)]
    for _, outputs, metrics in played:
        assert [output["reward"] for output in outputs] == [4.0] * 3
        assert metrics == {"success": 1.0, "score": 12.0, "turns": 3, "invalid": 0}


def test_threads(name):
    """SkyRL plays each episode in any of its threads."""
    register(name, SEVENTH, action_format="plain", every=1000)
    with ThreadPoolExecutor(8) as threads:
        played = list(threads.map(lambda row: play(row, lambda n: "word"), rows(name, 32)))
    assert [opening[-1]["content"] for opening, _, _ in played] == [f"seed {n}" for n in range(32)]
    assert [metrics["score"] for _, _, metrics in played] == [12.0] * 32


def test_a_step_that_fails_again_raises(name):
    register(name, SEVENTH, action_format="plain", workers=1, every=2)
    with raises(EnvFailure, "seventh step"):
        play(rows(name, 1)[0], lambda n: "word")


def test_too_many_episodes_at_the_same_time_raise(name, monkeypatch):
    monkeypatch.setattr(pools, "EPISODES", 2)
    register(name, SEVENTH, action_format="plain", every=1000)
    first, second, third = (
        skyrl_gym.make(name, env_config={}, extras={"max_turns": 1}) for _ in range(3)
    )
    first.init([])
    second.init([])
    with raises(ArgumentError, "2 episodes"):
        third.init([])
    first.close()
    third.init([])
    assert third.step("word")["reward"] == 4.0


def test_what_cannot_be_played_again_raises(name):
    """The first observation has the number of resets. The first reset fails."""
    register(name, "seventh_env:support/Restless-v0", action_format="plain", workers=1)
    with raises(RuntimeError, "'reset 3'", "'reset 2'"):
        play(rows(name, 1)[0], lambda n: "word")


def test_bad_input(name):
    register(name, SEVENTH, action_format="plain")
    with pytest.raises(ArgumentError, match="lists no tasks"):
        rows(name)
    env = skyrl_gym.make(name, env_config={}, extras={"max_turns": 1})
    with pytest.raises(RuntimeError, match="call init first"):
        env.step("word")
    register("none", "agentgym/TextKraft-v2")
    with raises(UnknownName, "TextCraft"):
        rows("none", 1)
