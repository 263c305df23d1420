import json
import random
from collections import Counter

import gymnasium
import pytest
from raised import raises

from agentgym_envs.envs.textcraft import derive
from agentgym_envs.envs.textcraft.recipes import (
    CraftingRecipe,
    RecipeBook,
    default_book,
    mojang_book,
)
from agentgym_envs.errors import TaskError

SIGN = {
    "dark_oak_planks": {
        "type": "minecraft:crafting_shapeless",
        "group": "planks",
        "ingredients": [{"tag": "minecraft:dark_oak_logs"}],
        "result": {"item": "minecraft:dark_oak_planks", "count": 4},
    },
    "dark_oak_sign": {
        "type": "minecraft:crafting_shaped",
        "pattern": ["###", "###", " X "],
        "key": {"#": {"item": "minecraft:dark_oak_planks"}, "X": {"item": "minecraft:stick"}},
        "result": {"item": "minecraft:dark_oak_sign", "count": 3},
    },
    "stick": {
        "type": "minecraft:crafting_shaped",
        "pattern": ["#", "#"],
        "key": {"#": [{"tag": "minecraft:planks"}, {"item": "minecraft:bamboo"}]},
        "result": {"id": "minecraft:stick", "count": 4},
    },
    "iron_ingot": {
        "type": "crafting_shapeless",
        "ingredients": ["minecraft:iron_block"],
        "result": {"id": "iron_ingot", "count": 9},
    },
    "smelting": {
        "type": "minecraft:smelting",
        "ingredient": {"item": "minecraft:sand"},
        "result": "minecraft:glass",
    },
}


@pytest.fixture
def mojang(tmp_path):
    for name, data in SIGN.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    return str(tmp_path)


def sign(mojang):
    tasks = gymnasium.make("agentgym/TextCraft-v2", recipes=mojang).unwrapped.task_set
    split = tasks.get("depth3-dark_oak_sign").split
    env = gymnasium.make("agentgym/TextCraft-v2", recipes=mojang, split=split)
    env.reset(options={"task_id": "depth3-dark_oak_sign"})
    return env


def test_the_published_example_plays_as_published(mojang):
    env = sign(mojang)
    observation, info = env.reset(options={"task_id": "depth3-dark_oak_sign"})
    commands, goal = observation.split("\n\n")
    assert sorted(commands.split("\n")[1:]) == [
        "craft 3 dark oak sign using 6 dark oak planks, 1 stick",
        "craft 4 dark oak planks using 1 dark oak logs",
        "craft 4 stick using 2 planks",
    ]
    assert goal == "Goal: craft dark oak sign."
    for action, answer in [
        ("get 6 dark oak planks", "Could not find dark oak planks"),
        ("get 2 dark oak logs", "Got 2 dark oak logs"),
        ("craft 4 dark oak planks using 1 dark oak logs", "Crafted 4 minecraft:dark_oak_planks"),
        ("craft 4 stick using 2 dark oak planks", "Crafted 4 minecraft:stick"),
        ("craft 4 dark oak planks using 1 dark oak logs", "Crafted 4 minecraft:dark_oak_planks"),
        ("inventory", "Inventory: [dark oak planks] (6) [stick] (4)"),
        (
            "craft 3 dark oak sign using 5 dark oak planks, 1 stick",
            "Could not find a valid recipe for dark oak sign",
        ),
    ]:
        observation, reward, terminated, _, info = env.step(action)
        assert (observation, reward, terminated) == (answer, 0.0, False)
    observation, reward, terminated, _, info = env.step(
        "craft 3 dark oak sign using 6 dark oak planks, 1 stick"
    )
    assert (observation, reward, terminated) == ("Crafted 3 minecraft:dark_oak_sign", 1.0, True)
    assert info["success"]


