"""The shop and its admin: texts, options, menus, grids."""

import collections
import json
import re
import urllib.parse
from datetime import date

import gymnasium
import pytest

from agentgym_envs.envs.web.look import find
from agentgym_envs.envs.web.proxy import ProxyRequest
from agentgym_websites import host as hosts
from agentgym_websites.shop.catalogue import COLOURS, OPTIONS, PLURAL, THINGS
from agentgym_websites.site import ORIGINS, open_database
from agentgym_websites.tasks.load import load

SAYS_RATING = {
    "Full marks.": 5,
    "Five stars": 5,
    "Four stars": 4,
    "Nearly full marks": 4,
    "Three stars": 3,
    "Two stars": 2,
    "Never again.": 1,
    "money back": 1,
}


class Visitor:
    """A signed-in person at a site of a host."""

    def __init__(self, host, site):
        self.host, self.origin = host, ORIGINS[site]
        cookie = next(
            f"{c['name']}={c['value']}" for c in host.cookies() if c["url"] == self.origin
        )
        self.headers = {"content-type": "application/x-www-form-urlencoded", "cookie": cookie}

    def get(self, path):
        reply = self.host.serve(
            ProxyRequest("GET", urllib.parse.urljoin(self.origin, path), self.headers, b"")
        )
        self._remember(reply)
        return reply.body.decode()

    def post(self, path, *pairs, **form):
        body = urllib.parse.urlencode([*pairs, *form.items()]).encode()
        reply = self.host.serve(ProxyRequest("POST", self.origin + path, self.headers, body))
        self._remember(reply)
        return self.get(reply.headers["Location"])

    def _remember(self, reply):
        if "Set-Cookie" in reply.headers:
            self.headers["cookie"] = reply.headers["Set-Cookie"].partition(";")[0]


@pytest.fixture
def host():
    return hosts.Host()


@pytest.fixture
def shop(host):
    return Visitor(host, "shop")


@pytest.fixture
def admin(host):
    return Visitor(host, "admin")


@pytest.fixture
def query(host):
    return lambda sql, *values: [tuple(r) for r in host.database("shop").execute(sql, values)]


@pytest.fixture(scope="module")
def snapshot():
    return open_database(hosts.snapshot("shop"))


@pytest.fixture(scope="module")
def reviews(snapshot):
    sql = (
        "SELECT r.*, p.kind, p.brand, p.colour, p.weight, c.city FROM reviews r JOIN products p ON"
        " p.id = r.product_id JOIN customers c ON c.id = r.customer_id"
    )
    return snapshot.execute(sql).fetchall()


def test_no_review_and_no_description_is_written_twice(snapshot, reviews):
    assert len(reviews) == len({r["body"] for r in reviews}) > 4272
    assert len({r["title"] for r in reviews}) > 1400
    assert len({(r["product_id"], r["title"]) for r in reviews}) == len(reviews)
    descriptions = [r[0] for r in snapshot.execute("SELECT description FROM products")]
    assert len(set(descriptions)) == len(descriptions) == 1080


def test_a_review_is_about_its_product_and_fits_its_rating(reviews):
    every = {part for thing in THINGS.values() for part in thing.parts}
    for r in reviews:
        thing = THINGS[r["kind"]]
        own = [
            r["kind"],
            r["brand"],
            r["city"],
            *COLOURS,
            f"{r['weight']:,} g",
            *thing.parts,
            *thing.deeds,
        ]
        assert any(word.lower() in r["body"].lower() for word in own), r["body"]
        others = every - set(thing.parts)
        assert not re.search(
            rf"\bthe ({'|'.join(sorted(others - {'thing'}))}) (broke|\.)", r["body"]
        ), r["body"]
        for text in (r["title"], r["body"]):
            assert not re.search(
                r"[{}<|>]|\ba (?!used)[aeiou]|\ban (?!honest)[^aeiou]|\b(\w+) \1\b|  | [,.;]",
                text,
                re.I,
            ), text
        for said, rating in SAYS_RATING.items():
            assert said not in r["body"] or r["rating"] == rating, r["body"]
        if r["kind"] in PLURAL:
            assert not re.search(
                rf"\bthis ({r['brand']} )?{r['kind'].lower()}", r["body"].lower()
            ), r["body"]


