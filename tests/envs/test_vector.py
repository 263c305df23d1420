import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

FAULTY = "faulty_envs:support/Faulty-v0"


def make(admissible=True):
    return gymnasium.make("agentgym/Maze-v0", rooms=[4], admissible=admissible)


def actions_of(infos):
    return [a[0] for a in infos["admissible_actions"]]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_it_behaves_as_gymnasiums_sync_vector_env(mode):
    ours = gymnasium.make_vec("agentgym/Maze-v0", num_envs=3, rooms=[4], admissible=True, autoreset_mode=mode)
    theirs = SyncVectorEnv([make] * 3, autoreset_mode=mode)
    (a, a_info), (b, b_info) = ours.reset(seed=5), theirs.reset(seed=5)
    assert tuple(a) == tuple(b)
    ends = 0
    for step in range(60):
        actions = ["take lamp" if step % 3 == 2 else x[-1] if x else "look" for x in b_info["admissible_actions"]]
        (a, a_reward, a_term, a_trunc, a_info) = ours.step(actions)
        (b, b_reward, b_term, b_trunc, b_info) = theirs.step(actions)
        assert tuple(a) == tuple(b)
        for x, y in ((a_reward, b_reward), (a_term, b_term), (a_trunc, b_trunc)):
            np.testing.assert_array_equal(x, y)
        assert list(a_info["task_id"]) == list(b_info["task_id"])
        if "final_obs" in b_info:
            assert list(a_info["final_obs"]) == list(b_info["final_obs"])
        ends += int((b_term | b_trunc).sum())
    assert ends > 0, "no episode ended: the autoreset was not tested"
    ours.close()
    theirs.close()


def test_without_autoreset_the_caller_resets_by_mask():
    from agentgym_envs.vector import TextVectorEnv

    vector = TextVectorEnv(FAULTY, 2, autoreset_mode="Disabled", length=1)
    vector.reset(seed=[7, 8])
    _, _, terminated, _, _ = vector.step(["x", "x"])
    assert terminated.all()
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"\[0, 1\]"):
        vector.step(["x", "x"])
    observations, _ = vector.reset(seed=[9, 9], options={"reset_mask": np.array([True, False])})
    assert observations == ("seed 9", "turn 1")
    vector.close()


@pytest.mark.parametrize("fault", ["raise", "die"])
def test_a_failure_is_reported_and_the_environment_comes_back(fault):
    from agentgym_envs.vector import TextVectorEnv

    vector = TextVectorEnv(FAULTY, 2, workers=2)
    vector.reset(seed=1)
    _, rewards, terminated, truncated, infos = vector.step([fault, "ok"])
    assert truncated.tolist() == [True, False]
    assert not terminated.any()
    assert not rewards.any()
    assert infos["_error"].tolist() == [True, False]
    observations, _, _, truncated, _ = vector.step(["ok", "ok"])
    assert observations[0].startswith("seed")
    assert not truncated.any()
    vector.close()


def test_step_limits_reach_the_environments():
    for limit, ends in ((3, True), (-1, False)):
        vector = gymnasium.make_vec("agentgym/Maze-v0", num_envs=1, vector_kwargs=None, max_episode_steps=limit)
        vector.reset(seed=0)
        truncated = [vector.step(["nonsense"])[3][0] for _ in range(5)]
        assert any(truncated) is ends
        vector.close()


def test_gymnasiums_own_vector_environments_work():
    for vector in (SyncVectorEnv([make] * 2), AsyncVectorEnv([make] * 2, shared_memory=False)):
        observations, infos = vector.reset(seed=3)
        expected = [make().reset(seed=3 + i)[0] for i in range(2)]
        assert list(observations) == expected
        vector.step(actions_of(infos))
        vector.close()


def test_shared_memory_is_an_error_and_never_a_constant_string():
    with pytest.raises(Exception, match="shared_memory"):
        AsyncVectorEnv([make] * 2, shared_memory=True)


def test_the_number_of_actions_is_checked():
    vector = gymnasium.make_vec("agentgym/Maze-v0", num_envs=2)
    vector.reset(seed=0)
    with pytest.raises(ValueError, match="3 actions for 2 environments"):
        vector.step(["a", "b", "c"])
    vector.close()
