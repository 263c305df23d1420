"""Two attempts at a task: what each is worth, the same task twice, and an oracle for both."""

import gymnasium
import pytest

from agentgym_envs import registry
from agentgym_envs.core import InvalidResponse
from agentgym_envs.errors import ArgumentError
from agentgym_envs.testing import check_text_env

ID = "agentgym/TwoAttempts-v0"
SUMS = [((True, True), 1.0), ((False, True), 1.5), ((True, False), -0.5), ((False, False), 0.0)]


def solve(env, first, second, *, turns):
    """Plays both attempts at a task, each solved or wasted.

    Returns observations, rewards and the last info.
    """
    observation, info = env.reset(seed=4)
    seen, rewards = [observation], []
    for wanted in (first, second):
        plan = iter(list(env.unwrapped._inner.oracle()) if wanted else ["dance"] * turns)
        for action in plan:
            observation, reward, over, _, info = env.step(action)
            seen.append(observation)
            rewards.append(reward)
    assert over
    return seen, rewards, info


@pytest.mark.parametrize(("attempts", "total"), SUMS)
def test_the_reward_is_the_second_attempts_and_half_of_its_gain(attempts, total):
    """r2 + 0.5 (r2 - r1), by hand for the four cases."""
    env = gymnasium.make(ID, rooms=[4], alpha=0.5, turns=9)
    _, rewards, info = solve(env, *attempts, turns=9)
    assert sum(rewards) == pytest.approx(total)
    assert (info["success"], info["score"]) == (attempts[1], float(attempts[1]))
    assert (info["first_score"], info["attempt"]) == (float(attempts[0]), 2)


def test_without_alpha_the_rewards_add_up_to_the_second_score():
    env = gymnasium.make(ID, rooms=[4], turns=9)
    for attempts in ((True, True), (False, True), (True, False)):
        assert sum(solve(env, *attempts, turns=9)[1]) == float(attempts[1])


def test_the_second_attempt_is_the_same_task_from_its_beginning():
    env = gymnasium.make(ID, rooms=[6], turns=5)
    seen, _, info = solve(env, False, False, turns=5)
    head, _, again = seen[5].rpartition("from its beginning:\n")
    assert again == seen[0]
    assert "The first attempt is over." in head
    inner = gymnasium.make("agentgym/Maze-v1", rooms=[6])
    assert inner.reset(options={"task_id": info["task_id"]})[1]["goal"] == info["goal"]


def test_an_attempt_ends_after_its_turns_and_the_episode_with_the_second():
    env = gymnasium.make(ID, rooms=[6], turns=3)
    env.reset(seed=0)
    attempts = [env.step("dance") for _ in range(6)]
    assert [info["attempt"] for *_, info in attempts] == [1, 1, 1, 2, 2, 2]
    assert [over for _, _, over, _, _ in attempts] == [False] * 5 + [True]


def test_responses_without_an_action_take_turns_of_an_attempt_too():
    env = gymnasium.make(ID, rooms=[6], turns=3, alpha=1.0)
    _, info = env.reset(seed=0)
    assert (info["attempt"], info["first_score"]) == (1, 0.0)
    steps = [
        env.step(action)
        for action in (InvalidResponse("no"), "dance", *[InvalidResponse("no")] * 4)
    ]
    assert [info["attempt"] for *_, info in steps] == [1, 1, 1, 2, 2, 2]
    assert [over for _, _, over, _, _ in steps] == [False] * 5 + [True]
    assert all(info["invalid"] and info["first_score"] == 0.0 for *_, info in steps)
    assert steps[0][0] == "no"
    assert steps[2][0].startswith("no\n\nThe first attempt is over.")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"of": ID}, "must be a TextEnv and not TwoAttempts"),
        ({"of": "CartPole-v1"}, "does not take 'split'"),
        ({"turns": 0}, "turns=0"),
        ({"turns": 2.5}, "turns=2.5: .* a whole number from 1 up"),
        ({"alpha": -1.0}, "alpha=-1.0"),
        ({"of": "agentgym/TextCraft-v2", "rooms": [4]}, "rooms"),
        (
            {"of": "agentgym/Connect4-v1", "seats": "all"},
            "seats='all': .* player_0, player_1; use one seat, such as 'player_0'",
        ),
        (
            {"of": "agentgym/Debate-v1", "seats": ["debater_0", "debater_1"]},
            "cannot distinguish debater_0, debater_1",
        ),
    ],
)
def test_what_cannot_be_is_refused(keywords, message):
    with pytest.raises(ArgumentError, match=message):
        registry.make(ID, **keywords)


@pytest.mark.full
@pytest.mark.parametrize(
    "keywords", [{"rooms": [4]}, {"of": "agentgym/TextCraft-v2", "tasks": "depth1-*"}]
)
def test_it_keeps_the_contract(keywords):
    assert check_text_env(ID, **keywords)


@pytest.mark.parametrize(
    "name",
    ["LockedMaze-v1", "TextCraft-v2", "BabyAI-v2", "Search-v1", "Negotiation-v1", "Connect4-v1"],
)
def test_the_oracle_solves_both_attempts_of_other_families(name):
    env = gymnasium.make(ID, of=f"agentgym/{name}", split="test")
    env.reset(seed=3)
    for action in env.unwrapped.oracle():
        *_, over, _, info = env.step(action)
    assert (over, info["success"], info["attempt"]) == (True, True, 2)
    assert info["first_score"] == info["score"] > 0