@pytest.mark.full
def test_a_review_agrees_with_the_product_and_with_the_order_that_brought_it(reviews, snapshot):
    """Prices, days, material, measure and origin in a text are those of its product and order."""
    attributes = collections.defaultdict(dict)
    for product, name, value in snapshot.execute("SELECT * FROM attributes"):
        attributes[product][name] = value
    orders = {o["id"]: o for o in snapshot.execute("SELECT * FROM orders")}
    items = {
        (i["order_id"], i["product_id"]): i for i in snapshot.execute("SELECT * FROM order_items")
    }
    materials = {a["Material"] for a in attributes.values()} - ALSO_WORDS
    assert len(materials) > 60
    for r in reviews:
        order, own = orders[r["order_id"]], attributes[r["product_id"]]
        paid = items[r["order_id"], r["product_id"]]["price"]
        assert order["customer_id"] == r["customer_id"]
        assert order["delivered"] < r["written"]
        assert set(re.findall(r"\$[\d.]+\d", r["body"])) <= {f"${paid / 100:.2f}"}
        waited = (date.fromisoformat(order["delivered"]) - date.fromisoformat(order["placed"])).days
        assert {
            int(n) for n in re.findall(r"\b(\d+) days? (?:to|until|from|of|on|in)\b", r["body"])
        } <= {waited}
        said = {m for m in materials if re.search(rf"\b{re.escape(m)}\b", r["body"])}
        assert all(m in own["Material"] for m in said), (r["body"], own)
        sizes = set(re.findall(r"\b\d+ [cm]m\b", r["body"].replace(r["title"], "")))
        assert {s for s in sizes if f"{s} " not in r["kind"]} <= {
            v for k, v in own.items() if k not in ("Material", "Made in")
        } | _sizes(items, r)
        if order["status"] == "Returned":
            assert r["rating"] < 4


ALSO_WORDS = {
    "glass", "leather", "cork", "linen", "latex", "rubber", "copper", "brass", "silicone", "steel",
    "rubber cable", "merino wool",
}  # fmt: skip
"""Materials that are parts of other materials or of products' names."""


def _sizes(items, review):
    """Returns the measures in the ordered options."""
    return set(
        re.findall(r"\b\d+ [cm]m\b", items[review["order_id"], review["product_id"]]["options"])
    )


def test_what_is_kept_of_a_review_is_what_it_says(reviews):
    for r in reviews:
        for told in ("owned", "whom", "part"):
            assert r[told].lower() in r["body"].lower()
    told = collections.Counter(
        (r["theme"], bool(r["owned"]), bool(r["whom"]), bool(r["part"])) for r in reviews
    )
    assert len(told) == len({theme for theme, *_ in told}) == 13
    assert all(r["part"] in THINGS[r["kind"]][0] for r in reviews if r["part"])


def test_the_titles_that_tasks_quote_are_on_the_products_pages(shop, query):
    quoted = [t["instantiation_dict"] for t in load() if t["name"].startswith("shop-09-")]
    assert len(quoted) == 11
    for task in quoted:
        ((key,),) = query("SELECT id FROM products WHERE name = ?", task["product"])
        assert shop.get(f"/product/{key}").count(f"<strong>{task['title']}</strong>") == 1


def test_options_are_chosen_beforehand_or_must_be(snapshot):
    groups = collections.defaultdict(list)
    for r in snapshot.execute(
        "SELECT o.*, kind, colour FROM options o JOIN products p ON p.id = product_id ORDER BY o.id"
    ):
        groups[r["product_id"], r["kind"], r["name"]].append(r)
    assert len({product for product, *_ in groups}) > 250
    for (_, kind, name), values in groups.items():
        option = next(o for o in OPTIONS[kind] if o.name == name)
        assert [v["chosen"] for v in values] == [int(option.preset), *[0] * (len(values) - 1)]
        assert len({v["value"] for v in values}) == len(values) > 1
        assert values[0]["extra"] == 0, "the price is that of the first choice"
        if name == "Color":
            assert values[0]["value"] == values[0]["colour"]
            assert {v["value"] for v in values} <= set(COLOURS)
    paid = "(SELECT sum(quantity * price) FROM order_items WHERE order_id = o.id)"
    sums = f"SELECT count(*) FROM orders o WHERE total <> shipping_cost + {paid}"
    assert snapshot.execute(sums).fetchone()[0] == 0
    bought = dict(
        snapshot.execute(
            "SELECT product_id, options FROM order_items WHERE options <> ''"
        ).fetchall()
    )
    for product, text in bought.items():
        extra = {
            f"{v['name']}: {v['value']}": v["extra"]
            for key, vs in groups.items()
            if key[0] == product
            for v in vs
        }
        assert [extra[choice] for choice in text.split(", ")] == [0] * len(
            {key for key in groups if key[0] == product}
        )