def test_errors_are_worded_as_in_the_original(mojang):
    env = sign(mojang)
    for action, answer, invalid in [
        (
            "craft 4 stick using 2 planks",
            "Could not find enough items to craft minecraft:stick",
            False,
        ),
        ("craft 4 stick using planks", "Wrong item format: planks", True),
        ("craft 1 cake using 3 milk", "Could not find a valid recipe for cake", False),
        ("get 3 planks", "Could not find planks", False),
        ("get 0 dark oak logs", "Could not find dark oak logs", False),
        ("get 1000001 dark oak logs", "Could not find dark oak logs", False),
        ("inventory please", "Could not execute inventory please", True),
        ("dance", "Could not execute dance", True),
        ("inventory", "Inventory: You are not carrying anything.", False),
    ]:
        observation, _, _, _, info = env.step(action)
        assert (observation, info["invalid"]) == (answer, invalid)


def test_an_unknown_recipe_comes_before_missing_items_and_case_and_full_stops_are_tolerated(mojang):
    env = sign(mojang)
    assert (
        env.step("craft 4 stick using 3 dark oak planks")[0]
        == "Could not find a valid recipe for stick"
    )
    assert env.step("GET 2  Dark Oak logs.")[0] == "Got 2 dark oak logs"


def test_one_member_stands_for_a_group_which_is_neither_named_nor_mixed():
    env = gymnasium.make("agentgym/TextCraft-v2", split="test")
    observation, _ = env.reset(options={"task_id": "depth2-beehive"})
    assert "craft 1 beehive using 3 honeycomb, 6 planks" in observation
    for wood in ("oak", "birch"):
        env.step(f"get 2 {wood} logs")
        env.step(f"craft 4 {wood} planks using 1 {wood} logs")
        assert (
            env.step(f"craft 4 {wood} planks using 1 {wood} logs")[0]
            == f"Crafted 4 minecraft:{wood}_planks"
        )
    env.step("get 3 honeycomb")
    for parts, answer in [
        ("6 planks", "Could not find enough items to craft minecraft:beehive"),
        ("3 oak planks, 3 birch planks", "Could not find a valid recipe for beehive"),
        ("3 oak planks, 3 oak planks", "Could not find a valid recipe for beehive"),
        ("6 oak planks, 1 stick", "Could not find a valid recipe for beehive"),
        ("3 oak planks, 3 planks", "Could not find a valid recipe for beehive"),
    ]:
        observation, reward, terminated, _, _ = env.step(
            f"craft 1 beehive using 3 honeycomb, {parts}"
        )
        assert (observation, reward, terminated) == (answer, 0.0, False)
    _, reward, terminated, _, info = env.step("craft 1 beehive using 6 birch planks, 3 honeycomb")
    assert (reward, terminated, info["success"]) == (1.0, True, True)


def test_a_recipe_that_takes_a_group_and_a_member_of_it_takes_two_parts():
    book = RecipeBook(
        [
            CraftingRecipe("p", 1, (("wood", 1),)),
            CraftingRecipe("q", 1, (("wood", 1),)),
            CraftingRecipe("x", 1, (("t", 2), ("q", 3))),
        ],
        {"t": "pq"},
    )
    env = gymnasium.make("agentgym/TextCraft-v2").unwrapped
    env.book = book
    assert env._matches(book.recipes["x"][0].inputs, [("q", 3), ("q", 2)])
    assert env._matches(book.recipes["x"][0].inputs, [("q", 3), ("p", 2)])
    assert not env._matches(book.recipes["x"][0].inputs, [("q", 5)])
    assert not env._matches(book.recipes["x"][0].inputs, [("p", 3), ("q", 2)])
    env._stock = Counter(q=4)
    assert env._affordable(book.recipes["x"][0]) is None
    env._stock = Counter(q=5)
    assert env._affordable(book.recipes["x"][0]) == (("q", 2), ("q", 3))


def inputs_of(command):
    return {part.split(" ", 1)[1] for part in command.partition(" using ")[2].split(", ")}


