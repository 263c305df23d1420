"""Recipes, from the data file of this package or from a folder of Mojang-format recipe files.

Terms:
    item: has a name such as ``oak_planks``.
    tag: a group of items. Any member satisfies an input that names the tag.
    gatherable: an item that no recipe makes, or a tag without a craftable member. ``get`` provides
        it.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import TopologicalSorter
from importlib.resources import files
from pathlib import Path
from typing import Any

from agentgym_envs.errors import TaskError

MAX_DEPTH = 4


@dataclass(frozen=True)
class CraftingRecipe:
    """Makes ``count`` of ``result`` from ``inputs``, pairs of an item or tag and a number."""

    result: str
    count: int
    inputs: tuple[tuple[str, int], ...]

    def text(self) -> str:
        """Returns the command that carries out the recipe.

        >>> CraftingRecipe("oak_planks", 4, (("oak_logs", 1),)).text()
        'craft 4 oak planks using 1 oak logs'
        """
        inputs = ", ".join(f"{n} {show(item)}" for item, n in self.inputs)
        return f"craft {self.count} {show(self.result)} using {inputs}"


class RecipeBook:
    """A set of recipes without cycles.

    Args:
        recipes: in a fixed order. A recipe that would close a cycle is skipped.
        tags: tag -> members.
    """

    def __init__(self, recipes: Iterable[CraftingRecipe], tags: Mapping[str, Iterable[str]]):
        self.tags = {tag: tuple(sorted(members)) for tag, members in tags.items()}
        self.recipes: dict[str, list[CraftingRecipe]] = {}
        for recipe in recipes:
            if not _is_unpacking(recipe) and not self._closes_cycle(recipe):
                self.recipes.setdefault(recipe.result, []).append(recipe)
        self.tags_of: dict[str, set[str]] = {}
        for tag, members in self.tags.items():
            for item in members:
                self.tags_of.setdefault(item, set()).add(tag)

    @cached_property
    def depths(self) -> dict[str, int]:
        """Number of crafting levels above gathering, for every item and tag.

        A recipe has the depth of its deepest input plus one. An item has the depth of its
        shallowest recipe.
        """
        needs: dict[str, list[str]] = {}
        for name in [*self.recipes, *self.tags]:
            needs[name] = self._craftable_members(name) or [
                i for r in self.recipes.get(name, ()) for i, _ in r.inputs
            ]
        depths: dict[str, int] = {}
        # Inputs come before results. A recursion could exceed Python's limit on long chains.
        for name in TopologicalSorter(needs).static_order():
            depths[name] = self._depth(name, depths)
        return depths

    @cached_property
    def gatherable(self) -> frozenset[str]:
        """The items and tags that ``get`` provides."""
        named = {item for rs in self.recipes.values() for r in rs for item, _ in r.inputs} | {
            item for members in self.tags.values() for item in members
        }
        return frozenset(
            n for n in named if n not in self.recipes and not self._craftable_members(n)
        )

    @cached_property
    def trees(self) -> dict[str, tuple[CraftingRecipe, ...]]:
        """For every goal, the recipes that it can need; recipes of the goal itself come first."""
        return {goal: tuple(self._tree(goal)) for goal in self.goals}

    @cached_property
    def goals(self) -> dict[str, int]:
        """Craftable items of depth 1 to ``MAX_DEPTH`` with their depth, in the order of names."""
        return {
            item: d for item in sorted(self.recipes) if 1 <= (d := self.depths[item]) <= MAX_DEPTH
        }

    @cached_property
    def commands(self) -> dict[str, CraftingRecipe]:
        """All recipes by their commands."""
        return {recipe.text(): recipe for recipes in self.recipes.values() for recipe in recipes}

    @cached_property
    def listings(self) -> dict[str, dict[str, None]]:
        """For every goal, the commands of its tree, as an ordered set."""
        return {goal: dict.fromkeys(r.text() for r in tree) for goal, tree in self.trees.items()}

    @cached_property
    def rivals(self) -> dict[str, list[list[str]]]:
        """For every goal, the commands outside its tree that share an input with the tree.

        Each shared input has a list of commands.
        """
        users: dict[str, dict[str, None]] = {}
        for recipe in (r for recipes in self.recipes.values() for r in recipes):
            for item, _ in recipe.inputs:
                users.setdefault(item, {})[recipe.text()] = None
        rivals = {}
        for goal, tree in self.trees.items():
            used = dict.fromkeys(item for r in tree for item, _ in r.inputs)
            outside = [
                [text for text in users[item] if text not in self.listings[goal]] for item in used
            ]
            rivals[goal] = [texts for texts in outside if texts]
        return rivals

    def plan(
        self, goal: str
    ) -> list[tuple[CraftingRecipe, tuple[tuple[str, int], ...]] | tuple[str, int]]:
        """Returns the steps that make one ``goal``.

        Returns:
            First the gatherings as (item, number), then the craftings as (recipe, inputs).
        """
        steps: list[Any] = []
        self._make(goal, 1, Counter(), steps)
        gathered: Counter[str] = Counter()
        for item, number in (s for s in steps if isinstance(s[0], str)):
            gathered[item] += number
        return [*gathered.items(), *(s for s in steps if isinstance(s[0], CraftingRecipe))]

    def member(self, name: str) -> str:
        """Returns a tag's craftable member of least depth. Returns any other name unchanged."""
        members = self._craftable_members(name)
        return min(members, key=lambda m: (self.depths[m], m)) if members else name

    def best(self, item: str) -> CraftingRecipe:
        """Returns the recipe of least depth for an item."""
        return min(self.recipes[item], key=lambda r: max(self.depths[i] for i, _ in r.inputs))

    def _make(self, item: str, number: int, stock: Counter[str], steps: list[Any]) -> None:
        """Adds steps until the stock holds a number of an item."""
        missing = number - stock[item]
        if missing <= 0:
            return
        if item not in self.recipes:
            steps.append((item, missing))
            stock[item] += missing
            return
        recipe = self.best(item)
        for _ in range(-(-missing // recipe.count)):
            uses = tuple((self.member(i), n) for i, n in recipe.inputs)
            for part, n in uses:
                self._make(part, n, stock, steps)
            for part, n in uses:
                # Making a later input can use up the stock of an earlier one.
                self._make(part, n, stock, steps)
            for part, n in uses:
                stock[part] -= n
            steps.append((recipe, uses))
            stock[item] += recipe.count

    def _tree(self, goal: str) -> list[CraftingRecipe]:
        found: dict[CraftingRecipe, None] = {}
        queue = [goal]
        seen = {goal}
        while queue:
            for recipe in self.recipes.get(queue.pop(0), ()):
                found[recipe] = None
                for name, _ in recipe.inputs:
                    item = self.member(name)
                    if item not in seen:
                        seen.add(item)
                        queue.append(item)
        return list(found)

    def _craftable_members(self, name: str) -> list[str]:
        return [m for m in self.tags.get(name, ()) if m in self.recipes]

    def _depth(self, name: str, depths: dict[str, int]) -> int:
        members = self._craftable_members(name)
        if members:
            return min(depths[m] for m in members)
        return min(
            (max(depths[i] for i, _ in r.inputs) + 1 for r in self.recipes.get(name, ())), default=0
        )

    def _closes_cycle(self, recipe: CraftingRecipe) -> bool:
        """Returns whether the recipes so far need the result for one of the inputs."""
        stack, seen = [item for item, _ in recipe.inputs], set()
        while stack:
            name = stack.pop()
            if name == recipe.result:
                return True
            if name not in seen:
                seen.add(name)
                stack += self.tags.get(name, ())
                stack += [item for r in self.recipes.get(name, ()) for item, _ in r.inputs]
        return False


def show(name: str) -> str:
    """Returns a name as observations show it.

    >>> show("minecraft:dark_oak_planks")
    'dark oak planks'
    """
    return name.removeprefix("minecraft:").replace("_", " ")


@cache
def default_book() -> RecipeBook:
    """Returns the book of ``recipes.json``."""
    data = json.loads(
        files("agentgym_envs.envs.textcraft").joinpath("recipes.json").read_text(encoding="utf-8")
    )
    return RecipeBook(
        (
            CraftingRecipe(r["result"], r["count"], tuple(r["inputs"].items()))
            for r in data["recipes"]
        ),
        data["tags"],
    )


@cache
def mojang_book(folder: str) -> RecipeBook:
    """Reads the shaped and shapeless recipes of a folder of Mojang-format recipe files.

    Of an ingredient's alternatives, the first is used.

    Raises:
        TaskError: the folder has no usable recipe, or a file is not a recipe.
    """
    recipes: list[CraftingRecipe] = []
    tags: dict[str, list[str]] = {}
    for path in sorted(Path(folder).glob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            recipe = _mojang_recipe(data)
            group = _plain(data.get("group") or "")
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            IndexError,
            RecursionError,
        ) as error:
            raise TaskError(f"{path} is not a Mojang-format recipe: {error!r}") from error
        if recipe:
            recipes.append(recipe)
            if group:
                tags.setdefault(group, []).append(recipe.result)
    if not recipes:
        raise TaskError(f"recipes={folder!r} holds no shaped or shapeless recipe")
    made = {recipe.result for recipe in recipes}
    return RecipeBook(recipes, {t: m for t, m in tags.items() if t not in made})


def _mojang_recipe(data: Mapping[str, Any]) -> CraftingRecipe | None:
    kind = _plain(data.get("type", ""))
    if kind == "crafting_shaped":
        slots = [data["key"][c] for row in data["pattern"] for c in row if c != " "]
    elif kind == "crafting_shapeless":
        slots = data["ingredients"]
    else:
        return None
    inputs = Counter(_ingredient(slot) for slot in slots)
    result = data["result"]
    name, count = (
        (result, 1)
        if isinstance(result, str)
        else (result.get("item") or result["id"], result.get("count", 1))
    )
    if not inputs:
        raise ValueError("the recipe has no ingredients")
    if type(count) is not int or count < 1:
        raise ValueError(f"the result's count must be a whole number of at least 1, not {count!r}")
    return CraftingRecipe(_plain(name), count, tuple(sorted(inputs.items())))


def _ingredient(slot: Any) -> str:
    """Returns the item or tag of a slot.

    Old files hold objects. New files hold strings, with ``#`` before tags.
    """
    if isinstance(slot, list):
        slot = slot[0]
    return _plain(
        slot.removeprefix("#") if isinstance(slot, str) else slot.get("item") or slot["tag"]
    )


def _plain(name: str) -> str:
    """Returns a name in lower case without the prefix ``minecraft:``."""
    return name.lower().removeprefix("minecraft:")


def _is_unpacking(recipe: CraftingRecipe) -> bool:
    """Returns whether a recipe turns a block back into items, such as iron ingots."""
    return len(recipe.inputs) == 1 and recipe.inputs[0][0].endswith("_block")