SADDLE_BAG = 126  # one of three capacities must be chosen


def test_a_product_needs_its_options(shop, query):
    ((name,),) = query("SELECT name FROM products WHERE id = 126")
    message = f"You need to choose options for {name}: Capacity."
    assert message in shop.post("/cart", product=SADDLE_BAG, quantity=1, how="add")
    assert message in shop.post(
        "/cart", ("option Capacity", "9 liters"), product=SADDLE_BAG, quantity=1, how="add"
    )
    assert "is not in your cart like this" in shop.post(
        "/cart", product=SADDLE_BAG, quantity=1, options="Capacity: 9 liters"
    )
    assert query("SELECT * FROM cart") == []
    shown = shop.post(
        "/cart", ("option Capacity", "5 liters"), product=SADDLE_BAG, quantity=2, how="add"
    )
    assert "Cart, 2 items" in shown
    assert "Capacity: 5 liters" in shown
    assert query("SELECT product_id, quantity, options FROM cart") == [
        (SADDLE_BAG, 2, "Capacity: 5 liters")
    ]


def test_what_options_cost_is_paid(shop, query):
    ((price,),) = query("SELECT price FROM products WHERE id = 126")
    for capacity, quantity in (("5 liters", 2), ("1 liter", 1)):
        shown = shop.post(
            "/cart", ("option Capacity", capacity), product=SADDLE_BAG, quantity=quantity, how="add"
        )
    for cents in (price, price + 1500, 2 * (price + 1500), 3 * price + 3000):
        assert f"${cents / 100:.2f}" in shown
    address = {"street": "1 Mill Street", "city": "Omaha", "state": "NE", "zip": "68101"}
    shop.post("/checkout", shipping="pickup", payment="Card", **address)
    assert query(
        "SELECT quantity, price, options FROM order_items WHERE order_id = (SELECT max(id) FROM"
        " orders)"
    ) == [
        (1, price, "Capacity: 1 liter"),
        (2, price + 1500, "Capacity: 5 liters"),
    ]
    assert query("SELECT total FROM orders ORDER BY id DESC LIMIT 1") == [(3 * price + 3000,)]
    assert "Capacity: 5 liters" in shop.get(f"/orders/{query('SELECT max(id) FROM orders')[0][0]}")


def test_lines_of_the_cart_are_changed_one_by_one_and_together_no_more_than_in_stock(shop, query):
    ((stock,),) = query("SELECT stock FROM products WHERE id = 126")
    for capacity in ("1 liter", "2 liters"):
        shop.post("/cart", ("option Capacity", capacity), product=SADDLE_BAG, quantity=2, how="add")
    shop.post("/cart", product=SADDLE_BAG, quantity=5, options="Capacity: 2 liters")
    assert "are in stock" in shop.post(
        "/cart", product=SADDLE_BAG, quantity=stock - 4, options="Capacity: 1 liter"
    )
    assert query("SELECT quantity FROM cart ORDER BY options") == [(2,), (5,)]
    shop.post("/cart", product=SADDLE_BAG, quantity=0, options="Capacity: 1 liter")
    assert query("SELECT options, quantity FROM cart") == [("Capacity: 2 liters", 5)]


def test_what_is_ordered_again_has_the_same_options(shop, query):
    orders = "(SELECT id FROM orders WHERE customer_id = 1)"
    sql = (
        f"SELECT order_id, options FROM order_items WHERE order_id IN {orders} AND options <> ''"
        " LIMIT 1"
    )
    ((order, options),) = query(sql)
    shop.post(f"/orders/{order}", how="again")
    assert (options,) in query("SELECT options FROM cart")


def test_a_category_shows_one_type_of_product(shop):
    shown = shop.get("/category/5?kind=Helmet")
    assert "5 products" in shown
    assert re.search(r'<option value="Helmet" selected>', shown)
    assert set(re.findall(r'aria-label="Picture of ([^"]+)"', shown)) == {
        n for n in re.findall(r'aria-label="Picture of ([^"]+)"', shown) if n.endswith("Helmet")
    }


