"""Household beside recorded games of ALFWorld's engine, the original's files, and rules by hand."""

import hashlib
import json
import random
from collections import Counter
from itertools import islice
from pathlib import Path

import gymnasium
import household_games
import pytest
from raised import raises

from agentgym_envs import registry
from agentgym_envs.envs.household.env import goal_words, opening
from agentgym_envs.envs.household.games import read_problem
from agentgym_envs.envs.household.goals import KINDS
from agentgym_envs.envs.household.plan import HousePlanner
from agentgym_envs.envs.household.rooms import TaskDesign, choices, furnish, goal_of, rooms
from agentgym_envs.envs.household.searcher import search
from agentgym_envs.envs.household.tasks import UNSEEN, household_tasks
from agentgym_envs.envs.household.world import NOTHING, HouseWorld, thing_names
from agentgym_envs.errors import ArgumentError, TaskError
from agentgym_envs.evaluate.plan import plan
from agentgym_envs.tasks import SPLITS, spread

ID = "agentgym/Household-v0"
PARTS = [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(1, 9))]
"""Each has a ninth of the tasks."""
RECORDED = json.loads(Path(__file__).with_name("household_recorded.json").read_text())


def design(task_id):
    return TaskDesign(*household_tasks().get(task_id).data["design"])


@pytest.fixture(scope="module")
def envs():
    return {split: gymnasium.make(ID, split=split) for split in SPLITS}


def begun(env, task_id):
    text, _ = env.reset(options={"task_id": task_id})
    return text


@pytest.mark.parametrize("game", RECORDED, ids=lambda game: game["words"])
def test_recorded_games_of_the_engine(game):
    facts, goal = read_problem(game["problem"])
    world = HouseWorld(facts)
    answer = opening(world, game["words"])
    for command, feedback, listed, won in game["turns"]:
        if command:
            answer = world.step(command.strip())
        assert answer == feedback
        assert [c for c in sorted(world.moves()) if not c.startswith("go to ")] == listed
        assert goal.met(world) == won


def test_the_recorded_games_have_every_command_and_three_wins():
    turns = [turn for game in RECORDED for turn in game["turns"] if turn[1] != NOTHING]
    verbs = {command.partition(" ")[0] for command, *_ in turns} - {""}
    assert verbs == {
        *("go", "open", "close", "take", "move", "examine", "use", "heat", "cool", "clean"),
        *("slice", "inventory", "look", "help"),
    }
    assert sum(any(won for *_, won in game["turns"]) for game in RECORDED) >= 3


def test_names_count_down_in_the_order_of_the_ids():
    assert thing_names(
        ["mug_bar__minus_1", "mug_bar__plus_1", "sink_bar_1_bar_sinkbasin", "agent1"]
    ) == {
        "mug_bar__minus_1": "mug 2",
        "mug_bar__plus_1": "mug 1",
        "sink_bar_1_bar_sinkbasin": "sinkbasin 1",
        "agent1": "agent1 ",
    }


def test_listed_commands_are_possible_and_others_are_not(envs):
    env = envs["train"].unwrapped
    for task_id in spread(env.task_ids, 12):
        begun(env, task_id)
        rng, known = random.Random(task_id), set()
        for _ in range(30):
            listed = env.actions()
            known |= set(listed)
            impossible = rng.choice(sorted(known - set(listed)) or ["xyzzy"])
            assert env.step(impossible)[0] == NOTHING
            assert env.actions() == listed
            text, _, done, _, info = env.step(rng.choice(listed))
            assert text != NOTHING
            assert not info["invalid"]
            if done:
                break


def test_every_object_is_at_one_place_only(envs):
    env = envs["test"].unwrapped
    for task_id in spread(env.task_ids, 12):
        begun(env, task_id)
        whole = set(env.world.types)
        rng = random.Random(task_id)
        for _ in range(60):
            env.world.step(rng.choice(env.actions()))
            placed = [o for things in env.world.contents.values() for o in things]
            assert sorted([*placed, *env.world.held]) == sorted(whole)
            assert len(env.world.held) == env.world.full <= 1


def play(env, *commands):
    return [env.step(command) for command in commands]


