import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from raised import raises

from agentgym_envs.errors import ArgumentError, TaskError, WorkerDied
from agentgym_envs.vector import TextVectorEnv

FAULTY = "faulty_envs:support/Faulty-v0"


def make(admissible=True):
    return gymnasium.make("agentgym/Maze-v1", rooms=[4], admissible=admissible)


def actions_of(infos):
    return [a[0] for a in infos["admissible_actions"]]


def assert_same(ours, theirs):
    """Compares infos key by key: values, masks and types, however deep."""
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        if isinstance(value, dict):
            assert_same(ours[key], value)
        else:
            assert ours[key].dtype == value.dtype, key
            assert ours[key].tolist() == value.tolist(), key


def pair(env_id, mode, **kwargs):
    """Returns our vector environment and Gymnasium's, of the same environments."""
    if ":" in env_id:
        ours = TextVectorEnv(env_id, 3, workers=1, autoreset_mode=mode, **kwargs)
    else:
        ours = gymnasium.make_vec(env_id, num_envs=3, autoreset_mode=mode, **kwargs)
    return ours, SyncVectorEnv([lambda: gymnasium.make(env_id, **kwargs)] * 3, autoreset_mode=mode)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [("agentgym/Maze-v1", {"rooms": [4], "admissible": True}), ("faulty_envs:support/Info-v0", {})],
)
def test_it_behaves_as_gymnasiums_sync_vector_env(mode, env_id, kwargs):
    ours, theirs = pair(env_id, mode, **kwargs)
    (a, a_info), (b, b_info) = ours.reset(seed=5), theirs.reset(seed=5)
    ends = 0
    for step in range(60):
        assert tuple(a) == tuple(b)
        assert_same(a_info, b_info)
        listed = b_info.get("admissible_actions", [None] * 3)
        actions = ["take lamp" if step % 3 == 2 else x[-1] if x else "look" for x in listed]
        (a, a_reward, a_term, a_trunc, a_info) = ours.step(actions)
        (b, b_reward, b_term, b_trunc, b_info) = theirs.step(actions)
        for x, y in ((a_reward, b_reward), (a_term, b_term), (a_trunc, b_trunc)):
            np.testing.assert_array_equal(x, y)
            assert x.dtype == y.dtype
        over = b_term | b_trunc
        ends += int(over.sum())
        if mode == AutoresetMode.DISABLED and over.any():
            assert tuple(a) == tuple(b)
            assert_same(a_info, b_info)
            (a, a_info), (b, b_info) = (
                v.reset(options={"reset_mask": over.copy()}) for v in (ours, theirs)
            )
    assert ends > 2, "too few episodes ended to test the autoreset"
    ours.close()
    theirs.close()


class Interrupt:
    """Stands for Ctrl-C at the n-th time that the pool is asked for results."""

    def __init__(self, pool, monkeypatch, *, at=1, after=False):
        self.recv, self.left, self.after = pool.recv, at, after
        monkeypatch.setattr(pool, "recv", self)

    def __call__(self, **kwargs):
        self.left -= 1
        if self.left == 0:
            if self.after:
                self.recv(**kwargs)
            raise KeyboardInterrupt
        return self.recv(**kwargs)


@pytest.mark.parametrize(
    ("mode", "after"),
    [
        (AutoresetMode.NEXT_STEP, False),
        (AutoresetMode.SAME_STEP, True),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in [
                (AutoresetMode.NEXT_STEP, True),
                (AutoresetMode.SAME_STEP, False),
                (AutoresetMode.DISABLED, False),
                (AutoresetMode.DISABLED, True),
            ]
        ),
    ],
)
def test_after_an_interrupted_step_a_reset_answers_what_was_asked(mode, after, monkeypatch):
    vector = TextVectorEnv(
        "faulty_envs:support/Slow-v0", 2, workers=2, autoreset_mode=mode, length=1, delay=0.3
    )
    vector.reset(seed=[1, 2])
    Interrupt(vector._pool, monkeypatch, after=after)
    with pytest.raises(KeyboardInterrupt):
        vector.step(["x", "x"])
    with raises(gymnasium.error.ResetNeeded, "interrupted"):
        vector.step(["x", "x"])
    for seed in (8, 20):
        observations, _ = vector.reset(seed=seed)
        assert observations == (f"seed {seed}", f"seed {seed + 1}")
    vector.close()


def test_a_step_before_the_first_reset_is_refused():
    with pytest.raises(gymnasium.error.ResetNeeded):
        TextVectorEnv("agentgym/Maze-v1", 1).step(["look"])


