"""A part of the map: its centre, zoom and contents, and its drawing."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from math import atan2, degrees, isnan
from typing import Any, NamedTuple
from urllib.parse import urlencode

from agentgym_websites.map.route import Point, points

NEAREST, FARTHEST = 18, 8
TOWN, PLACE = 14, 16  # the zoom of a whole town, and of a place's surroundings
LAYERS = {"": "Standard", "transport": "Transport", "cycle": "Cycle"}
PANE = (920, 668)  # pixels that fit a window of 1280 × 720
WIDEST = 4000
ROOM = (60, 130)  # pixels between the contents and the edges of a view; buttons are at the sides
FIRST = {"station": 14, "hospital": 14, "museum": 14}
"""The zoom from which a category is shown; other categories appear with the houses."""
HOUSES = 15


class View(NamedTuple):
    """A visible part of the map.

    Attributes:
        zoom: each step doubles the scale.
        lat: latitude of the centre.
        lon: longitude of the centre.
        layer: a key of ``LAYERS``.
        width: in pixels.
        height: in pixels.
    """

    zoom: int
    lat: float
    lon: float
    layer: str = ""
    width: int = PANE[0]
    height: int = PANE[1]

    @property
    def scale(self) -> float:
        """Pixels per kilometre."""
        return 7.0 * float(2 ** (self.zoom - 8))

    @property
    def middle(self) -> Point:
        """The centre in kilometres, east and north."""
        return 80 * (self.lon + 72), 111 * (self.lat - 44)

    def spot(self, x: float, y: float) -> Point:
        """Returns the place of a point in the picture, in pixels."""
        east, north = self.middle
        return round(self.width / 2 + (x - east) * self.scale, 1), round(
            self.height / 2 - (y - north) * self.scale, 1
        )

    def shows(self, x: float, y: float, margin: float = 0, beside: float | None = None) -> bool:
        """Returns whether a point is in view.

        Args:
            x: kilometres to the east.
            y: kilometres to the north.
            margin: pixels to keep from the edges.
            beside: pixels to keep from the edges at the sides; None: as ``margin``.
        """
        across, down = self.spot(x, y)
        side = margin if beside is None else beside
        return side <= across <= self.width - side and margin <= down <= self.height - margin

    def meets(self, x: float, y: float, radius: float) -> bool:
        """Returns whether something of this radius in kilometres can be in view."""
        return self.shows(x, y, -radius * self.scale)

    @property
    def address(self) -> str:
        """The address of the map's page with this view."""
        values = {"zoom": self.zoom, "lat": f"{self.lat:.5f}", "lon": f"{self.lon:.5f}"}
        return "/?" + urlencode(values | ({"layer": self.layer} if self.layer else {}))

    def moved(self, across: float = 0, down: float = 0, nearer: int = 0) -> "View":
        """Returns the view moved by some pixels and zoomed by some steps."""
        lat, lon = self.lat - down / self.scale / 111, self.lon + across / self.scale / 80
        return self._replace(
            lat=round(lat, 5),
            lon=round(lon, 5),
            zoom=min(NEAREST, max(FARTHEST, self.zoom + nearer)),
        )

    @property
    def bar(self) -> tuple[int, str]:
        """A round distance for the scale bar: its pixels and its text."""
        metres = next(
            m
            for m in (20_000, 10_000, 5000, 2000, 1000, 500, 200, 100, 50, 20)
            if m / 1000 * self.scale < 160
        )
        return round(
            metres / 1000 * self.scale
        ), f"{metres} m" if metres < 1000 else f"{metres // 1000} km"


def over(x: float, y: float, zoom: int) -> View:
    """Returns the view with a point, in kilometres, as its centre."""
    return View(zoom, round(44 + y / 111, 5), round(-72 + x / 80, 5))


def around(*spots: Point) -> View:
    """Returns the closest view that contains all points."""
    west, east, south, north = (f(s[i] for s in spots) for i in (0, 1) for f in (min, max))
    middle = (west + east) / 2, (south + north) / 2
    views = (over(*middle, zoom) for zoom in range(PLACE, FARTHEST - 1, -1))
    wide = over(*middle, FARTHEST)
    return next(
        (v for v in views if v.shows(west, south, *ROOM) and v.shows(east, north, *ROOM)), wide
    )


def asked(values: Mapping[str, str], default: View) -> View:
    """Returns the view that an address selects; missing or invalid values come from ``default``."""

    def number(name: str, lowest: float, highest: float, other: float) -> float:
        try:
            found = float(values.get(name, ""))
        except ValueError:
            return other
        return other if isnan(found) else min(highest, max(lowest, found))

    found = View(
        int(number("zoom", FARTHEST, NEAREST, default.zoom)),
        round(number("lat", 44, 44.82, default.lat), 5),
        round(number("lon", -72, -70.5, default.lon), 5),
        values.get("layer", default.layer),
        int(number("w", 200, WIDEST, default.width)),
        int(number("h", 200, WIDEST, default.height)),
    )
    return found if found.layer in LAYERS else default


