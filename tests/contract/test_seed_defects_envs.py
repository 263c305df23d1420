"""Defects of AgentGym-RL's environments that must not come back.

This project takes up the idea of AgentGym-RL.

Its list in its order, from 8 to 13; the others are in ``test_seed_defects_train.py``.
"""

import ast
import json
import os
import random
import subprocess
import sys
from contextlib import closing
from itertools import islice
from pathlib import Path

import gymnasium
import numpy as np
import psutil
import pytest
import torch
from scripted import play

import agentgym_envs
import agentgym_train
from agentgym_envs.envs.web.proxy import ProxyRequest
from agentgym_envs.pool import EnvPool
from agentgym_train.data.types import EpisodeStatus
from agentgym_train.rollout.tasks import EpisodeStart
from agentgym_websites.host import Host
from agentgym_websites.site import ORIGINS

pytestmark = pytest.mark.slow
PLAIN = ["agentgym/Maze-v1", "agentgym/TextCraft-v2", "agentgym/BabyAI-v2", "agentgym/Search-v1"]
"""Environments that start in no time."""
SOURCES = [Path(package.__file__).parent for package in (agentgym_envs, agentgym_train)]


@pytest.fixture(scope="module")
def science():
    """A pool of one ScienceWorld."""
    with EnvPool("agentgym/ScienceWorld-v2", 1, workers=1, max_episode_steps=-1) as pool:
        yield pool


# 8

GOALS = """
import json, sys
from pathlib import Path
listed = Path.glob
Path.glob = lambda self, pattern: sorted(listed(self, pattern), reverse=sys.argv[2] == "backwards")
import gymnasium, agentgym_envs
shown = []
for keywords in ({}, {"recipes": sys.argv[1]}):
    env = gymnasium.make("agentgym/TextCraft-v2", **keywords)
    shown.append([env.unwrapped.task_ids, *(env.reset(seed=seed) for seed in range(5))])
print(json.dumps(shown))
"""


def test_08_goals_depend_neither_on_hash_seeds_nor_on_the_order_of_a_folder(tmp_path):
    """There, TextCraft's goals depended on the file order and on ``PYTHONHASHSEED``.

    Here, they depend only on the seed.
    """
    chain = {
        "stick": "log",
        "rod": "stick",
        "log": "rod",
        "pole": "rod",
        "mast": "pole",
        "flag": "mast",
        "bow": "stick",
    }
    for result, used in chain.items():  # a cycle: the order decides which recipe of it is skipped
        recipe = {"type": "crafting_shapeless", "ingredients": [used, "string"], "result": result}
        (tmp_path / f"{result}.json").write_text(json.dumps(recipe))
    started = [
        subprocess.Popen(
            [sys.executable, "-c", GOALS, str(tmp_path), order],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
        )
        for seed, order in (("1", "forwards"), ("2", "backwards"), ("3", "forwards"))
    ]
    shown = [process.communicate()[0] for process in started]
    assert len(json.loads(shown[0])[1][0]) >= 2
    assert shown[0] == shown[1] == shown[2]


@pytest.mark.parametrize("env_id", PLAIN)
def test_08_environments_leave_the_global_random_state_alone(env_id):
    """There, the global generator was seeded inside request threads.

    Here, playing does not change the state of a global generator.
    """
    before = random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()
    with closing(gymnasium.make(env_id, admissible=True)) as env:
        for seed in range(3):
            _, info = env.reset(seed=seed)
            env.step(info["admissible_actions"][0])
            env.step("junk")
    assert (random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()) == before


# 9


def test_09_junk_earns_nothing_and_a_late_success_ends_the_episode():
    """There, BabyAI added a stale reward at each step, and a late success did not end.

    Here, junk is worth 0, and success ends the episode.
    """
    with closing(gymnasium.make("agentgym/BabyAI-v2", max_episode_steps=-1)) as env:
        env.reset(seed=4)
        rewards = []
        for action in ("dance", "", "go to the moon 1", "turn left", "turn right", "drop") * 5:
            *_, terminated, _, info = turn = env.step(action)
            rewards.append(turn[1])
            assert (info["score"], terminated) == (0.0, False)
        for action in env.unwrapped.oracle():
            *_, terminated, _, info = turn = env.step(action)
            rewards.append(turn[1])
            if not terminated:
                rewards.append(env.step("dance")[1])
        assert (terminated, info["success"]) == (True, True)
        assert sum(rewards) == info["score"] == rewards[-1]
        assert 0 < info["score"] <= 1
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step("dance")


# 10