def test_the_search_field_gets_suggestions(shop):
    found = json.loads(shop.get("/suggest?q=KETTLE"))
    assert found[0] == {"text": "All: Kettle", "address": "/category/2?kind=Kettle"}
    assert len(found) == 7
    assert all("Kettle" in f["text"] for f in found)
    assert "Kettle" in shop.get(found[0]["address"])
    assert json.loads(shop.get("/suggest?q=+")) == json.loads(shop.get("/suggest?q=zzz")) == []


def test_reviews_are_filtered_and_sorted(shop, query):
    key, count = query(
        "SELECT product_id, count(*) AS n FROM reviews WHERE status = 'approved' AND rating = 5"
        " GROUP BY 1 ORDER BY n DESC LIMIT 1"
    )[0]
    ratings = r'<span class="stars">(\d) of 5</span>'
    assert re.findall(ratings, shop.get(f"/product/{key}?stars=5")) == ["5"] * count
    worst = re.findall(ratings, shop.get(f"/product/{key}?order=worst"))
    assert worst == sorted(worst)
    assert sorted(worst) != sorted(worst, reverse=True)
    assert re.search(rf"5 stars <i [^>]+></i><span>{count}</span>", shop.get(f"/product/{key}"))


def column(page, number):
    """Returns the cells of a grid's column."""
    rows = re.findall(
        r"<tr>(.*?)</tr>", page.partition("<tbody>")[2].partition("</tbody>")[0], re.S
    )
    return [
        re.sub(r"<[^>]+>", "", re.findall(r"<td.*?</td>", row, re.S)[number]).strip()
        for row in rows
    ]


def test_grids_are_sorted_by_a_column_and_show_as_many_rows_as_wanted(admin, query):
    stocks = [int(n) for n in column(admin.get("/products?sort=-stock&size=50"), 5)]
    assert stocks == [
        n for (n,) in query("SELECT stock FROM products ORDER BY stock DESC LIMIT 50")
    ]
    assert (
        column(admin.get("/orders?sort=total"), 5)[0]
        == f"${query('SELECT min(total) FROM orders')[0][0] / 100:.2f}"
    )
    assert len(column(admin.get("/orders?sort=1;DROP&size=7"), 1)) == 20
    page = admin.get("/customers?sort=orders")
    assert 'aria-sort="ascending"><a href="/customers?sort=-orders">Orders ↑</a>' in page
    assert [int(n) for n in column(page, 6)] == sorted(int(n) for n in column(page, 6))


def test_a_grid_tells_the_sum_of_all_its_pages(admin, query):
    ((count, total),) = query("SELECT count(*), sum(total) FROM orders WHERE status = 'Returned'")
    shown = admin.get("/orders?status=Returned&page=2")
    assert count > 40
    assert f"All {count} orders together" in shown
    assert f"${total / 100:,.2f}" in shown


def test_many_rows_are_changed_at_a_time(admin, query):
    shown = admin.post(
        "/orders/mass?status=Shipped",
        *[("row", 4572), ("row", 4573), ("row", 99999), ("row", "x")],
        how="Delivered",
    )
    assert "2 orders changed." in shown
    assert set(column(shown, 4)) == {"Shipped"}, "the filter is still there"
    assert query("SELECT status FROM orders WHERE id IN (4572, 4573)") == [("Delivered",)] * 2
    assert "1 product changed." in admin.post("/products/mass", row=7, how="0")
    assert query("SELECT id FROM products WHERE NOT enabled") == [(7,)]
    assert "1 customer changed." in admin.post("/customers/mass", row=5, how="VIP")
    assert query("SELECT grp FROM customers WHERE id = 5") == [("VIP",)]
    before = query("SELECT count(*) FROM orders WHERE status = 'Lost'")
    assert "Choose an action." in admin.post("/orders/mass", row=4572, how="Lost")
    assert "Select one row at least." in admin.post("/orders/mass", how="Shipped")
    assert query("SELECT count(*) FROM orders WHERE status = 'Lost'") == before


def test_deleted_reviews_no_longer_count(admin, query):
    keys = [
        k for (k,) in query("SELECT id FROM reviews WHERE product_id = 127 AND status = 'approved'")
    ]
    assert keys
    assert f"{len(keys)} reviews deleted." in admin.post(
        "/reviews/mass", *[("row", k) for k in keys], how="delete"
    )
    assert query("SELECT reviews, rating FROM products WHERE id = 127") == [(0, 0.0)]


