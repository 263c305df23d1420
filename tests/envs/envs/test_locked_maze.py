"""Compares LockedMaze-v1 with an independent search over (room, key, door) states."""

import hashlib
import random
import re
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import permutations
from statistics import mean

import gymnasium
import maze_search as search
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maze_search import beside
from some import full

from agentgym_envs.envs.maze.locked_tasks import LockedMazeTasks, grow_locked
from agentgym_envs.envs.maze.tasks import MazeLock, grow
from agentgym_envs.errors import TaskError

ID = "agentgym/LockedMaze-v1"
SMALL = {"open": [4, 6], "locked": [8, 10]}
START = ((0, 0), False, False, False)
TASKS = LockedMazeTasks({"open": (4, 6), "locked": (6, 8, 10)})


def maze_of(task_id):
    return TASKS.get(task_id).data["maze"]


def lock_of(maze):
    return maze.locks[0] if maze.locks else None


def replies(maze, state):
    """Actions that change (room, key held, door open, thing taken), with the next state.

    Written from the rules in the README.
    """
    room, held, opened, taken = state
    lock = lock_of(maze)
    for direction in maze.exits[room]:
        there = beside(room, direction)
        if lock is None or opened or {room, there} != {lock.near, lock.far}:
            yield f"go {direction}", (there, held, opened, taken)
        elif held:
            yield f"unlock {direction}", (room, False, True, taken)
    if lock and room == lock.key and not held and not opened:
        yield "take key", (room, True, opened, taken)
    if room == maze.things["lamp"]:
        yield "take lamp", (room, held, opened, True)


distances, shortest = (partial(each, replies) for each in (search.distances, search.shortest))


def apart(maze, one, other):
    """Steps between two rooms without the lock."""
    return distances(replace(maze, locks=()), (one, *START[1:]))[other, *START[1:]]


def between(maze, one, room, other):
    """Whether a room lies on the path between two others."""
    return apart(maze, one, room) + apart(maze, room, other) == apart(maze, one, other)


def near_side(maze):
    """The rooms that are reachable without the key."""
    unopenable = replace(maze, locks=(replace(lock_of(maze), key=None),))
    return {room for room, *_ in distances(unopenable, START)}


def test_a_hand_worked_maze():
    #                      ┌── lamp
    #   start ── crossing ─║─┘
    #               └── key
    env = gymnasium.make(ID, split="test", admissible=True)
    assert env.reset(options={"task_id": "locked6-test-2"})[0] == "Goal: take the lamp\nExits: east"
    crossing = "Exits: east (locked) south west"
    for action, answer in [
        ("go north", "A wall.\nExits: east"),
        ("unlock north", "No locked door there.\nExits: east"),
        ("take key", "No key here.\nExits: east"),
        ("go east", crossing),
        ("go east", f"A locked door.\n{crossing}"),
        ("unlock east", f"You have no key.\n{crossing}"),
        ("unlock south", f"No locked door there.\n{crossing}"),
        ("unlock door", f"Not an action: unlock door\n{crossing}"),
        ("take coin", f"Not an action: take coin\n{crossing}"),
        ("go south", "Exits: north\nHere: key"),
        ("take the key", "Taken: key.\nExits: north\nYou have: key"),
        ("take key", "No key here.\nExits: north\nYou have: key"),
        (" GO  North", f"{crossing}\nYou have: key"),
        ("go east", f"A locked door.\n{crossing}\nYou have: key"),
        ("unlock west", f"No locked door there.\n{crossing}\nYou have: key"),
        ("UNLOCK  east ", "Unlocked: east.\nExits: east south west"),
        ("unlock east", "No locked door there.\nExits: east south west"),
        ("go east", "Exits: north west"),
        ("go west", "Exits: east south west"),
        ("go south", "Exits: north"),
        ("take key", "No key here.\nExits: north"),
        ("go north", "Exits: east south west"),
        ("go east", "Exits: north west"),
        ("take lamp", "No lamp here.\nExits: north west"),
        ("go north", "Exits: east south"),
        ("go east", "Exits: west\nHere: lamp"),
    ]:
        observation, reward, terminated, _, info = env.step(action)
        assert observation == answer, action
        assert (reward, terminated, info["score"], info["success"]) == (0, False, 0, False)
        assert info["invalid"] == answer.startswith("Not an action")
    assert env.step("take lamp")[:3] == ("Taken: lamp.", 1.0, True)


