"""Reads WebShop's own files of products and instructions.

- ``items_shuffle*.json``: the products, a JSON list.
- ``items_ins_v2*.json``: attributes per product, and instructions made by a program.
- ``items_human_ins.json``: instructions written by people. If this file exists, only they count.

The order of the goals is the original's, so the numbers are too. Two random draws of the original
depend on the run: the price within a range, and the price limit. Here the product fixes them.
"""

import os
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product as combinations
from pathlib import Path
from typing import Any

from agentgym_envs.envs.search.files import lines, parse
from agentgym_envs.envs.shop.catalogue import (
    Product,
    ProductCatalogue,
    ShoppingGoal,
    draw_price_limit,
)
from agentgym_envs.errors import ArgumentError, TaskError, shown

SHUFFLE_SEED = 233  # the original's
NO_PRICE = 100.0  # dollars, the original's price of products without one
PRODUCTS, ATTRIBUTES, INSTRUCTIONS = "items_shuffle", "items_ins_v2", "items_human_ins.json"
_TEXTS = ("asin", "name", "query", "category", "product_category")


def read_catalogue(path: str) -> ProductCatalogue:
    """Returns the catalogue of a file of products. A process reads a file once until it changes.

    Raises:
        ArgumentError: the name of the file is not one of the original's.
        TaskError: a file is missing or broken, or no product has an instruction.
    """
    file = Path(path)
    if not file.name.startswith(PRODUCTS):
        raise ArgumentError(
            f"products={path!r}: the name must begin with {PRODUCTS}, such as {PRODUCTS}_1000.json;"
            f" {ATTRIBUTES}_1000.json then has the attributes"
        )
    attributes = file.with_name(file.name.replace(PRODUCTS, ATTRIBUTES))
    instructions = file.with_name(INSTRUCTIONS)
    states = [_state(one) for one in (file, attributes)]
    states += [_state(instructions)] if instructions.exists() else []
    return _read(file, attributes, instructions, *states)


def _state(file: Path) -> tuple[int, int]:
    try:
        state = os.stat(file)
    except OSError as error:
        raise TaskError(f"cannot read {str(file)!r}: {error.strerror}") from error
    return state.st_size, state.st_mtime_ns


@lru_cache(4)
def _read(
    file: Path, attributes: Path, instructions: Path, *states: tuple[int, int]
) -> ProductCatalogue:
    about = _object(attributes)
    rows = _json(file)
    if not isinstance(rows, list):
        raise TaskError(f"{file} must be a JSON list of products, not {shown(rows)}")
    products: dict[str, Product] = {}
    for number, row in enumerate(rows, 1):
        made = _product(row, about, f"{file}: product {number}", attributes)
        if made.asin != "nan" and len(made.asin) <= 10:
            products.setdefault(made.asin, made)
    if instructions.exists():
        goals = list(_human_goals(products, _object(instructions), instructions))
    else:
        goals = list(_made_goals(products, about, attributes))
    if not goals:
        raise TaskError(f"{file}: no product has an instruction")
    random.Random(SHUFFLE_SEED).shuffle(goals)
    return ProductCatalogue(list(products.values()), goals)


def _json(file: Path) -> Any:
    return parse("".join(line for _, line in lines(file)), str(file))


def _object(file: Path) -> dict[str, Any]:
    value = _json(file)
    if not isinstance(value, dict):
        raise TaskError(f"{file} must be a JSON object with a key per product, not {shown(value)}")
    return value


def _product(row: Any, about: Mapping[str, Any], where: str, attributes_file: Path) -> Product:
    missing = [key for key in _TEXTS if not (isinstance(row, dict) and _is_text(row.get(key)))]
    if missing:
        raise TaskError(f"{where}: {missing[0]} must be a text")
    asin, bullets = row["asin"], row.get("small_description") or []
    tag, price = _price(row.get("pricing"), asin, where)
    known = about.get(asin)
    attributes = known.get("attributes") if isinstance(known, dict) else None
    return Product(
        asin=asin,
        title=row["name"],
        description=str(row.get("full_description") or ""),
        bullets=tuple(map(str, bullets if isinstance(bullets, list) else [bullets])),
        price_tag=tag,
        price=price,
        options=dict(_options(row.get("customization_options"), where)),
        query=row["query"].lower().strip(),
        category=row["category"],
        path=row["product_category"],
        attributes=tuple(
            _texts(attributes, f"{attributes_file}: {asin}: attributes") or ("DUMMY_ATTR",)
        ),
    )


