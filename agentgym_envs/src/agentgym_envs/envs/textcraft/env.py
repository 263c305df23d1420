"""``agentgym/TextCraft-v2``: gather and craft an item.

After TextCraft of ADaPT (Prasad et al., 2024).
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, command, echo
from agentgym_envs.envs.textcraft.recipes import (
    CraftingRecipe,
    RecipeBook,
    default_book,
    mojang_book,
    show,
)
from agentgym_envs.tasks import Task, TaskSet, split_of

DISTRACTORS = 10
AMOUNTS = range(1, 10)
"""Numbers of each item that ``actions`` lists for ``get``. A crafting grid has nine places."""
MAX_NUMBER = 10**6
_GET = re.compile(r"get (\d{1,7}) (.{1,100})")
_CRAFT = re.compile(r"craft (?:\d{1,7} )?(.{1,100}?) using (.{1,300})")
_PART = re.compile(r"(\d{1,7}) (.{1,100})")


class TextCraftEnv(TextEnv):
    """The agent crafts an item by recipes. Some recipes are not needed.

    Args:
        recipes: a folder of Mojang-format recipe files. The default is the table ``recipes.json``.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "Craft the goal item. The first observation lists crafting commands; some of them are not"
        " needed.\nAnswer with one action and nothing else:\nget <number> <item>: gathers an item"
        " that cannot be crafted\ncraft <number> <item> using <number> <item>, <number> <item>:"
        " crafts by one of the listed commands\ninventory: shows what you have\nWhere a command"
        " names a group, such as planks, name one item of that group instead."
    )

    tools = {
        "inventory": "inventory",
        "get": "get {number} {item}",
        "craft": "craft {number} {item} using {ingredients}",
    }

    def __init__(self, *, recipes: str | None = None, **kwargs: Any):
        self.book: RecipeBook = mojang_book(str(recipes)) if recipes else default_book()
        super().__init__(**kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns one task per goal.

        The hash of the name decides the split. The depth is the difficulty.
        """
        return _tasks(self.book)

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Lists the goal's recipes and the distractors in random order."""
        self._target: str = task.data["goal"]
        self._stock: Counter[str] = Counter()
        listed = [*self.book.listings[self._target], *self._distractors(rng)]
        rng.shuffle(listed)
        self._listed: list[CraftingRecipe] = [self.book.commands[text] for text in listed]
        commands = "\n".join(listed)
        goal = f"craft {show(self._target)}"
        return f"Crafting commands:\n{commands}\n\nGoal: {goal}.", goal

    def act(self, action: str) -> Outcome:
        """Gathers, crafts, shows the inventory, or explains why the action failed."""
        text = command(action).lower()
        if text == "inventory":
            return Outcome(self._inventory(), 0.0)
        if match := _GET.fullmatch(text):
            return self._get(int(match[1]), match[2])
        if match := _CRAFT.fullmatch(text):
            return self._craft(match[1], match[2])
        return Outcome(f"Could not execute {echo(action)}", 0.0, invalid=True)

    def actions(self) -> list[str]:
        """Returns ``inventory``, the shown commands that the inventory allows, and ``get`` actions.

        ``get`` actions cover all inputs of all shown commands that can be gathered, each in the
        same numbers. So the list does not reveal which commands or numbers the goal needs.
        """
        able = [(r, uses) for r in self._listed if (uses := self._affordable(r))]
        crafts = dict.fromkeys(CraftingRecipe(r.result, r.count, uses).text() for r, uses in able)
        items = sorted({item for r in self._listed for item, _ in r.inputs} & self.book.gatherable)
        return ["inventory", *crafts, *(f"get {n} {show(item)}" for item in items for n in AMOUNTS)]

    def oracle(self) -> Iterator[str]:
        """Yields a plan from the leaves of the recipe tree up to the goal.

        The plan ignores the inventory, so it works at any point of an episode.
        """
        for step in self.book.plan(self._target):
            if isinstance(step[0], str):
                yield f"get {step[1]} {show(step[0])}"
            else:
                recipe, uses = step
                yield CraftingRecipe(recipe.result, recipe.count, uses).text()  # type: ignore[arg-type]

    def _get(self, number: int, name: str) -> Outcome:
        item = name.replace(" ", "_")
        if item not in self.book.gatherable or not 1 <= number <= MAX_NUMBER:
            return Outcome(f"Could not find {echo(name)}", 0.0)
        self._stock[item] += number
        return Outcome(f"Got {number} {name}", 0.0)

    def _distractors(self, rng: random.Random) -> list[str]:
        """Draws commands outside the goal's tree.

        Commands that share an input with the tree come first; other commands fill the list. The
        draw takes at most ``DISTRACTORS`` commands per shared input. Without this limit, commands
        with common inputs would displace the rest.
        """
        tree = self.book.listings[self._target]
        drawn: dict[str, None] = {}
        for texts in self.book.rivals[self._target]:
            drawn |= dict.fromkeys(
                texts if len(texts) <= DISTRACTORS else rng.sample(texts, DISTRACTORS)
            )
        chosen = rng.sample(list(drawn), min(DISTRACTORS, len(drawn)))
        if missing := DISTRACTORS - len(chosen):
            texts = list(self.book.commands)
            fillers = rng.sample(texts, min(missing + len(tree) + len(drawn), len(texts)))
            chosen += [text for text in fillers if text not in tree and text not in drawn][:missing]
        return chosen

    def _craft(self, name: str, ingredients: str) -> Outcome:
        result = name.replace(" ", "_")
        supplied: list[tuple[str, int]] = []
        for part in ingredients.split(","):
            match = _PART.fullmatch(part.strip())
            if not match:
                return Outcome(f"Wrong item format: {echo(part.strip())}", 0.0, invalid=True)
            supplied.append((match[2].replace(" ", "_"), int(match[1])))
        recipe = next(
            (r for r in self.book.recipes.get(result, ()) if self._matches(r.inputs, supplied)),
            None,
        )
        if recipe is None:
            return Outcome(f"Could not find a valid recipe for {echo(name)}", 0.0)
        payment = _sum(supplied)
        if not payment <= self._stock:  # a group is never in stock
            return Outcome(f"Could not find enough items to craft minecraft:{result}", 0.0)
        self._stock -= payment
        self._stock[result] += recipe.count
        done = result == self._target
        return Outcome(
            f"Crafted {recipe.count} minecraft:{result}", float(done), done=done, success=done
        )

    def _matches(
        self, inputs: Sequence[tuple[str, int]], supplied: Sequence[tuple[str, int]]
    ) -> bool:
        """Returns whether the ingredients satisfy the inputs one to one.

        An input needs the same number of the same item. A member of a group can stand for the
        group.
        """
        if len(inputs) != len(supplied):
            return False
        if not inputs:
            return True
        (name, number), rest = inputs[0], inputs[1:]
        names = (name, *self.book.tags.get(name, ()))
        fits = [i for i, (item, n) in enumerate(supplied) if n == number and item in names]
        return any(self._matches(rest, [*supplied[:i], *supplied[i + 1 :]]) for i in fits)

    def _affordable(self, recipe: CraftingRecipe) -> tuple[tuple[str, int], ...] | None:
        """Returns the items of the stock that satisfy a recipe's inputs, with one member per group.

        Returns:
            None if the stock is too small.
        """
        uses: list[tuple[str, int]] = []
        for name, number in recipe.inputs:
            paid = _sum(uses)
            items = (name, *self.book.tags.get(name, ()))
            item = next((i for i in items if self._stock[i] - paid[i] >= number), None)
            if item is None:
                return None
            uses.append((item, number))
        return tuple(uses)

    def _inventory(self) -> str:
        items = [f"[{show(item)}] ({n})" for item, n in self._stock.items() if n]
        return "Inventory: " + (" ".join(items) if items else "You are not carrying anything.")


def _sum(parts: Iterable[tuple[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for item, number in parts:
        total[item] += number
    return total


def _tasks(book: RecipeBook) -> TaskSet:
    cached = getattr(book, "_task_set", None)
    if cached is None:
        cached = TaskSet(
            Task(
                id=f"depth{depth}-{goal}",
                split=split_of(f"textcraft {goal}", held_out=6),
                difficulty=depth,
                data={"goal": goal},
            )
            for goal, depth in book.goals.items()
        )
        book._task_set = cached  # type: ignore[attr-defined]
    return cached
