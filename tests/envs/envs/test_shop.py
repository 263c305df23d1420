"""The shop beside WebShop's own answers, examples worked by hand and a plain search engine."""

import json
import math
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations

import gymnasium
import pytest
from webshop_original import GOAL, GOALS, LAMP, RECORDED, Ours, walk

from agentgym_envs import registry
from agentgym_envs.envs.shop import env as shop_env
from agentgym_envs.envs.shop.attributes import ATTRIBUTES
from agentgym_envs.envs.shop.catalogue import draw_price_limit, embedded
from agentgym_envs.envs.shop.pages import item_page, sub_page
from agentgym_envs.envs.shop.ranking import BM25Ranking
from agentgym_envs.envs.shop.reward import (
    SIMILAR,
    colour,
    most_similar,
    option_similarity,
    reward,
    similarity,
    title_nouns,
)
from agentgym_envs.envs.shop.words import KINDS, OPTIONS

ID = "agentgym/Shop-v0"


@pytest.fixture(scope="module")
def env():
    return registry.make(ID, split="test")


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


# WebShop's own answers, recorded by tests/support/webshop_original.py


def test_purchases_have_the_originals_rewards(recorded):
    shop = embedded()
    by_code = {product.asin: product for product in shop.products}
    assert {parts["r_type"] for *_, parts in recorded["rewards"]} == {0, 0.5, 1}
    for number, asin, chosen, wanted, parts in recorded["rewards"]:
        got, ours = reward(by_code[asin], chosen.values(), shop.goals[number])
        assert got == wanted
        assert parts == parts | ours


def test_episodes_have_the_originals_texts_and_rewards(recorded):
    for number, rows in recorded["walks"].items():
        assert walk(Ours(), int(number)) == rows


# The reward


def test_the_reward_counts_attributes_options_and_the_price():
    full, parts = reward(LAMP, ["amber", "dark bronze"], GOAL)
    assert (full, parts["r_att"], parts["r_option"], parts["r_price"]) == (1.0, 1.0, 1.0, True)
    assert reward(LAMP, ["amber"], GOAL)[0] == 4 / 5
    assert reward(LAMP, [], GOAL)[0] == 3 / 5
    assert reward(LAMP, [], replace(GOAL, price_limit=20.0))[0] == 2 / 5
    other = replace(LAMP, attributes=("solar",), description="", bullets=("Has a Touch Switch.",))
    assert reward(other, ["amber", "dark bronze"], GOAL)[0] == 4 / 5
    assert reward(LAMP, [], replace(GOAL, options=()))[1]["r_option"] is None


@pytest.mark.parametrize(
    ("title", "query", "path", "factor"),
    [
        ("Table Lamp", "desk lamp", "Office › Desks", 1.0),  # half of the nouns
        ("Bedroom Stool", "table lamp", "Office", 1.0),  # the same query
        ("Bedroom Stool", "stool", "Lighting › Garden", 1.0),  # two levels
        ("Bedroom Stool", "stool", "Garden", 1.0),  # one of four nouns is more than 0.2
        ("Green Sofa", "table lamp", "Garden › Lighting", 0.0),  # no common noun
    ],
)
def test_the_kind_is_compared_by_query_category_and_title(title, query, path, factor):
    bought = replace(LAMP, title=title, query=query, path=path)
    assert title_nouns(LAMP.title) == ("fenholt", "table", "lamp", "bedroom")
    assert reward(bought, [], GOAL)[1]["r_type"] == factor


@pytest.mark.parametrize(("nouns", "factor"), [(4, 1.0), (5, 0.5), (10, 0.5), (11, 0.1)])
def test_few_common_nouns_reduce_the_reward(nouns, factor):
    titles = ("lamp " + " ".join(f"{'x' * n}y" for n in range(nouns - 1)), "lamp")
    wanted, bought = (replace(LAMP, title=title) for title in titles)
    bought = replace(bought, query="stool", path="Office")
    assert reward(bought, [], replace(GOAL, product=wanted))[1]["r_type"] == factor


