import contextlib
import io
import random

import gymnasium
import pytest
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Box, Door, Key

from agentgym_envs.envs.babyai.env import _make_level
from agentgym_envs.envs.babyai.tasks import FAMILIES, LEFT_OUT, LEVELS, SEEDS
from agentgym_envs.envs.babyai.view import look

LOW = {"turn left": 0, "turn right": 1, "move forward": 2, "pickup": 3, "drop": 4, "toggle": 5}


def start(task_id, **kwargs):
    env = gymnasium.make("agentgym/BabyAI-v0", max_episode_steps=-1, **kwargs)
    observation, info = env.reset(options={"task_id": task_id})
    return env, observation, info


def upstream(level, seed):
    env = _make_level(level)
    with contextlib.redirect_stdout(io.StringIO()):
        env.reset(seed=seed)
    return env


def room(*things, carrying=None):
    """A walled room of 9 × 9 with the agent at (4, 7), facing north."""
    level = _make_level("GoToObjS6")
    level.reset(seed=0)
    level.grid = Grid(9, 9)
    level.grid.wall_rect(0, 0, 9, 9)
    level.width = level.height = 9
    level.agent_pos, level.agent_dir, level.carrying = (4, 7), 3, carrying
    for x, y, thing in things:
        level.grid.set(x, y, thing)
    return level


def test_the_words_are_agentgyms():
    seen = look(room((3, 6, Key("grey")), (5, 6, Ball("grey"))))
    assert seen.text() == (
        "In front of you in this room, you can see several objects: There is a grey key 1 1 steps in front of you and 1 steps to "
        "your left.  There is a grey ball 1 1 steps in front of you and 1 steps to your right.  The room has walls around you. "
        "You are facing a wall 7 steps away. You are not carrying anything."
    ).replace("You are facing a wall 7 steps away. ", "")  # seven steps are out of sight


@pytest.mark.parametrize(
    ("things", "carrying", "words"),
    [
        ([(4, 5, Door("grey"))], None, "There is a grey closed door 1 right in front of you 2 steps away."),
        ([(4, 5, Door("red", is_locked=True))], None, "There is a red locked door 1 right in front of you"),
        ([(4, 5, Door("red", is_open=True))], None, "There is a red open door 1 right in front of you"),
        ([], None, "You cannot see any objects within sight. The room has walls around you. You are not"),
        ([], Key("red"), "You are carrying a red key."),
        ([(6, 7, Box("blue"))], None, "There is a blue box 1 2 steps to your right."),
    ],
)
def test_words_for_each_kind_of_sight(things, carrying, words):
    assert words in look(room(*things, carrying=carrying)).text()


def test_things_of_one_name_are_numbered_from_the_nearest():
    labels = [t.label for t in look(room((2, 3, Ball("red")), (4, 6, Ball("red")), (5, 5, Key("red")))).things]
    assert labels == ["red ball 1", "red key 1", "red ball 2"]


def test_paths_are_as_short_as_exhaustive_search_says():
    rng = random.Random(3)
    for _ in range(60):
        level = room(*[(rng.randrange(1, 8), rng.randrange(2, 7), Ball("blue")) for _ in range(8)])
        seen = look(level)
        for thing in filter(seen.can_reach, seen.things):
            path = seen.path(thing)
            reached = {(seen.position, seen.direction)}
            for _ in range(len(path)):
                assert not any(_front(*state) == thing.position for state in reached), "a shorter path exists"
                reached |= {new for state in reached for new in _steps(seen, *state)}
            for step in path:
                level.step(level.actions[step])
            assert tuple(int(v) for v in level.front_pos) == thing.position
            level.agent_pos, level.agent_dir = seen.position, seen.direction


def _front(position, direction):
    dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[direction]
    return position[0] + dx, position[1] + dy


def _steps(seen, position, direction):
    yield position, (direction + 1) % 4
    yield position, (direction - 1) % 4
    if _front(position, direction) in seen.free:
        yield _front(position, direction), direction