class Mark(NamedTuple):
    """A pin.

    Attributes:
        x: kilometres to the east.
        y: kilometres to the north.
        text: name of the pin.
        link: target of the pin; "" for none.
        kind: category, which selects the colour.
    """

    x: float
    y: float
    text: str
    link: str = ""
    kind: str = "pin"


class Label(NamedTuple):
    """A text on the map, or a symbol with one: place in the picture, text, link, angle."""

    x: float
    y: float
    text: str
    kind: str
    link: str = ""
    angle: float = 0.0
    shown: bool = True
    name: str = ""


class Room:
    """The occupied parts of the picture."""

    def __init__(self) -> None:
        self._taken: list[tuple[float, float, float, float]] = []

    def take(self, x: float, y: float, text: str, angle: float = 0.0) -> bool:
        """Reserves the room of a label; returns whether the room was free."""
        long = 3.4 * len(text) + 4
        steep = min(1.0, abs(angle) / 90)
        across, down = long * (1 - steep) + 8 * steep, long * steep + 8 * (1 - steep)
        box = (x - across, y - down, x + across, y + down)
        if any(
            box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in self._taken
        ):
            return False
        self._taken.append(box)
        return True


def drawing(
    db: sqlite3.Connection, view: View, marks: Sequence[Mark] = (), way: Sequence[str] = ()
) -> dict[str, Any]:
    """Returns the template's data for a view.

    Args:
        db: the map's database.
        view: the part of the map.
        marks: pins.
        way: paths of a route.
    """
    east, north = view.middle
    metre = view.scale / 1000
    shift = (view.width / 2 - east * view.scale, view.height / 2 + north * view.scale)
    towns = db.execute("SELECT * FROM towns ORDER BY id").fetchall()
    near = [t for t in towns if view.meets(t["x"], t["y"], 1.6)]
    room = Room()
    return {
        "view": view,
        "transform": f"matrix({metre:.6g} 0 0 {-metre:.6g} {shift[0]:.2f} {shift[1]:.2f})",
        "shapes": list(_shapes(db, view, near)),
        "way": "".join(way),
        "labels": [*_towns(view, towns, room), *_named(db, view, near, room)],
        "symbols": [*_places(db, view, near, room), *_stops(db, view, near)],
        "marks": [
            m._replace(x=view.spot(m.x, m.y)[0], y=view.spot(m.x, m.y)[1])
            for m in marks
            if view.shows(m.x, m.y)
        ],
    }


def _paths(db: sqlite3.Connection, sql: str, *values: Any) -> str:
    return "".join(r[0] for r in db.execute(sql, values))


def _shapes(
    db: sqlite3.Connection, view: View, near: Sequence[sqlite3.Row]
) -> Iterator[tuple[str, str]]:
    """Yields the shapes, lowest first."""
    of_county = "SELECT path FROM shapes WHERE town_id = 0 AND kind = ?"
    ids = ", ".join(str(t["id"]) for t in near) or "0"
    of_towns = f"SELECT path FROM shapes WHERE town_id IN ({ids}) AND kind = ?"
    yield from ((kind, _paths(db, of_county, kind)) for kind in ("field", "sea", "wood", "lake"))
    yield from ((kind, _paths(db, of_towns, kind)) for kind in ("built", "park") if view.zoom > 10)
    yield "river", _paths(db, of_county, "river")
    if view.zoom >= HOUSES:
        yield "houses", _paths(db, of_towns, "houses")
    yield "rail", _paths(db, of_county, "rail")
    if view.zoom > 11:
        yield (
            "lane",
            _paths(db, f"SELECT path FROM streets WHERE town_id IN ({ids}) AND off_id IS NOT NULL"),
        )
        yield (
            "street",
            _paths(db, f"SELECT path FROM streets WHERE town_id IN ({ids}) AND off_id IS NULL"),
        )
    yield from (
        (kind, _paths(db, "SELECT path FROM bends WHERE kind = ?", kind))
        for kind in ("road", "motorway")
    )
    if view.layer == "cycle":
        yield (
            "cycle",
            _paths(
                db,
                f"SELECT path FROM streets WHERE town_id IN ({ids}) AND bike <> 'shared with cars'",
            ),
        )
    if view.layer == "transport":
        yield "train", _paths(db, of_county, "rail")
        for n in range(3):
            yield (
                f"bus bus{n}",
                _paths(
                    db,
                    f"{BUSES} WHERE l.town_id IN ({ids}) AND l.id / 14.0 > ? AND l.id / 14.0 <= ?",
                    n,
                    n + 1,
                ),
            )


