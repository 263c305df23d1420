"""Compares TieredMaze-v0 with an independent search over the states of the game."""

import hashlib
import json
import random
from copy import deepcopy
from functools import partial

import gymnasium
import maze_search as search
import pytest
from maze_search import beside
from raised import raises

from agentgym_envs.envs.maze.tiered_tasks import TieredMazeTasks
from agentgym_envs.errors import TaskError
from agentgym_envs.wrappers.formats import FunctionCallFormat

ID = "agentgym/TieredMaze-v0"
TOOLS, VERBS = ("key", "axe", "torch"), ("unlock", "clear", "light")
MARKS = ("locked", "thicket", "dark")
RANGES = {0: (2, 3), 1: (9, 10), 2: (16, 19), 3: (24, 28)}
START = ((0, 0), frozenset(), frozenset(), False)
TASKS = TieredMazeTasks((0, 1, 2, 3))
SPLITS = ("train", "dev", "test")
SAMPLE = [
    f"tier{tier}-{split}-{n}" for tier in range(4) for split in SPLITS for n in (0, 17, 42, 99)
]


def maze_of(task_id):
    return TASKS.get(task_id).data["maze"]


def closed(maze, state):
    """The closed exits of the room: direction -> number of the barrier."""
    room, _, opened, _ = state
    return {
        d: n
        for d in maze.exits[room]
        for n, lock in enumerate(maze.locks)
        if n not in opened and {room, beside(room, d)} == {lock.near, lock.far}
    }


def here(maze, state):
    """The things and tools in the room."""
    room, held, opened, _ = state
    tools = [n for n, lock in enumerate(maze.locks) if lock.key == room and n not in held | opened]
    return [name for name, place in maze.things.items() if place == room] + [
        TOOLS[n] for n in tools
    ]


def replies(maze, state):
    """Actions that change (room, tools held, barriers opened, thing taken), with the next state.

    Written from the rules in the README, and for any order of barriers and tools.
    """
    room, held, opened, taken = state
    shut = closed(maze, state)
    for d in maze.exits[room]:
        if d not in shut:
            yield f"go {d}", (beside(room, d), held, opened, taken)
        elif shut[d] in held:
            used = {shut[d]}
            yield f"{VERBS[shut[d]]} {d}", (room, held - used, opened | used, taken)
    for name in here(maze, state):
        if name in TOOLS:
            yield f"take {name}", (room, held | {TOOLS.index(name)}, opened, taken)
        else:
            yield f"take {name}", (room, held, opened, True)


distances, shortest = (partial(each, replies) for each in (search.distances, search.shortest))


def solved_in(world):
    """Turns that the oracle needs from the current state."""
    steps = [world.step(action) for action in world.oracle()]
    assert steps[-1][-1]["success"]
    return len(steps)