def test_10_an_answer_ends_the_search_and_nothing_says_whether_it_was_right():
    """There, the agent could answer again after a wrong answer.

    Here, any answer ends the episode with the same words.
    """
    with closing(gymnasium.make("agentgym/Search-v1")) as env:
        ends = []
        for right in (True, False):
            env.reset(seed=2)
            answer = [*env.unwrapped.oracle()][-1] if right else "<answer>no idea</answer>"
            ends.append(env.step(answer))
            with pytest.raises(gymnasium.error.ResetNeeded):
                env.step(answer)
    (told, reward, done, *_), (told_too, nothing, done_too, *_) = ends
    assert (reward, done, nothing, done_too) == (1.0, True, 0.0, True)
    assert told == told_too


# 11


def test_11_a_last_action_that_cannot_be_read_keeps_the_score(science):
    """There, one unparsable last action of ScienceWorld zeroed the trajectory.

    Here, it is invalid, and the earned score stays.
    """
    said = ["open door to greenhouse", "go to greenhouse", "??? eval(1 / 0)"]
    (group,), *_ = play(
        science, [EpisodeStart(0, 0, "find-plant-0")], lambda row, turn: said[turn], max_turns=3
    )
    (t,) = group.trajectories
    assert (t.status, [turn.invalid for turn in t.turns]) == (
        EpisodeStatus.TRUNCATED_HORIZON,
        [False, False, True],
    )
    assert t.score == t.total_reward > 0.1
    assert t.turns[-1].reward == 0.0


def test_11_nothing_is_evaluated():
    """There, ``eval()`` was called on a model's output.

    Here, no source calls ``eval`` or ``exec``.
    """
    called = []
    texts = {
        file: file.read_text(encoding="utf-8")
        for folder in SOURCES
        for file in folder.rglob("*.py")
    }
    for file, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "eval(" in text or "exec(" in text else ():
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("eval", "exec")
            ):
                called.append(f"{file.name}:{node.lineno}")
    assert called == []


# 12


def test_12_sites_side_by_side_have_databases_of_their_own():
    """There, concurrent rollouts shared an SQL database.

    Here, each episode has a separate cart.
    """
    one, two = Host(), Host()
    cookie = next(f"{c['name']}={c['value']}" for c in one.cookies() if c["url"] == ORIGINS["shop"])

    def ask(host, method="GET", body=""):
        form = {"cookie": cookie, "content-type": "application/x-www-form-urlencoded"}
        return host.serve(
            ProxyRequest(method, ORIGINS["shop"] + "/cart", form, body.encode())
        ).body.decode()

    empty = ask(two)
    ask(one, "POST", "product=16&quantity=2&how=add")
    assert ask(one) != empty
    assert ask(two) == empty
    one.restore()
    assert ask(one) == empty, "nor in the next episode's"
    two.restore()


@pytest.mark.parametrize("env_id", PLAIN)
def test_12_episodes_side_by_side_are_those_of_one_alone(env_id):
    """There, environments shared state; here, two that take turns show what each shows alone."""

    def episode(first):
        """The same task each time, and other actions."""
        with closing(gymnasium.make(env_id, admissible=True)) as env:
            observation, info = env.reset(seed=1)
            for turn in range(first, first + 8):
                yield observation
                observation, _, terminated, _, info = env.step(
                    info["admissible_actions"][turn % len(info["admissible_actions"])]
                )
                if terminated:
                    break
            yield observation

    alone = [[*episode(first)] for first in (0, 1)]
    together = [[], []]
    playing = [episode(0), episode(1)]
    for _ in range(10):
        for shown, turns in zip(together, playing, strict=True):
            shown += [*islice(turns, 1)]
    assert together == alone
    assert alone[0] != alone[1]


def test_12_threads_and_processes_do_not_grow(science):
    """There, WebShop leaked threads until its virtual machine died.

    Here, episodes leave neither threads nor processes behind.
    """

    def size():
        family = [psutil.Process(), *psutil.Process().children(recursive=True)]
        return len(family), sum(p.num_threads() for p in family)

    def episodes(count):
        for seed in range(count):
            play(
                science,
                [EpisodeStart(0, seed, "find-plant-0")],
                lambda row, turn: "look around",
                max_turns=2,
            )
            for env in plain:
                env.reset(seed=seed)
                env.step("look")

    plain = [gymnasium.make(env_id) for env_id in PLAIN]
    episodes(2)
    before = size()
    episodes(8)
    after = size()
    for env in plain:
        env.close()
    assert after[0] == before[0]
    assert after[1] <= before[1] + 2, "Java starts a thread of its compiler now and then"


# 13


def test_13_environments_need_no_trainer_and_no_cuda():
    """There, each server needed a separate conda environment.

    Here, one process makes all environments, without importing torch.
    """
    code = f"""
import gymnasium, sys, agentgym_envs
for env_id in {PLAIN}:
    gymnasium.make(env_id).reset(seed=1)
heavy = ("torch", "deepspeed", "transformers", "agentgym_train")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
