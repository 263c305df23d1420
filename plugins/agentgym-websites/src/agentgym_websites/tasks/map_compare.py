"""Tasks on the map without a name to search for: properties, streets, reviews, notes and buses."""

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from agentgym_envs.envs.web.embedded import Step, choose, click, stop
from agentgym_websites.map.data import ME
from agentgym_websites.site import day
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.map import MAP, PLACES
from agentgym_websites.tasks.map_change import NEW, saved
from agentgym_websites.tasks.template import (
    Made,
    World,
    becomes,
    ends_at,
    template,
    visits,
)

PAGE = 15  # places per page of a list
MOST = 6  # limit of places that a task compares by opening each


def listed_places(town: str, category: str) -> list[Step]:
    """Lists a town's places of a category."""
    return [click("Towns"), click(town), choose("Category", category), click("Apply", "button")]


def place_groups(world: World, rng: random.Random) -> Iterator[list[Any]]:
    """Yields comparable places: those of a category in a town, in the order of their list."""
    sql = "SELECT town_id, category FROM places GROUP BY 1, 2 HAVING count(*) BETWEEN 2 AND ?"
    for town, category in world.mixed(rng, "map", sql, MOST):
        yield world.rows(
            "map", PLACES + "town_id = ? AND category = ? ORDER BY p.name", town, category
        )


def _details(world: World, found: Sequence[Any]) -> list[dict[str, str]]:
    """Lists a town's places of a category."""
    return [
        {
            r["label"]: r["value"]
            for r in world.rows("map", "SELECT * FROM details WHERE place_id = ?", p["id"])
        }
        for p in found
    ]


def with_detail(
    world: World, rng: random.Random, there: bool
) -> Iterator[tuple[dict[str, str], list[Any], Any]]:
    """Yields a property with the places of a group and the only place that has it.

    Without ``there``, it is a property that no place of the group has, and the place is None.
    """
    for found in place_groups(world, rng):
        details = _details(world, found)
        labels = sorted(
            {
                label
                for d in details
                for label in d
                if not all(d.get(label, "").isdigit() for d in details)
            }
        )
        if not labels:
            continue
        label = rng.choice(labels)
        values = [d.get(label, "") for d in details]
        known = [
            r[0]
            for r in world.rows(
                "map", "SELECT DISTINCT value FROM details WHERE label = ? ORDER BY value", label
            )
        ]
        fitting = (
            sorted({v for v in values if v and values.count(v) == 1})
            if there
            else [v for v in known if v not in values]
        )
        if fitting:
            value = rng.choice(fitting)
            text = {
                "category": found[0]["category"],
                "town": found[0]["town"],
                "label": label,
                "value": value,
            }
            yield text, found, found[values.index(value)] if there else None


@template("map", "find", "For which {category} in {town} does the map say “{label}: {value}”?")
def _which(world: World, rng: random.Random) -> Iterator[Made]:
    for values, found, p in with_detail(world, rng, there=True):
        names = [o["name"] for o in found]
        steps = [
            *listed_places(p["town"], p["category"]),
            *visits(names[: names.index(p["name"]) + 1]),
            stop(p["name"]),
        ]
        yield Made(values, answer.name(p["name"], answer.PLACES), steps)


@template(
    "map",
    "unachievable",
    "What is the telephone number of the {category} in {town} for which the map says “{label}: {value}”?",
)
def _no_such(world: World, rng: random.Random) -> Iterator[Made]:
    for values, found, _ in with_detail(world, rng, there=False):
        steps = [
            *listed_places(found[0]["town"], found[0]["category"]),
            *visits([p["name"] for p in found]),
            stop("N/A"),
        ]
        yield Made(values, answer.nothing("The town has no such place."), steps)


@template(
    "map",
    "change",
    "Save the {category} in {town} for which the map says “{label}: {value}” to my list “Want to go”.",
)
def _save_which(world: World, rng: random.Random) -> Iterator[Made]:
    kept = {r[0] for r in world.rows("map", f"SELECT place_id FROM saved WHERE person_id = {ME}")}
    for values, found, p in with_detail(world, rng, there=True):
        names = [o["name"] for o in found]
        if p["id"] not in kept:
            steps = [
                *listed_places(p["town"], p["category"]), *visits(names[: names.index(p["name"]) + 1]), choose("List", "Want to go"),
                click("Save place", "button"), stop(),
            ]  # fmt: skip
            yield Made(values, becomes("map", saved(p), "Want to go|"), steps)


