"""Tasks that need pages of two sites: a fact from one of them is used on the other."""

import random
from collections.abc import Iterator
from typing import Any

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, goto, stop
from agentgym_websites.code.data import ME as CODER
from agentgym_websites.code.data import MINE
from agentgym_websites.forum.data import ME as MEMBER
from agentgym_websites.forum.feed import NOW
from agentgym_websites.shop.data import ME as CUSTOMER
from agentgym_websites.site import ORIGINS, TODAY, day, money
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.admin import open_order
from agentgym_websites.tasks.admin_compare import brands_in_stock
from agentgym_websites.tasks.code_compare import singled_projects as _code_projects
from agentgym_websites.tasks.forum import posted, shuffled_names, submit_post
from agentgym_websites.tasks.forum_compare import first_post, listed_gear
from agentgym_websites.tasks.map_compare import listed_places, place_groups, with_detail
from agentgym_websites.tasks.shop_compare import WISHED, dated_orders, reviewed_products
from agentgym_websites.tasks.template import Made, World, becomes, only, template, visits

FORUM, CODE, SHOP, ADMIN, MAP = (
    ORIGINS[name] for name in ("forum", "code", "shop", "admin", "map")
)


def _best(world: World, rng: random.Random) -> Iterator[tuple[Any, list[Step]]]:
    """Yields the best rated place of a category in a town.

    The plan opens it from the map's first page.
    """
    for found in place_groups(world, rng):
        if p := only(found, "rating", max):
            yield p, [*listed_places(p["town"], p["category"]), click(p["name"])]


def _new_issue(project: str, title: str, body: str) -> list[Step]:
    return [
        goto(f"{CODE}/p/{project}/issues/new"),
        fill("Title", title),
        fill("Description", body),
        click("Open issue", "button"),
        stop(),
    ]


def _opened(project: str, title: str, body: str) -> dict[str, Any]:
    sql = f"SELECT p.name, title, body FROM issues i JOIN projects p ON p.id = project_id WHERE author_id = {CODER} AND opened = '{TODAY}'"
    return becomes("code", sql, f"{project} | {title} | {body}")


@template(
    "forum shop",
    "change",
    "Post in c/{community} with the title “A present” and as its text the name of the shop's product of the type {kind} that, according to a review, somebody bought for {friend}.",
)
def _present(world: World, rng: random.Random) -> Iterator[Made]:
    for r, steps in reviewed_products(world, rng, "whom: whom LIKE 'my %'"):
        community = rng.choice(shuffled_names(rng))
        values = {
            "community": community,
            "kind": r["kind"],
            "friend": r["whom"].replace("my ", "their ", 1),
        }
        plan = [goto(SHOP), *steps, goto(FORUM), *submit_post(community, "A present", r["name"])]
        yield Made(values, posted(community, "A present", r["name"]), plan)


@template(
    "shop forum",
    "change",
    "Send the shop a message with the subject “{subject}” whose text is the title of the {age} post in the forum's c/{community}.",
)
def _message(world: World, rng: random.Random) -> Iterator[Made]:
    for community in shuffled_names(rng):
        order, age = rng.choice((("new", "newest"), ("old", "oldest"), ("top", "highest-scoring")))
        if found := first_post(world, community, order):
            p, steps = found
            subject = rng.choice(("A tip for you", "Have you seen this?", "From the forum"))
            plan = [
                goto(FORUM), *steps, goto(SHOP), click("Contact"), fill("Subject", subject), fill("Message", p["title"]),
                click("Send message", "button"), stop(),
            ]  # fmt: skip
            sql = f"SELECT subject, body FROM messages WHERE customer_id = {CUSTOMER}"
            yield Made(
                {"subject": subject, "age": age, "community": community},
                becomes("shop", sql, f"{subject} | {p['title']}"),
                plan,
            )


