"""Tasks that ask for the best of several have one answer.

Separate queries, not those of the makers, ask the databases.
"""

import re

import pytest

from agentgym_envs.envs.web.answer_matching import accepts
from agentgym_websites import host as hosts
from agentgym_websites.packed import FILL
from agentgym_websites.site import open_database
from agentgym_websites.tasks.load import load

TASKS = load()
PRODUCTS = "FROM products p JOIN categories c ON c.id = category_id WHERE p.brand = :brand AND "
IN_COMMUNITY = (
    "FROM posts p JOIN communities c ON c.id = community_id WHERE removed = 0 AND c.name ="
    " :community"
)
ORDERS = (
    "FROM orders o JOIN customers c ON c.id = customer_id WHERE placed BETWEEN :begin AND :end"
    " ORDER BY total DESC"
)
PLACES = (
    "FROM places p JOIN towns t ON t.id = town_id WHERE t.name = :town AND category = :category"
)
# A template's text: the database, and the answers with the values to compare, best first. The
# task's words replace {}.
BEST = {
    "Which product by {brand} in the category {category} is the cheapest?": (
        "shop",
        f"SELECT p.name, price {PRODUCTS} c.name = :category ORDER BY price",
    ),
    "Which product by {brand} in the category {category} is the most expensive?": (
        "shop",
        f"SELECT p.name, price {PRODUCTS} c.name = :category ORDER BY price DESC",
    ),
    "Of the products of the type {kind} by {brand}, which one is the {what}?": (
        "shop",
        f"SELECT p.name, weight {PRODUCTS} kind = :kind AND enabled = 1 ORDER BY weight {{}}",
    ),
    "Which product of the type {kind} by {brand} has the {what} reviews?": (
        "shop",
        f"SELECT p.name, reviews {PRODUCTS} kind = :kind AND enabled = 1 ORDER BY reviews {{}}",
    ),
    "Which product by {brand} in the category {category} has the {what} in stock?": (
        "shop",
        f"SELECT p.name, stock {PRODUCTS} c.name = :category AND stock > 0 ORDER BY stock {{}}",
    ),
    "Which customer from {city} has been with us the {what}?": (
        "shop",
        "SELECT name, joined FROM customers WHERE city = :city ORDER BY joined {}",
    ),
    "Who placed the order with the highest total from {begin} to {end}?": (
        "shop",
        f"SELECT c.name, total {ORDERS}",
    ),
    "What is the telephone number of the customer whose order from {begin} to {end} has the"
    " highest total?": (
        "shop",
        f"SELECT c.phone, total {ORDERS}",
    ),
    "Who wrote the {age} of the {status} reviews with {stars} of 5 stars?": (
        "shop",
        (
            "SELECT c.name, written FROM reviews r JOIN customers c ON c.id = customer_id WHERE"
            " status = :status AND rating = :stars ORDER BY written {}"
        ),
    ),
    "What is the title of the post with the most points in c/{community}?": (
        "forum",
        f"SELECT title, score {IN_COMMUNITY} ORDER BY score DESC",
    ),
    "How many comments has the post with the most points in c/{community}?"
    " Answer with the number.": (
        "forum",
        f"SELECT comments, score {IN_COMMUNITY} ORDER BY score DESC",
    ),
    "Who edited the wiki of c/{community} last?": (
        "forum",
        (
            "SELECT a.name, edited FROM wiki w JOIN people a ON a.id = editor_id JOIN communities c"
            " ON c.id = community_id WHERE c.name = :community ORDER BY edited DESC"
        ),
    ),
    "Which {category} in {town} has the best rating?": (
        "map",
        f"SELECT p.name, rating {PLACES} ORDER BY rating DESC",
    ),
    "At which address in {town} is the {category} with the best rating?": (
        "map",
        f"SELECT p.address, rating {PLACES} ORDER BY rating DESC",
    ),
}
# Words of tasks in which the lesser value is the better one: the others want the greater value.
LESS = ("lightest", "fewest", "fewest pieces, but at least one,", "longest", "oldest")


@pytest.fixture(scope="module")
def databases():
    return {tables: open_database(hosts.snapshot(tables)) for tables in FILL}


def test_every_superlative_is_a_template():
    assert set(BEST) <= {t["intent_template"] for t in TASKS}


@pytest.mark.parametrize("text", BEST)
def test_the_best_is_alone_and_is_the_answer(databases, text):
    tables, sql = BEST[text]
    for task in (t for t in TASKS if t["intent_template"] == text):
        values = task["instantiation_dict"]
        wanted = values.get("what", values.get("age", ""))
        first, second, *_ = (
            databases[tables]
            .execute(sql.format("" if wanted in LESS else "DESC"), values)
            .fetchall()
        )
        assert first[1] != second[1], task["name"]
        assert str(first[0]) == task["oracle"][-1][1], task["name"]


@pytest.mark.full
def test_no_answer_stands_in_its_own_text(databases):
    """Repeating the task, or one of the values that it names, is not an answer."""

    def query(locator):
        tables, _, sql = locator.partition(":")
        return "\n".join(" | ".join(map(str, row)) for row in databases[tables].execute(sql))

    for task in TASKS:
        if task["kind"] == "find":
            spec = task["eval"]["reference_answers"]["answer"]
            assert not accepts(spec, task["intent"], task["intent"], query), task["name"]
            shown = [
                v for k, v in task["instantiation_dict"].items() if k not in ("first", "second")
            ]
            assert task["oracle"][-1][1] not in map(str, shown), task["name"]


def test_half_of_the_new_tasks_begin_without_a_search():
    begun = [
        t
        for t in TASKS
        if not (t["oracle"][0][0] == "enter" and t["oracle"][0][3].lower() in t["intent"].lower())
    ]
    assert len(begun) > 0.55 * len(TASKS)
    assert sum(len(t["sites"]) > 1 for t in TASKS) >= 160
    assert len({re.sub(r"-\d+$", "", t["name"]) for t in begun}) > 150
