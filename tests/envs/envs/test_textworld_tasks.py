"""Games of the challenges: layouts differ, goals hide the solution, quests fit the map."""

from collections import defaultdict
from functools import cache

import gymnasium
import pytest
from raised import raises

from agentgym_envs.envs.textworld import layouts
from agentgym_envs.tasks import SPLITS

textworld = pytest.importorskip(
    "textworld", reason="the tox environments install the extra; a run without it tests the rest"
)

from agentgym_envs.envs.textworld import generate  # noqa: E402  (imports TextWorld)

WAYS = {"north", "south", "east", "west"}


@pytest.fixture
def uncompiled(monkeypatch):
    """Generates games in this process without compiling them. Reads TextWorld's rules once."""
    from textworld.generator.data import KnowledgeBase
    from textworld.generator.maker import GameMaker

    monkeypatch.setattr(KnowledgeBase, "load", cache(KnowledgeBase.load))
    monkeypatch.setattr(GameMaker, "set_walkthrough", lambda self, commands: None)
    return lambda challenge, settings, seed: generate._generate(challenge, settings, seed)[0]


def rooms(game):
    """Returns the exits of the player's room, those of the rooms behind, and the coin's room."""
    facts = {(fact.name.removesuffix("_of"), *fact.names) for fact in game.world.facts}
    behind = defaultdict(dict)
    for way, room, other in (fact for fact in facts if fact[0] in WAYS):
        behind[other][way] = room
    at = {fact[1]: fact[2] for fact in facts if fact[0] == "at"}
    coin = next(place for who, place in at.items() if who.startswith("o"))

    def tree(room, came_from):
        return (
            room == coin,
            *sorted((way, tree(r, room)) for way, r in behind[room].items() if r != came_from),
        )

    return tree(at["P"], None)


def groups(numbers, of):
    """Returns the sets of numbers that share a value."""
    shared = defaultdict(set)
    for number in numbers:
        shared[of(number)].add(number)
    return {frozenset(group) for group in shared.values()}


@pytest.mark.full
@pytest.mark.parametrize(
    ("level", "seeds"),
    [(4, 15), (4, 40), (103, 25), (203, 25)],
)
def test_seeds_of_coin_collectors_share_a_layout_as_their_games_do(uncompiled, level, seeds):
    ours = groups(range(seeds), lambda seed: layouts.coin_layout(level, seed))
    theirs = groups(
        range(seeds), lambda seed: rooms(uncompiled("tw-coin_collector", {"level": level}, seed))
    )
    assert ours == theirs
    assert level != 4 or len(ours) < seeds, "some seeds share a layout"


@pytest.mark.full
@pytest.mark.parametrize("seeds", [3, pytest.param(12, marks=pytest.mark.full)])
def test_seeds_of_simple_games_give_the_layouts_of_their_games(uncompiled, seeds):
    """The names are shuffled over the foods, which are numbered by their places."""
    kinds = ["apple", "milk", "half of a bag of chips", "tomato plant", "bell pepper", "lettuce"]
    settings = {"rewards": "sparse", "goal": "brief", "test": False}
    for seed in range(seeds):
        game = uncompiled("tw-simple", settings, seed)
        foods = sorted((info.id, info.name) for info in game.infos.values() if info.type == "f")
        dinner = next(
            f
            for q in game.quests
            for e in q.win_events
            for f in e.condition.preconditions
            if f.name == "on"
        ).names[0]
        drawer = next(info.id for info in game.infos.values() if info.name == "chest drawer")
        key = next(
            fact.names[1]
            for fact in game.world.facts
            if fact.name == "in" and fact.names[0].startswith("k")
        )
        names, in_drawer, food = layouts.simple_layout(seed)
        assert [kinds[n] for n in names] == [name for _, name in foods]
        assert (in_drawer, f"f_{food}") == (key == drawer, dinner)