def test_each_environment_can_have_a_task_of_its_own():
    vector = gymnasium.make_vec("agentgym/Maze-v1", num_envs=3, split="test")
    ids = gymnasium.make("agentgym/Maze-v1", split="test").unwrapped.task_ids
    _, infos = vector.reset(options={"task_id": [ids[4], ids[1], ids[4]]})
    assert infos["task_id"].tolist() == [ids[4], ids[1], ids[4]]
    _, infos = vector.reset(options={"task_id": ids[2]})
    assert infos["task_id"].tolist() == [ids[2]] * 3
    _, infos = vector.reset(seed=3, options={"task_id": (ids[4], None, ids[0])})
    drawn = gymnasium.make("agentgym/Maze-v1", split="test").reset(seed=4)[1]["task_id"]
    assert infos["task_id"].tolist() == [ids[4], drawn, ids[0]]
    for options in ({"task_id": [ids[0]]}, {"reset_mask": np.array([True])}):
        with raises(ArgumentError, "3 environments"):
            vector.reset(options=options)
    for seeds in ([1, 2], [1, 2, 3, 4], []):
        with raises(ValueError, f"{len(seeds)} seeds", "3 environments"):
            vector.reset(seed=seeds)
    vector.close()


def test_without_autoreset_the_caller_resets_by_mask():
    vector = TextVectorEnv(FAULTY, 2, autoreset_mode="Disabled", length=1)
    vector.reset(seed=[7, 8])
    _, _, terminated, _, _ = vector.step(["x", "x"])
    assert terminated.all()
    with raises(gymnasium.error.ResetNeeded, "[0, 1]"):
        vector.step(["x", "x"])
    observations, _ = vector.reset(seed=[9, 9], options={"reset_mask": np.array([True, False])})
    assert observations == ("seed 9", "turn 1")
    vector.close()


@pytest.mark.parametrize("fault", [pytest.param("raise", marks=pytest.mark.full), "die"])
def test_a_failure_with_autoreset_in_the_same_step_is_in_the_final_info(fault):
    vector = TextVectorEnv(FAULTY, 2, workers=2, autoreset_mode="SameStep")
    vector.reset(seed=1)
    observations, rewards, terminated, truncated, infos = vector.step([fault, "ok"])
    assert truncated.tolist() == [True, False]
    assert not terminated.any()
    assert not rewards.any()
    assert observations == ("seed None", "turn 1")
    assert "error" not in infos
    assert infos["final_info"]["_error"].tolist() == [True, False]
    assert "support/Faulty-v0" in infos["final_info"]["error"][0]
    vector.close()


def test_what_a_reset_cannot_do_is_the_callers_error():
    vector = TextVectorEnv("agentgym/Maze-v1", 1)
    with raises(TaskError, "nowhere-1") as error:
        vector.reset(options={"task_id": "nowhere-1"})
    assert "raised" not in str(error.value)
    with raises(ArgumentError, "'colour'"):
        vector.reset(options={"colour": 1})
    with raises(ArgumentError, "seed=-1"):
        vector.reset(seed=-1)
    vector.reset(seed=1)
    vector.close()


@pytest.mark.parametrize("fault", ["raise", pytest.param("die", marks=pytest.mark.full)])
def test_a_failure_is_reported_and_the_environment_comes_back(fault):
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


def test_a_reward_that_is_not_finite_is_reported_as_a_failure():
    vector = TextVectorEnv("faulty_envs:support/Odd-v0", 2, workers=1)
    vector.reset(seed=1)
    _, rewards, terminated, truncated, infos = vector.step(["reward nan", "ok"])
    assert (rewards.tolist(), terminated.tolist(), truncated.tolist()) == (
        [0.0, 0.5],
        [False, False],
        [True, False],
    )
    assert infos["error"][0] == "support/Odd-v0: reward must be a finite number, not nan"
    vector.close()


def test_step_limits_reach_the_environments():
    for limit, ends in ((3, True), (-1, False)):
        vector = gymnasium.make_vec(
            "agentgym/Maze-v1", num_envs=1, vector_kwargs=None, max_episode_steps=limit
        )
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
    with raises(Exception, "shared_memory"):
        AsyncVectorEnv([make] * 2, shared_memory=True)


@pytest.fixture(scope="module")
def rendered():
    """Our vector environment and Gymnasium's, in mode "ansi"."""
    keywords = {"rooms": [4], "render_mode": "ansi"}
    ours = gymnasium.make_vec("agentgym/Maze-v1", num_envs=2, workers=1, **keywords)
    theirs = SyncVectorEnv([lambda: gymnasium.make("agentgym/Maze-v1", **keywords)] * 2)
    yield ours, theirs
    ours.close()
    theirs.close()