@template(
    "admin map",
    "change",
    "Order #{order} goes to the {category} in {town} that has the best rating on the map. Change the street of the order to its street address and the city to {town}.",
)
def _redirect(world: World, rng: random.Random) -> Iterator[Made]:
    orders = world.mixed(rng, "shop", "SELECT * FROM orders WHERE status = 'Processing'")
    for (p, steps), o in zip(_best(world, rng), orders, strict=False):
        plan = [
            goto(MAP), *steps, goto(ADMIN), *open_order(o["id"]), fill("Street", p["address"]), fill("City", p["town"]), click("Save", "button"), stop(),
        ]  # fmt: skip
        check = becomes(
            "shop",
            f"SELECT street, city FROM orders WHERE id = {o['id']}",
            f"{p['address']} | {p['town']}",
        )
        yield Made({"order": o["id"], "category": p["category"], "town": p["town"]}, check, plan)


@template(
    "forum map",
    "change",
    "Comment on the {age} post in c/{community} with the name of the {category} in {town} for which the map says “{label}: {value}”, and nothing else.",
)
def _recommend(world: World, rng: random.Random) -> Iterator[Made]:
    communities = shuffled_names(rng)
    for n, (values, found, p) in enumerate(with_detail(world, rng, there=True)):
        community, (order, age) = (
            communities[n % len(communities)],
            rng.choice((("new", "newest"), ("old", "oldest"))),
        )
        first = first_post(world, community, order)
        if first and not first[0]["locked"]:
            names, post = [o["name"] for o in found], first[0]
            plan = [
                goto(MAP), *listed_places(p["town"], p["category"]), *visits(names[: names.index(p["name"]) + 1]), goto(FORUM), *first[1], click(post["title"]),
                fill("Add a comment", p["name"]), click("Post comment", "button"), stop(),
            ]  # fmt: skip
            sql = f"SELECT post_id, body FROM comments WHERE author_id = {MEMBER} AND written = '{NOW}'"
            yield Made(
                {**values, "age": age, "community": community},
                becomes("forum", sql, f"{post['id']} | {p['name']}"),
                plan,
            )


@template(
    "code forum",
    "change",
    "Open an issue in my project {project}: its title is the title of the {age} post in the forum's c/{community}, its description is the name of the post's author.",
)
def _quoted(world: World, rng: random.Random) -> Iterator[Made]:
    for community in shuffled_names(rng):
        project, (order, age) = (
            rng.choice(MINE),
            rng.choice((("new", "newest"), ("old", "oldest"), ("top", "highest-scoring"))),
        )
        if found := first_post(world, community, order):
            p, steps = found
            author = world.value("forum", "SELECT name FROM people WHERE id = ?", p["author_id"])
            plan = [goto(FORUM), *steps, *_new_issue(project, p["title"], author)]
            yield Made(
                {"project": project, "age": age, "community": community},
                _opened(project, p["title"], author),
                plan,
            )


@template(
    "code admin",
    "change",
    "Open an issue in my project {project} with the title “Low stock”. Its description is the SKU of the product by {brand} in the category {category} that, in the shop's admin, has the fewest pieces in stock, but at least one.",
)
def _low_stock(world: World, rng: random.Random) -> Iterator[Made]:
    for pair, found, steps in brands_in_stock(world, rng):
        if p := only(found, "stock", min):
            project = rng.choice(MINE)
            plan = [
                goto(ADMIN),
                *steps,
                click("Stock"),
                *_new_issue(project, "Low stock", p["sku"]),
            ]
            values = {"project": project, "brand": pair["brand"], "category": pair["category"]}
            yield Made(values, _opened(project, "Low stock", p["sku"]), plan)