@settings(max_examples=150)
@given(st.integers(6, 24), st.integers(0, 2**32))
def test_every_locked_maze_needs_its_key(rooms, seed):
    maze = grow_locked(rooms, random.Random(seed))
    lock, thing = lock_of(maze), maze.things["lamp"]
    assert len(maze.exits) == rooms
    assert lock.far in [beside(lock.near, d) for d in maze.exits[lock.near]]
    assert thing not in near_side(maze)
    assert lock.far not in near_side(maze)
    assert {maze.start, lock.near, lock.key} <= near_side(maze)
    assert 3 <= len(near_side(maze)) <= rooms - 3
    assert between(maze, maze.start, lock.near, thing)
    assert between(maze, maze.start, lock.far, thing)
    assert not between(maze, maze.start, lock.key, thing)
    assert len(maze.exits[lock.key]) == len(maze.exits[thing]) == 1, "both lie in dead ends"
    assert (
        shortest(maze, START)
        == apart(maze, maze.start, lock.key) + apart(maze, lock.key, thing) + 3
    )


@settings(max_examples=80)
@given(st.integers(6, 10), st.integers(0, 2**32))
def test_thing_and_key_lie_where_the_way_is_longest(rooms, seed):
    maze = grow_locked(rooms, random.Random(seed))
    assert shortest(maze, START) == max(shortest(other, START) for other in arrangements(maze))


def arrangements(tree):
    """Every maze on this tree that follows the rules."""
    ends = [room for room, exits in tree.exits.items() if len(exits) == 1]
    for thing, key in permutations(ends, 2):
        for near, far in (
            (room, beside(room, d)) for room, exits in tree.exits.items() for d in exits
        ):
            maze = replace(tree, things={"lamp": thing}, locks=(MazeLock(near, far, key),))
            side = near_side(maze)
            fits = (
                {near, key} <= side and thing not in side and 3 <= len(side) <= len(tree.exits) - 3
            )
            if fits and not between(tree, tree.start, key, thing):
                yield maze


@pytest.mark.full
def test_the_oracle_is_shortest_on_every_listed_held_out_task():
    steps = {}
    for split in ("dev", "test"):
        env = gymnasium.make(ID, split=split, max_episode_steps=-1, open=[4, 10], locked=[8, 10])
        for task_id in env.unwrapped.task_ids:
            info = env.reset(options={"task_id": task_id})[1]
            for action in env.unwrapped.oracle():
                *_, info = env.step(action)
            assert info["success"], task_id
            assert info["turn"] == shortest(maze_of(task_id), START), task_id
            steps.setdefault(task_id.partition("-")[0], []).append(info["turn"])
    assert {len(steps[kind]) for kind in ("open10", "locked8", "locked10")} == {200}
    # The difficulty of a locked maze is about its oracle's turns.
    for name in ("locked8", "locked10"):
        assert mean(steps[name]) == pytest.approx(TASKS.get(f"{name}-test-0").difficulty, abs=0.5)
    assert mean(steps["open4"]) < 5


@pytest.mark.parametrize(
    "task_id", ["open6-test-1", "locked6-test-2", "locked8-test-5", "locked10-test-7"]
)
def test_walks_follow_the_rules_and_the_oracle_knows_the_way_from_anywhere(task_id):
    env = gymnasium.make(ID, split="test", max_episode_steps=-1)
    env.reset(options={"task_id": task_id})
    maze, state, rng, seen = maze_of(task_id), START, random.Random(task_id), {START}
    for _ in range(250):
        listed, known = env.unwrapped.actions(), dict(replies(maze, state))
        door = locked_here(maze, state)
        assert sorted(listed) == sorted(
            {*known, *(f"go {d}" for d in door), *(f"unlock {d}" for d in door)}
        )
        action = rng.choice([a for a in listed if a != "take lamp"])
        state = known.get(action, state)
        observation, *_, info = env.step(action)
        assert observation.splitlines()[-len(shown(maze, state)) :] == shown(maze, state)
        assert not info["invalid"]
        if state not in seen:
            seen.add(state)
            assert solved_in(deepcopy(env.unwrapped)) == shortest(maze, state)
    assert len(seen) == len([s for s in distances(maze, START) if not s[3]]), (
        "every state was visited"
    )


def locked_here(maze, state):
    (room, _, opened, _), lock = state, lock_of(maze)
    return [
        d
        for d in maze.exits[room]
        if lock and not opened and {room, beside(room, d)} == {lock.near, lock.far}
    ]