@pytest.mark.parametrize(
    ("first", "second", "score"),
    [
        ("organic cotton", "cotton, ORGANIC!", 100),
        ("cotton", "organic cotton", 100),  # all words of one text
        ("café", "caf", 100),  # without letters of Latin-1
        ("", "a", 0),
        ("--", "--", 0),
        ("abcd", "abce", 75),  # 2 * 3 / 8
        ("eu 38", "eu 39", 80),  # 2 * 4 / 10
        ("a_b", "a b", 67),  # 2 * 2 / 6
    ],
)
def test_similarity(first, second, score):
    assert similarity(first, second) == similarity(second, first) == score


def test_options_count_as_their_colour():
    assert colour("dark red") == "dark"  # the first of the list
    assert colour(("color", "red")) == "red"
    assert colour(("color", "dark red")) == ("color", "dark red")
    assert option_similarity("navy blue", "light blue") == 100  # both are "blue"
    assert option_similarity("red", ("color", "dark red")) == 100
    assert option_similarity("navy", "olive") <= SIMILAR
    assert most_similar("blue", ["navy blue", "blue"]) == "blue"
    assert most_similar(("size", "5"), ["6", "size", "5"]) == "5"
    assert most_similar("boots", ["s", "boot"]) == "boot"


# The embedded catalogue


def test_the_catalogue_is_large_and_varied():
    shop = embedded()
    assert len(shop.products) == len({product.asin for product in shop.products}) == 10_800
    assert all(re.fullmatch(r"S\d{9}", product.asin) for product in shop.products)
    assert len({product.title for product in shop.products}) > 10_700
    assert len({goal.instruction for goal in shop.goals}) == len(shop.goals) == 3600
    assert len({goal.product.asin for goal in shop.goals}) == 3600
    assert Counter(product.category for product in shop.products).keys() == {
        *("beauty", "electronics", "fashion", "garden", "grocery")
    }
    assert embedded() is shop


def test_words_do_not_match_each_other():
    """Only the right option and the right attribute satisfy a requirement."""
    for kind in KINDS:
        values = [value for key in kind.options for value in OPTIONS[key].values]
        assert len({OPTIONS[key].name for key in kind.options}) == len(kind.options)
        for one, other in combinations(values, 2):
            assert option_similarity(one, other) <= SIMILAR, (kind.name, one, other)
        pool = [one for group in kind.attributes for one in ATTRIBUTES[group]]
        for one, other in combinations(pool, 2):
            assert similarity(one.name, other.name) <= SIMILAR, (kind.name, one, other)
        for one in pool:  # descriptions have the wishes of attributes that a product lacks
            assert not any(
                two.name in f"{one.wish} {one.feature}".lower() for two in pool if two is not one
            ), one


def test_the_product_of_a_goal_satisfies_it():
    for goal in embedded().goals[::10]:
        assert reward(goal.product, goal.options, goal)[0] == 1.0
        assert 0 < goal.price_limit - goal.product.price <= 40
        assert goal.instruction.endswith(f", and price lower than {goal.price_limit:.2f} dollars")
        assert reward(goal.product, goal.options[1:], goal)[0] < 1.0
        wishes = {a.name: a.wish for group in ATTRIBUTES.values() for a in group}
        assert all(wishes[name] in goal.instruction for name in goal.attributes)
        assert all(value in goal.instruction for value in goal.options)


def test_a_search_for_the_instruction_finds_some_of_the_products():
    shop = embedded()
    places = [
        hits.index(goal.product) if goal.product in hits else None
        for goal in shop.goals[:GOALS]
        for hits in [shop.search(goal.instruction, 50)]
    ]
    assert 0.4 < sum(place is not None for place in places) / GOALS < 0.6
    assert 0 < places.count(0) / GOALS < 0.05


