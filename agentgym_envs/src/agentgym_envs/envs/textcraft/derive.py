"""Derives ``recipes.json`` from the recipe facts of the ``minecraft-data`` package.

``minecraft-data`` is by PrismarineJS (MIT).

    python -m pip install minecraft-data==3.20.0
    python -m agentgym_envs.envs.textcraft.derive DATA recipes.json

DATA is the folder ``minecraft_data/data/data/pc/1.19`` of the installed package.

That package has one recipe per kind of wood. Here, recipes that differ only in members of a family
become one recipe with the family's name, as in the game: ``planks`` stands for any planks. Of other
alternatives, the first is kept.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

PROVENANCE = {
    "source": (
        "https://github.com/PrismarineJS/minecraft-data, data/pc/1.19/{items,recipes}.json, PyPI"
        " minecraft-data 3.20.0"
    ),
    "licence": "MIT; recipes as facts",
    "command": "python -m agentgym_envs.envs.textcraft.derive",
}
# Families, narrow ones first: (pattern of a member, name of the family).
FAMILIES = [
    (re.compile(r"(?:stripped_)?(\w+?)_(?:log|wood)"), r"\1_logs"),
    (re.compile(r"(?:stripped_)?(\w+?)_(?:stem|hyphae)"), r"\1_stems"),
    (re.compile(r"\w+_(?:logs|stems)"), "logs"),
    (re.compile(r"\w+_planks"), "planks"),
    (
        re.compile(r"(?:oak|spruce|birch|jungle|acacia|dark_oak|mangrove|crimson|warped)_slab"),
        "wooden_slabs",
    ),
    (re.compile(r"cobblestone|blackstone|cobbled_deepslate"), "stone_crafting_materials"),
    (re.compile(r"soul_sand|soul_soil"), "soul_fire_base_blocks"),
]
# Members of the other families cannot be crafted. Such a family is itself an item to gather.
CRAFTED_FAMILIES = {"planks", "wooden_slabs"}
RawRecipe = tuple[str, int, tuple[tuple[str, int], ...]]  # result, count, inputs


def read(folder: Path) -> list[RawRecipe]:
    """Returns the recipes of a ``minecraft-data`` version folder, in the order of item ids."""
    names = {item["id"]: item["name"] for item in json.loads((folder / "items.json").read_text())}
    recipes = []
    for result, variants in json.loads((folder / "recipes.json").read_text()).items():
        for variant in variants:
            slots = [
                i
                for row in variant.get("inShape", [variant.get("ingredients", [])])
                for i in row
                if i is not None
            ]
            inputs = tuple(sorted(Counter(names[i] for i in slots).items()))
            recipes.append((names[int(result)], int(variant["result"]["count"]), inputs))
    return recipes


def fold(recipes: list[RawRecipe]) -> tuple[list[RawRecipe], dict[str, set[str]]]:
    """Merges recipes that differ only within a family.

    Returns:
        The merged recipes, and the members of each family that they use.
    """
    tags: dict[str, set[str]] = {}
    for pattern, name in FAMILIES:
        merged: dict[RawRecipe, list[RawRecipe]] = {}
        for recipe in recipes:
            merged.setdefault(_rename(recipe, pattern, name), []).append(recipe)
        recipes = []
        for general, concrete in merged.items():
            members = {
                item for _, _, inputs in concrete for item, _ in inputs if pattern.fullmatch(item)
            }
            if len(concrete) == 1:
                recipes.append(concrete[0])
                continue
            recipes.append(general)
            for item in members:
                tags.setdefault(pattern.sub(name, item), set()).add(item)
    return recipes, tags


def first_alternatives(recipes: list[RawRecipe]) -> list[RawRecipe]:
    """Returns the first of each set of recipes with the same result and the same input numbers."""
    kept: dict[tuple[Any, ...], RawRecipe] = {}
    for result, count, inputs in recipes:
        kept.setdefault(
            (result, count, tuple(sorted(n for _, n in inputs))), (result, count, inputs)
        )
    return list(kept.values())


def _rename(recipe: RawRecipe, pattern: re.Pattern[str], name: str) -> RawRecipe:
    result, count, inputs = recipe
    total: Counter[str] = Counter()
    for item, n in inputs:
        total[pattern.sub(name, item) if pattern.fullmatch(item) else item] += n
    return result, count, tuple(sorted(total.items()))


def main(source: str, target: str) -> None:
    """Reads a version folder and writes the data file."""
    recipes, tags = fold(read(Path(source)))
    crafted = {t: sorted(m) for t, m in sorted(tags.items()) if t in CRAFTED_FAMILIES}
    rows = [
        {"result": result, "count": count, "inputs": dict(inputs)}
        for result, count, inputs in sorted(first_alternatives(recipes), key=lambda r: (r[0], r[2]))
    ]
    lines = ",\n".join(json.dumps(row) for row in rows)
    text = (
        f'{{"provenance": {json.dumps(PROVENANCE)},\n"tags": {json.dumps(crafted)},\n"recipes":'
        f" [\n{lines}\n]}}\n"
    )
    Path(target).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