@pytest.mark.full
def test_distractors_use_what_the_goals_tree_uses_where_anything_else_does():
    """For 93 % of its goals, the original draws a distractor that shares an ingredient.

    Other recipes fill the list up to ten.
    """
    shared = total = 0
    for split in ("train", "dev", "test"):
        env = gymnasium.make("agentgym/TextCraft-v2", split=split).unwrapped
        for task_id in env.task_ids:
            observation, _ = env.reset(options={"task_id": task_id})
            commands = observation.split("\n\n")[0].split("\n")[1:]
            tree = {r.text() for r in env.book.trees[env.task.data["goal"]]}
            used = set().union(*map(inputs_of, tree))
            distractors = [c for c in commands if c not in tree]
            assert tree <= set(commands)
            assert len(distractors) == len(set(distractors)) == 10
            others = [
                r.text() for rs in env.book.recipes.values() for r in rs if r.text() not in tree
            ]
            sharing = sum(bool(inputs_of(c) & used) for c in others)
            assert sum(bool(inputs_of(c) & used) for c in distractors) >= min(10, sharing)
            shared += bool(sharing)
            total += 1
    assert total == 641
    assert shared / total > 0.92


def test_random_play_through_whole_episodes_never_raises_and_what_is_listed_works():
    rng = random.Random(5)
    crafted = 0
    for split in ("train", "dev", "test"):
        env = gymnasium.make("agentgym/TextCraft-v2", split=split).unwrapped
        for task_id in rng.sample(env.task_ids, 60):
            env.reset(options={"task_id": task_id})
            over = False
            for _ in range(60):
                action = rng.choice(env.actions())
                observation, _, over, _, info = env.step(action)
                assert not info["invalid"], action
                assert observation.startswith(
                    {"get": "Got ", "craft": "Crafted ", "inventory": "Inventory: "}[
                        action.split()[0]
                    ]
                )
                crafted += action.startswith("craft")
                if over:
                    break
    assert crafted > 500


def offered(observation, world):
    """The items that the shown commands need and that ``get`` provides."""
    named = set().union(*map(inputs_of, observation.split("\n\n")[0].split("\n")[1:]))
    return {item for item in named if world._get(1, item).text.startswith("Got")}


@pytest.mark.parametrize("task_id", ["depth1-sandstone", "depth2-beehive", "depth3-bookshelf"])
def test_the_list_offers_all_shown_items_in_the_same_numbers_and_not_those_of_the_goal(task_id):
    split = gymnasium.make("agentgym/TextCraft-v2").unwrapped.task_set.get(task_id).split
    env = gymnasium.make("agentgym/TextCraft-v2", split=split, admissible=True)
    observation, info = env.reset(options={"task_id": task_id})
    gets = [a for a in info["admissible_actions"] if a.startswith("get ")]
    items = offered(observation, env.unwrapped)
    goal_needs = {
        i for r in env.unwrapped.book.trees[env.unwrapped.task.data["goal"]] for i, _ in r.inputs
    }
    assert {item.replace(" ", "_") for item in items} - goal_needs, "distractors too"
    assert sorted(gets) == sorted(f"get {n} {item}" for item in items for n in range(1, 10))
    assert info["admissible_actions"] == ["inventory", *gets], "nothing can be crafted from nothing"


def test_the_list_offers_distractors_that_can_be_crafted():
    env = gymnasium.make("agentgym/TextCraft-v2", split="test", admissible=True)
    for task_id in ("depth1-cookie", "depth2-diamond_axe"):
        observation, _ = env.reset(options={"task_id": task_id})
        for item in sorted(offered(observation, env.unwrapped)):
            info = env.step(f"get 9 {item}")[-1]
        able = {
            c
            for c in observation.split("\n\n")[0].split("\n")[1:]
            if env.unwrapped._affordable(env.unwrapped.book.commands[c])
        }
        crafts = [a for a in info["admissible_actions"] if a.startswith("craft ")]
        assert {c.partition(" using ")[0] for c in crafts} == {
            c.partition(" using ")[0] for c in able
        }
        assert (
            len(
                able - {r.text() for r in env.unwrapped.book.trees[env.unwrapped.task.data["goal"]]}
            )
            >= 2
        )