def test_an_episode_by_hand(envs):
    env = envs["test"]
    text = begun(env, "pick_cool_then_place_in_recep-Bowl-Shelf-10-0")
    assert text.startswith("-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room")
    assert text.endswith(" 1.\n\nYour task is to: cool some bowl and put it in shelf.")
    expected = {
        "look": "You are in the middle of a room. Looking quickly around you, you see nothing.",
        "go to fridge 1": "You arrive at fridge 1. The fridge 1 is closed.",
        "go to fridge 1 ": NOTHING,
        "take bowl 1 from fridge 1": NOTHING,
        "Open  fridge 1.": "You open the fridge 1. The fridge 1 is open. In it, you see a bowl 1.",
        "TAKE bowl 1 from fridge 1": "You pick up the bowl 1 from the fridge 1.",
        "close fridge 1": "You close the fridge 1.",
        "cool bowl 1 with fridge 1": "You cool the bowl 1 using the fridge 1.",
        "examine bowl 1": "This is a normal bowl 1. In it, you see nothing.",
        "inventory": "You are carrying: a bowl 1.",
        "move bowl 1 to fridge 1": NOTHING,
        "go to shelf 3": "You arrive at shelf 3. On the shelf 3, you see a peppershaker 2, a"
        " saltshaker 1, and a vase 1.",
    }
    steps = play(env, *expected)
    assert [text for text, *_ in steps] == list(expected.values())
    assert [n for n, (*_, info) in enumerate(steps) if info["invalid"]] == [2, 3, 10]
    text, reward, terminated, _, info = env.step("move bowl 1 to shelf 3")
    assert (text, reward, terminated) == ("You move the bowl 1 to the shelf 3.", 1.0, True)
    assert info["success"]


@pytest.mark.parametrize(
    ("marks", "text"),
    [
        ((), "There's nothing special about egg 1."),
        (("iscool",), "This is a cold egg 1."),
        (("iscool", "issliced"), "This is a cool sliced egg 1."),
        (("iscool", "isclean"), "This is a cool and clean egg 1."),
        (("ishot",), "This is a hot egg 1."),
        (("ishot", "isclean", "issliced"), "This is a hot and clean sliced egg 1."),
        (("isclean", "issliced"), "This is a clean sliced egg 1."),
        (("issliced",), "This is a sliced egg 1."),
    ],
)
def test_the_states_of_an_object(marks, text):
    world = HouseWorld(
        {
            "atlocation": [("agent1", "loc_bar_1")],
            "receptacleatlocation": [("desk_bar_1", "loc_bar_1")],
            "holds": [("agent1", "egg_bar_1")],
            "holdsany": [("agent1",)],
            "sliceable": [("egg_bar_1",)],
            **{mark: [("egg_bar_1",)] for mark in marks},
        }
    )
    assert world.step("examine egg 1") == text


def test_heat_and_cold_exclude_each_other_and_cleaning_stays():
    task = TaskDesign("pick_heat_then_place_in_recep", "Tomato", "SinkBasin", 29, 0)
    world, goal = HouseWorld(furnish(task)), goal_of(task)
    tomato = min(one for one in world.types if one.startswith("tomato"))
    world.held, world.full = {tomato}, True
    for kind, verb in (("sinkbasin", "clean"), ("fridge", "cool"), ("microwave", "heat")):
        world.step(f"go to {kind} 1")
        world.step(f"{verb} {world.names[tomato]} with {kind} 1")
    states = {mark for mark, things in world.marks.items() if tomato in things}
    assert states == {"isclean", "ishot"}
    assert not goal.met(world)
    world.contents["sink_bar_10_bar_sinkbasin"].add(tomato)
    assert goal.met(world)
    world.able["heatable"] = frozenset()
    assert not goal.met(world)


