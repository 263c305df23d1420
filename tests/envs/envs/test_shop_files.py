"""The shop over files in WebShop's own format."""

import json
import random
from dataclasses import replace

import gymnasium
import pytest
from raised import raises
from webshop_original import GOAL, LAMP, as_files

from agentgym_envs.envs.shop.catalogue import embedded
from agentgym_envs.envs.shop.files import read_catalogue
from agentgym_envs.envs.shop.reward import reward
from agentgym_envs.errors import ArgumentError, TaskError

ID = "agentgym/Shop-v0"


@pytest.fixture
def small(tmp_path):
    goals = embedded().goals[:20]
    return as_files(tmp_path, [goal.product for goal in goals], goals)


def test_the_originals_files_can_be_played(small):
    env = gymnasium.make(ID, split="test", products=small)
    assert len(env.unwrapped.task_ids) == 20
    for task_id in env.unwrapped.task_ids:
        _, info = env.reset(options={"task_id": task_id})
        for action in env.unwrapped.oracle():
            *_, info = env.step(action)
        assert info["success"]
    texts = {goal.instruction.partition(", and price")[0] for goal in embedded().goals[:20]}
    read = read_catalogue(str(small))
    assert {goal.instruction.partition(", and price")[0] for goal in read.goals} == texts
    assert read.products == [goal.product for goal in embedded().goals[:20]]
    assert read_catalogue(str(small)) is read


def test_goals_are_shuffled_with_the_seed_of_the_original(small):
    order = [goal.product.asin for goal in embedded().goals[:20]]
    random.Random(233).shuffle(order)
    assert [goal.product.asin for goal in read_catalogue(str(small)).goals] == order


def test_without_instructions_by_people_the_combinations_of_options_count(tmp_path):
    lamp = replace(LAMP, options={"size": ("s", "m"), "color": ("red",)})
    goal = replace(GOAL, product=lamp, instruction="find me a lamp")
    read = read_catalogue(str(as_files(tmp_path, [lamp], [goal], human=False)))
    texts = [goal.instruction.partition(", and price")[0] for goal in read.goals]
    assert sorted(texts) == [
        "find me a lamp with color: red, and size: m",
        "find me a lamp with color: red, and size: s",
    ]
    goal = next(goal for goal in read.goals if "size: m" in goal.instruction)
    assert goal.options == (("color", "red"), ("size", "m"))
    assert reward(lamp, ["red", "m"], goal)[0] == 1.0
    assert reward(lamp, ["red", "s"], goal)[0] == 4 / 5


def changed(file, **fields):
    rows = json.loads(file.read_text())
    file.write_text(json.dumps([rows[0] | fields]))
    return str(file)


def test_fields_are_read_as_the_original_reads_them(tmp_path):
    file = as_files(tmp_path, [LAMP], [GOAL])
    path = changed(
        file,
        pricing="$1,010.50$1,299.00",
        small_description="One line",
        customization_options={"Size": [{"value": " S/M "}], "color": None},
        query=" Table Lamp ",
        full_description=None,
    )
    product = read_catalogue(path).products[0]
    assert product.price_tag == "$1010.5 to $1299.0"
    assert 1010.5 <= product.price <= 1299
    assert (product.bullets, product.description) == (("One line",), "")
    assert (product.options, product.query) == ({"size": ("s | m",)}, "table lamp")
    free = read_catalogue(changed(file, pricing=""))
    assert (free.products[0].price_tag, free.products[0].price) == ("$100.0", 100.0)


def test_products_and_instructions_that_the_original_leaves_out(tmp_path):
    lamps = [replace(LAMP, asin=asin) for asin in ("A", "nan", "ELEVENCHARS", "A", "B")]
    lamps[3] = replace(lamps[3], title="Another lamp")
    goals = [replace(GOAL, product=lamps[0]), replace(GOAL, product=lamps[4], attributes=())]
    file = as_files(tmp_path, lamps, goals)
    tmp_path.joinpath("items_ins_v2_1000.json").write_text("{}")
    read = read_catalogue(str(file))
    assert [(one.asin, one.title) for one in read.products] == [
        ("A", LAMP.title),
        ("B", LAMP.title),
    ]
    assert [goal.product.asin for goal in read.goals] == ["A"]
    assert read.products[0].attributes == ("DUMMY_ATTR",)