def _price(pricing: Any, asin: str, where: str) -> tuple[str, float]:
    """Returns the price as shown and the price that the reward compares."""
    if not pricing:
        return f"${NO_PRICE}", NO_PRICE
    try:
        prices = [float(re.sub(r"[^\d.]", "", part)) for part in str(pricing).split("$")[1:3]]
        low, high = prices[0], prices[-1]
    except (ValueError, IndexError) as error:
        raise TaskError(f"{where}: pricing must look like $5.00, not {shown(pricing)}") from error
    if len(prices) == 1:
        return f"${low}", low
    return f"${low} to ${high}", random.Random(f"price of {asin}").uniform(low, high)


def _options(options: Any, where: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    if options and not isinstance(options, dict):
        raise TaskError(f"{where}: customization_options must be an object")
    for name, contents in (options or {}).items():
        if contents is not None:
            try:
                values = [str(content["value"]) for content in contents]
            except (TypeError, KeyError) as error:
                raise TaskError(
                    f"{where}: customization_options: {name} must be a list of objects with a value"
                ) from error
            yield name.lower(), tuple(v.strip().replace("/", " | ").lower() for v in values)


def _human_goals(
    products: Mapping[str, Product], instructions: Mapping[str, Any], file: Path
) -> Iterator[ShoppingGoal]:
    """Yields the goals of instructions by people; those without an attribute do not count."""
    for product in products.values():
        rows = instructions.get(product.asin, [])
        if not isinstance(rows, list):
            raise TaskError(f"{file}: {product.asin} must have a list of instructions")
        for number, row in enumerate(rows):
            where = f"{file}: {product.asin}, instruction {number + 1}"
            if not isinstance(row, dict) or not _is_text(row.get("instruction")):
                raise TaskError(f"{where}: instruction must be a text")
            attributes = _texts(row.get("instruction_attributes"), f"{where}: attributes")
            options = row.get("instruction_options")
            wanted: tuple[str | tuple[str, str], ...] = (
                tuple(options.items())
                if isinstance(options, dict)
                else tuple(_texts(options, f"{where}: options"))
            )
            if attributes:
                yield _goal(product, number, row["instruction"].strip("."), attributes, wanted)


def _made_goals(
    products: Mapping[str, Product], about: Mapping[str, Any], file: Path
) -> Iterator[ShoppingGoal]:
    """Yields a goal per combination of options of each product with an instruction."""
    for product in products.values():
        row = about.get(product.asin)
        if not isinstance(row, dict) or row.get("instruction") is None:
            continue
        where = f"{file}: {product.asin}"
        attributes = _texts(row.get("instruction_attributes"), f"{where}: instruction_attributes")
        if not attributes or not _is_text(row["instruction"]):
            raise TaskError(f"{where}: instruction must be a text, with instruction_attributes")
        names = sorted(product.options)
        for number, values in enumerate(combinations(*(product.options[name] for name in names))):
            pairs = tuple(zip(names, values, strict=True))
            text = ", and ".join(f"{name}: {value}" for name, value in pairs)
            wish = f"{row['instruction']}{' with ' * bool(text)}{text}"
            yield _goal(product, number, wish, attributes, pairs)


def _goal(
    product: Product,
    number: int,
    text: str,
    attributes: Sequence[str],
    options: tuple[str | tuple[str, str], ...],
) -> ShoppingGoal:
    rng = random.Random(f"price limit of {product.asin} {number}")
    limit, price_text = draw_price_limit(product.price, rng)
    return ShoppingGoal(product, f"{text}{price_text}", tuple(attributes), options, limit)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _texts(values: Any, where: str) -> Sequence[str]:
    """Returns a list of texts; nothing counts as an empty list."""
    values = [] if values is None else values
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TaskError(f"{where} must be a list of texts, not {shown(values)}")
    return values