def test_look_names_what_was_taken_from_another_receptacle_at_the_same_place():
    world = HouseWorld(
        {
            "atlocation": [("agent1", "loc_bar_0")],
            "receptacleatlocation": [("desk_bar_1", "loc_bar_1"), ("shelf_bar_1", "loc_bar_1")],
            "receptacletype": [("desk_bar_1", "desktype"), ("shelf_bar_1", "shelftype")],
            "objecttype": [("pen_bar_1", "pentype")],
            "cancontain": [("desktype", "pentype"), ("shelftype", "pentype")],
            "pickupable": [("pen_bar_1",)],
            "inreceptacle": [("pen_bar_1", "desk_bar_1")],
            "objectatlocation": [("pen_bar_1", "loc_bar_1")],
        }
    )
    facing = "You are facing the desk 1, and shelf 1. Next to it, you see"
    world.step("go to desk 1")
    assert world.step("go to shelf 1") == NOTHING
    assert world.step("look") == f"{facing} nothing."
    world.step("take pen 1 from desk 1")
    world.step("move pen 1 to shelf 1")
    assert world.step("look") == f"{facing} a pen 1."
    world.step("take pen 1 from shelf 1")
    world.step("move pen 1 to desk 1")
    assert world.step("look") == f"{facing} a pen 1."


def test_the_tasks_are_those_of_the_readme():
    tasks = household_tasks()
    for split, size in (("train", 3000), ("dev", 300), ("test", 300)):
        kinds = Counter(design(task_id).kind for task_id in tasks.ids(split))
        assert kinds == dict.fromkeys(KINDS, size // 6)
        seen = {design(task_id).room for task_id in tasks.ids(split)}
        assert (seen <= UNSEEN) == (split == "test")
        assert not seen & UNSEEN or split == "test"
    assert len({design(i).room for i in tasks.ids("train")} - UNSEEN) == 108
    where: dict = {}  # kitchens have numbers below 100, then living rooms, bedrooms, bathrooms
    for task_id in tasks.ids("train"):
        where.setdefault(design(task_id).kind, set()).add(design(task_id).room // 100)
    kitchen, living, bedroom, bathroom = 0, 2, 3, 4
    assert where == {
        "pick_and_place_simple": {kitchen, living, bedroom, bathroom},
        "look_at_obj_in_light": {living, bedroom},
        "pick_clean_then_place_in_recep": {kitchen, bathroom},
        "pick_heat_then_place_in_recep": {kitchen},
        "pick_cool_then_place_in_recep": {kitchen},
        "pick_two_obj_and_place": {kitchen, living, bedroom, bathroom},
    }
    listed = "\n".join(task_id for split in SPLITS for task_id in tasks.ids(split))
    digest = hashlib.sha256(listed.encode()).hexdigest()[:16]
    assert digest == "a565314477b1d316"  # task ids never change


def test_floor_plans_are_facts_of_the_original():
    kitchen = rooms()[10]  # hand-counted in the layouts of ALFWorld: FloorPlan10
    kinds = Counter(kind for _, kind, _ in kitchen.receptacles)
    assert (kinds["Cabinet"], kinds["CounterTop"], kinds["Drawer"], kinds["Shelf"]) == (3, 3, 3, 3)
    assert len(rooms()) == 120
    assert choices("look_at_obj_in_light", rooms()[404]) == {}
    assert choices("pick_heat_then_place_in_recep", rooms()[404]) == {}


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(1, 9))]
)
def test_houses_differ_and_no_goal_is_met_at_the_start(part):
    tasks, contents = household_tasks(), set()
    for task_id in [i for split in SPLITS for i in tasks.ids(split)][part::9]:
        facts, goal = furnish(design(task_id)), goal_of(design(task_id))
        world = HouseWorld(facts)
        assert not goal.met(world)
        things = {one for one, kind in world.types.items() if kind == goal.thing}
        targets = [r for r, kind in world.kinds.items() if kind == goal.target]
        assert not things & set().union(*(world.contents.get(r, set()) for r in targets))
        contents.add(repr((goal, sorted((k, sorted(v)) for k, v in facts.items()))))
        holding = [
            r
            for r, kind in world.kinds.items()
            if (kind, goal.thing) in world.allowed and kind != goal.target
        ]
        assert tasks.difficulty(task_id) == len(holding)
    assert len(contents) == 400


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(1, 9))]
)
def test_the_oracle_solves_every_task_in_eleven_turns(envs, part):
    turns = []
    for env in envs.values():
        for task_id in env.unwrapped.task_ids[part::9]:
            begun(env, task_id)
            for action in env.unwrapped.oracle():
                *_, info = env.step(action)
                assert not info["invalid"]
            assert info["success"]
            turns.append(info["turn"])
    assert (min(turns), max(turns) <= 11) == (3, True)
    assert 6 < sum(turns) / len(turns) < 6.8