@template(
    "map code",
    "change",
    "Save the {category} in {town} that has the best rating to my list “{list}”. The note is the name of the owner of the {language} project that was created on {day} on the code host.",
)
def _noted(world: World, rng: random.Random) -> Iterator[Made]:
    for (p, steps), (project, values, open_project) in zip(
        _best(world, rng), _code_projects(world, rng), strict=False
    ):
        kept = rng.choice(("Want to go", "Favorites"))
        if not world.rows("map", "SELECT 1 FROM saved WHERE place_id = ?", p["id"]):
            plan = [
                goto(CODE), *open_project, goto(MAP), *steps, choose("List", kept), fill("Note", project["owner"]), click("Save place", "button"), stop(),
            ]  # fmt: skip
            check = becomes(
                "map",
                f"SELECT list, note FROM saved WHERE place_id = {p['id']}",
                f"{kept} | {project['owner']}",
            )
            yield Made(
                {**values, "category": p["category"], "town": p["town"], "list": kept}, check, plan
            )


@template(
    "shop forum",
    "change",
    "Put the best rated product of the type {kind} on my wish list, and post its name as the text of a post in the forum's c/{community} with the title “On my list”.",
)
def _wish_and_post(world: World, rng: random.Random) -> Iterator[Made]:
    held = [r[0] for r in world.rows("shop", WISHED)]
    for kind, department, category in world.mixed(
        rng,
        "shop",
        "SELECT DISTINCT kind, department, c.name FROM products JOIN categories c ON c.id = category_id",
    ):
        p = only(
            world.rows("shop", "SELECT * FROM products WHERE kind = ? AND enabled = 1", kind),
            "rating",
            max,
        )
        if p and p["id"] not in held:
            community = rng.choice(shuffled_names(rng))
            plan = [
                click(department, "button"), click(kind, after=category), choose("Sort by", "Best rated"), click("Apply", "button"), click(p["name"]),
                click("Add to wish list", "button"), goto(FORUM), *submit_post(community, "On my list", p["name"]),
            ]  # fmt: skip
            checks = [
                becomes("shop", WISHED, "\n".join(map(str, sorted([*held, p["id"]])))),
                posted(community, "On my list", p["name"]),
            ]
            check = {
                **checks[0],
                "program_html": [target for c in checks for target in c["program_html"]],
            }
            yield Made({"kind": kind, "community": community}, check, plan)


@template(
    "shop forum",
    "find",
    "By how much does the total of my order of {day} exceed the price of the most expensive thing on the list of what to buy in the wiki of the forum's c/{community}?",
)
def _exceeds(world: World, rng: random.Random) -> Iterator[Made]:
    for (o, steps), community in zip(dated_orders(world, rng), shuffled_names(rng), strict=False):
        dearest = max(price for _, price in listed_gear(world, community))
        if o["total"] > 100 * dearest:
            text = money(o["total"] - 100 * dearest)
            plan = [
                *steps,
                goto(FORUM),
                click("Communities"),
                click(f"c/{community}"),
                click("Wiki"),
                click("What to buy"),
                stop(text),
            ]
            yield Made({"day": day(o["placed"]), "community": community}, answer.amount(text), plan)


@template(
    "map forum",
    "change",
    "Publish a review with {stars} stars of the {category} in {town} that has the best rating. Its text is the title of the {age} post in the forum's c/{community}.",
)
def _review(world: World, rng: random.Random) -> Iterator[Made]:
    for (p, steps), community in zip(_best(world, rng), shuffled_names(rng), strict=False):
        stars, (order, age) = (
            rng.randint(2, 5),
            rng.choice((("new", "newest"), ("old", "oldest"), ("top", "highest-scoring"))),
        )
        if found := first_post(world, community, order):
            post, list_posts = found
            plan = [
                goto(FORUM), *list_posts, goto(MAP), *steps, choose("Stars", str(stars)), fill("Review", post["title"]), click("Publish review", "button"), stop(),
            ]  # fmt: skip
            sql = f"SELECT place_id, stars, body FROM reviews WHERE author = 'Ida Brandt' AND written = '{TODAY}'"
            values = {
                "stars": stars,
                "category": p["category"],
                "town": p["town"],
                "age": age,
                "community": community,
            }
            yield Made(values, becomes("map", sql, f"{p['id']} | {stars} | {post['title']}"), plan)