def test_a_hand_worked_maze():
    #               axe           start
    #                |             ║|
    #  ── dark ── ── ▒ ── crossing ─┘└── key       ║ door, ▒ thicket
    #  |          |
    #  rope     torch
    env = gymnasium.make(ID, split="test")
    start = "Exits: north south west (locked)"
    first = env.reset(options={"task_id": "tier3-test-89"})[0]
    assert first == f"Goal: take the rope\n{start}"
    crossing, thicket = "Exits: north east west", "Exits: north east west (thicket)"
    for action, answer in [
        ("go east", f"A wall.\n{start}"),
        ("go west", f"A locked door.\n{start}"),
        ("unlock west", f"You have no key.\n{start}"),
        ("clear west", f"No thicket there.\n{start}"),
        ("light west", f"No dark passage there.\n{start}"),
        ("unlock south", f"No locked door there.\n{start}"),
        ("take key", f"No key here.\n{start}"),
        ("take axe", f"No axe here.\n{start}"),
        ("unlock door", f"Not an action: unlock door\n{start}"),
        ("take thicket", f"Not an action: take thicket\n{start}"),
        ("go south", "Exits: north east"),
        ("go east", "Exits: west\nHere: key"),
        ("take the key", "Taken: key.\nExits: west\nYou have: key"),
        ("take key", "No key here.\nExits: west\nYou have: key"),
        ("go west", "Exits: north east\nYou have: key"),
        ("go north", f"{start}\nYou have: key"),
        ("clear west", f"No thicket there.\n{start}\nYou have: key"),
        ("UNLOCK  West.", "Unlocked: west.\nExits: north south west"),
        ("unlock west", "No locked door there.\nExits: north south west"),
        ("go west", "Exits: east south"),
        ("go south", "Exits: north west"),
        ("go west", crossing),
        ("go west", thicket),
        ("clear west", f"You have no axe.\n{thicket}"),
        ("go north", "Exits: south\nHere: axe"),
        ("take axe", "Taken: axe.\nExits: south\nYou have: axe"),
        ("go south", f"{thicket}\nYou have: axe"),
        ("go west", f"A thicket.\n{thicket}\nYou have: axe"),
        ("unlock west", f"No locked door there.\n{thicket}\nYou have: axe"),
        ("clear west", "Cleared: west.\nExits: north east west"),
        ("clear west", "No thicket there.\nExits: north east west"),
        ("go west", "Exits: east south west"),
        ("go west", "Exits: east west (dark)"),
        ("light west", "You have no torch.\nExits: east west (dark)"),
        ("go east", "Exits: east south west"),
        ("go south", "Exits: north\nHere: torch"),
        ("take torch", "Taken: torch.\nExits: north\nYou have: torch"),
        ("go north", "Exits: east south west\nYou have: torch"),
        ("go west", "Exits: east west (dark)\nYou have: torch"),
        ("go west", "A dark passage.\nExits: east west (dark)\nYou have: torch"),
        ("clear west", "No thicket there.\nExits: east west (dark)\nYou have: torch"),
        ("light west", "Lit: west.\nExits: east west"),
        ("go west", "Exits: east west"),
        ("go west", "Exits: east south"),
        ("take rope", "No rope here.\nExits: east south"),
        ("go south", "Exits: north\nHere: rope"),
    ]:
        observation, reward, terminated, _, info = env.step(action)
        assert observation == answer, action
        assert (reward, terminated, info["score"], info["success"]) == (0, False, 0, False)
        assert info["invalid"] == answer.startswith("Not an action")
    assert env.step("take rope")[:3] == ("Taken: rope.", 1.0, True)
    assert env.reset(options={"task_id": "tier3-test-89"})[0] == first, "all barriers are back"
    assert env.step("unlock west")[0] == f"You have no key.\n{start}"


@pytest.mark.full
def test_the_oracle_is_shortest_and_its_turns_lie_in_the_range_of_the_tier():
    for tier, (least, most) in RANGES.items():
        turns = set()
        for split in SPLITS:
            env = gymnasium.make(ID, split=split, tiers=[tier])
            for task_id in env.unwrapped.task_ids[:15]:
                env.reset(options={"task_id": task_id})
                turns.add(solved := solved_in(env.unwrapped))
                assert solved == shortest(maze_of(task_id), START), task_id
                assert TASKS.difficulty(task_id) == tier
        assert turns == set(range(least, most + 1))


@pytest.mark.parametrize("task_id", SAMPLE)
def test_a_tier_has_its_number_of_barriers_in_a_chain(task_id):
    maze = maze_of(task_id)
    (thing,) = maze.things.values()
    assert len(maze.exits) == 20
    assert len(maze.locks) == TASKS.difficulty(task_id)
    way = solution(maze)
    reached = set()
    for n, lock in enumerate(maze.locks):
        side = rooms_with(maze, n)
        assert {lock.near, lock.key} <= side - reached, "both lie behind the previous barrier"
        assert lock.far not in side
        assert thing not in side
        assert len(side - reached) >= 3
        assert len(maze.exits[lock.key]) == 1, "the tool lies in a dead end"
        assert lock.key not in way
        reached = side
    assert len(set(maze.exits) - reached) >= 3
    assert len(maze.exits[thing]) == 1


def rooms_with(maze, opened):
    """The rooms in reach if the agent can open the first barriers only."""
    passable = {frozenset((lock.near, lock.far)) for lock in maze.locks[opened:]}
    found = [maze.start]
    for room in found:
        found += [
            there
            for there in (beside(room, d) for d in maze.exits[room])
            if there not in found and {room, there} not in passable
        ]
    return set(found)


def solution(maze):
    """The rooms between start and thing, both included: the others can be cut off."""
    (thing,) = maze.things.values()
    return {room for room in maze.exits if thing not in without(maze, room)}


def without(maze, removed):
    found = [maze.start] if maze.start != removed else []
    for room in found:
        found += [
            there
            for there in (beside(room, d) for d in maze.exits[room])
            if there not in found and there != removed
        ]
    return set(found)


