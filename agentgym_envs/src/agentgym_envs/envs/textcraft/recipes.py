"""Recipes: what can be crafted from what. Reads our data file or a folder of Mojang-format recipe files.

Terms: an *item* has a name such as ``oak_planks``. A *tag* is a name that any of its members satisfies. What no recipe makes
is *gathered* with ``get``; so is a tag without a craftable member.
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
class Recipe:
    """``count`` of ``result`` from exactly ``inputs``, pairs of an item or tag and a number."""

    result: str
    count: int
    inputs: tuple[tuple[str, int], ...]

    def text(self) -> str:
        """Returns the recipe as the command that carries it out."""
        inputs = ", ".join(f"{n} {show(item)}" for item, n in self.inputs)
        return f"craft {self.count} {show(self.result)} using {inputs}"


class Book:
    """A set of recipes without cycles.

    Args:
        recipes: in a fixed order; one that would close a cycle is skipped.
        tags: members of each tag.
    """

    def __init__(self, recipes: Iterable[Recipe], tags: Mapping[str, Iterable[str]]):
        self.tags = {tag: tuple(sorted(members)) for tag, members in tags.items()}
        self.recipes: dict[str, list[Recipe]] = {}
        for recipe in recipes:
            if not _is_unpacking(recipe) and not self._closes_cycle(recipe):
                self.recipes.setdefault(recipe.result, []).append(recipe)
        self.tags_of: dict[str, set[str]] = {}
        for tag, members in self.tags.items():
            for item in members:
                self.tags_of.setdefault(item, set()).add(tag)

    @cached_property
    def depths(self) -> dict[str, int]:
        """Crafting steps that lie above gathering, for every item and tag: the least over recipes of the most over inputs."""
        needs: dict[str, list[str]] = {}
        for name in [*self.recipes, *self.tags]:
            needs[name] = self._craftable_members(name) or [i for r in self.recipes.get(name, ()) for i, _ in r.inputs]
        depths: dict[str, int] = {}
        for name in TopologicalSorter(needs).static_order():  # what others need first; a recursion would follow a chain too deep
            depths[name] = self._depth(name, depths)
        return depths

    @cached_property
    def gatherable(self) -> frozenset[str]:
        """What ``get`` works for."""
        named = {item for rs in self.recipes.values() for r in rs for item, _ in r.inputs} | {
            item for members in self.tags.values() for item in members
        }
        return frozenset(n for n in named if n not in self.recipes and not self._craftable_members(n))

    @cached_property
    def trees(self) -> dict[str, tuple[Recipe, ...]]:
        """For every goal the recipes that may be needed for it, itself first."""
        return {goal: tuple(self._tree(goal)) for goal in self.goals}

    @cached_property
    def goals(self) -> dict[str, int]:
        """Craftable items of depth 1 to ``MAX_DEPTH``, with their depth, by name."""
        return {item: d for item in sorted(self.recipes) if 1 <= (d := self.depths[item]) <= MAX_DEPTH}

    @cached_property
    def commands(self) -> dict[str, Recipe]:
        """All recipes by their commands."""
        return {recipe.text(): recipe for recipes in self.recipes.values() for recipe in recipes}

    @cached_property
    def listings(self) -> dict[str, dict[str, None]]:
        """The commands of each goal's tree, in order and quick to look up."""
        return {goal: dict.fromkeys(r.text() for r in tree) for goal, tree in self.trees.items()}

    @cached_property
    def rivals(self) -> dict[str, list[list[str]]]:
        """For every goal, and every item or tag that its tree uses, the commands outside the tree that use it as well."""
        users: dict[str, dict[str, None]] = {}
        for recipe in (r for recipes in self.recipes.values() for r in recipes):
            for item, _ in recipe.inputs:
                users.setdefault(item, {})[recipe.text()] = None
        rivals = {}
        for goal, tree in self.trees.items():
            used = dict.fromkeys(item for r in tree for item, _ in r.inputs)
            others = [[text for text in users[item] if text not in self.listings[goal]] for item in used]
            rivals[goal] = [texts for texts in others if texts]
        return rivals

    def plan(self, goal: str) -> list[tuple[Recipe, tuple[tuple[str, int], ...]] | tuple[str, int]]:
        """Returns steps to one of ``goal``: first gatherings (item, number), then craftings (recipe, what to use)."""
        steps: list[Any] = []
        self._make(goal, 1, Counter(), steps)
        gathered: Counter[str] = Counter()
        for item, number in (s for s in steps if isinstance(s[0], str)):
            gathered[item] += number
        return [*gathered.items(), *(s for s in steps if isinstance(s[0], Recipe))]

    def member(self, name: str) -> str:
        """Returns the item that stands for a tag: its craftable member of least depth; other names stand for themselves."""
        members = self._craftable_members(name)
        return min(members, key=lambda m: (self.depths[m], m)) if members else name

    def best(self, item: str) -> Recipe:
        """Returns the recipe of least depth."""
        return min(self.recipes[item], key=lambda r: max(self.depths[i] for i, _ in r.inputs))

    def _make(self, item: str, number: int, stock: Counter[str], steps: list[Any]) -> None:
        """Brings the stock of an item up to a number."""
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
                # A later input may have used up an earlier one's stock.
                self._make(part, n, stock, steps)
            for part, n in uses:
                stock[part] -= n
            steps.append((recipe, uses))
            stock[item] += recipe.count

    def _tree(self, goal: str) -> list[Recipe]:
        found: dict[Recipe, None] = {}
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
        return min((max(depths[i] for i, _ in r.inputs) + 1 for r in self.recipes.get(name, ())), default=0)

    def _closes_cycle(self, recipe: Recipe) -> bool:
        """Says whether the result is needed, through any recipe so far, for one of the recipe's own inputs."""
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
    """Returns a name as it is read: ``dark_oak_planks`` → ``dark oak planks``."""
    return name.removeprefix("minecraft:").replace("_", " ")