@pytest.mark.full
def test_hits_of_whole_instructions_are_those_of_the_readme():
    """Shares of the 360 test tasks, in percent: product first, in the hits, any that satisfies."""
    shop, counts = embedded(), Counter()
    for goal in shop.goals[: shop_env.EMBEDDED_TEST]:
        hits = shop.search(goal.instruction, shop_env.HITS)
        counts["first"] += hits[0] is goal.product
        counts["found"] += goal.product in hits
        counts["satisfied"] += any(
            reward(hit, [v for values in hit.options.values() for v in values], goal)[0] == 1
            for hit in hits
        )
    shares = {name: round(100 * n / shop_env.EMBEDDED_TEST) for name, n in counts.items()}
    assert shares == {"first": 1, "found": 51, "satisfied": 86}


def test_price_limits_are_the_originals():
    rng = random.Random(3)
    drawn = {draw_price_limit(25.0, rng) for _ in range(200)}
    assert {limit for limit, _ in drawn} == {40.0, 50.0, 60.0}
    assert draw_price_limit(969.0, rng)[0] == 990.0
    assert draw_price_limit(985.0, rng) == (1_000_000.0, "")


# The search engine


def test_bm25_ranks_as_the_formula_says():
    texts = ["red shoes red", "blue shoe", "a lamp for the shoes and the lamp", "lamp", ""]
    terms = [re.findall(r"[a-z]+", text) for text in texts]
    terms = [
        [w.removesuffix("s") for w in row if w not in ("a", "for", "the", "and")] for row in terms
    ]
    mean = sum(map(len, terms)) / 5
    index = BM25Ranking(texts)

    def score(query, row):
        total = 0
        for word in query:
            having = sum(word in other for other in terms)
            rarity = math.log(1 + (5 - having + 0.5) / (having + 0.5))
            count = row.count(word)
            total += rarity * count / (count + 0.9 * (1 - 0.4 + 0.4 * len(row) / mean))
        return total

    for query in ("red shoe", "lamp", "shoe lamp lamp", "blue"):
        scores = [score(query.split(), row) for row in terms]
        wanted = sorted((n for n in range(5) if scores[n] > 0), key=lambda n: -scores[n])
        assert index.search(query, 5) == wanted
        assert index.search(query.upper(), 2) == wanted[:2]
    assert index.search("the zebra", 5) == []
    assert BM25Ranking([]).search("lamp", 5) == []
    assert BM25Ranking(["lamp x", "lamp y", "lamp z"]).search("lamp", 2) == [0, 1]


# The environment


def play(env, *actions):
    for action in actions:
        step = env.step(action)
    return step


def test_an_episode(env):
    text, info = env.reset(options={"task_id": "midi-dress-0"})
    goal = embedded().goals[0]
    assert text == f"WebShop [SEP] Instruction: [SEP] {goal.instruction} [SEP] Search"
    assert info["goal"] == goal.instruction
    code = goal.product.asin
    text, *_, info = play(env, f"search[{goal.product.title}]", f"click[{code}]")
    assert goal.product.title in text
    assert not info["invalid"]
    text, score, done, _, info = play(env, f"click[{goal.options[0]}].", "Click[Buy Now].")
    assert (score, done, info["success"], info["score"]) == (1.0, True, True, 1.0)
    assert info["reward_parts"]["r_type"] == 1.0
    assert text.startswith("Thank you for shopping with us! [SEP] ")


def test_invalid_actions_show_the_page_again(env):
    first, _ = env.reset(options={"task_id": "midi-dress-0"})
    for action in ("click[search]", "click[buy now]", "search[]", "search", "buy", "", "[x]"):
        text, score, done, _, info = env.step(action)
        assert (text, score, done, info["invalid"]) == (first, 0.0, False, True)
    assert not env.step("search[ ]")[4]["invalid"]
    text, *_, info = env.step("click[< prev]")
    assert info["invalid"]
    assert "Page 1 (Total results: 0)" in text


