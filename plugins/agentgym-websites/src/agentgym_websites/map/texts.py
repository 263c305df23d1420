"""Writes the facts and the reviews of places, and notes about streets; all texts are this map's."""

import random
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from agentgym_websites.grammar import Author, Known, Rules
from agentgym_websites.people import full_names
from agentgym_websites.site import TODAY, add
from agentgym_websites.tables import tables


class Kind(NamedTuple):
    """The properties of a category of places.

    Attributes:
        facts: labels and possible values of a page's facts; a review can name a fact by the label's
            last word, in small letters.
        tips: possible recommendations; each place has some.
        recommends: forms of a recommendation, with the blank ``tip``.
        good: good opinions about a place's facts.
        bad: bad opinions.
    """

    facts: Mapping[str, Sequence[str]]
    tips: Sequence[str]
    recommends: Sequence[str]
    good: Sequence[str]
    bad: Sequence[str]


ACCESS = ("step-free", "step-free with a ramp", "one step at the door", "stairs only")
_WORDS_TABLES = tables("map/words")
KINDS: Mapping[str, Kind] = {name: Kind(**of) for name, of in _WORDS_TABLES["kinds"].items()}
REVIEWS: Mapping[int, Sequence[str]] = {
    int(n): texts for n, texts in _WORDS_TABLES["reviews"].items()
}
"""Forms of a review, by stars."""
COMMON: Rules = _WORDS_TABLES["common"]
NOTES: Mapping[str, Sequence[str]] = _WORDS_TABLES["notes"]
SAID: tuple[str, ...] = _WORDS_TABLES["said"]
"""The text of a note."""
REPLIES: tuple[str, ...] = _WORDS_TABLES["replies"]
"""Other people's replies to a note."""
NOTE: Rules = {
    **{key: COMMON[key] for key in ("weekday", "weather")},
    "month": ("October", "November", "December", "January"),
    "soon": ("July", "August", "September"),
    "greeting": ("hello", "good morning", "hello mappers", "hi all"),
}

SCHEMA = """
CREATE TABLE details (place_id INT, label TEXT, value TEXT, PRIMARY KEY (place_id, label));
CREATE TABLE reviews (id INTEGER PRIMARY KEY, place_id INT, author TEXT, stars INT, written TEXT,
  body TEXT, tip TEXT);
CREATE TABLE notes (id INTEGER PRIMARY KEY, town_id INT, x REAL, y REAL, author TEXT, written TEXT,
  state TEXT, body TEXT, street_id INT, subject TEXT);
CREATE TABLE remarks (id INTEGER PRIMARY KEY, note_id INT, author TEXT, written TEXT, body TEXT);
CREATE INDEX reviews_of ON reviews (place_id);
CREATE INDEX remarks_on ON remarks (note_id);
"""
WRITERS = 140
NOTES_IN_TOWN = 4


def fill_texts(db: sqlite3.Connection) -> None:
    """Adds facts, reviews and notes. No sentence is there twice."""
    db.executescript(SCHEMA)
    rng = random.Random("map texts")
    names = full_names(rng, WRITERS)
    places = (
        "SELECT p.*, t.name AS town, s.name AS street FROM places p"
        " JOIN towns t ON t.id = p.town_id JOIN streets s ON s.id = street_id"
    )
    towns = [t["name"] for t in db.execute("SELECT name FROM towns ORDER BY id")]
    known = Known()
    for place in db.execute(places + " ORDER BY p.id").fetchall():
        facts = {
            label: rng.choice(options) for label, options in KINDS[place["category"]].facts.items()
        }
        add(db, "details", *((place["id"], label, value) for label, value in facts.items()))
        _reviews(db, rng, names, towns, known, place, facts)
    for town in db.execute("SELECT * FROM towns").fetchall():
        _notes(db, rng, names, known, town)


def _day(rng: random.Random, before: date = TODAY, most: int = 500) -> date:
    return before - timedelta(days=rng.randint(1, most))


def _reviews(
    db: sqlite3.Connection,
    rng: random.Random,
    names: list[str],
    towns: list[str],
    known: Known,
    place: sqlite3.Row,
    details: dict[str, str],
) -> None:
    """Adds two to four reviews near the place's rating, each with its author and its tip."""
    kind, count = KINDS[place["category"]], rng.choice((2, 2, 3, 4))
    facts = {label.split()[-1].lower(): value for label, value in details.items()} | {
        "street": place["street"],
        "town": place["town"],
    }
    elsewhere = [name for name in towns if name != place["town"]]
    people, tips, ways, said = (
        rng.sample(parts, count) for parts in (names, kind.tips, kind.recommends, kind.good)
    )
    days = sorted((_day(rng) for _ in range(count)), reverse=True)
    for author, tip, way, good, day in zip(people, tips, ways, said, days, strict=True):
        stars = min(5, max(1, round(place["rating"] + rng.choice((-1, -0.4, 0, 0, 0.4, 0.6)))))
        rules = {
            **COMMON,
            "good": (good,),
            "bad": kind.bad,
            "recommend": (way,),
            "where": elsewhere,
        }
        told = _new(rng, rules, REVIEWS[stars], known, tip=tip, **facts)
        add(
            db,
            "reviews",
            (None, place["id"], author, stars, day.isoformat(), told, tip if stars > 3 else ""),
        )


def _new(
    rng: random.Random, rules: Rules, texts: Sequence[str], known: Known, **facts: object
) -> str:
    """Returns a text whose sentences are new."""
    return Author(rng, rules, known).write(rng.choice(texts), facts)


def _notes(
    db: sqlite3.Connection, rng: random.Random, names: list[str], known: Known, town: sqlite3.Row
) -> None:
    """Notes on a town's streets, each about something else, with what others have said to it."""
    streets = db.execute(
        "SELECT * FROM streets WHERE town_id = ? AND off_id IS NULL", (town["id"],)
    ).fetchall()
    for street, subject in zip(
        rng.sample(streets, NOTES_IN_TOWN), rng.sample(sorted(NOTES), NOTES_IN_TOWN), strict=True
    ):
        facts = {"subject": subject, "street": street["name"], "town": town["name"]}
        rules = {**NOTE, "state": NOTES[subject]}
        author, *others = rng.sample(names, rng.choice((1, 2, 3)))
        day = _day(rng, most=120)
        state = rng.choice(("open", "open", "open", "resolved"))
        spot = (
            round(street["x"] + rng.uniform(-0.02, 0.02), 3),
            round(street["y"] + rng.uniform(-0.02, 0.02), 3),
        )
        body = _new(rng, rules, SAID, known, **facts)
        row = (None, town["id"], *spot, author, day.isoformat(), state, body, street["id"], subject)
        add(db, "notes", row)
        note = db.execute("SELECT max(id) FROM notes").fetchone()[0]
        for other in others:
            day = min(TODAY, day + timedelta(days=rng.randint(1, 9)))
            add(
                db,
                "remarks",
                (None, note, other, day.isoformat(), _new(rng, rules, REPLIES, known, **facts)),
            )