@pytest.mark.parametrize("task_id", ["GoToRedBall-3", "PickupLoc-2", "PutNextLocalS6N4-1", "UnlockLocalDist-5", "SynthSeq-4"])
def test_single_actions_do_what_minigrid_does(task_id):
    env, observation, _ = start(task_id)
    level, _, seed = task_id.partition("-")
    theirs = upstream(level, int(seed))
    assert observation.startswith(f"Your goal: {theirs.mission}\n")
    for action in env.unwrapped.oracle():
        _, reward, terminated, _, _info = env.step(action)
        _, upstream_reward, upstream_terminated, _, _ = theirs.step(LOW["pickup" if action.startswith("pickup") else action])
        assert (reward, terminated) == (upstream_reward, upstream_terminated)
        assert str(env.unwrapped._level) == str(theirs)
    assert terminated
    assert 0.1 < reward < 1


def test_a_macro_goes_there_and_success_ends_the_episode():
    env, observation, _ = start("GoToRedBallNoDists-1")
    while "go to red ball 1" not in observation:
        observation, *_ = env.step("turn left")
    observation, reward, terminated, _, info = env.step("go to red ball 1")
    assert observation.endswith("The task is completed.")
    assert terminated
    assert info["success"]
    assert info["score"] == reward > 0


def test_picking_up_walking_through_a_door_and_dropping():
    env, observation, _ = start("UnlockLocalDist-5")
    said = [observation]
    for action in env.unwrapped.oracle():
        said.append(env.step(action)[0])
    assert any("You are carrying a" in text for text in said)


def test_junk_never_changes_the_score():
    env, *_ = start("BossLevel-0")
    for action in ("", "dance", "go to red ball 99", "pickup the moon 1", "turn left", "check available actions", "drop", "toggle"):
        _, reward, terminated, _, info = env.step(action)
        assert (reward, terminated, info["score"]) == (0.0, False, 0.0)


@pytest.mark.parametrize(
    ("action", "answer", "invalid"),
    [
        ("dance", "The action is not recognized. Please check valid actions.", True),
        ("move forward", "There is a barrier in front of you, you can't move forward.", False),
        ("pickup red ball 1", "You cannot pickup red ball 1, as there is no path leading to it.", False),
        ("pick up red ball 1", "You cannot pickup red ball 1, as there is no path leading to it.", False),
        ("go through blue closed door 1", "You cannot go through blue closed door 1, as it is not an open door.", False),
        ("pickup blue closed door 1", "You cannot pickup blue closed door 1, as doors stay where they are.", False),
        ("toggle and go through green locked door 1", "as you do not carry its key.", False),
    ],
)
def test_refusals_say_why(action, answer, invalid):
    env, *_ = start("GoToRedBall-0")
    world = env.unwrapped
    box = [(x, y, Box("grey")) for x, y in ((3, 3), (5, 3), (3, 4), (4, 2), (5, 4), (3, 2), (5, 2), (4, 4))]
    things = [(4, 3, Ball("red")), *box, (3, 7, Door("blue")), (5, 7, Door("green", is_locked=True)), (4, 6, Key("grey"))]
    world._level = room(*things)
    world._view = look(world._level)
    observation, _, _, _, info = world.step(action)
    assert answer in observation
    assert info["invalid"] == invalid


def test_levels_families_and_seeds():
    assert len(LEVELS) == len(set(LEVELS)) == 40
    assert sum(len(levels) for levels in FAMILIES.values()) == 18
    assert {level for levels in FAMILIES.values() for level in levels} <= set(LEVELS)
    for level, seeds in LEFT_OUT.items():
        assert level in LEVELS
        assert any(set(SEEDS["test"]) - seeds), f"{level} has a held-out task"


def test_levels_left_out_of_the_door_order_are_those_that_upstream_cannot_end():
    """minigrid fails a strict sequence as soon as its first part is done: the same toggle is then judged by the second."""
    for seed in (0, 1, 2, 3, 6):
        sequence = ", then " in (mission := upstream("OpenDoorsOrderN4Debug", seed).mission) or " after you " in mission
        assert sequence == (seed in LEFT_OUT["OpenDoorsOrderN4Debug"])
