import random
from collections import Counter

import gymnasium
import pytest
from some import full

from agentgym_envs.envs.maze.find_repeats import find
from agentgym_envs.envs.maze.repeats import listed
from agentgym_envs.envs.maze.tasks import MazeTasks, move, path
from agentgym_envs.errors import TaskError

TASKS = MazeTasks((4, 8, 12), 2)


def maze_of(task_id):
    return TASKS.get(task_id).data["maze"]


@pytest.mark.parametrize("task_id", [*TASKS.ids("test")[::20], *TASKS.ids("train")[::300]])
def test_layouts_are_trees_whose_exits_agree(task_id):
    maze = maze_of(task_id)
    back = {"north": "south", "south": "north", "east": "west", "west": "east"}
    for room, exits in maze.exits.items():
        assert exits
        assert len(exits) <= 3
        for direction in exits:
            assert back[direction] in maze.exits[move(room, direction)]
    # A connected graph with n - 1 edges is a tree.
    assert sum(map(len, maze.exits.values())) // 2 == len(maze.exits) - 1
    reached, stack = set(), [maze.start]
    while stack:
        room = stack.pop()
        if room not in reached:
            reached.add(room)
            stack += [move(room, d) for d in maze.exits[room]]
    assert reached == set(maze.exits)
    assert len(set(maze.things.values())) == 2
    assert maze.start not in maze.things.values()


def test_the_way_is_shortest():
    maze = maze_of("rooms12-things2-test-3")
    for goal in maze.exits:
        distance = {maze.start: 0}
        frontier = [maze.start]
        for room in frontier:
            for d in maze.exits[room]:
                if (there := move(room, d)) not in distance:
                    distance[there] = distance[room] + 1
                    frontier.append(there)
        way = path(maze, maze.start, goal)
        place = maze.start
        for direction in way:
            place = move(place, direction)
        assert place == goal
        assert len(way) == distance[goal]


def seen_from_inside(maze, room=(0, 0), came=None):
    """The facts that a player can find out: exits, things in each room, and where exits lead."""
    here = tuple(thing for thing, place in maze.things.items() if place == room)
    ways = [(d, move(room, d)) for d in maze.exits[room]]
    return here, tuple(
        (d, None if there == came else seen_from_inside(maze, there, room)) for d, there in ways
    )


@pytest.mark.parametrize(
    ("rooms", "things"), [((3, 4, 6), 2), *full(((3, 4, 6, 8), 1), ((12, 16, 20), 1))]
)
def test_listed_mazes_differ_within_and_across_splits(rooms, things):
    tasks = MazeTasks(rooms, things)
    ids = [i for split in ("train", "dev", "test") for i in tasks.ids(split)]
    assert len({seen_from_inside(tasks.get(i).data["maze"]) for i in ids}) == len(ids)


def test_training_never_draws_a_held_out_maze():
    tasks = MazeTasks((4,), 1)
    held_out = {
        tasks.get(i).data["maze"].key() for split in ("dev", "test") for i in tasks.ids(split)
    }
    ids, rng = tasks.ids("train"), random.Random(0)
    drawn = {
        tasks.get(tasks.draw(rng, ids, filtered=False)).data["maze"].key() for _ in range(2000)
    }
    assert len(drawn) > 50
    assert not drawn & held_out


@pytest.mark.parametrize("kind", ["rooms3-things2", "rooms4-things1", "rooms12-things1"])
def test_the_table_of_repeats_is_the_result_of_the_search(kind):
    for split in ("train", "dev", "test"):
        assert find(kind, split, TASKS.kind(kind)[1]) == listed(kind, split)


def test_no_thing_of_a_large_maze_is_next_to_the_start():
    tasks = MazeTasks((16, 24), 1)
    mazes = [tasks.get(i).data["maze"] for i in tasks.ids("train")[::5]]
    ways = {
        rooms: [len(path(m, m.start, m.things["lamp"])) for m in mazes if len(m.exits) == rooms]
        for rooms in (16, 24)
    }
    assert (min(ways[16]), min(ways[24])) == (2, 3)


def test_things_lie_in_dead_ends_if_there_are_enough():
    """The tasks have mazes with enough dead ends and mazes with too few."""
    tasks = MazeTasks((8, 16), 3)
    enough = Counter()
    for maze in (tasks.get(i).data["maze"] for i in tasks.ids("train")[::5]):
        least = len(maze.exits) // 8
        ends = {
            room
            for room, exits in maze.exits.items()
            if len(exits) == 1 and room != maze.start and len(path(maze, maze.start, room)) >= least
        }
        places = set(maze.things.values())
        assert len(places) == 3
        enough[len(ends) >= 3] += 1
        assert len(ends) < 3 or places <= ends
    assert min(enough[True], enough[False]) > 10


