"""Built-in environments pass the kit that plugin authors run, and the kit catches each kind of breach."""

import random

import gymnasium
import pytest
from breaches import BREACHES

from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing import check_text_env


@pytest.mark.parametrize("env_id", ["agentgym/Maze-v0", "agentgym/TextCraft-v0"])
def test_embedded_environments_conform(env_id):
    assert len(check_text_env(env_id)) == 10


@pytest.mark.slow
def test_textworld_conforms():
    pytest.importorskip("textworld")
    assert len(check_text_env("agentgym/TWCoinCollector-v0", level=1)) == 10


def test_a_correct_environment_passes():
    assert len(check_text_env("breaches:contract/Count-v0")) == 10


@pytest.mark.parametrize(("cls", "what"), BREACHES.items())
def test_every_breach_is_caught(cls, what):
    with pytest.raises(ConformanceError, match=what):
        check_text_env(f"breaches:contract/{cls.__name__}-v0")


def test_the_episode_generator_is_not_the_global_one():
    random.seed(1)
    state = random.getstate()
    for env_id in ("agentgym/Maze-v0", "agentgym/TextCraft-v0"):
        gymnasium.make(env_id).reset(seed=3)
    assert random.getstate() == state
