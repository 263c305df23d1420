"""LMRL-Gym's maze beside a map drawn by hand, and the games that the documentation names."""

import gymnasium
import pytest

MAP = """
#############
#.....#.....#
###.#####.###
###.#####.###
###.#####.###
###.......###
######.######
######.######
######G######
#############
"""
ROWS = MAP.strip().split("\n")
OPEN = {(r, c) for r, row in enumerate(ROWS) for c, cell in enumerate(row) if cell != "#"}
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
HELD_OUT = {"dev": {3, 10, 17}, "test": {0, 5, 12, 16, 20, 23}}


@pytest.fixture(scope="module")
def envs():
    return {s: gymnasium.make("agentgym/LMRLMaze-v0", split=s) for s in ("train", "dev", "test")}


def position(observation):
    found = observation.partition("current position is at position ")[2].partition(".")[0]
    return tuple(int(number) for number in found.split(", "))


def test_every_game_has_the_drawn_maze_and_begins_at_another_place(envs):
    begun = []
    for env, task_id in ((e, task_id) for e in envs.values() for task_id in e.unwrapped.task_ids):
        observation, _ = env.reset(options={"task_id": task_id})
        start = position(observation)
        begun.append(start)
        for direction, (down, right) in STEPS.items():
            env.reset(options={"task_id": task_id})
            there = start[0] + down, start[1] + right
            observation, reward, terminated, *_ = env.step(f"move {direction}")
            if ROWS[there[0]][there[1]] == "G":
                assert (reward, terminated) == (1.0, True)
            else:
                assert position(observation) == (there if there in OPEN else start)
    assert sorted(begun) == sorted(OPEN - {(8, 6)})
    assert len(begun) == 25


def test_the_held_out_games_are_those_of_the_readme(envs):
    for split, games in HELD_OUT.items():
        assert set(envs[split].unwrapped.task_ids) == {f"game-{game}" for game in games}
    assert len(envs["train"].unwrapped.task_ids) == 16


def test_the_51st_action_fails():
    env = gymnasium.make("agentgym/LMRLMaze-v0", split="test", max_episode_steps=-1)
    env.reset(options={"task_id": "game-0"})
    for _ in range(50):
        assert not env.step("move up")[2]
    assert env.step("move right")[1:3] == (0.0, True)