def test_the_oracle_solves_from_any_state(envs):
    env = registry.make(ID, split="train", max_episode_steps=-1)
    for task_id in spread(env.unwrapped.task_ids, 60):
        begun(env, task_id)
        rng, over = random.Random(task_id), False
        for _ in range(60):
            moves = env.unwrapped.actions()
            rest = [move for move in moves if not move.startswith("go to")]
            over = over or env.step(rng.choice(rng.choice((moves, rest))))[2]
        for action in [] if over else islice(env.unwrapped.oracle(), 20):
            *_, info = env.step(action)
        assert over or info["success"]


def test_the_oracle_ignores_receptacles_without_a_place():
    task = TaskDesign("pick_and_place_simple", "Mug", "CoffeeMachine", 10, 0)
    facts, goal = furnish(task), goal_of(task)
    facts["receptacletype"].insert(0, ("coffeemachine_bar_", "coffeemachinetype"))
    world = HouseWorld(facts)
    for command in HousePlanner(world, goal).commands():
        assert world.step(command) != NOTHING
    assert goal.met(world)


def searched(env, task_id):
    """Plays the searcher, which gets nothing but observations; returns its success and turns."""
    play = search(begun(env, task_id))
    command = next(play)
    while True:
        text, _, terminated, truncated, info = env.step(command)
        if terminated or truncated:
            return info["success"], info["turn"]
        command = play.send(text)


def test_an_expert_that_searches_solves_nearly_all_test_tasks(envs):
    env = envs["test"]
    results = [searched(env, task_id) for task_id in env.unwrapped.task_ids]
    assert sum(success for success, _ in results) == 298  # the README says so
    assert sum(turns for _, turns in results) == 3568


@pytest.fixture
def games(tmp_path):
    """A folder of games in the original's format, and the tasks that they were made from."""
    tasks, made = household_tasks(), {}
    for folder, split in (("train", "train"), ("valid_seen", "dev"), ("valid_unseen", "test")):
        for kind in KINDS:
            task_id = next(i for i in tasks.ids(split) if i.startswith(kind))
            goal = goal_of(design(task_id))
            text = household_games.game(
                furnish(design(task_id)),
                household_games.condition(goal),
                goal_words(design(task_id)).removesuffix("."),
            )
            made[f"{folder}/{task_id}/trial_1"] = task_id
            path = tmp_path / folder / task_id / "trial_1" / "game.tw-pddl"
            path.parent.mkdir(parents=True)
            path.write_text(text)
    return tmp_path, made


def test_the_originals_files_play_like_the_tasks_they_were_made_from(games, envs):
    folder, made = games
    seen = []
    for split, own in envs.items():
        env = gymnasium.make(ID, split=split, games=folder)
        for task_id in env.unwrapped.task_ids:
            seen.append(task_id)
            assert begun(env, task_id) == begun(own, made[task_id])
            for action in own.unwrapped.oracle():
                step, again = env.step(action), own.step(action)
                assert step[:4] == again[:4]
            assert step[4]["success"]
            assert step[4]["goal"] == again[4]["goal"]
    assert sorted(seen) == sorted(made)


def test_the_suite_plays_the_originals_unseen_games_by_kind(games):
    folder, made = games
    items, skipped = plan("classic", only=["household"], kwargs={"games": str(folder)})
    assert skipped == []
    unseen = {task_id for task_id in made if task_id.startswith("valid_unseen/")}
    assert {item.task_id for item in items} == unseen
    kinds = {item.family: item.task_id.split("/")[1].split("-")[0] for item in items}
    assert kinds == {
        "Pick": "pick_and_place_simple",
        "Look": "look_at_obj_in_light",
        "Clean": "pick_clean_then_place_in_recep",
        "Heat": "pick_heat_then_place_in_recep",
        "Cool": "pick_cool_then_place_in_recep",
        "Pick two": "pick_two_obj_and_place",
    }


