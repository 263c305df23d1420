"""Every task has a solution, and the environment's own oracle shows it."""

import gymnasium
import pytest

from agentgym_envs.baselines import play, spread
from agentgym_envs.envs.scienceworld.tasks import LEFT_OUT_BY_AGENTGYM, TABLE
from agentgym_envs.tasks import SPLITS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def unsolved(env_id, task_ids=None, **kwargs):
    failed = []
    for split in SPLITS:
        listed = gymnasium.make(env_id, split=split, **kwargs).unwrapped.task_ids
        wanted = [i for i in listed if task_ids is None or i in task_ids]
        if wanted:
            played = play(env_id, "oracle", task_ids=wanted, workers=None, timeout=600, horizon=-1, split=split, **kwargs)
            failed += [(e.task_id, e.score) for e in played if not e.success]
    return failed


@pytest.mark.parametrize("env_id", ["agentgym/TextCraft-v1", "agentgym/Search-v0"])
def test_all_tasks_are_solved(env_id):
    assert unsolved(env_id) == []


def test_one_babyai_task_in_ten_is_solved():
    sample = {i for split in SPLITS for i in gymnasium.make("agentgym/BabyAI-v1", split=split).unwrapped.task_ids[::10]}
    assert len({i.rpartition("-")[0] for i in sample}) == 40, "of every level"
    assert unsolved("agentgym/BabyAI-v1", sample) == []


@pytest.mark.full
def test_all_babyai_tasks_are_solved():
    assert unsolved("agentgym/BabyAI-v1") == []


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        ("agentgym/TWSimple-v0", {}),
        ("agentgym/TWCoinCollector-v0", {}),
        ("agentgym/TWTreasureHunter-v0", {}),
        ("agentgym/TWCooking-v0", {"recipe": 2, "take": 1, "go": 6, "cook": True, "cut": True, "open": True}),
    ],
)
def test_games_of_each_challenge_are_solved(env_id, kwargs, count):
    sample = set()
    for split, tenths in (("train", 4), ("dev", 3), ("test", 3)):
        env = gymnasium.make(env_id, split=split, **kwargs).unwrapped
        chosen = spread(env.task_ids, count * tenths // 10)
        sample.update(chosen)
        narrowed = gymnasium.make(env_id, split=split, tasks=chosen, **kwargs).unwrapped
        narrowed.prepare(workers=None, on_item=lambda: None)
    assert len(sample) == count
    assert unsolved(env_id, sample, **kwargs) == []


@pytest.mark.full
def test_three_variations_of_each_scienceworld_task_are_solved():
    sample = {f"{row.name}-{v}" for row in TABLE for v in (0, row.dev, row.test)}
    assert len(sample) == 90
    assert unsolved("agentgym/ScienceWorld-v1", sample) == []


def test_a_variation_of_each_scienceworld_task_that_agentgym_keeps_is_solved():
    sample = {f"{row.name}-{row.test}" for row in TABLE if row.number not in LEFT_OUT_BY_AGENTGYM}
    assert len(sample) == 23
    assert unsolved("agentgym/ScienceWorld-v1", sample) == []