COUNTED = {
    "hotel": ("Number of rooms", "rooms"),
    "school": ("Pupils", "pupils"),
    "fuel": ("Charging points", "charging points"),
}


def _extreme(
    world: World, rng: random.Random, kind: str = ""
) -> Iterator[tuple[dict[str, str], list[Any], Any]]:
    for found in place_groups(world, rng):
        label, noun = COUNTED.get(found[0]["category"], ("", ""))
        numbers = [int(d[label]) for d in _details(world, found) if d.get(label, "").isdigit()]
        what, best = rng.choice((("most", max), ("fewest", min)))
        if len(numbers) == len(found) and numbers.count(best(numbers)) == 1:
            values = {
                "category": found[0]["category"],
                "town": found[0]["town"],
                "what": f"{what} {noun}",
            }
            yield values, found, found[numbers.index(best(numbers))]


@template("map", "find", "Which {category} in {town} has the {what}?")
def _most(world: World, rng: random.Random) -> Iterator[Made]:
    for values, found, p in _extreme(world, rng):
        steps = [
            *listed_places(p["town"], p["category"]),
            *visits([o["name"] for o in found]),
            stop(p["name"]),
        ]
        yield Made(values, answer.name(p["name"], answer.PLACES), steps)


@template("map", "change", "Make the {category} in {town} with the {what} my starting point.")
def _home(world: World, rng: random.Random) -> Iterator[Made]:
    for values, found, p in _extreme(world, rng):
        names = [o["name"] for o in found if o is not p] + [p["name"]]
        if p["id"] != world.value("map", f"SELECT home_id FROM people WHERE id = {ME}"):
            steps = [
                *listed_places(p["town"], p["category"]),
                *visits(names),
                click("Make this my starting point", "button"),
                stop(),
            ]
            yield Made(
                values,
                becomes("map", f"SELECT home_id FROM people WHERE id = {ME}", p["id"]),
                steps,
            )


@template("map", "find", "Which {category} in {town} does {author} recommend for this: “{tip}”?")
def _recommended(world: World, rng: random.Random) -> Iterator[Made]:
    for found in place_groups(world, rng):
        sql = f"SELECT * FROM reviews WHERE tip <> '' AND place_id IN ({','.join(str(p['id']) for p in found)}) ORDER BY id"
        tips = world.rows("map", sql)
        unique = [
            r
            for r in tips
            if sum((o["author"], o["tip"]) == (r["author"], r["tip"]) for o in tips) == 1
        ]
        if len(found) > 1 and unique:
            r, names = rng.choice(unique), [p["name"] for p in found]
            p = next(p for p in found if p["id"] == r["place_id"])
            steps = [
                *listed_places(p["town"], p["category"]),
                *visits(names[: names.index(p["name"]) + 1]),
                stop(p["name"]),
            ]
            values = {
                "category": p["category"],
                "town": p["town"],
                "author": r["author"],
                "tip": r["tip"],
            }
            yield Made(values, answer.name(p["name"], answer.PLACES), steps)


@template("map", "find", "Which {category} in {town} stands on {street}?")
def _on_street(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        "SELECT p.name, category, s.name AS street, t.name AS town, p.id FROM places p JOIN streets s ON s.id = p.street_id AND off_id IS NULL"
        " JOIN towns t ON t.id = p.town_id GROUP BY s.id, category HAVING count(*) = 1"
    )
    for p in world.mixed(rng, "map", sql):
        steps = [click("Towns"), click(p["town"]), click(p["street"]), stop(p["name"])]
        values = {"category": p["category"], "town": p["town"], "street": p["street"]}
        yield Made(values, answer.name(p["name"], answer.PLACES), steps)


