import random

import gymnasium
import pytest
from raised import raises

from agentgym_envs.errors import (
    ArgumentError,
    EnvRaised,
    EnvTimeout,
    TaskError,
    UnknownName,
    WorkerDied,
)
from agentgym_envs.evaluate import baselines
from agentgym_envs.tasks import spread, stable_hash
from agentgym_envs.wrappers import FORMATS

TROUBLE = "faulty_envs:support/Trouble-v0"


def played(env_id, agent, task_ids, **kwargs):
    """Plays in this process, as plainly as it can be written."""
    env = gymnasium.make(env_id, admissible=True, **kwargs)
    episodes = []
    for task_id in task_ids:
        _, info = env.reset(options={"task_id": task_id})
        rng, solution, over = random.Random(stable_hash(task_id)), env.unwrapped.oracle(), False
        while not over:
            action = rng.choice(info["admissible_actions"]) if agent == "random" else next(solution)
            *_, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        episodes.append((task_id, info["success"], info["score"], info["turn"]))
    return episodes


@pytest.mark.parametrize(
    ("env_id", "agent", "workers"),
    [
        ("agentgym/Maze-v1", "random", 3),
        pytest.param("agentgym/Maze-v1", "oracle", 2, marks=pytest.mark.full),
        pytest.param("agentgym/TextCraft-v2", "random", 1, marks=pytest.mark.full),
        pytest.param("agentgym/TextCraft-v2", "oracle", 1, marks=pytest.mark.full),
    ],
)
def test_baselines_equal_a_loop_over_the_environment(env_id, agent, workers):
    ids = spread(gymnasium.make(env_id, split="test").unwrapped.task_ids, 7)
    assert baselines.play(
        env_id, agent, kwargs={"split": "test"}, episodes=7, workers=workers
    ) == played(env_id, agent, ids, split="test")
    assert baselines.play(
        env_id, agent, kwargs={"split": "test"}, task_ids=ids[:2], horizon=2
    ) == played(env_id, agent, ids[:2], split="test", max_episode_steps=2)


def test_an_agent_of_the_users_sees_observations_and_infos():
    seen, episodes = [], []

    def agent(observation, info):
        seen.append((observation, info["turn"]))
        return "look"

    (episode,) = baselines.play(
        "agentgym/Maze-v1", agent, episodes=1, horizon=3, on_episode=lambda: episodes.append(1)
    )
    assert [turn for _, turn in seen] == [0, 1, 2]
    assert seen[0][0].startswith("Goal: ")
    assert "look" in seen[1][0]
    assert episode.turns == 3
    assert episodes == [1]


def test_an_oracle_that_gives_up_ends_the_episode():
    (episode,) = baselines.play(TROUBLE, "oracle", episodes=1)
    assert (episode.success, episode.turns) == (False, 1)


@pytest.mark.parametrize(
    ("trouble", "error", "agent"),
    [
        ("die", WorkerDied, "random"),
        ("raise", EnvRaised, "oracle"),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in [
                ("hang", EnvTimeout, "random"),
                ("hang", EnvTimeout, "oracle"),
                ("exit", EnvRaised, "random"),
                ("exit", EnvRaised, "oracle"),
                ("die", WorkerDied, "oracle"),
                ("raise", EnvRaised, "random"),
            ]
        ),
    ],
)
def test_trouble_is_an_error_with_the_environments_name(trouble, error, agent):
    with raises(error, "support/Trouble-v0"):
        baselines.play(TROUBLE, agent, kwargs={"trouble": trouble}, episodes=2, timeout=1.0)


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"episodes": 0}, "episodes=0"),
        ({"episodes": -2}, "episodes=-2"),
        ({"workers": 0}, "workers=0"),
        ({"horizon": 0}, "max_episode_steps"),
        ({"horizon": 1.5}, "max_episode_steps"),
        ({"task_ids": ["nowhere-1"]}, "^agentgym/Maze-v1 of agentgym-envs: .*nowhere-1"),
    ],
)
def test_what_cannot_be_played_is_the_callers_error(keywords, error):
    with pytest.raises((ArgumentError, TaskError), match=error):
        baselines.play("agentgym/Maze-v1", "oracle", **keywords)


def test_no_random_episodes_are_the_callers_error():
    for keywords in (
        {"count": 0, "turns": 1},
        {"count": 1, "turns": 0},
        {"count": 1, "turns": 1, "workers": 0},
    ):
        with raises(ArgumentError, "=0", "1"):
            baselines.random_episodes("agentgym/Maze-v1", seed=0, **keywords)


def test_random_episodes_depend_on_the_seed_alone():
    def episodes(**kwargs):
        return baselines.random_episodes(
            "agentgym/Maze-v1", 6, turns=5, action_format="tags", kwargs={"rooms": [8]}, **kwargs
        )

    first = episodes(seed=1)
    assert first == episodes(seed=1, workers=3)
    assert first != episodes(seed=2)
    assert first[0] != first[1]
    env = gymnasium.make("agentgym/Maze-v1", rooms=[8], admissible=True)
    for number, texts in enumerate(first):
        rng = random.Random(f"1:{number}")
        observation, info = env.reset(seed=rng.randrange(2**31))
        expected = []
        for _ in range(5):
            action = rng.choice(info["admissible_actions"])
            expected += [observation, FORMATS["tags"](env.unwrapped.tools).render(action)]
            observation, _, over, _, info = env.step(action)
            if over:
                break
        assert texts == expected


def test_random_episodes_may_be_longer_than_the_registered_limit():
    (texts,) = baselines.random_episodes(TROUBLE, 1, seed=0, turns=8)
    assert texts == ["go", "on", *["on", "on"] * 7]


def test_keywords_of_an_environment_may_have_the_names_of_ours():
    of_its_own = {"of": "agentgym/Maze-v1", "turns": 3}
    (texts,) = baselines.random_episodes(
        "agentgym/TwoAttempts-v0", 1, seed=0, turns=4, kwargs=of_its_own
    )
    assert ["Second attempt" in text for text in texts[::2]] == [False, False, False, True]
    (episode,) = baselines.play(
        "agentgym/TwoAttempts-v0", lambda *_: "look", episodes=1, kwargs=of_its_own
    )
    assert episode.turns == 6


def test_random_play_says_what_an_environment_lacks():
    for play in (
        lambda e: baselines.play(e, "random", task_ids=["x"]),
        lambda e: baselines.random_episodes(e, 1, seed=0, turns=2),
    ):
        with raises(ArgumentError, "support/Faulty-v0", "'admissible'"):
            play("faulty_envs:support/Faulty-v0")
    with raises(UnknownName, "'oracle'"):
        baselines.play("agentgym/Maze-v1", "orakel")