def test_random_play_over_the_list_solves_less_than_a_third():
    env = gymnasium.make("agentgym/TextCraft-v2", split="test", admissible=True)
    solved = []
    for task_id in env.unwrapped.task_ids[::2]:
        _, info = env.reset(options={"task_id": task_id})
        rng, over = random.Random(task_id), False
        while not over:
            *_, terminated, truncated, info = env.step(rng.choice(info["admissible_actions"]))
            over = terminated or truncated
        solved.append(info["success"])
    assert sum(solved) / len(solved) < 1 / 3


def test_the_importer_follows_the_rules(mojang):
    book = gymnasium.make("agentgym/TextCraft-v2", recipes=mojang).unwrapped.book
    assert "iron_ingot" not in book.recipes, "turning a block back into items is not a recipe"
    assert "glass" not in book.recipes, "smelting is not crafting"
    assert book.recipes["stick"][0].inputs == (("planks", 2),), "the first of the alternatives"
    assert book.depths == {
        "dark_oak_planks": 1,
        "dark_oak_logs": 0,
        "stick": 2,
        "planks": 1,
        "dark_oak_sign": 3,
    }


def test_cycles_are_cut_in_a_fixed_order():
    there, back = CraftingRecipe("b", 1, (("a", 9),)), CraftingRecipe("a", 9, (("b", 1),))
    assert list(RecipeBook([there, back], {}).recipes) == ["b"]
    assert list(RecipeBook([back, there], {}).recipes) == ["a"]
    assert list(
        RecipeBook(
            [CraftingRecipe("x", 1, (("t", 1),)), CraftingRecipe("m", 1, (("x", 1),))], {"t": ["m"]}
        ).recipes
    ) == ["x"]


def shapeless(**changes):
    return json.dumps(
        {
            "type": "minecraft:crafting_shapeless",
            "ingredients": ["a"],
            "result": {"id": "b"},
            **changes,
        }
    )


def test_a_chain_of_recipes_may_be_long(tmp_path):
    for n in range(1500):
        (tmp_path / f"{n}.json").write_text(
            shapeless(ingredients=[f"i{n}"], result={"id": f"i{n + 1}"})
        )
    book = mojang_book(str(tmp_path))
    assert book.depths["i1500"] == 1500
    assert book.goals == {"i1": 1, "i2": 2, "i3": 3, "i4": 4}


def test_names_with_capitals_are_read_as_actions_are(tmp_path):
    (tmp_path / "a.json").write_text(
        shapeless(ingredients=["Minecraft:Raw_Stone"], result={"id": "mod:Fine_Stone"})
    )
    (tmp_path / "b.json").write_text(
        shapeless(ingredients=["mod:fine_stone"], result={"id": "Gem"})
    )
    env = gymnasium.make("agentgym/TextCraft-v2", recipes=str(tmp_path)).unwrapped
    for task_id in ("depth1-mod:fine_stone", "depth2-gem"):
        env.reset(options={"task_id": task_id})
        for action in env.oracle():
            *_, info = env.step(action)
        assert info["success"]


def test_a_group_that_is_called_like_an_item_is_none(tmp_path):
    (tmp_path / "a.json").write_text(shapeless(ingredients=["x"], result={"id": "a"}, group="b"))
    (tmp_path / "b.json").write_text(shapeless(ingredients=["y"], result={"id": "b"}, group="a"))
    book = mojang_book(str(tmp_path))
    assert (book.tags, book.depths["a"], book.depths["b"]) == ({}, 1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", ""),
        ("[1]", ""),
        ("[" * 100_000, "RecursionError"),
        ('{"type": ' * 100_000, "RecursionError"),
        (shapeless(ingredients=[]), "no ingredients"),
        (shapeless(type="crafting_shaped", pattern=["  ", "  "], key={}), "no ingredients"),
        (shapeless(ingredients=[[]]), ""),
        (shapeless(result={"id": "b", "count": 0}), "count must be"),
        (shapeless(result={"id": "b", "count": -4}), "count must be"),
        (shapeless(result={"id": "b", "count": "4"}), "count must be"),
        (shapeless(result={"id": "b", "count": 1.5}), "count must be"),
        (shapeless(result={"count": 1}), ""),
        (shapeless(group=7), ""),
    ],
    ids=range(13),
)
def test_a_file_that_is_no_recipe_is_named_in_one_error(tmp_path, text, message):
    (tmp_path / "fine.json").write_text(shapeless())
    (tmp_path / "wrong.json").write_text(text)
    with pytest.raises(TaskError, match=rf"wrong\.json is not a Mojang-format recipe.*{message}"):
        gymnasium.make("agentgym/TextCraft-v2", recipes=str(tmp_path))


