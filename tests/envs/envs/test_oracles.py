"""Every task has a solution, and the environment's own oracle shows it."""

from itertools import chain

import gymnasium
import pytest
from games import FAMILIES, made

from agentgym_envs.envs.scienceworld.tasks import TABLE
from agentgym_envs.evaluate.baselines import play
from agentgym_envs.tasks import SPLITS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def listed(env_id, **kwargs):
    """The tasks of each split."""
    return [gymnasium.make(env_id, split=split, **kwargs).unwrapped.task_ids for split in SPLITS]


def unsolved(env_id, task_ids, **kwargs):
    """One worker plays all, of whatever split: the suite uses the other cores."""
    played = play(env_id, "oracle", task_ids=task_ids, timeout=600, horizon=-1, kwargs=kwargs)
    return [(e.task_id, e.score) for e in played if not e.success]


@pytest.mark.parametrize(
    ("env_id", "every"),
    [
        ("agentgym/TextCraft-v2", 81),
        ("agentgym/Search-v1", 768),
        ("agentgym/Connect4-v1", 240),
        ("agentgym/TwentyQuestions-v1", 360),
        ("agentgym/Debate-v1", 1536),
        ("agentgym/Negotiation-v1", 1536),
        pytest.param("agentgym/TextCraft-v2", 1, marks=pytest.mark.full),
        *[
            pytest.param(f"agentgym/{name}-v1", 1, marks=pytest.mark.full)
            for name in ("Search", "Connect4", "TwentyQuestions", "Debate", "Negotiation")
        ],
    ],
)
def test_tasks_are_solved(env_id, every):
    assert unsolved(env_id, [*chain(*listed(env_id))][::every]) == []


def test_one_babyai_task_of_each_level_is_solved():
    sample = {i.rpartition("-")[0]: i for i in chain(*listed("agentgym/BabyAI-v2"))}
    assert len(sample) == 40
    assert unsolved("agentgym/BabyAI-v2", [*sample.values()]) == []


@pytest.mark.full
def test_all_babyai_tasks_are_solved():
    assert unsolved("agentgym/BabyAI-v2", [*chain(*listed("agentgym/BabyAI-v2"))]) == []


@pytest.mark.full
@pytest.mark.parametrize("count", [3, 100])
@pytest.mark.parametrize("env_id", FAMILIES)
def test_games_of_each_challenge_are_solved(env_id, count):
    sample = made(env_id, count)
    assert len(set(sample)) == count
    assert {split for split in SPLITS for i in sample if f"-{split}-" in i} == set(SPLITS)
    assert unsolved(env_id, sample, **FAMILIES[env_id]) == []


@pytest.mark.full
def test_three_variations_of_each_scienceworld_task_are_solved():
    sample = [f"{row.name}-{v}" for row in TABLE for v in (0, row.dev, row.test)]
    assert len(sample) == 90
    assert unsolved("agentgym/ScienceWorld-v2", sample) == []