def test_attributes_calls_and_pictures_are_gymnasiums(rendered):
    names = ("split", "task_ids", "instructions", "tools", "render_mode")
    before = [[vector.get_attr(name) for name in names] for vector in rendered]
    assert before[0] == before[1]
    for vector in rendered:
        vector.reset(seed=[3, 4])
    ours, theirs = rendered
    for _ in range(3):
        assert ours.call("actions") == theirs.call("actions")
        assert ours.render() == theirs.render()
        for vector in rendered:
            vector.step([actions[-1] for actions in theirs.call("actions")])
    assert ours.render_mode == theirs.render_mode == "ansi"
    for vector in rendered:
        vector.set_attr("admissible", [True, False])
        vector.set_attr("mark", ("a", {"b": 1}))
        assert vector.get_attr("admissible") == (True, False)
        assert vector.get_attr("mark") == ("a", {"b": 1})
        with pytest.raises(ValueError, match=r"(?i)values"):
            vector.set_attr("mark", [1])
        with raises(AttributeError, "nowhere"):
            vector.get_attr("nowhere")
    for vector in rendered:
        with pytest.raises(TypeError, match="1 positional argument"):
            vector.call("actions", 1)
    with raises(TypeError, "EnvSpec"):
        ours.get_attr("spec")
    with raises(ArgumentError, "leave"):
        ours.set_attr("mark", object())
    with raises(ArgumentError, "reset()"):
        ours.call("reset", seed=1)
    observations, *_ = ours.step(["look", "look"])
    assert observations == theirs.step(["look", "look"])[0]


def test_calls_before_a_reset_after_a_failure_and_after_the_end():
    vector = TextVectorEnv(FAULTY, 2, workers=2)
    assert vector.get_attr("render_mode") == (None, None)
    with pytest.raises(gymnasium.error.ResetNeeded):
        vector.render()
    vector.reset(seed=1)
    vector.step(["die", "ok"])
    with raises(WorkerDied, "environment 0"):
        vector.get_attr("render_mode")
    vector.step(["ok", "ok"])
    assert vector.get_attr("render_mode") == (None, None)
    vector.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        vector.get_attr("render_mode")


def test_a_call_that_is_interrupted_leaves_no_result_for_a_step(monkeypatch):
    vector = TextVectorEnv("faulty_envs:support/Slow-v0", 2, workers=1, length=9, delay=0.1)
    vector.reset(seed=[1, 2])
    Interrupt(vector._pool, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        vector.get_attr("render_mode")
    assert vector.get_attr("render_mode") == (None, None)
    with raises(gymnasium.error.ResetNeeded, "interrupted"):
        vector.step(["x", "x"])
    assert vector.reset(seed=7)[0] == ("seed 7", "seed 8")
    vector.close()


@pytest.mark.parametrize("mode", ["human", "rgb_array", 3])
def test_a_render_mode_that_cannot_be_is_refused_at_once(mode):
    with raises(ArgumentError, "render_mode"):
        gymnasium.make_vec("agentgym/Maze-v1", num_envs=2, render_mode=mode)
    with raises(ArgumentError, "[]"):
        TextVectorEnv("hash_env:support/Hash-v0", 2, render_mode="ansi")


@pytest.mark.parametrize(
    "actions", ["ab", b"ab", None, 3, {"a": 1, "b": 2}, {"a", "b"}, ["a", 1], [None, "b"], ["a"]]
)
def test_actions_that_are_no_list_of_texts_are_refused_and_change_nothing(actions, rendered):
    ours, _ = rendered
    ours.reset(seed=1)
    with raises(ArgumentError, "action"):
        ours.step(actions)
    observations, *_ = ours.step(np.array(["look", "look"]))
    assert observations == ours.render()


@pytest.mark.parametrize(
    "given",
    [
        {"seed": "ab"},
        {"seed": 1.5},
        {"seed": [1, "b"]},
        {"seed": [1, -2]},
        {"options": {"reset_mask": "ab"}},
        {"options": {"reset_mask": ["a", "b"]}},
        {"options": {"reset_mask": np.ones((2, 2), dtype=bool)}},
        {"options": {"reset_mask": True}},
    ],
)
def test_what_a_reset_cannot_read_changes_nothing(given, rendered):
    ours, _ = rendered
    before, _ = ours.reset(seed=1)
    with pytest.raises(ArgumentError, match=r"seed|reset_mask"):
        ours.reset(**given)
    assert ours.render() == before
    ours.step(["look", "look"])


def test_the_number_of_actions_is_checked():
    vector = gymnasium.make_vec("agentgym/Maze-v1", num_envs=2)
    vector.reset(seed=0)
    with raises(ValueError, "3", "2 environments"):
        vector.step(["a", "b", "c"])
    vector.close()
