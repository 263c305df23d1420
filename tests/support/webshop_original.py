"""WebShop's own code over products of this package: the reference for pages and rewards.

The heavy parts are replaced. The search engine is a function. The tagger, spaCy, counts the words
as nouns that ``title_nouns`` counts. ``WEBSHOP_SOURCE`` is a checkout of princeton-nlp/WebShop.

    WEBSHOP_SOURCE=… python tests/support/webshop_original.py

records cases for the tests that run without it.
"""

import json
import os
import random
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace

from agentgym_envs import registry
from agentgym_envs.envs.shop.catalogue import Product, ShoppingGoal, embedded
from agentgym_envs.envs.shop.reward import title_nouns

SOURCE = os.environ.get("WEBSHOP_SOURCE", "")
RECORDED = Path(__file__).parents[1] / "envs/envs/shop_cases.json"
GOALS = 360  # the test split
LAMP = Product(
    asin="S000000001",
    title="Fenholt Table Lamp for Bedroom",
    description="A lamp with a touch switch.",
    bullets=("Energy saving diodes.", "Bright."),
    price_tag="$20.5",
    price=20.5,
    options={"finish": ("walnut", "dark bronze"), "bulb": ("daylight", "amber")},
    query="table lamp",
    category="garden",
    path="Garden › Lighting › Lamps",
    attributes=("dimmable", "easy assembly"),
)
GOAL = ShoppingGoal(LAMP, "i need a lamp", ("dimmable", "touch switch"), ("amber", "bronze"), 30.0)


def as_files(folder, products, goals=(), *, human=True):
    """Writes products and instructions in the original's format; returns the file of the products.

    Without ``human``, the instructions of the goals stand in the file of the attributes.
    """
    items = [
        {
            "asin": product.asin,
            "name": product.title,
            "full_description": product.description,
            "small_description": list(product.bullets),
            "pricing": product.price_tag.replace(" to ", ""),
            "customization_options": {
                name: [{"value": value} for value in values]
                for name, values in product.options.items()
            },
            "query": product.query,
            "category": product.category,
            "product_category": product.path,
            "images": ["picture.jpg"],
        }
        for product in products
    ]
    attributes = {product.asin: {"attributes": list(product.attributes)} for product in products}
    instructions = {}
    for goal in goals:
        text = goal.instruction.partition(", and price lower")[0]
        if human:
            instructions.setdefault(goal.product.asin, []).append(
                {
                    "instruction": f"{text}.",
                    "instruction_attributes": list(goal.attributes),
                    "instruction_options": list(goal.options),
                }
            )
        else:
            attributes[goal.product.asin] |= {
                "instruction": text,
                "instruction_attributes": list(goal.attributes),
            }
    folder.joinpath("items_shuffle_1000.json").write_text(json.dumps(items))
    folder.joinpath("items_ins_v2_1000.json").write_text(json.dumps(attributes))
    if human:
        folder.joinpath("items_human_ins.json").write_text(json.dumps(instructions))
    return folder / "items_shuffle_1000.json"


def goal_fields(goal):
    """Returns a goal in the original's form."""
    product = goal.product
    return {
        "asin": product.asin,
        "category": product.category,
        "query": product.query,
        "name": product.title,
        "product_category": product.path,
        "instruction_text": goal.instruction,
        "attributes": list(goal.attributes),
        "price_upper": goal.price_limit,
        "goal_options": list(goal.options),
        "weight": 1,
    }


def purchases(count):
    """Returns purchases as number of the goal, code of the product and chosen options.

    Half of the products are hits of a search, the others are any. Some options are the wanted ones.
    """
    shop, rng = embedded(), random.Random(7)
    made = []
    for number in range(count):
        place = rng.randrange(GOALS)
        goal = shop.goals[place]
        near = rng.choice((shop.goals[place], rng.choice(shop.goals)))
        product = rng.choice(shop.search(near.instruction, 50) if number % 2 else shop.products)
        product = goal.product if number % 5 == 0 else product
        chosen = {
            name: next((v for v in values if v in goal.options), rng.choice(values))
            for name, values in product.options.items()
            if rng.random() < 0.7
        }
        made.append((place, product.asin, chosen))
    return made


def walk(env, number, turns=20):
    """Plays an episode of all kinds of actions, which a purchase ends; returns a row per turn.

    Args:
        env: an :class:`Original` or anything with ``reset``, ``step`` and ``clickable``.
        number: the goal; it also seeds the choice of the actions.
        turns: the largest number of turns before the purchase.
    """
    rng, rows = random.Random(number), [["", env.reset(number), 0.0, False]]
    instruction = embedded().goals[number].instruction
    while len(rows) <= turns and not rows[-1][-1]:
        clicks = [f"click[{text}]" for text in env.clickable() if text != "search"]
        search = f"search[{rng.choice((instruction, 'Deep POCKETS', 'zzz', 'a the 12'))}]"
        action = rng.choice((*clicks[:7], *clicks, *clicks, search))
        action = rng.choice((action,) * 9 + (action[:-1], "click[search]", "look"))
        rows.append([action, *env.step(action)])
    if not rows[-1][-1]:
        rows.append([f"search[{instruction}]", *env.step(f"search[{instruction}]")])
        for place in (2, -1):  # the first product, its last option
            action = f"click[{env.clickable()[place]}]"
            rows.append([action, *env.step(action)])
        rows.append(["click[buy now]", *env.step("click[buy now]")])
    return rows


