"""The shop beside WebShop's own code, for `tox run -e shop`."""

import json
import random
import string
from dataclasses import replace

import pytest
from webshop_original import GOALS, Original, Ours, as_files, modules, purchases, walk

from agentgym_envs.envs.shop.catalogue import embedded
from agentgym_envs.envs.shop.files import read_catalogue
from agentgym_envs.envs.shop.reward import reward, similarity

pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("ignore")]
ODD = {
    "pricing": "$1,010.50$1,299.00",
    "small_description": "One line & more",
    "customization_options": {"Size": [{"value": " S/M "}, {"value": "L"}], "Fit": None},
    "query": " Table Lamp ",
    "name": " Lamp <b>of</b> glass  ",
}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return Original(embedded(), embedded().goals[:GOALS], tmp_path_factory.mktemp("webshop"))


def test_three_thousand_purchases_have_equal_rewards(original):
    shop = embedded()
    by_code = {product.asin: product for product in shop.products}
    seen = set()
    for number, asin, chosen in purchases(3000):
        wanted, parts = original.reward(asin, chosen, number)
        got, ours = reward(by_code[asin], chosen.values(), shop.goals[number])
        assert (got, ours | parts) == (wanted, parts | ours)
        seen.add(round(got, 3))
    assert len(seen) > 10


def test_a_hundred_episodes_have_equal_texts(original):
    turns = 0
    for number in range(100):
        rows = walk(original, number)
        assert walk(Ours(), number) == [list(row) for row in rows]
        turns += len(rows)
    assert turns > 1000


def test_episodes_with_the_page_of_attributes_have_equal_texts(tmp_path):
    original = Original(embedded(), embedded().goals[:20], tmp_path, show_attrs=True)
    for number in range(20):
        assert walk(Ours(show_attrs=True), number) == walk(original, number)


def test_texts_are_as_similar_as_in_thefuzz():
    from thefuzz import fuzz

    rng = random.Random(11)
    texts = [value for product in embedded().products[::50] for value in product.attributes]
    texts += [product.title for product in embedded().products[::300]]
    letters = string.ascii_letters + "  --_'&/éß漢\u0130٣"
    texts += ["".join(rng.choices(letters, k=rng.randrange(12))) for _ in range(300)]
    for _ in range(5000):
        one, other = rng.choice(texts), rng.choice(texts)
        assert similarity(one, other) == fuzz.token_set_ratio(one, other), (one, other)


@pytest.mark.parametrize("human", [True, False])
def test_files_give_equal_products_and_goals_in_the_same_order(tmp_path, human):
    goals = embedded().goals[::45]
    file = as_files(tmp_path, [goal.product for goal in goals], goals, human=human)
    rows = json.loads(file.read_text())
    for place, (key, value) in enumerate(ODD.items()):
        rows[place][key] = value
    file.write_text(json.dumps([*rows, rows[0], rows[5] | {"asin": "nan"}]))
    products, made = loaded(tmp_path, file, human)
    ours = read_catalogue(str(file))
    assert [p.asin for p in ours.products] == [p["asin"] for p in products]
    for one, other in zip(ours.products, products, strict=True):
        assert (one.title, one.description, one.price_tag) == (
            *(other["Title"], other["Description"], other["Price"]),
        )
        assert (list(one.bullets), list(one.attributes)) == (
            *(other["BulletPoints"], other["Attributes"]),
        )
        assert {name: list(values) for name, values in one.options.items()} == other["options"]
        assert (one.query, one.path) == (other["query"], other["product_category"])
    assert len(ours.goals) == len(made) >= 80
    for one, other in zip(ours.goals, made, strict=True):
        assert one.product.asin == other["asin"]
        assert list(one.attributes) == other["attributes"]
        assert start(one.instruction) == start(other["instruction_text"])
        wanted = other["goal_options"]
        assert list(one.options) == list(wanted.items() if isinstance(wanted, dict) else wanted)


def test_goals_with_named_options_have_equal_rewards(tmp_path):
    goal = embedded().goals[0]
    values = ("dark red", "navy blue", "red", "x-large", "7 wide", "sky")
    product = replace(goal.product, options={"color": values[:3], "size": values[3:]})
    file = as_files(tmp_path, [product], [goal], human=False)
    products, made = loaded(tmp_path, file, human=False)
    for one, other in zip(read_catalogue(str(file)).goals, made, strict=True):
        for color in values[:3]:
            for size in values[3:]:
                chosen = {"color": color, "size": size}
                other["price_upper"] = one.price_limit
                wanted = modules()[0].get_reward(
                    products[0], other, price=one.product.price, options=chosen
                )
                assert reward(one.product, chosen.values(), one)[0] == wanted


def loaded(folder, file, human):
    """Returns the original's products and its shuffled goals."""
    if not human:
        folder.joinpath("items_human_ins.json").write_text("{}")
    goal, engine, _ = modules()
    engine.DEFAULT_ATTR_PATH = str(folder / "items_ins_v2_1000.json")
    engine.HUMAN_ATTR_PATH = str(folder / "items_human_ins.json")
    products, _, prices, _ = engine.load_products(str(file), human_goals=human)
    goals = goal.get_goals(products, prices, human)
    random.seed(233)
    random.shuffle(goals)
    if not human:
        folder.joinpath("items_human_ins.json").unlink()
    return products, goals


def start(instruction):
    """Returns an instruction without the price limit, which is drawn."""
    return instruction.partition(", and price lower")[0]