def test_random_play_solves_less_than_a_third_of_the_default_mazes():
    env = gymnasium.make("agentgym/Maze-v1", split="test", admissible=True)
    solved = []
    for task_id in env.unwrapped.task_ids[::4] * 2:
        _, info = env.reset(options={"task_id": task_id})
        rng, over = random.Random(f"{task_id}{len(solved)}"), False
        while not over:
            *_, terminated, truncated, info = env.step(rng.choice(info["admissible_actions"]))
            over = terminated or truncated
        solved.append(info["success"])
    assert 0.05 < sum(solved) / len(solved) < 1 / 3


def test_small_sizes_list_fewer_mazes_and_are_drawn_as_often():
    tasks = MazeTasks((4, 16), 1)
    counts = Counter(i.partition("-")[0] for i in tasks.ids("test"))
    assert counts["rooms4"] < 15
    assert counts["rooms16"] == 100
    for split in ("train", "test"):
        ids, rng = tasks.ids(split), random.Random(1)
        drawn = [tasks.draw(rng, ids, filtered=False) for _ in range(600)]
        assert 250 < sum(i.startswith("rooms4-") for i in drawn) < 350
        assert split == "train" or set(drawn) <= set(ids)


def test_every_listed_held_out_task_is_solved_by_the_oracle():
    for split in ("dev", "test"):
        env = gymnasium.make("agentgym/Maze-v1", split=split, max_episode_steps=-1)
        for task_id in env.unwrapped.task_ids:
            env.reset(options={"task_id": task_id})
            for action in env.unwrapped.oracle():
                *_, info = env.step(action)
            assert info["success"], task_id
            assert info["score"] == 1.0


def test_a_hand_played_episode():
    env = gymnasium.make("agentgym/Maze-v1", split="test", things=2, admissible=True)
    observation, info = env.reset(options={"task_id": "rooms4-things2-test-0"})
    maze = maze_of("rooms4-things2-test-0")
    exits = maze.exits[(0, 0)]
    assert observation == f"Goal: take the lamp and the coin\nExits: {' '.join(exits)}"
    blocked = next(d for d in ("north", "east", "south", "west") if d not in exits)
    assert env.step(f"go {blocked}")[0] == f"A wall.\nExits: {' '.join(exits)}"
    assert env.step("take lamp")[0].startswith("No lamp here.")
    observation, reward, _, _, info = env.step("dance")
    assert observation.startswith("Not an action: dance")
    assert info["invalid"]
    assert reward == 0
    for direction in path(maze, (0, 0), maze.things["lamp"]):
        observation, *_, info = env.step(f"GO  {direction} ")
    assert observation.endswith("\nHere: lamp")
    assert "take lamp" in info["admissible_actions"]
    _, reward, terminated, _, info = env.step("take the lamp")
    assert (reward, terminated, info["score"], info["success"]) == (0.5, False, 0.5, False)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"rooms": 4}, r"rooms takes a list of sizes, such as rooms=\[8\], not 4"),
        ({"rooms": [4, 4]}, r"rooms=\[4, 4\] has a size twice; list each size once"),
        ({"rooms": []}, r"rooms must name at least one size, such as rooms=\[8\]"),
        ({"rooms": [2]}, "rooms must be whole numbers from 3 to 64, not 2"),
        ({"rooms": [3], "things": 3}, "things must be from 1 to 4 and fewer than the rooms, not 3"),
    ],
)
def test_sizes_that_cannot_be_are_refused(keywords, message):
    with pytest.raises(TaskError, match=message):
        MazeTasks(**{"things": 1, **keywords})


def test_training_draws_beyond_the_listed_tasks_unless_they_were_named():
    env = gymnasium.make("agentgym/Maze-v1", rooms=[4])
    drawn = {env.reset(seed=s)[1]["task_id"] for s in range(50)}
    assert len(drawn) == 50
    assert any(int(t.rpartition("-")[2]) >= 1000 for t in drawn)
    env = gymnasium.make("agentgym/Maze-v1", rooms=[4], tasks="rooms4-things1-train-[12]")
    assert {env.reset(seed=s)[1]["task_id"] for s in range(50)} == {
        "rooms4-things1-train-1",
        "rooms4-things1-train-2",
    }


@pytest.mark.parametrize(
    "kwargs",
    [
        {"rooms": [2]},
        {"rooms": []},
        {"rooms": [65]},
        {"things": 0},
        {"rooms": [4], "things": 4},
        {"rooms": ["a"]},
    ],
)
def test_impossible_sizes_are_refused(kwargs):
    with pytest.raises(TaskError):
        gymnasium.make("agentgym/Maze-v1", **kwargs)


@pytest.mark.parametrize(
    "task_id",
    [
        *(
            "rooms16-things1-test-100",
            "rooms4-things1-test-50",
            "rooms4",
            "rooms2-things1-train-1",
            "rooms٤-things1-test-1",
        ),
        *("rooms4-things1-test-03", "rooms04-things1-test-3", f"rooms{'9' * 5000}-things1-test-3"),
    ],
)
def test_unknown_tasks_are_refused(task_id):
    env = gymnasium.make("agentgym/Maze-v1")
    with pytest.raises(TaskError):
        env.reset(options={"task_id": task_id})