def test_the_admin_sets_what_an_option_costs(admin, shop, query):
    ((name, price),) = query("SELECT name, price FROM products WHERE id = 126")
    keys = [k for (k,) in query("SELECT id FROM options WHERE product_id = 126 ORDER BY id")]
    form = {f"extra-{key}": extra for key, extra in zip(keys, ("0", "7.25", "nan"), strict=True)}
    admin.post("/products/126", name=name, price=price / 100, stock=9, weight=9, enabled=1, **form)
    assert query("SELECT extra FROM options WHERE product_id = 126 ORDER BY id") == [
        (0,),
        (725,),
        (1500,),
    ]
    assert "2 liters + $7.25" in shop.get("/product/126")


def test_only_staff_changes_rows(host, query):
    reply = host.serve(
        ProxyRequest("POST", ORIGINS["admin"] + "/products/mass", {}, b"row=7&how=0")
    )
    assert "/login" in reply.headers["Location"]
    assert query("SELECT count(*) FROM products WHERE NOT enabled") == [(0,)]


@pytest.fixture
def env():
    env = gymnasium.make("agentgym/WebSites-v1", split="train", max_episode_steps=-1)
    yield env.unwrapped
    env.close()


def act(env, verb, role, name, *rest):
    """Does something to an element of the observation; returns the next one."""
    key = find(env._text, name, role=role).id
    return env.step(f"{verb} [{key}]" + "".join(f" [{r}]" for r in rest))[0]


@pytest.mark.browser
def test_menus_suggestions_and_checks_work_in_the_browser(env, query):
    env.reset(options={"task_id": "shop-35-0"})
    assert "link 'Helmet'" not in env._text
    assert "link 'Helmet'" in act(env, "click", "button", "Outdoor")
    opened = act(env, "click", "button", "Kitchen")
    assert ("link 'Teapot'" in opened, "link 'Helmet'" in opened) == (True, False)
    assert "link 'Teapot'" not in env.step("press [Escape]")[0]

    env.host.database("shop").execute(
        "UPDATE products SET name = 'Kettle <b>x</b>' WHERE kind = 'Kettle'"
    )
    seen = act(env, "type", "searchbox", "Search", "kettle", "0")
    assert "link 'All: Kettle'" in seen
    assert "link 'Kettle <b>x</b>'" in seen
    assert "URL: http://shop.test/category/2?kind=Kettle" in act(
        env, "click", "link", "All: Kettle"
    )

    env.step("goto [http://shop.test/product/126]")
    assert "This is a required field." in act(env, "click", "button", "Add to cart")
    before = re.search(r"StaticText '\$([\d.]+)'", env._text)[1]
    after = act(env, "select", "combobox", "Capacity", "5 liters + $15.00")
    assert f"'${float(before) + 15:.2f}'" in after
    assert "URL: http://shop.test/cart" in act(env, "click", "button", "Add to cart")
    assert "View cart" not in env._text
    assert "link 'View cart'" in act(env, "click", "button", "Cart, 1 item")


@pytest.mark.browser
def test_a_box_selects_all_rows_and_deleting_is_confirmed_in_the_browser(env):
    env.reset(options={"task_id": "admin-33-0"})
    act(env, "click", "button", "Marketing")
    act(env, "click", "link", "Pending reviews")
    assert act(env, "click", "checkbox", "Select all on this page").count("checked: true") == 11
    act(env, "select", "combobox", "Actions", "Delete")
    seen = act(env, "click", "button", "Submit")
    assert "DIALOG: confirm: Delete 10 selected? (accepted)" in seen
    assert "10 reviews deleted." in seen
    assert "273 reviews" in seen


@pytest.mark.browser
def test_a_calendar_fills_in_a_date(env):
    env.reset(options={"task_id": "admin-33-0"})
    env.step("goto [http://admin.shop.test/orders]")
    assert "button 'June 3, 2026'" not in env._text
    assert "button 'June 3, 2026'" in act(env, "click", "button", "Calendar for From")
    assert "button 'May 31, 2026'" in act(env, "click", "button", "Previous month")
    assert "button 'May 31, 2026'" not in act(env, "click", "button", "May 4, 2026")
    assert find(env._text, "2026-05-04", role="StaticText")
    assert "URL: http://admin.shop.test/orders?status=&customer=&from=2026-05-04&to=" in act(
        env, "click", "button", "Filter"
    )
    assert "button 'June 3, 2026'" in act(env, "click", "button", "Calendar for To")
    assert "button 'June 3, 2026'" not in env.step("press [Escape]")[0]
