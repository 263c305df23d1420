"""MiniWoB++ in our runtime: upstream's tasks, rewards and resets."""

import re
from pathlib import Path

import gymnasium
import miniwob
import pytest

import agentgym_envs.envs.web as web
from agentgym_envs.envs.web.look import find
from agentgym_envs.envs.web.miniwob.env import LEFTOVERS
from agentgym_envs.envs.web.miniwob.scripts import SCRIPTS
from agentgym_envs.envs.web.miniwob.tasks import NAMES

pytestmark = pytest.mark.timeout(900)
README = (Path(web.__file__).parent / "README.md").read_text()
# These pages need quicker reactions than an agent's.
QUICK = {
    "button-delay",
    "chase-circle",
    "hover-shape",
    "moving-items",
    "simon-says",
}


@pytest.fixture(scope="module")
def worlds():
    made = {
        reward: gymnasium.make("agentgym/MiniWoB-v1", reward=reward).unwrapped
        for reward in ("binary", "raw", "decayed")
    }
    yield made
    for env in made.values():
        env.close()


def solve(env, task_id):
    env.reset(options={"task_id": task_id})
    info = {"success": False}
    for action in env.oracle():
        *_, info = env.step(action)
    return info["success"]


def test_the_tasks_are_upstreams():
    theirs = {
        i.partition("/")[2].rpartition("-v")[0]
        for i in gymnasium.registry
        if i.startswith("miniwob/")
    }
    assert {n for n in theirs if not n.startswith("flight.")} - set(NAMES) <= QUICK
    assert len(NAMES) == len(set(NAMES)) == 125
    html = Path(miniwob.__file__).parent / "html/miniwob"
    assert all((html / f"{name}.html").is_file() for name in NAMES)


def test_the_readme_lists_the_tasks_without_a_script():
    listed = re.search(r"Without a script, (\d+): (.*?)\n\n", README, re.S)
    assert set(re.findall(r"`([a-z0-9-]+)`", listed[2])) == set(NAMES) - set(SCRIPTS)
    assert int(listed[1]) == len(NAMES) - len(SCRIPTS)
    assert len(SCRIPTS) >= 80


@pytest.mark.slow
@pytest.mark.parametrize(
    ("every", "seeds"), [(12, (81,)), pytest.param(1, (81, 91), marks=pytest.mark.full)]
)
def test_every_script_solves_its_page(worlds, every, seeds):
    """By default, one seed of every twelfth script."""
    tasks = [f"{name}-{seed}" for name in [*SCRIPTS][::every] for seed in seeds]
    assert [task_id for task_id in tasks if not solve(worlds["binary"], task_id)] == []


def test_rewards_are_upstreams(worlds):
    """The right person's wrong detail is worth 0.7 - 0.3.

    Ten seconds decay evenly: 0.1 before the start and 0.5 per action.
    """
    for reward, wanted in (("binary", 0.0), ("raw", 0.4)):
        env = worlds[reward]
        env.reset(options={"task_id": "phone-book-3"})
        name, detail = re.search(r"Find (\S+) .* their (\w+)", env.goal).groups()
        while not re.search(rf"heading '{name}'", env.shown):
            env.step(f"click [{find(env.shown, '>', role='link').id}]")
        wrong = ("phone", "email", "address").index(detail) - 1
        _, score, done, _, info = env.step(
            f"click [{find(env.shown, role='link', nth=wrong % 3).id}]"
        )
        assert (score, done, info["success"]) == (pytest.approx(wanted), True, False)
    env = worlds["decayed"]
    env.reset(options={"task_id": "click-test-1"})
    env.step("scroll [down]")
    _, score, done, _, info = env.step(f"click [{find(env.shown, 'Click Me!').id}]")
    assert (score, done, info["success"]) == (pytest.approx(0.94), True, True)


def test_time_only_passes_with_actions(worlds):
    """Upstream ends a task after ten seconds; ours does so only for the decayed reward."""
    for reward, over in (("binary", False), ("decayed", True)):
        env = worlds[reward]
        env.reset(options={"task_id": "click-test-1"})
        dones = [env.step("scroll [down]")[2] for _ in range(20)]
        assert dones == [False] * 19 + [over]


@pytest.mark.parametrize(
    "seed", [27, *(pytest.param(seed, marks=pytest.mark.full) for seed in (58, 69, 96))]
)
def test_a_price_that_shows_for_a_tenth_of_a_second_can_be_met(worlds, seed):
    """In these four tasks the only price that is low enough is the 76th."""
    assert solve(worlds["binary"], f"stock-market-{seed}")


def test_a_wrong_answer_ends_without_reward(worlds):
    env = worlds["raw"]
    env.reset(options={"task_id": "click-test-2-1"})
    wrong = "TWO" if "ONE" in env.goal else "ONE"
    _, score, done, _, info = env.step(f"click [{find(env.shown, wrong, role='button').id}]")
    assert (score, done, info["success"]) == (0.0, True, False)


def test_signs_that_are_not_ascii_are_what_upstream_wrote(worlds):
    """The pages do not state that they are UTF-8; other encodings would show more signs."""
    page = (Path(miniwob.__file__).parent / "html/miniwob/unicode-test.html").read_text(
        encoding="utf-8"
    )
    signs = {sign for sign in page if ord(sign) > 127}
    shown = {
        sign
        for seed in range(5)
        for sign in worlds["binary"].reset(options={"task_id": f"unicode-test-{seed}"})[0]
    }
    assert {sign for sign in shown if ord(sign) > 127} <= signs
    assert len(shown & signs) >= 10
    assert solve(worlds["binary"], "unicode-test-3")


RELOADED = [
    pytest.param(name, marks=[pytest.mark.full] * (number % 30 > 0))
    for number, name in enumerate(sorted(LEFTOVERS))
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "click-test",
        *(
            pytest.param(n, marks=pytest.mark.full)
            for n in ("email-inbox", "enter-text", "click-option", "use-slider")
        ),
        *RELOADED,
    ],
)
def test_a_reset_leaves_nothing_of_the_episode_before(worlds, name):
    env = gymnasium.make("agentgym/MiniWoB-v1").unwrapped
    fresh = env.reset(options={"task_id": f"{name}-5"})[0]
    for before in (3, 4):
        solve(env, f"{name}-{before}")
        assert env.reset(options={"task_id": f"{name}-5"})[0] == fresh
    env.close()
