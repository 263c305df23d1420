"""``agentgym/Shop-v0``: buy what an instruction asks for.

The rules are those of WebShop (Yao et al., 2022). The catalogue is another one.
"""

import os
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, command
from agentgym_envs.envs.shop import pages
from agentgym_envs.envs.shop.catalogue import (
    PER_KIND,
    Product,
    ProductCatalogue,
    ShoppingGoal,
    embedded,
    requirements,
)
from agentgym_envs.envs.shop.files import read_catalogue
from agentgym_envs.envs.shop.pages import BACK, BUY, NEXT, PER_PAGE, PREVIOUS, SUB_PAGES, ShopPage
from agentgym_envs.envs.shop.reward import most_similar, reward
from agentgym_envs.envs.shop.words import KINDS
from agentgym_envs.errors import ArgumentError
from agentgym_envs.tasks import Task, TaskSet

HITS = 50
ACTION = 2000  # characters of an action to read
QUERY = 400  # characters of a product's text that the oracle searches for
TEST_TASKS, DEV_TASKS = 500, 1000
"""Numbers of goals in the splits of the original: test comes first, then dev, then train."""
EMBEDDED_TEST, EMBEDDED_DEV = 360, 360
_ACTION = re.compile(r"(search|click)\[(.+)\]")


class ShopEnv(TextEnv):
    """Find a product, choose its options and buy it.

    Args:
        products: the original's file of products, such as ``items_shuffle_1000.json``, with its
            other files in the same folder. The default is the embedded catalogue.
        show_attrs: whether a product has the page "Attributes"; the original's default is False.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.

    Raises:
        ArgumentError: a keyword has a wrong type.
        TaskError: a file is missing or broken.
    """

    instructions = (
        "You are in a web shop. Buy the product that the instruction asks for: the right kind, with"
        " the properties and options of the instruction, and below its price. Read the page and"
        " answer with one action and nothing else:\nsearch[keywords]: finds products and shows at"
        " most fifty, ten per page\nclick[text]: clicks a button, the code of a product or the"
        " value of an option\nclick[buy now] buys the product on the page with the chosen options"
        " and ends the episode. The page does not show which options are chosen."
    )

    tools = {"search": "search[{keywords}]", "click": "click[{text}]"}

    def __init__(
        self,
        *,
        products: str | os.PathLike[str] | None = None,
        show_attrs: bool = False,
        **kwargs: Any,
    ):
        if not (products is None or isinstance(products, str | os.PathLike)):
            raise ArgumentError(f"products must be the path of a file, not {products!r}")
        self._file = None if products is None else os.fspath(products)
        self._sub_pages = SUB_PAGES if show_attrs else SUB_PAGES[:-1]
        super().__init__(**kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns one task per instruction.

        The difficulty is the number of attributes and options that the instruction asks for.
        """
        return _embedded_tasks() if self._file is None else _file_tasks(read_catalogue(self._file))

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Shows the page with the search bar."""
        self._shop: ProductCatalogue = (
            embedded() if self._file is None else read_catalogue(self._file)
        )
        self._wanted: ShoppingGoal = self._shop.goals[task.data["goal"]]
        self._product: Product | None = None
        self._hits: list[Product] = []
        self._chosen: dict[str, str] = {}
        self._page: ShopPage = pages.search_page(self._wanted)
        return self._page.observation(), self._wanted.instruction

    def act(self, action: str) -> Outcome:
        """Searches or clicks. Anything else changes nothing, and the page is shown again."""
        found = _ACTION.match(command(action, ACTION).lower())
        page = None
        if found and found[1] == "search":
            page = self._search(found[2])
        elif found and (label := self._clickable().get(found[2].strip())):
            if label == BUY.lower():
                return self._buy()
            page = self._click(label)
        self._page = page or self._page
        return Outcome(self._page.observation(), 0.0, invalid=page is None)

    def actions(self) -> list[str]:
        """Returns a search for the instruction where the search bar is, otherwise all clicks."""
        if self._page.name == "search":
            return [f"search[{self._wanted.instruction}]"]
        return [f"click[{label}]" for label in self._clickable()]

    def oracle(self) -> Iterator[str]:
        """Yields actions of a buyer who knows the product: a search for its title comes first."""
        wanted = self._wanted
        product = wanted.product
        for query in (product.title, product.text()[:QUERY]):
            yield f"search[{query.lower()}]"
            if product in self._hits:
                break
        for _ in range(self._hits.index(product) // PER_PAGE):
            yield f"click[{NEXT.lower()}]"
        yield f"click[{product.asin.lower()}]"
        for option in wanted.options:
            yield f"click[{most_similar(option, self._page.options)}]"
        yield f"click[{BUY.lower()}]"

    def _clickable(self) -> dict[str, str]:
        """Returns the labels that can be clicked, by their text on one line."""
        labels = self._page.clickable() if self._page.name != "search" else []
        return {text: label for label in labels if (text := " ".join(label.split()))}

    def _search(self, query: str) -> ShopPage:
        self._hits = self._shop.search(query, HITS)
        return self._results(1)

    def _results(self, number: int) -> ShopPage:
        self._number, self._product, self._chosen = number, None, {}
        return pages.results_page(self._wanted, self._hits, number)

    def _click(self, label: str) -> ShopPage:
        """Returns the page after a click on anything but "Buy Now"."""
        page = self._page
        if label == BACK.lower():
            return pages.search_page(self._wanted)
        if page.name == "results":
            if label in (NEXT.lower(), PREVIOUS.lower()):
                return self._results(self._number + (1 if label == NEXT.lower() else -1))
            return self._item(next(hit for hit in self._hits if hit.asin.lower() == label))
        assert self._product is not None
        if label == PREVIOUS.lower():
            return self._results(self._number) if page.name == "item" else self._item(self._product)
        for name in self._sub_pages:
            if label == name.lower():
                return pages.sub_page(self._wanted, self._product, name)
        self._chosen[page.options[label]] = label
        return page

    def _item(self, product: Product) -> ShopPage:
        self._product = product
        return pages.item_page(self._wanted, product, self._sub_pages)

    def _buy(self) -> Outcome:
        assert self._product is not None
        score, parts = reward(self._product, self._chosen.values(), self._wanted)
        self._page = pages.done_page(self._product, self._chosen, score)
        return Outcome(
            self._page.observation(),
            score,
            done=True,
            success=score == 1.0,
            extra={"reward_parts": parts},
        )


@cache
def _embedded_tasks() -> TaskSet:
    """Returns the tasks without making the catalogue."""
    rows = [(number, kind) for number in range(PER_KIND // 3) for kind in KINDS]
    return TaskSet(
        Task(
            id=f"{kind.slug}-{number}",
            split=_split(place, EMBEDDED_TEST, EMBEDDED_DEV),
            difficulty=sum(requirements(kind, number)),
            data={"goal": place},
        )
        for place, (number, kind) in enumerate(rows)
    )


def _file_tasks(shop: ProductCatalogue) -> TaskSet:
    return TaskSet(
        Task(
            id=f"{goal.product.asin}-{place}",
            split=_split(place, TEST_TASKS, DEV_TASKS),
            difficulty=len(goal.attributes) + len(goal.options),
            data={"goal": place},
        )
        for place, goal in enumerate(shop.goals)
    )


def _split(place: int, test: int, dev: int) -> str:
    return "test" if place < test else "dev" if place < test + dev else "train"