def modules(source=SOURCE):
    """Returns the original's modules ``goal``, ``engine`` and ``web_agent_text_env``."""
    stubs = {
        "spacy": {"load": lambda name: _tagged},
        "pyserini": {},
        "pyserini.search": {},
        "pyserini.search.lucene": {"LuceneSearcher": None},
        "torch": {},
        "cleantext": {},
        "rank_bm25": {"BM25Okapi": None},
        "rich": {"print": lambda *texts: None},
        "tqdm": {"tqdm": lambda values, total=None: values},
        "gym": {"Env": object},
    }
    for name, members in stubs.items():
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(members)
    envs = ModuleType("web_agent_site.envs")  # its own __init__ imports the browser
    envs.__path__ = [str(Path(source, "web_agent_site/envs"))]
    sys.path.insert(0, str(source))
    sys.modules["web_agent_site.envs"] = envs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from web_agent_site.engine import engine, goal
        from web_agent_site.envs import web_agent_text_env
    return goal, engine, web_agent_text_env


class Original:
    """The original's text environment over a catalogue.

    Args:
        catalogue: the products and the search engine.
        goals: the goals; :meth:`reset` takes their place.
        folder: a folder for the files.
        show_attrs: whether products have the page "Attributes".
    """

    def __init__(self, catalogue, goals, folder, show_attrs=False):
        self.goal, self.engine, text_env = modules()
        file = as_files(folder, catalogue.products)
        for module in (text_env, self.engine):
            module.DEFAULT_ATTR_PATH = str(folder / "items_ins_v2_1000.json")
            module.HUMAN_ATTR_PATH = str(folder / "items_human_ins.json")
        text_env.init_search_engine = lambda num_products: _Engine(catalogue)
        with redirect_stdout(None):
            server = text_env.SimServer(
                "http://127.0.0.1:3000", str(file), human_goals=True, show_attrs=show_attrs
            )
        server.goals = [goal_fields(goal) for goal in goals]
        server.weights, server.cum_weights = [1] * len(goals), [0, len(goals)]
        self.server, self._episode = server, 0
        self.env = text_env.WebAgentTextEnv(observation_mode="text", server=server)

    def reset(self, number):
        """Begins the goal with a number; returns the observation."""
        self._episode += 1
        self.env.session_prefix = f"{self._episode}-"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.env.reset(session=number)[0]

    def step(self, action):
        """Returns the observation, the reward and the end."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.env.step(action)[:3]

    def clickable(self):
        """Returns the texts that can be clicked."""
        return self.env.get_available_actions()["clickables"]

    def reward(self, asin, chosen, number):
        """Returns the reward of a purchase and its parts."""
        product = self.server.product_item_dict[asin]
        price = self.server.product_prices[asin]
        return self.goal.get_reward(
            product, self.server.goals[number], price=price, options=dict(chosen), verbose=True
        )


class Ours:
    """The interface of :class:`Original` over our environment.

    Args:
        show_attrs: see :class:`Original`.
    """

    def __init__(self, show_attrs=False):
        self.env = registry.make("agentgym/Shop-v0", split="test", show_attrs=show_attrs).unwrapped

    def reset(self, number):
        """Begins the goal with a number; returns the observation."""
        return self.env.reset(options={"task_id": self.env.task_ids[number]})[0]

    def step(self, action):
        """Returns the observation, the reward and the end, as a list."""
        return [*self.env.step(action)[:3]]

    def clickable(self):
        """Returns the texts that can be clicked."""
        return [action[6:-1] for action in self.env.actions() if action.startswith("click[")]


class _Engine:
    """Pyserini's interface over our search engine."""

    def __init__(self, catalogue):
        self._catalogue = catalogue

    def search(self, keywords, k):
        return [SimpleNamespace(docid=p.asin) for p in self._catalogue.search(keywords, k)]

    def doc(self, docid):
        return SimpleNamespace(raw=lambda: json.dumps({"id": docid}))


def _tagged(title):
    return [SimpleNamespace(text=word, pos_="NOUN") for word in title_nouns(title)]


def record():
    """Writes the file of recorded cases."""
    with TemporaryDirectory() as folder:
        original = Original(embedded(), embedded().goals[:GOALS], Path(folder))
        rewards = [
            [number, asin, chosen, *original.reward(asin, chosen, number)]
            for number, asin, chosen in purchases(150)
        ]
        walks = {number: walk(original, number) for number in range(3)}
    text = json.dumps({"rewards": rewards, "walks": walks}, ensure_ascii=False)
    RECORDED.write_text(text.replace("], [", "],\n["), encoding="utf-8")


if __name__ == "__main__":
    record()