def test_a_new_product_has_no_chosen_options_and_a_sub_page_keeps_them(env):
    goal = embedded().goals[0]
    option, code = goal.options[0], goal.product.asin.lower()
    way = (f"search[{goal.product.title}]", f"click[{code}]", f"click[{option}]")
    env.reset(options={"task_id": "midi-dress-0"})
    step = play(env, *way, "click[< prev]", f"click[{code}]", "click[buy now]")
    assert 0.5 < step[1] < 1.0
    assert not step[4]["success"]
    env.reset(options={"task_id": "midi-dress-0"})
    step = play(env, *way, "click[features]", "click[< prev]", "click[buy now]")
    assert step[1] == 1.0


def test_ten_hits_per_page_and_empty_pages_after_the_last(env):
    env.reset(options={"task_id": "midi-dress-0"})
    shown = Counter()
    play(env, "search[midi dress]")
    for page in range(1, 7):
        links = [action for action in env.unwrapped.actions() if "click[s" in action]
        shown.update(links)
        assert len(links) == (10 if page < 6 else 0)
        text = env.step("click[next >]")[0]
        assert f"Page {page + 1} (Total results: 50)" in text
    assert len(shown) == sum(shown.values()) == 50


def test_the_constructor_does_not_make_the_catalogue(monkeypatch):
    monkeypatch.setattr(shop_env, "embedded", None)
    env = registry.make(ID, split="dev")
    assert len(env.unwrapped.task_ids) == 360
    with pytest.raises(TypeError):
        env.reset(seed=0)


def test_the_difficulty_counts_attributes_and_options(env):
    tasks = env.unwrapped.task_set
    for split, first in (("test", 0), ("dev", 360), ("train", 720)):
        assert len(tasks.ids(split)) == (2880 if split == "train" else 360)
        for place, task_id in enumerate(tasks.ids(split)[:360], first):
            goal = embedded().goals[place]
            assert tasks.difficulty(task_id) == len(goal.attributes) + len(goal.options)
            assert task_id.startswith(goal.product.query.replace(" ", "-"))


def test_the_oracle_solves_from_any_state():
    env = gymnasium.make(ID, split="train")
    for seed in range(40):
        rng = random.Random(seed)
        env.reset(seed=seed)
        for _ in range(seed % 9):
            env.step(rng.choice([a for a in env.unwrapped.actions() if a != "click[buy now]"]))
        for action in env.unwrapped.oracle():
            *_, truncated, info = env.step(action)
            assert not truncated
        assert info["success"]


def test_attributes_have_a_page_on_request():
    env = registry.make(ID, split="test", show_attrs=True)
    env.reset(options={"task_id": "midi-dress-0"})
    product = embedded().goals[0].product
    text = play(env, f"search[{product.title}]", f"click[{product.asin}]", "click[attributes]")[0]
    shown = (*product.attributes, product.category, product.query, product.path)
    assert text.endswith(f"< Prev [SEP] {' [SEP] '.join(shown)}")


def test_the_done_page_escapes_options_as_jinja_does():
    from agentgym_envs.envs.shop.pages import done_page

    text = done_page(LAMP, {"b": "men's <m>", "a": "é"}, 0.5).observation()
    assert '[SEP] {"a": "\\u00e9", "b": "men\\u0027s \\u003cm\\u003e"} [SEP]' in text


def test_texts_are_stripped_and_empty_ones_left_out():
    odd = replace(LAMP, title=" Lamp  of ours ", description="", options={"size": (" s", "")})
    assert (
        " [SEP] s [SEP] Lamp  of ours [SEP] Price: $20.5" in item_page(GOAL, odd, ()).observation()
    )
    assert sub_page(GOAL, odd, "Description").observation().endswith("[SEP] < Prev")
