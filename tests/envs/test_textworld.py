import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import pytest

from agentgym_envs.cache import cache_folder
from agentgym_envs.envs.textworld.games import GameOptions, build, game_file
from agentgym_envs.errors import TaskError
from agentgym_envs.testing import check_text_env

pytest.importorskip("textworld", reason="the tox environments install the extra; a run without it tests the rest")
pytestmark = pytest.mark.slow

FAMILIES = {
    "agentgym/TWSimple-v0": {},
    "agentgym/TWCoinCollector-v0": {"level": 3},
    "agentgym/TWTreasureHunter-v0": {"level": 2},
    "agentgym/TWCooking-v0": {"recipe": 2, "take": 1, "cook": True, "cut": True, "open": True, "go": 6},
}
COIN = GameOptions("tw-coin_collector", (("level", 2),), 7)


@pytest.mark.parametrize(("env_id", "kwargs"), FAMILIES.items())
def test_the_oracle_solves_games_of_every_split_and_rewards_add_up(env_id, kwargs):
    for split in ("train", "dev", "test"):
        env = gymnasium.make(env_id, split=split, **kwargs)
        env.reset(options={"task_id": env.unwrapped.task_ids[0]})
        total = 0.0
        for action in env.unwrapped.oracle():
            observation, reward, terminated, _, info = env.step(action)
            total += reward
            assert "$$" not in observation
            assert "RESTART" not in observation
        assert info["success"]
        assert terminated
        assert total == pytest.approx(1.0)
        env.close()


def test_a_game_plays_as_in_textworld_itself():
    import textworld

    path = game_file(COIN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = textworld.start(str(path), textworld.EnvInfos(admissible_commands=True, policy_commands=True, feedback=True))
    state = theirs.reset()
    ours = gymnasium.make("agentgym/TextWorld-v0", games=[str(path)], admissible=True)
    observation, info = ours.reset()
    assert state.objective.strip() in observation
    assert info["admissible_actions"] == sorted(state.admissible_commands)
    for command in ["look", "frobnicate", *state.policy_commands]:
        state, score, done = theirs.step(command)
        observation, _, terminated, _, info = ours.step(command)
        shown = " ".join(state.feedback.split())
        assert " ".join(observation.split()) in shown
        assert (terminated, info["score"]) == (done, float(score))
        assert info["invalid"] == (command == "frobnicate")
    ours.close()
    theirs.close()


def test_a_game_begun_anew_is_as_in_a_fresh_interpreter():
    used, fresh = (gymnasium.make("agentgym/TextWorld-v0", games=[str(game_file(COIN))]) for _ in range(2))
    used.reset()
    solution = list(used.unwrapped.oracle())
    for actions in (solution[:1], solution):  # given up in the middle, and ended
        for action in actions:
            used.step(action)
        assert used.reset() == fresh.reset()
    assert [used.step(a) for a in solution] == [fresh.step(a) for a in solution]
    used.close()
    fresh.close()


def test_hash_seeds_and_processes_make_the_same_game(tmp_path):
    first = game_file(COIN)
    environ = {**os.environ, "AGENTGYM_CACHE": str(tmp_path), "PYTHONHASHSEED": "77"}
    code = (
        "from agentgym_envs.envs.textworld.games import *; print(game_file(GameOptions('tw-coin_collector', (('level', 2),), 7)))"
    )
    both = [subprocess.Popen([sys.executable, "-c", code], env=environ, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    paths = {p.communicate()[0].strip() for p in both}
    assert len(paths) == 1, "two processes that ask at once get one game"
    other = paths.pop()
    games = [json.loads(Path(p).with_suffix(".json").read_text()) for p in (first, other)]
    assert games[0] == games[1]
    assert sorted(p.suffix for p in (tmp_path / "textworld").iterdir()) == [".json", ".z8"], "no draft is left behind"


def test_building_ahead_reports_every_game():
    done = []
    options = [GameOptions("tw-coin_collector", (("level", 1),), s) for s in range(2)]
    paths = build(options, workers=2, on_game=lambda: done.append(1))
    assert len(done) == 2
    assert [p.exists() for p in paths] == [True, True]
    assert paths[0] != paths[1]


def test_commands_that_would_leave_the_game_are_refused():
    env = gymnasium.make("agentgym/TextWorld-v0", games=[str(game_file(COIN))])
    before = set(os.listdir())
    env.reset()
    for action in ("quit", "SAVE", "restore", "undo", "script", "tw-extra-infos score", "look. look", "look then look", "", "@@@"):
        _, reward, terminated, _, info = env.step(action)
        assert info["invalid"], action
        assert (reward, terminated) == (0.0, False)
    assert set(os.listdir()) == before
    env.close()


def test_where_the_cache_is():
    assert str(cache_folder("textworld", {"AGENTGYM_CACHE": "/a"})) == "/a/textworld"
    assert str(cache_folder("textworld", {"XDG_CACHE_HOME": "/b"})) == "/b/agentgym/textworld"


@pytest.mark.parametrize(
    ("env_id", "kwargs", "message"),
    [
        ("agentgym/TWCoinCollector-v0", {"level": 301}, "level must be from 1 to 300, not 301"),
        ("agentgym/TWSimple-v0", {"goal": "vague"}, "goal must be one of"),
        ("agentgym/TWCooking-v0", {"go": 2}, r"go must be one of \[1, 6, 9, 12\], not 2"),
        ("agentgym/TWCooking-v0", {"recipe": 1, "take": 2}, "take must be from 0 to 1"),
    ],
)
def test_impossible_parameters_are_refused(env_id, kwargs, message):
    with pytest.raises(ValueError, match=message):
        gymnasium.make(env_id, **kwargs)


def test_missing_games_are_named(tmp_path):
    with pytest.raises(TaskError, match="pass games="):
        gymnasium.make("agentgym/TextWorld-v0")
    (tmp_path / "a.z8").touch()
    with pytest.raises(TaskError, match=r"a\.json"):
        gymnasium.make("agentgym/TextWorld-v0", games=str(tmp_path / "a.z8"))


def test_games_for_each_split_conform(tmp_path):
    paths = build([GameOptions("tw-coin_collector", (("level", 1),), s) for s in range(3)])
    games = {split: [str(path)] for split, path in zip(("train", "dev", "test"), paths, strict=True)}
    assert len(check_text_env("agentgym/TextWorld-v0", games=games)) == 11