@pytest.mark.parametrize("copies", [11, 60])
def test_the_oracle_finds_a_product_with_the_title_of_others(tmp_path, copies):
    """Among eleven it is on the second page. Among sixty only its description finds it."""
    lamps = [replace(LAMP, asin=f"L{n}") for n in range(copies)]
    more = " Brass, and more words, which rank it last." * (copies > 50)
    lamps[-1] = replace(LAMP, asin="LAST", description=f"{LAMP.description}{more}")
    file = as_files(tmp_path, lamps, [replace(GOAL, product=lamps[-1])])
    env = gymnasium.make(ID, split="test", products=file)
    env.reset(seed=0)
    steps = [env.step(action) for action in env.unwrapped.oracle()]
    assert len(steps) == 6
    assert steps[-1][4]["success"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": None}, "items_shuffle_1000.json: product 1: name must be a text"),
        ({"pricing": "cheap"}, "product 1: pricing must look like $5.00, not 'cheap'"),
        ({"pricing": "$x"}, "product 1: pricing must look like $5.00, not '$x'"),
        ({"customization_options": [1]}, "product 1: customization_options must be an object"),
        ({"customization_options": {"size": [1]}}, "customization_options: size must be a list"),
        ({"asin": "much too long a code"}, "no product has an instruction"),
    ],
)
def test_a_broken_product_is_named(tmp_path, fields, message):
    path = changed(as_files(tmp_path, [LAMP], [GOAL]), **fields)
    with raises(TaskError, message):
        read_catalogue(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("items_shuffle_1000.json", "{}", "items_shuffle_1000.json must be a JSON list"),
        ("items_shuffle_1000.json", "[1", "items_shuffle_1000.json:1 is not JSON"),
        ("items_ins_v2_1000.json", "[]", "items_ins_v2_1000.json must be a JSON object"),
        (
            "items_ins_v2_1000.json",
            '{"S000000001": {"attributes": "x"}}',
            "items_ins_v2_1000.json: S000000001: attributes",
        ),
        ("items_human_ins.json", '{"S000000001": [{}]}', "S000000001, instruction 1: instruction"),
        ("items_human_ins.json", '{"S000000001": [1]}', "S000000001, instruction 1: instruction"),
        ("items_ins_v2_1000.json", None, "cannot read"),
        ("items_shuffle_1000.json", None, "cannot read"),
    ],
)
def test_a_broken_file_is_named(tmp_path, name, content, message):
    file = as_files(tmp_path, [LAMP], [GOAL])
    if content is None:
        tmp_path.joinpath(name).unlink()
    else:
        tmp_path.joinpath(name).write_text(content)
    with raises(TaskError, message):
        gymnasium.make(ID, products=file)


@pytest.mark.parametrize("rows", [3, None, "find me a lamp"])
def test_instructions_of_a_product_are_a_list(tmp_path, rows):
    file = as_files(tmp_path, [LAMP], [GOAL])
    file.with_name("items_human_ins.json").write_text(json.dumps({LAMP.asin: rows}))
    with raises(TaskError, LAMP.asin, "instructions"):
        read_catalogue(str(file))


def test_a_changed_file_of_instructions_is_read_again(tmp_path):
    file = as_files(tmp_path, [LAMP], [GOAL])
    before = read_catalogue(str(file)).goals[0].instruction
    human = file.with_name("items_human_ins.json")
    rows = json.loads(human.read_text())
    rows[LAMP.asin][0]["instruction"] = "another instruction"
    human.write_text(json.dumps(rows))
    after = read_catalogue(str(file)).goals[0].instruction
    assert after.startswith("another instruction") != before.startswith("another instruction")


def test_keywords_are_checked(tmp_path):
    with raises(ArgumentError, "products", "not 5"):
        gymnasium.make(ID, products=5)
    with raises(ArgumentError, "items_shuffle"):
        gymnasium.make(ID, products=tmp_path)