@pytest.mark.parametrize("level", [2, 5, 102, 201, 204, 210])
def test_coin_collectors_list_every_layout_once(level):
    worlds = [
        gymnasium.make("agentgym/TWCoinCollector-v1", split=split, level=level).unwrapped
        for split in SPLITS
    ]
    ids = [i for world in worlds for i in world.task_ids]
    maps = {layouts.coin_layout(level, worlds[0].task_set.get(i).data["seed"]) for i in ids}
    possible = {2: 4, 5: 108, 102: 36, 201: 6, 204: 324, 210: 236_196}[level]
    assert len(ids) == len(maps) == min(possible, 1200)
    assert all(len(world.task_ids) == max(len(ids) // 12, 1) for world in worlds[1:])


def test_simple_games_list_every_layout_once():
    worlds = [gymnasium.make("agentgym/TWSimple-v1", split=split).unwrapped for split in SPLITS]
    maps = {
        layouts.simple_layout(world.task_set.get(i).data["seed"])
        for world in worlds
        for i in world.task_ids
    }
    assert len(maps) == 1200


@pytest.mark.parametrize("env_id", ["agentgym/TWTreasureHunter-v1", "agentgym/TWCooking-v1"])
def test_other_challenges_list_every_seed_once(env_id):
    worlds = [gymnasium.make(env_id, split=split).unwrapped for split in SPLITS]
    assert len({world.options(i).seed for world in worlds for i in world.task_ids}) == 1200


def test_a_goal_changes_the_text_and_not_the_game(uncompiled):
    worlds = [
        gymnasium.make("agentgym/TWTreasureHunter-v1", level=1, goal=goal).unwrapped
        for goal in ("brief", "detailed")
    ]
    assert worlds[0].task_ids == worlds[1].task_ids
    brief, detailed = (world.options(world.task_ids[0]) for world in worlds)
    assert brief.seed == detailed.seed
    assert brief.key() != detailed.key()
    objectives = []
    for options in (brief, detailed):
        game = uncompiled(options.challenge, dict(options.settings), options.seed)
        generate.set_goal(game, options.challenge, dict(options.settings)["goal"])
        objectives.append(game.objective)
    assert objectives[0].startswith("Find the ")
    assert not WAYS & set(objectives[0].split())
    assert "First" in objectives[1] or "Your" in objectives[1]


def test_a_quest_that_a_map_has_no_room_for_gets_the_next_seed(monkeypatch):
    tried = []

    def make(settings, options):
        tried.append(options.seeds["map"])
        if len(tried) < settings["after"]:
            raise generate.QuestGenerationError("no room")
        return "a game"

    monkeypatch.setitem(generate.CHALLENGES, "tw-test", ("", make, None))
    assert generate._generate("tw-test", {"after": 3}, 7)[0] == "a game"
    assert tried == [7, 1_000_010, 2_000_013]
    tried.clear()
    with raises(generate.QuestGenerationError, "no room"):
        generate._generate("tw-test", {"after": 100}, 7)
    assert len(tried) == generate.ATTEMPTS


@pytest.mark.full
@pytest.mark.slow
def test_a_wrong_food_on_the_stove_loses_a_simple_game():
    env = gymnasium.make("agentgym/TWSimple-v1", split="dev", admissible=True)
    _, info = env.reset(options={"task_id": env.unwrapped.task_ids[0]})
    assert "Any other food" in info["goal"]
    for action in env.unwrapped.oracle():
        env.step(action)
        if action == "go east":
            break
    env.step("open refrigerator")
    info = env.step("look")[4]
    taken = [
        a
        for a in info["admissible_actions"]
        if a.startswith("take ") and a.endswith(" from refrigerator")
    ]
    food = next(
        f
        for f in (a.removeprefix("take ").removesuffix(" from refrigerator") for a in taken)
        if f not in info["goal"]
    )
    env.step(f"take {food} from refrigerator")
    observation, _, terminated, _, info = env.step(f"put {food} on stove")
    assert (terminated, info["success"]) == (True, False)
    assert "You lost" in observation
    env.close()
