import json
from collections import Counter

import gymnasium
import pytest

from agentgym_envs.envs.textcraft import derive
from agentgym_envs.envs.textcraft.recipes import Book, Recipe, default_book
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
    "smelting": {"type": "minecraft:smelting", "ingredient": {"item": "minecraft:sand"}, "result": "minecraft:glass"},
}


@pytest.fixture
def mojang(tmp_path):
    for name, data in SIGN.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    return str(tmp_path)


def sign(mojang):
    tasks = gymnasium.make("agentgym/TextCraft-v1", recipes=mojang).unwrapped.task_set
    split = tasks.get("depth3-dark_oak_sign").split
    env = gymnasium.make("agentgym/TextCraft-v1", recipes=mojang, split=split)
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
        ("craft 4 stick using 2 planks", "Crafted 4 minecraft:stick"),
        ("craft 4 dark oak planks using 1 dark oak logs", "Crafted 4 minecraft:dark_oak_planks"),
        ("inventory", "Inventory: [dark oak planks] (6) [stick] (4)"),
        ("craft 3 dark oak sign using 5 dark oak planks, 1 stick", "Could not find a valid recipe for dark oak sign"),
    ]:
        observation, reward, terminated, _, info = env.step(action)
        assert (observation, reward, terminated) == (answer, 0.0, False)
    observation, reward, terminated, _, info = env.step("craft 3 dark oak sign using 6 dark oak planks, 1 stick")
    assert (observation, reward, terminated) == ("Crafted 3 minecraft:dark_oak_sign", 1.0, True)
    assert info["success"]


def test_errors_are_those_of_the_original(mojang):
    env = sign(mojang)
    for action, answer, invalid in [
        ("craft 4 stick using 2 planks", "Could not find enough items to craft minecraft:stick", False),
        ("craft 4 stick using planks", "Wrong item format: planks", True),
        ("craft 1 cake using 3 milk", "Could not find a valid recipe for cake", False),
        ("get 3 planks", "Could not find planks", False),
        ("get 0 dark oak logs", "Could not find dark oak logs", False),
        ("dance", "Could not execute dance", True),
        ("inventory", "Inventory: You are not carrying anything.", False),
    ]:
        observation, _, _, _, info = env.step(action)
        assert (observation, info["invalid"]) == (answer, invalid)


def test_members_pay_for_their_tag_and_may_be_named(mojang):
    env = sign(mojang)
    for action in ("get 1 dark oak logs", "craft 4 dark oak planks using 1 dark oak logs"):
        env.step(action)
    assert env.step("craft 4 stick using 2 dark oak planks")[0] == "Crafted 4 minecraft:stick"
    assert env.step("craft 4 stick using 1 planks, 1 dark oak planks")[0] == "Crafted 4 minecraft:stick"
    assert env.step("inventory")[0] == "Inventory: [stick] (8)"


def test_the_importer_follows_the_rules(mojang):
    book = gymnasium.make("agentgym/TextCraft-v1", recipes=mojang).unwrapped.book
    assert "iron_ingot" not in book.recipes, "a block taken apart is no recipe"
    assert "glass" not in book.recipes, "smelting is no crafting"
    assert book.recipes["stick"][0].inputs == (("planks", 2),), "the first of the alternatives"
    assert book.depths == {"dark_oak_planks": 1, "dark_oak_logs": 0, "stick": 2, "planks": 1, "dark_oak_sign": 3}


def test_cycles_are_cut_in_a_fixed_order():
    there, back = Recipe("b", 1, (("a", 9),)), Recipe("a", 9, (("b", 1),))
    assert list(Book([there, back], {}).recipes) == ["b"]
    assert list(Book([back, there], {}).recipes) == ["a"]
    assert list(Book([Recipe("x", 1, (("t", 1),)), Recipe("m", 1, (("x", 1),))], {"t": ["m"]}).recipes) == ["x"]


@pytest.mark.parametrize(
    ("files", "message"), [({}, "no shaped or shapeless"), ({"a.json": "{"}, "a.json"), ({"a.json": "[1]"}, "a.json")]
)
def test_a_folder_of_something_else_is_refused(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(TaskError, match=message):
        gymnasium.make("agentgym/TextCraft-v1", recipes=str(tmp_path))


def test_our_table_has_enough_goals_of_every_depth_in_every_split():
    counts = {}
    for split in ("train", "dev", "test"):
        env = gymnasium.make("agentgym/TextCraft-v1", split=split)
        counts[split] = Counter(env.unwrapped.task_set.get(i).difficulty for i in env.unwrapped.task_ids)
        assert set(counts[split]) == {1, 2, 3, 4}
    assert sum(sum(c.values()) for c in counts.values()) >= 500


def test_the_oracle_solves_every_task_within_the_default_horizon():
    for split in ("train", "dev", "test"):
        env = gymnasium.make("agentgym/TextCraft-v1", split=split)
        for task_id in env.unwrapped.task_ids:
            env.reset(options={"task_id": task_id})
            for action in env.unwrapped.oracle():
                *_, info = env.step(action)
            assert info["success"], task_id


def test_depth_is_the_least_number_of_layers():
    """An independent fixed point: what is reachable with k layers of crafting."""
    book = default_book()
    known = dict.fromkeys(book.gatherable, 0)
    for layer in range(1, 6):
        fresh = set()
        for recipes in book.recipes.values():
            for r in recipes:
                ready = all(any(i in known for i in (name, *book.tags.get(name, ()))) for name, _ in r.inputs)
                if ready and r.result not in known:
                    fresh.add(r.result)
        known |= dict.fromkeys(fresh, layer)
    assert {k: known[k] for k in book.goals} == book.goals


def test_the_derivation_folds_families_and_keeps_the_first_alternative(tmp_path):
    names = ["oak_planks", "birch_planks", "stick", "coal", "charcoal", "torch", "oak_slab"]
    (tmp_path / "items.json").write_text(json.dumps([{"id": i, "name": n} for i, n in enumerate(names)]))
    recipes = {
        "2": [{"inShape": [[0], [0]], "result": {"id": 2, "count": 4}}, {"inShape": [[1], [1]], "result": {"id": 2, "count": 4}}],
        "5": [{"inShape": [[3], [2]], "result": {"id": 5, "count": 4}}, {"inShape": [[4], [2]], "result": {"id": 5, "count": 4}}],
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
