"""Changes on the map."""

import random
from collections.abc import Iterator
from typing import Any

from agentgym_envs.envs.web.embedded import choose, click, fill, goto, search, stop
from agentgym_websites.map.data import ME
from agentgym_websites.site import ORIGINS
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.map import PLACES, best_rated, closest, nearby, open_place
from agentgym_websites.tasks.template import Made, World, becomes, each, template


def saved(*places: Any) -> str:
    """Returns the query for the lists and notes of saved places."""
    ids = ", ".join(str(p["id"]) for p in places)
    return f"SELECT list || '|' || note FROM saved WHERE person_id = {ME} AND place_id IN ({ids})"


NEW = f"p.id NOT IN (SELECT place_id FROM saved WHERE person_id = {ME})"


@template("map", "change", "Save the {place} to my list “{list}”.")
def _save(world: World, rng: random.Random) -> Iterator[Made]:
    """Returns the query for the lists and notes with which places are saved."""
    for p in world.mixed(rng, "map", PLACES + NEW):
        kept = rng.choice(("Want to go", "Favorites", "Avoid"))
        steps = [*open_place(p), choose("List", kept), click("Save place", "button"), stop()]
        yield Made({"place": p["name"], "list": kept}, becomes("map", saved(p), f"{kept}|"), steps)


@template("map", "change", "Save the {place} to my list “{list}” with the note “{note}”.")
def _save_note(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + NEW):
        kept, note = (
            rng.choice(("Want to go", "Favorites", "Avoid")),
            rng.choice(
                ("Ask for the corner table", "Closed on holidays", "Bring cash", "Meet Jonas here")
            ),
        )
        steps = [
            *open_place(p),
            choose("List", kept),
            fill("Note", note),
            click("Save place", "button"),
            stop(),
        ]
        yield Made(
            {"place": p["name"], "list": kept, "note": note},
            becomes("map", saved(p), f"{kept}|{note}"),
            steps,
        )


@template("map", "change", "Save both the {first} and the {second} to my list “Favorites”.")
def _save_two(world: World, rng: random.Random) -> Iterator[Made]:
    places = world.mixed(rng, "map", PLACES + NEW)
    for a, b in zip(places[::2], places[1::2], strict=False):
        steps = [
            s
            for p in (a, b)
            for s in (*open_place(p), choose("List", "Favorites"), click("Save place", "button"))
        ]
        yield Made(
            {"first": a["name"], "second": b["name"]},
            becomes("map", saved(a, b), "Favorites|\nFavorites|"),
            [*steps, stop()],
        )


@template(
    "map",
    "change",
    "Save the {category} that is nearest to the {place}, as the crow flies, to my list “Want to go”.",
)
def _save_near(world: World, rng: random.Random) -> Iterator[Made]:
    for p, category, found in closest(world, rng):
        other = found[0][1]
        if not world.rows("map", "SELECT 1 FROM saved WHERE place_id = ?", other["id"]):
            steps = [
                *nearby(p, category),
                click(other["name"]),
                choose("List", "Want to go"),
                click("Save place", "button"),
                stop(),
            ]
            yield Made(
                {"place": p["name"], "category": category},
                becomes("map", saved(other), "Want to go|"),
                steps,
            )


@template("map", "change", "Save the best rated {category} of {town} to my list “Favorites”.")
def _save_best(world: World, rng: random.Random) -> Iterator[Made]:
    for town, category, best, steps in best_rated(world, rng):
        if not world.rows("map", "SELECT 1 FROM saved WHERE place_id = ?", best["id"]):
            more = [
                click(best["name"]),
                choose("List", "Favorites"),
                click("Save place", "button"),
                stop(),
            ]
            yield Made(
                {"town": town, "category": category},
                becomes("map", saved(best), "Favorites|"),
                [*steps, *more],
            )


each(
    "map",
    "change",
    "Make the {place} my starting point.",
    "map",
    PLACES + "p.name <> 'Aldermere Public Library'",
    check=lambda p: becomes("map", f"SELECT home_id FROM people WHERE id = {ME}", p["id"]),
    steps=lambda p: [*open_place(p), click("Make this my starting point", "button"), stop()],
)


@template("map", "unachievable", "What is the telephone number of the {place}?")
def _no_place(world: World, rng: random.Random) -> Iterator[Made]:
    towns = [t["name"] for t in world.rows("map", "SELECT * FROM towns")]
    while True:
        name = f"{rng.choice(towns)} {rng.choice(('Ice Rink', 'Observatory', 'Opera House', 'Airport', 'Aquarium'))}"
        yield Made(
            {"place": name},
            answer.nothing("There is no such place on the map."),
            [search(name), stop("N/A")],
        )


@template(
    "map code",
    "change",
    "Open an issue in the code host's project {project} with the title “New office” and the street address of the {place} as its description.",
)
def _office(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        project = rng.choice(("tidepool", "quarry", "peregrine", "osprey", "basalt"))
        steps = [
            *open_place(p), goto(f"{ORIGINS['code']}/p/{project}/issues/new"), fill("Title", "New office"), fill("Description", p["address"]),
            click("Open issue", "button"), stop(),
        ]  # fmt: skip
        sql = "SELECT p.name || '|' || body FROM issues JOIN projects p ON p.id = project_id WHERE title = 'New office'"
        yield Made(
            {"place": p["name"], "project": project},
            becomes("code", sql, f"{project}|{p['address']}"),
            steps,
        )


@template(
    "map admin",
    "change",
    "Change the telephone number of the shop's customer {customer} to that of the {place}, in the shop's admin.",
)
def _reach(world: World, rng: random.Random) -> Iterator[Made]:
    for p, c in zip(
        world.mixed(rng, "map", PLACES + "1"),
        world.mixed(rng, "shop", "SELECT * FROM customers"),
        strict=False,
    ):
        steps = [
            *open_place(p), goto(ORIGINS["admin"]), search(c["name"]), click(c["name"]), fill("Telephone", p["phone"]), click("Save", "button"), stop(),
        ]  # fmt: skip
        yield Made(
            {"place": p["name"], "customer": c["name"]},
            becomes("shop", f"SELECT phone FROM customers WHERE id = {c['id']}", p["phone"]),
            steps,
        )
