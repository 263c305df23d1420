"""Household beside ALFWorld's own engine: feedback, admissible commands and the win are equal."""

import random

import pytest

from agentgym_envs.envs.household.env import goal_words, opening
from agentgym_envs.envs.household.goals import KINDS
from agentgym_envs.envs.household.plan import Planner
from agentgym_envs.envs.household.rooms import Design, furnish, goal_of
from agentgym_envs.envs.household.tasks import household_tasks
from agentgym_envs.envs.household.world import MARKS, World
from agentgym_envs.tasks import SPLITS, spread

pytestmark = [
    pytest.mark.household,
    pytest.mark.timeout(3000),
    pytest.mark.filterwarnings("ignore"),
]

PARTS, GAMES, STEPS = 24, 22, 42
"""Tests, games in each of them, and steps in each game: 528 games with 22,176 steps."""
HOSTILE = (
    *(
        "",
        " ",
        "LOOK",
        "look.",
        "go",
        "go to",
        "go to nowhere 1",
        "take",
        "put",
        "xyzzy",
        "examine",
    ),
    *(
        "open",
        "inventory please",
        "help me",
        "use",
        "a" * 3000,
        "\x00",
        "go to 家 1",
        "#look#",
        "{}",
    ),
)


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
    return [Design(*tasks.get(task_id).data["design"]) for task_id in ids[: PARTS * GAMES]]


def wild(facts, goal, rng):
    """Adds what tasks of this package do not have: the original's games can have it.

    The objects of the goal stay within reach, because the engine refuses games without a solution.
    """
    objects = [row[0] for row in facts["pickupable"]]
    receptacles = [row[0] for row in facts["receptacleatlocation"]]
    places = [row[1] for row in facts["receptacleatlocation"]]
    others = [one for one, kind in facts["objecttype"] if one in objects and kind != goal.thing]
    lost = set(rng.sample(others, len(others) // 6))
    facts["inreceptacle"] = [row for row in facts["inreceptacle"] if row[0] not in lost]
    outer = [row[0] for row in facts["isreceptacleobject"]]
    if outer:
        facts["inreceptacleobject"] += [(one, rng.choice(outer)) for one in sorted(lost)]
    for mark in MARKS:
        facts[mark] += [(one,) for one in rng.sample(objects, len(objects) // 3)]
    facts["opened"] += [row for row in facts["openable"] if rng.random() < 0.3]
    facts["inreceptacle"] += [(rng.choice(objects), rng.choice(receptacles)) for _ in range(3)]
    facts["inreceptacle"] = sorted(set(facts["inreceptacle"]))
    facts["objectatlocation"] = [
        (one, place if rng.random() < 0.8 else rng.choice(places))
        for one, place in facts["objectatlocation"]
    ]
    facts["receptacleatlocation"] = [
        (one, place if rng.random() < 0.8 else rng.choice(places))
        for one, place in facts["receptacleatlocation"]
    ]
    if rng.random() < 0.5:
        facts["atlocation"] = [("agent1", rng.choice(places))]
    if lost and rng.random() < 0.3:
        facts["holds"], facts["holdsany"] = [("agent1", min(lost))], [("agent1",)]
    facts["pickupable"] += [row for row in facts["toggleable"] if row not in facts["pickupable"]]


def chosen(world, planner, rng, mode):
    """Returns the next command: of the oracle, of a random verb, or a hostile one."""
    plan = next(planner.commands(), None)
    draw = rng.random()
    if mode == "hostile" and draw < 0.3:
        return rng.choice([*HOSTILE, *(command[:-1] for command in world.moves())])
    if plan is not None and (mode == "oracle" or draw > 0.6):
        return plan
    moves = sorted(world.moves())
    verbs = sorted({command.partition(" ")[0] for command in moves})
    verb = rng.choice(verbs)
    return rng.choice([command for command in moves if command.partition(" ")[0] == verb])


@pytest.fixture(scope="module", autouse=True)
def hurried():
    import household_engine

    household_engine.hurry()


@pytest.mark.parametrize("part", range(PARTS))
def test_the_twin_answers_like_the_engine(part):
    from household_engine import Engine

    for number, design in enumerate(designs()[part::PARTS]):
        rng = random.Random(f"{part} {number}")
        facts, goal, words = furnish(design), goal_of(design), goal_words(design)
        if number % 3 == 2:
            wild(facts, goal, rng)
        world, engine = World(facts), Engine(facts, goal, words.removesuffix("."))
        planner, mode = Planner(world, goal), ("oracle", "random", "hostile")[number % 4 % 3]
        answer, command = opening(world, words), None
        for _ in range(STEPS + 1):
            twin = answer, sorted(world.moves()), goal.met(world)
            assert twin == engine.shown(), (design.id, command)
            command = chosen(world, planner, rng, mode)
            answer = world.step(command.strip())
            engine.step(command)