@pytest.mark.parametrize("task_id", ["tier0-test-1", "tier1-test-2", "tier2-dev-3", "tier3-test-4"])
def test_walks_follow_the_rules_and_the_oracle_knows_the_way_from_anywhere(task_id):
    env = gymnasium.make(ID, max_episode_steps=-1)
    first, info = env.reset(options={"task_id": task_id})
    maze, state, rng, seen = maze_of(task_id), START, random.Random(task_id), {START}
    thing = f"take {next(iter(maze.things))}"
    assert first.splitlines() == [f"Goal: {thing.replace('take', 'take the')}", *shown(maze, state)]
    assert info["goal"] == thing.replace("take", "take the")
    for _ in range(600):
        listed, known, shut = (
            env.unwrapped.actions(),
            dict(replies(maze, state)),
            closed(maze, state),
        )
        assert sorted(listed) == sorted(
            {*known, *(f"{verb} {d}" for d in shut for verb in ("go", *VERBS))}
        )
        action = rng.choice([a for a in listed if a != thing])
        state = known.get(action, state)
        observation, reward, *_, info = env.step(action)
        assert observation.splitlines()[-len(shown(maze, state)) :] == shown(maze, state)
        assert (reward, info["score"], info["invalid"]) == (0, 0, False)
        if state not in seen:
            seen.add(state)
            assert solved_in(deepcopy(env.unwrapped)) == shortest(maze, state)
    states = {s for s in distances(maze, START) if not s[3]}
    assert seen <= states
    assert {s[1:3] for s in seen} == {s[1:3] for s in states}, "every tool and barrier was used"


def shown(maze, state):
    """The last lines of an observation."""
    room, held, _, _ = state
    shut = closed(maze, state)
    exits = [f"{d} ({MARKS[shut[d]]})" if d in shut else d for d in maze.exits[room]]
    lines = ["Exits: " + " ".join(exits), *(f"Here: {name}" for name in here(maze, state))]
    return lines + [f"You have: {TOOLS[n]}" for n in held]


def test_a_tool_call_writes_the_action_of_each_barrier():
    calls = FunctionCallFormat(gymnasium.make(ID).unwrapped.tools)
    for verb in VERBS:
        call = {"name": verb, "arguments": {"direction": "west"}}
        assert calls.parse(json.dumps(call)) == f"{verb} west"


def test_every_thing_is_a_goal_and_the_simplest_tier_has_many_layouts():
    mazes = [maze_of(f"tier0-train-{n}") for n in range(300)]
    assert {name for maze in mazes for name in maze.things} == {"lamp", "coin", "book", "rope"}
    assert len({repr(maze.exits) for maze in mazes}) == 300


@pytest.mark.parametrize(
    "tier", [0, *(pytest.param(tier, marks=pytest.mark.full) for tier in (1, 2, 3))]
)
def test_listed_mazes_differ_within_and_across_splits(tier):
    tasks = TieredMazeTasks((tier,))
    ids = [i for split in SPLITS for i in tasks.ids(split)]
    assert len(ids) == 1200
    assert len({repr(tasks.get(i).data["maze"]) for i in ids}) == len(ids)


def test_tiered_mazes_stay_what_they_are():
    """An id names the same maze for ever."""
    keys = "".join(maze_of(task_id).key() for task_id in SAMPLE)
    assert (
        hashlib.sha256(keys.encode()).hexdigest()
        == "097000c20dc4201b4cdb8132e2a5cb2a59e845d1fc1e1dcf2c2423166979072d"
    )


@pytest.mark.parametrize(
    "tiers", [(), [4], [-1], [0, 0], 2, "02", None, [True], [1.0], {0, 1}, [[0]]]
)
def test_impossible_tiers_are_refused(tiers):
    with raises(TaskError, "tiers"):
        gymnasium.make(ID, tiers=tiers)


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("locked8-test-0", "unknown task 'locked8-test-0'; an id looks like 'tier0-train-0'"),
        ("tier4-test-0", "unknown task 'tier4-test-0'"),
        ("tier٢-test-0", "unknown task"),
        ("tier2-test-100", "split 'test' of tier2 has numbers below 100"),
    ],
)
def test_unknown_tasks_are_refused(task_id, message):
    with pytest.raises(TaskError, match=message):
        gymnasium.make(ID).reset(options={"task_id": task_id})


def test_the_tiers_choose_the_tasks():
    env = gymnasium.make(ID, tiers=[2, 0])
    drawn = [env.reset(seed=s)[1]["task_id"].partition("-")[0] for s in range(40)]
    assert set(drawn) == {"tier0", "tier2"}
    assert 10 < drawn.count("tier0") < 30