@template("map", "find", "Who left the note of {day} on the map of {town}?")
def _note(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT n.*, t.name AS town FROM notes n JOIN towns t ON t.id = n.town_id GROUP BY town_id, written HAVING count(*) = 1"
    for n in world.mixed(rng, "map", sql):
        steps = [
            click("Notes"),
            choose("Town", n["town"]),
            click("Show", "button"),
            stop(n["author"]),
        ]
        check = answer.name(
            n["author"], "map:SELECT author FROM notes UNION SELECT author FROM remarks"
        )
        yield Made({"day": day(n["written"]), "town": n["town"]}, check, steps)


def _lines(world: World, rng: random.Random) -> Iterator[tuple[str, list[Any]]]:
    for t in world.mixed(rng, "map", "SELECT * FROM towns"):
        sql = "SELECT l.*, (SELECT count(*) FROM stops WHERE line_id = l.id) AS stops FROM lines l WHERE town_id = ? ORDER BY number"
        found = world.rows("map", sql, t["id"])
        if len(found) > 1:
            yield t["name"], found


@template("map", "find", "Which bus line of {town} {what}? Answer with its number.")
def _line(world: World, rng: random.Random) -> Iterator[Made]:
    choices = (
        ("runs most often", "every", min),
        ("has the most stops", "stops", max),
        ("has the highest fare", "fare", max),
    )
    for town, found in (*_lines(world, rng), *_lines(world, rng)):
        what, key, best = rng.choice(choices)
        values = [line[key] for line in found]
        if values.count(best(values)) == 1:
            number = found[values.index(best(values))]["number"]
            steps = [
                click("Towns"),
                click(town),
                *visits(f"Line {line['number']}" for line in found),
                stop(number),
            ]
            yield Made({"town": town, "what": what}, answer.number(number), steps)


@template("map", "find", "Which is the {what} town with {more} than {limit} inhabitants?")
def _town(world: World, rng: random.Random) -> Iterator[Made]:
    towns = sorted(world.rows("map", "SELECT * FROM towns"), key=lambda t: int(t["population"]))
    for below, above in rng.sample([*pairwise(towns)], len(towns) - 1):
        limit = (below["population"] + above["population"]) // 200 * 100
        if below["population"] < limit < above["population"]:
            what, more, t = rng.choice((("smallest", "more", above), ("largest", "fewer", below)))
            values = {"what": what, "more": more, "limit": f"{limit:,}"}
            yield Made(
                values,
                answer.name(t["name"], "map:SELECT name FROM towns"),
                [click("Towns"), stop(t["name"])],
            )


@template("map", "navigate", "Open the page of the {category} in {town} that has the best rating.")
def _open_best(world: World, rng: random.Random) -> Iterator[Made]:
    for found in place_groups(world, rng):
        ratings = [p["rating"] for p in found]
        if ratings.count(max(ratings)) == 1:
            p = found[ratings.index(max(ratings))]
            yield Made(
                {"category": p["category"], "town": p["town"]},
                ends_at(f"{MAP}/place/{p['id']}"),
                [*listed_places(p["town"], p["category"]), click(p["name"]), stop()],
            )


@template("map", "change", "Resolve the oldest open note on the map of {town}.")
def _resolve(world: World, rng: random.Random) -> Iterator[Made]:
    for t in world.mixed(rng, "map", "SELECT * FROM towns"):
        found = world.rows(
            "map",
            "SELECT * FROM notes WHERE town_id = ? AND state = 'open' ORDER BY written",
            t["id"],
        )
        total = world.value("map", "SELECT count(*) FROM notes WHERE town_id = ?", t["id"])
        if (
            total <= PAGE
            and len(found) > 0
            and (len(found) == 1 or found[0]["written"] != found[1]["written"])
        ):
            steps = [
                click("Notes"), choose("Town", t["name"]), click("Show", "button"), click(found[0]["body"]), click("Resolve", "button"), stop(),
            ]  # fmt: skip
            check = becomes(
                "map", f"SELECT state FROM notes WHERE id = {found[0]['id']}", "resolved"
            )
            yield Made({"town": t["name"]}, check, steps)


@template(
    "map",
    "change",
    "Save the two places of the category {category} in {town} with the best ratings to my list “Favorites”.",
)
def _save_two(world: World, rng: random.Random) -> Iterator[Made]:
    for found in place_groups(world, rng):
        best = sorted(found, key=lambda p: -float(p["rating"]))
        fresh = world.rows("map", PLACES + NEW + f" AND p.id IN ({best[0]['id']}, {best[1]['id']})")
        if len(best) > 2 and best[1]["rating"] > best[2]["rating"] and len(fresh) == 2:
            saves = [
                s
                for p in best[:2]
                for s in (
                    click(p["name"]),
                    choose("List", "Favorites"),
                    click("Save place", "button"),
                )
            ]
            steps = [
                *listed_places(found[0]["town"], found[0]["category"]),
                *saves[:3],
                *listed_places(found[0]["town"], found[0]["category"]),
                *saves[3:],
                stop(),
            ]
            values = {"category": found[0]["category"], "town": found[0]["town"]}
            yield Made(values, becomes("map", saved(*best[:2]), "Favorites|\nFavorites|"), steps)