def solved_in(world):
    """Turns that the oracle needs from the current state."""
    steps = [world.step(action) for action in world.oracle()]
    assert steps[-1][-1]["success"]
    return len(steps)


def shown(maze, state):
    """The last lines of an observation."""
    room, held, opened, _ = state
    lines = [
        "Exits: "
        + " ".join(d + " (locked)" * (d in locked_here(maze, state)) for d in maze.exits[room])
    ]
    lines += ["Here: lamp"] * (room == maze.things["lamp"])
    lock = lock_of(maze)
    lines += ["Here: key"] * bool(lock and room == lock.key and not held and not opened)
    return lines + ["You have: key"] * held


def test_a_new_episode_begins_without_the_key_and_with_the_door_shut():
    env = gymnasium.make(ID, split="test")
    first = env.reset(options={"task_id": "locked6-test-2"})[0]
    for action in ("go east", "go south", "take key"):
        env.step(action)
    assert env.reset(options={"task_id": "locked6-test-2"})[0] == first
    for action in ("go east", "go south", "take key", "go north", "unlock east"):
        env.step(action)
    env.reset(options={"task_id": "locked6-test-2"})
    assert env.step("go east")[0] == "Exits: east (locked) south west"


def share_of_random_play(kind, plays, limit):
    """The share of a kind's first ten test mazes that random admissible actions solve."""
    env = gymnasium.make(
        ID,
        split="test",
        tasks=f"{kind}-test-?",
        admissible=True,
        max_episode_steps=limit,
        **sizes(kind),
    )
    wins = []
    for seed in range(plays):
        for task_id in env.unwrapped.task_ids:
            rng, over = random.Random(f"{task_id}:{seed}"), False
            _, info = env.reset(seed=seed, options={"task_id": task_id})
            while not over:
                _, _, terminated, truncated, info = env.step(rng.choice(info["admissible_actions"]))
                over = terminated or truncated
            wins.append(info["success"])
    return mean(wins)


def sizes(kind):
    name, rooms = re.fullmatch(r"(open|locked)(\d+)", kind).groups()
    return {"open": [], "locked": []} | {name: [int(rooms)]}


def test_random_play_solves_small_mazes_and_hardly_a_locked_one():
    assert share_of_random_play("open4", 10, 40) > 0.8
    assert 0 < share_of_random_play("locked8", 10, 40) < 0.3
    assert share_of_random_play("locked10", 10, 40) < 0.12


def test_random_play_solves_less_than_a_third_of_the_default_mazes():
    kinds = list(
        dict.fromkeys(
            i.partition("-")[0] for i in gymnasium.make(ID, split="test").unwrapped.task_ids
        )
    )
    assert kinds == ["open10", "open14", "locked10", "locked14"]
    assert mean(share_of_random_play(kind, 10, 60) for kind in kinds) < 1 / 3


def test_maze_stays_what_it_is():
    """Ids, observations, infos and rewards."""
    found = hashlib.sha256()
    for split in ("train", "dev", "test"):
        env = gymnasium.make(
            "agentgym/Maze-v1", split=split, things=2, admissible=True, rooms=[4, 8, 12, 16]
        )
        found.update(repr((env.unwrapped.instructions, env.unwrapped.task_ids)).encode())
        for name in (f"rooms8-things2-{split}-7", f"rooms16-things1-{split}-11", None):
            rows = [env.reset(seed=3, options={"task_id": name} if name else None)]
            rows += [
                env.step(a)
                for a in [
                    "go north",
                    "take lamp",
                    "take key",
                    "unlock east",
                    *env.unwrapped.oracle(),
                ]
            ]
            found.update(repr(rows).encode())
    assert found.hexdigest() == "5f94348ae66be41c24568aaa6de3ce95db34368c1e2f3426b7e4474892f83186"


def test_locked_mazes_stay_what_they_are():
    """An id names the same maze for ever."""
    keys = [
        TASKS.get(f"{kind}-{split}-7").data["maze"].key()
        for kind in ("open4", "locked10")
        for split in ("train", "dev", "test")
    ]
    assert (
        hashlib.sha256("".join(keys).encode()).hexdigest()
        == "470560342cc4bd4f400ce35c406000295acf422cbfeefcd12e181d0ef7fcea43"
    )