BUSES = (
    "SELECT path FROM lines l JOIN stops f ON f.line_id = l.id JOIN stops g ON g.line_id = l.id AND g.position = f.position + 1"
    " JOIN bends ON kind = 'street' AND a = min(f.node_id, g.node_id) AND b = max(f.node_id, g.node_id)"
)
"""SQL for the stretches between the stops of lines."""


def _towns(view: View, towns: Sequence[sqlite3.Row], room: Room) -> Iterator[Label]:
    if view.zoom < TOWN:
        for t in sorted(towns, key=lambda t: -t["population"]):
            x, y = view.spot(t["x"], t["y"])
            if view.shows(t["x"], t["y"], 10) and room.take(x, y - 12, t["name"] + "  "):
                yield Label(x, y - 12, t["name"], "town", f"/town/{t['id']}")


def _named(
    db: sqlite3.Connection, view: View, near: Sequence[sqlite3.Row], room: Room
) -> Iterator[Label]:
    """Yields the names of streets, roads and rivers, each in the middle of its visible part."""
    if view.zoom >= 10:
        for name, path in db.execute("SELECT name, path FROM bends WHERE kind <> 'street'"):
            kind = "shield fast" if name.startswith("Motorway") else "shield"
            yield from _along(
                view, room, name, kind, points(path), "", level=True, short=name.split()[-1]
            )
    if view.zoom >= TOWN:
        for town in near:
            for s in db.execute(
                "SELECT * FROM streets WHERE town_id = ? ORDER BY off_id IS NOT NULL, id",
                (town["id"],),
            ):
                if s["off_id"] is None or view.zoom >= HOUSES:
                    yield from _along(
                        view, room, s["name"], "way", points(s["path"]), f"/street/{s['id']}"
                    )
        for name, x, y in db.execute("SELECT * FROM rivers"):
            if view.shows(x, y, 20) and room.take(*view.spot(x, y), name):
                yield Label(*view.spot(x, y), name, "water", angle=-80)


def _along(
    view: View,
    room: Room,
    name: str,
    kind: str,
    line: list[Point],
    link: str,
    *,
    level: bool = False,
    short: str = "",
) -> Iterator[Label]:
    seen = [i for i, (x, y) in enumerate(line) if view.shows(x / 1000, y / 1000, 25)]
    tries = [seen[len(seen) * n // 8] for n in (4, 2, 6, 1, 7, 0)] if seen else []
    for i in tries:
        (ax, ay), (bx, by) = line[max(0, i - 1)], line[min(len(line) - 1, i + 1)]
        angle = 0.0 if level else (degrees(-atan2(by - ay, bx - ax)) + 90) % 180 - 90
        x, y = view.spot(line[i][0] / 1000, line[i][1] / 1000)
        if room.take(x, y, short or name, angle):
            yield Label(x, y, short or name, kind, link, round(angle, 1), name=name)
            return


def _places(
    db: sqlite3.Connection, view: View, near: Sequence[sqlite3.Row], room: Room
) -> Iterator[Label]:
    """Yields the places; a place without room for its name is a symbol only."""
    if view.zoom < TOWN:
        return
    for town in near:
        for p in db.execute(
            "SELECT id, name, category, spot_x AS x, spot_y AS y FROM places WHERE town_id = ?",
            (town["id"],),
        ):
            if FIRST.get(p["category"], HOUSES) <= view.zoom and view.shows(p["x"], p["y"], 8):
                x, y = view.spot(p["x"], p["y"])
                shown = view.zoom > HOUSES - 1 and room.take(x, y + 17, p["name"])
                yield Label(
                    x,
                    y,
                    p["name"],
                    p["category"],
                    f"/place/{p['id']}",
                    shown=shown,
                    name=f"{p['name']} ({p['category']})",
                )


def _stops(db: sqlite3.Connection, view: View, near: Sequence[sqlite3.Row]) -> Iterator[Label]:
    if view.layer == "transport" and view.zoom >= TOWN:
        for town in near:
            for s in db.execute("SELECT * FROM halts WHERE in_town = ? ORDER BY id", (town["id"],)):
                if view.shows(s["x"], s["y"], 8):
                    yield Label(
                        *view.spot(s["x"], s["y"]),
                        "",
                        "stop",
                        f"/stop/{s['id']}",
                        shown=False,
                        name=f"Bus stop {s['name']}",
                    )