def test_games_that_the_original_leaves_out(games):
    folder, made = games
    first = next(i for i in made if i.startswith("train"))
    unsolvable = folder / first / "game.tw-pddl"
    unsolvable.write_text(unsolvable.read_text().replace('"solvable": true', '"solvable": false'))
    for name in ("pick_and_place_with_movable_recep-Egg-Bowl-Fridge-1", "x-AppleSliced-None-y-1"):
        other = folder / "train" / name / "trial_1"
        other.mkdir(parents=True)
        (other / "game.tw-pddl").write_text("{}")
    ids = registry.make(ID, games=str(folder)).unwrapped.task_ids
    assert sorted(ids) == sorted(i for i in made if i.startswith("train") and i != first)


def changed(**changes):
    return lambda data: {**data, **changes}


def in_problem(old, new):
    return lambda data: {**data, "pddl_problem": data["pddl_problem"].replace(old, new, 1)}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda data: [], "needs the keys 'grammar' and 'pddl_problem'"),
        (changed(grammar=None), "needs the keys 'grammar' and 'pddl_problem'"),
        (changed(grammar="put {o} in/on {r}"), "no command 'move {o} to {r}'"),
        (changed(grammar="move {o} to {r}"), "the grammar's task is ''"),
        (in_problem("(:goal", "(:gaol"), "has no :goal"),
        (in_problem("(:init", "((:init"), "not one balanced expression"),
        (in_problem("(define", ")(define"), "too many closing parentheses"),
        (in_problem("(:init", "(:init (opened)"), r"fact \['opened'\] has other arguments"),
        (in_problem("(:init", "(:init (not (opened x))"), r"fact \['not'"),
        (in_problem("(:init", "(:init word"), "fact 'word' is not an expression"),
        (in_problem("(:init", "(:init (atLocation agent2 loc_bar_1)"), "2 agents in a place"),
        (
            in_problem("(:init", "(:init (objectType mug_bar_0 cuptype)"),
            "2 facts objecttype of mug_bar_0",
        ),
        (in_problem("(:goal (", "(:goal (forall (?x) (a)) ("), "'forall'"),
        (in_problem("(:goal (", "(:goal (isHot ?o) ("), "not those of one of the six kinds"),
        (
            in_problem("(inReceptacle ?o ?r)", "(inReceptacle ?o ?r) (inReceptacle ?p ?r)"),
            "not those of one of the six kinds",
        ),
        (in_problem("(:goal (", "(:goal word ("), "'word' is not a condition"),
        (in_problem("(inReceptacle ?o ?r)", "(not (inReceptacle ?o ?r))"), r"\['not', \['inrec"),
        (lambda data: "[" * 100_000, "maximum recursion depth"),
    ],
)
def test_a_malformed_game_is_an_error_that_names_the_file(tmp_path, change, what):
    task = design("pick_and_place_simple-Mug-Shelf-10-0")
    text = household_games.game(
        furnish(task), household_games.condition(goal_of(task)), "put a mug in shelf"
    )
    path = tmp_path / "train" / "one" / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    data = change(json.loads(text))
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    env = registry.make(ID, games=tmp_path)
    with pytest.raises(TaskError, match=rf"game.tw-pddl is not a game of ALFWorld 0.4: .*{what}"):
        env.reset(seed=0)


@pytest.mark.parametrize("games", [5, ["a"], b"folder"])
def test_games_must_be_a_path(games):
    with raises(ArgumentError, "games"):
        registry.make(ID, games=games)


def test_a_folder_with_the_name_of_a_game_is_no_game(tmp_path):
    (tmp_path / "train" / "game.tw-pddl").mkdir(parents=True)
    with raises(TaskError, "game.tw-pddl"):
        registry.make(ID, games=tmp_path)


def test_a_folder_without_games_and_a_file_that_is_no_json(tmp_path):
    with raises(TaskError, "game.tw-pddl", "train, valid_seen, valid_unseen"):
        registry.make(ID, games=tmp_path)
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "game.tw-pddl").write_bytes(b"\xff{")
    with raises(TaskError, "game.tw-pddl", "ALFWorld"):
        registry.make(ID, games=tmp_path).reset(seed=0)