@cache
def default_book() -> Book:
    """Returns the book of our own data file."""
    data = json.loads(files("agentgym_envs.envs.textcraft").joinpath("recipes.json").read_text(encoding="utf-8"))
    return Book((Recipe(r["result"], r["count"], tuple(r["inputs"].items())) for r in data["recipes"]), data["tags"])


@cache
def mojang_book(folder: str) -> Book:
    """Reads a folder of Mojang-format recipe files: shaped and shapeless recipes, the first of each ingredient's alternatives.

    Raises:
        TaskError: the folder has no usable recipe, or a file is not what it should be.
    """
    recipes: list[Recipe] = []
    tags: dict[str, list[str]] = {}
    for path in sorted(Path(folder).glob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            recipe = _mojang_recipe(data)
            group = _plain(data.get("group") or "")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
            raise TaskError(f"{path} is not a Mojang-format recipe: {error!r}") from error
        if recipe:
            recipes.append(recipe)
            if group:
                tags.setdefault(group, []).append(recipe.result)
    if not recipes:
        raise TaskError(f"recipes={folder!r} holds no shaped or shapeless recipe")
    made = {recipe.result for recipe in recipes}
    return Book(recipes, {t: m for t, m in tags.items() if t not in made})


def _mojang_recipe(data: Mapping[str, Any]) -> Recipe | None:
    kind = _plain(data.get("type", ""))
    if kind == "crafting_shaped":
        slots = [data["key"][c] for row in data["pattern"] for c in row if c != " "]
    elif kind == "crafting_shapeless":
        slots = data["ingredients"]
    else:
        return None
    inputs = Counter(_ingredient(slot) for slot in slots)
    result = data["result"]
    name, count = (result, 1) if isinstance(result, str) else (result.get("item") or result["id"], result.get("count", 1))
    if not inputs:
        raise ValueError("it has no ingredients")
    if type(count) is not int or count < 1:
        raise ValueError(f"its count must be a number from 1 up, not {count!r}")
    return Recipe(_plain(name), count, tuple(sorted(inputs.items())))


def _ingredient(slot: Any) -> str:
    """Returns the item or tag of a slot, in the old form (objects) or the new one (strings, ``#`` before tags)."""
    if isinstance(slot, list):
        slot = slot[0]
    return _plain(slot.removeprefix("#") if isinstance(slot, str) else slot.get("item") or slot["tag"])


def _plain(name: str) -> str:
    """Returns a name without our namespace, in lower case, as actions are read."""
    return name.lower().removeprefix("minecraft:")


def _is_unpacking(recipe: Recipe) -> bool:
    """A block taken apart again, as in nine iron ingots from an iron block."""
    return len(recipe.inputs) == 1 and recipe.inputs[0][0].endswith("_block")
