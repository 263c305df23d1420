"""Household beside ALFWorld's own engine: feedback, admissible commands and the win are equal."""

import random
from importlib.resources import files

import pytest
from household_games import chosen, wild

from agentgym_envs.envs.household import derive
from agentgym_envs.envs.household.env import goal_words, opening
from agentgym_envs.envs.household.goals import KINDS
from agentgym_envs.envs.household.plan import HousePlanner
from agentgym_envs.envs.household.rooms import TaskDesign, furnish, goal_of
from agentgym_envs.envs.household.tasks import household_tasks
from agentgym_envs.envs.household.world import HouseWorld
from agentgym_envs.tasks import SPLITS, spread

pytestmark = [
    pytest.mark.household,
    pytest.mark.timeout(3000),
    pytest.mark.filterwarnings("ignore"),
]

PARTS, GAMES, STEPS = 24, 22, 42
"""Tests, games in each of them, and steps in each game: 528 games with 22,176 steps."""


def designs():
    """Returns tasks of all kinds and splits, and so of all kinds of rooms."""
    tasks = household_tasks()
    ids = [
        task_id
        for split in SPLITS
        for kind in KINDS
        for task_id in spread([i for i in tasks.ids(split) if i.startswith(kind)], 30)
    ]
    random.Random(0).shuffle(ids)
    return [TaskDesign(*tasks.get(task_id).data["design"]) for task_id in ids[: PARTS * GAMES]]


@pytest.fixture(scope="module", autouse=True)
def hurried():
    import household_engine

    household_engine.hurry()


def test_the_data_file_is_what_its_script_derives(tmp_path):
    derive.main(str(files("alfworld")), str(tmp_path / "facts.json"))
    committed = files("agentgym_envs.envs.household").joinpath("facts.json")
    assert (tmp_path / "facts.json").read_text() == committed.read_text()


@pytest.mark.parametrize("part", range(PARTS))
def test_the_twin_answers_like_the_engine(part):
    from household_engine import Engine

    for number, design in enumerate(designs()[part::PARTS]):
        rng = random.Random(f"{part} {number}")
        facts, goal, words = furnish(design), goal_of(design), goal_words(design)
        if number % 3 == 2:
            wild(facts, goal, rng)
        world, engine = HouseWorld(facts), Engine(facts, goal, words.removesuffix("."))
        planner, mode = HousePlanner(world, goal), ("oracle", "random", "hostile")[number % 4 % 3]
        answer, command = opening(world, words), None
        for _ in range(STEPS + 1):
            twin = answer, sorted(world.moves()), goal.met(world)
            assert twin == engine.shown(), (design.id, command)
            command = chosen(world, planner, rng, mode)
            answer = world.step(command.strip())
            engine.step(command)