def test_the_same_tree_with_another_lock_is_another_maze():
    maze = maze_of("locked8-test-5")
    lock = lock_of(maze)
    others = [
        replace(maze, locks=locks)
        for locks in (
            (),
            (replace(lock, key=lock.near),),
            (MazeLock(lock.far, lock.near, lock.key),),
        )
    ]
    assert len({maze.key(), *(other.key() for other in others)}) == 4


@pytest.mark.parametrize(
    "sizes",
    [{"open": [6], "locked": [8]}, *full(SMALL, {"open": [10, 14], "locked": []})],
)
def test_listed_mazes_differ_within_and_across_splits(sizes):
    tasks = LockedMazeTasks(sizes)
    ids = [i for split in ("train", "dev", "test") for i in tasks.ids(split)]
    assert len({repr(tasks.get(i).data["maze"]) for i in ids}) == len(ids)


def test_an_open_maze_is_one_of_maze_v0():
    expected = grow(6, 1, random.Random("open6-train-3"))
    assert maze_of("open6-train-3") == expected
    assert maze_of("open6-train-3").locks == ()


def test_each_size_has_the_same_chance_and_training_is_endless():
    env = gymnasium.make(ID, **SMALL)
    drawn = [env.reset(seed=seed)[1]["task_id"] for seed in range(400)]
    assert len(set(drawn)) == 400
    assert any(int(i.rpartition("-")[2]) >= 1000 for i in drawn)
    counts = Counter(i.partition("-")[0] for i in drawn)
    assert counts.keys() == {"open4", "open6", "locked8", "locked10"}
    assert min(counts.values()) > 70
    env = gymnasium.make(ID, tasks="locked8-train-[12]", **SMALL)
    assert {env.reset(seed=seed)[1]["task_id"] for seed in range(30)} == {
        "locked8-train-1",
        "locked8-train-2",
    }


@pytest.mark.parametrize(
    ("keywords", "kinds"),
    [
        ({"open": []}, ["locked10", "locked14"]),
        ({"locked": []}, ["open10", "open14"]),
        ({"open": [20], "locked": [64]}, ["open20", "locked64"]),
    ],
)
def test_either_half_may_be_left_out(keywords, kinds):
    env = gymnasium.make(ID, split="test", **keywords)
    assert env.unwrapped.task_ids == tuple(f"{kind}-test-{n}" for kind in kinds for n in range(100))
    assert (
        env.reset(options={"task_id": f"{kinds[-1]}-test-99"})[1]["task_id"]
        == f"{kinds[-1]}-test-99"
    )


def test_difficulty_counts_rooms_and_four_for_a_lock():
    ids = ("open4-train-0", "open6-dev-1", "locked6-test-2", "locked10-train-9999")
    assert [TASKS.get(i).difficulty for i in ids] == [4, 6, 10, 14]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"open": [], "locked": []},
            r"open and locked are both empty: name at least one size, such as open=\[4\]",
        ),
        ({"open": [2]}, "open must be whole numbers from 3 to 64, not 2"),
        ({"locked": [5]}, "locked must be whole numbers from 6 to 64, not 5"),
        ({"locked": [8, 65]}, "locked must be whole numbers from 6 to 64, not 65"),
        ({"open": ["a"]}, "open must be whole numbers from 3 to 64, not 'a'"),
        ({"open": [4, 6, 4]}, r"open=\[4, 6, 4\] has a size twice; list each size once"),
        ({"open": 4}, r"open takes a list of sizes, such as open=\[8\], not 4"),
        ({"locked": "8"}, r"locked takes a list of sizes, such as locked=\[8\], not '8'"),
    ],
)
def test_impossible_sizes_are_refused(keywords, message):
    with pytest.raises(TaskError, match=f"^{message}$"):
        gymnasium.make(ID, **keywords)


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        (
            "rooms4-things1-test-0",
            "unknown task 'rooms4-things1-test-0'; an id looks like 'open10-train-0'",
        ),
        ("locked8", "unknown task 'locked8'"),
        ("locked٨-test-1", "unknown task"),
        ("locked8-test-١", "unknown task"),
        (
            "locked8-test-100",
            "unknown task 'locked8-test-100'; split 'test' of locked8 has numbers below 100",
        ),
        ("locked5-train-1", "locked must be whole numbers from 6 to 64, not 5"),
        ("open65-train-1", "open must be whole numbers from 3 to 64, not 65"),
    ],
)
def test_unknown_tasks_are_refused(task_id, message):
    with pytest.raises(TaskError, match=message):
        gymnasium.make(ID).reset(options={"task_id": task_id})
