"""The pages of the shop, as WebShop's text mode shows them.

A page is the list of its visible texts. The observation joins them with ``[SEP]``.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agentgym_envs.envs.shop.catalogue import Product, ShoppingGoal

PER_PAGE = 10
BACK, PREVIOUS, NEXT, BUY = "Back to Search", "< Prev", "Next >", "Buy Now"
SUB_PAGES = ("Description", "Features", "Reviews", "Attributes")


class ShopPage(NamedTuple):
    """A page.

    Attributes:
        name: "search", "results", "item", "done" or one of ``SUB_PAGES`` in lower case.
        texts: the visible texts.
        buttons: the labels of the buttons.
        links: the codes of the products.
        options: the name of the option of each value.
    """

    name: str
    texts: Sequence[str]
    buttons: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    options: Mapping[str, str] = {}

    def observation(self) -> str:
        """Returns the text that the agent reads."""
        return " [SEP] ".join(text.strip() for text in self.texts if text)

    def clickable(self) -> list[str]:
        """Returns the texts that can be clicked, in the order of the original."""
        names = [name.lower() for name in (*self.buttons, *self.links)]
        return list(dict.fromkeys([*names, *self.options]))


def search_page(goal: ShoppingGoal) -> ShopPage:
    """Returns the page with the search bar."""
    return ShopPage("search", ["WebShop", *_instruction(goal), "Search"], ("Search",))


def results_page(goal: ShoppingGoal, hits: Sequence[Product], number: int) -> ShopPage:
    """Returns a page of search results.

    Args:
        goal: the goal.
        hits: all hits of the search.
        number: the number of the page; the first one is 1.
    """
    shown = hits[PER_PAGE * (number - 1) : PER_PAGE * number]
    buttons = (BACK, *([PREVIOUS] if number > 1 else []), NEXT)
    count = f"Page {number} (Total results: {len(hits)})"
    texts = [*_instruction(goal), BACK, count, *buttons[1:]]
    texts += [text for hit in shown for text in (hit.asin, hit.title, hit.price_tag)]
    return ShopPage("results", texts, buttons, tuple(hit.asin for hit in shown))


def item_page(goal: ShoppingGoal, product: Product, sub_pages: Sequence[str]) -> ShopPage:
    """Returns the page of a product. It does not show which options are chosen."""
    texts = [*_instruction(goal), BACK, PREVIOUS]
    for name, values in product.options.items():
        texts += [name, *values]
    texts += [product.title, f"Price: {product.price_tag}", "Rating: N.A.", *sub_pages, BUY]
    options = {value: name for name, values in product.options.items() for value in values}
    return ShopPage("item", texts, (BACK, PREVIOUS, *sub_pages, BUY), options=options)


def sub_page(goal: ShoppingGoal, product: Product, name: str) -> ShopPage:
    """Returns a page such as "Features". Reviews are empty, as in the original's data."""
    contents: dict[str, Sequence[str]] = {
        "Description": [product.description],
        "Features": [f" {text}" for text in product.bullets],
        "Reviews": [],
        "Attributes": [
            *(f" {text}" for text in product.attributes),
            product.category,
            product.query,
            product.path,
        ],
    }
    texts = [*_instruction(goal), BACK, PREVIOUS, *contents[name]]
    return ShopPage(name.lower(), texts, (BACK, PREVIOUS))


def done_page(product: Product, chosen: Mapping[str, str], reward: float) -> ShopPage:
    """Returns the last page, with the labels of fields that the original leaves empty."""
    texts = [
        "Thank you for shopping with us!",
        *("Your code:", "None", "(Paste it in your MTurk interface.)"),
        *("Purchased", "asin", product.asin, "options", _json(chosen)),
        *("attrs", "None", "category", "None", "query", "None", "product category", "None"),
        *("Target", "asin", "options", "attrs", "price upper", "instuction text", "category"),
        *("product category", "query", "Goal", "None", "Reward"),
        *("Your score (min 0.0, max 1.0)", str(reward), "Reward Details", "None"),
    ]
    return ShopPage("done", texts)


def _json(chosen: Mapping[str, str]) -> str:
    """Returns options as the filter ``tojson`` of Jinja writes them."""
    text = json.dumps(chosen, sort_keys=True)
    return text.translate({ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&'"})


def _instruction(goal: ShoppingGoal) -> list[str]:
    return ["Instruction:", goal.instruction]