def test_a_folder_without_recipes_or_with_a_folder_named_like_one_is_refused(tmp_path):
    with pytest.raises(TaskError, match="no shaped or shapeless"):
        gymnasium.make("agentgym/TextCraft-v2", recipes=str(tmp_path))
    (tmp_path / "folder.json").mkdir()
    with raises(TaskError, "folder.json"):
        gymnasium.make("agentgym/TextCraft-v2", recipes=str(tmp_path))


def test_our_table_has_enough_goals_of_every_depth_in_every_split():
    counts = {}
    for split in ("train", "dev", "test"):
        env = gymnasium.make("agentgym/TextCraft-v2", split=split)
        counts[split] = Counter(
            env.unwrapped.task_set.get(i).difficulty for i in env.unwrapped.task_ids
        )
        assert set(counts[split]) == {1, 2, 3, 4}
    assert sum(sum(c.values()) for c in counts.values()) >= 500


def test_the_oracle_solves_every_task_within_the_default_horizon():
    for split in ("train", "dev", "test"):
        env = gymnasium.make("agentgym/TextCraft-v2", split=split)
        for task_id in env.unwrapped.task_ids:
            env.reset(options={"task_id": task_id})
            for action in env.unwrapped.oracle():
                *_, info = env.step(action)
            assert info["success"], task_id


def test_depth_is_the_least_number_of_layers():
    """An independent fixed point: the items that k layers of crafting can reach."""
    book = default_book()
    known = dict.fromkeys(book.gatherable, 0)
    for layer in range(1, 6):
        fresh = set()
        for recipes in book.recipes.values():
            for r in recipes:
                ready = all(
                    any(i in known for i in (name, *book.tags.get(name, ())))
                    for name, _ in r.inputs
                )
                if ready and r.result not in known:
                    fresh.add(r.result)
        known |= dict.fromkeys(fresh, layer)
    assert {k: known[k] for k in book.goals} == book.goals


def test_the_derivation_folds_families_and_keeps_the_first_alternative(tmp_path):
    names = ["oak_planks", "birch_planks", "stick", "coal", "charcoal", "torch", "oak_slab"]
    (tmp_path / "items.json").write_text(
        json.dumps([{"id": i, "name": n} for i, n in enumerate(names)])
    )
    recipes = {
        "2": [
            {"inShape": [[0], [0]], "result": {"id": 2, "count": 4}},
            {"inShape": [[1], [1]], "result": {"id": 2, "count": 4}},
        ],
        "5": [
            {"inShape": [[3], [2]], "result": {"id": 5, "count": 4}},
            {"inShape": [[4], [2]], "result": {"id": 5, "count": 4}},
        ],
        "6": [{"inShape": [[0, 0, 0]], "result": {"id": 6, "count": 6}}],
    }
    (tmp_path / "recipes.json").write_text(json.dumps(recipes))
    derive.main(str(tmp_path), str(tmp_path / "out.json"))
    data = json.loads((tmp_path / "out.json").read_text())
    assert data["tags"] == {"planks": ["birch_planks", "oak_planks"]}
    assert {r["result"]: (r["count"], r["inputs"]) for r in data["recipes"]} == {
        "stick": (4, {"planks": 2}),
        "torch": (4, {"coal": 1, "stick": 1}),
        "oak_slab": (6, {"oak_planks": 3}),
    }
