"""Built-in environments pass the kit that plugin authors run, and the kit catches each kind of breach."""

import random
import unicodedata

import gymnasium
import pytest
from breaches import BREACHES

from agentgym_envs.baselines import spread
from agentgym_envs.errors import ConformanceError
from agentgym_envs.hostile import hostile_actions
from agentgym_envs.tasks import SPLITS
from agentgym_envs.testing import check_text_env

SCRIPTED = (
    "click-test-2",
    "click-link",
    "enter-text",
    "choose-list",
    "read-table",
    "click-checkboxes",
    "login-user",
    "email-inbox",
)


@pytest.mark.parametrize("env_id", ["agentgym/Maze-v0", "agentgym/TextCraft-v1", "agentgym/BabyAI-v1", "agentgym/Search-v0"])
def test_environments_without_a_simulator_conform(env_id):
    assert len(check_text_env(env_id)) == 11


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "env_id",
    [
        "agentgym/ScienceWorld-v1",
        "agentgym/TWSimple-v0",
        "agentgym/TWCoinCollector-v0",
        "agentgym/TWTreasureHunter-v0",
        "agentgym/TWCooking-v0",
    ],
)
def test_simulators_conform(env_id):
    """On three tasks a split, made at once: many games in one process take less time than each in its own."""
    chosen = []
    for split in SPLITS:
        few = spread(gymnasium.make(env_id, split=split).unwrapped.task_ids, 3)
        world = gymnasium.make(env_id, split=split, tasks=few).unwrapped
        if hasattr(world, "prepare"):
            world.prepare(workers=None, on_item=lambda: None)
        chosen += few
    assert len(check_text_env(env_id, tasks=chosen)) == 11


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("env_id", "pages"), [("agentgym/WebSites-v0", ()), ("agentgym/MiniWoB-v0", SCRIPTED)])
def test_web_environments_conform(env_id, pages):
    """MiniWoB on pages whose script also goes on from the middle of an episode."""
    kwargs = {"tasks": [f"{page}-*" for page in pages]} if pages else {}
    assert len(check_text_env(env_id, **kwargs)) == 11


def test_a_correct_environment_passes():
    assert len(check_text_env("breaches:contract/Count-v0")) == 11


def test_the_hostile_actions_are_many_and_of_every_script():
    actions = hostile_actions(["go north", "take the lamp"])
    assert len(actions) == 2000
    scripts = {unicodedata.name(c, "").partition(" ")[0] for action in actions for c in action}
    assert {"LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW", "DEVANAGARI", "HANGUL", "CJK", "HIRAGANA", "EGYPTIAN"} <= scripts
    assert len(scripts) > 150
    assert max(map(len, actions)) >= 100_000
    assert "" in actions
    assert actions == hostile_actions(["go north", "take the lamp"])


@pytest.mark.parametrize(("cls", "what"), BREACHES.items())
def test_every_breach_is_caught(cls, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # one of them litters
    with pytest.raises(ConformanceError, match=what):
        check_text_env(f"breaches:contract/{cls.__name__}-v0")


def test_the_episode_generator_is_not_the_global_one():
    random.seed(1)
    state = random.getstate()
    for env_id in ("agentgym/Maze-v0", "agentgym/TextCraft-v1"):
        gymnasium.make(env_id).reset(seed=3)
    assert random.getstate() == state
