"""The map: texts, views, streets, turns, notes, and its script."""

import json
import re
import urllib.parse

import gymnasium
import pytest

from agentgym_envs.envs.web.look import elements, find
from agentgym_envs.envs.web.proxy import ProxyRequest
from agentgym_websites.host import Host, snapshot
from agentgym_websites.map.route import path, points
from agentgym_websites.map.texts import KINDS
from agentgym_websites.map.view import NEAREST, View, around, asked, over
from agentgym_websites.site import ORIGINS, open_database

MAP = ORIGINS["map"]


@pytest.fixture(scope="module")
def db():
    return open_database(snapshot("map"))


@pytest.fixture
def host():
    return Host()


def cookie(host):
    return next(f"{c['name']}={c['value']}" for c in host.cookies() if c["url"] == MAP)


def got(host, address):
    reply = host.serve(ProxyRequest("GET", MAP + address, {"cookie": cookie(host)}, b""))
    assert reply.status == 200, (address, reply.status)
    return reply.body.decode()


def sent(host, address, **form):
    headers = {"content-type": "application/x-www-form-urlencoded", "cookie": cookie(host)}
    return host.serve(
        ProxyRequest("POST", MAP + address, headers, urllib.parse.urlencode(form).encode())
    )


def test_the_snapshot_is_small_and_the_same_every_time(db):
    assert len(snapshot("map")) < 1_000_000
    again = snapshot.__wrapped__("map")
    assert again == snapshot("map")


def test_no_text_is_there_twice_and_reviews_fit_their_place(db):
    for table, column in (("reviews", "body"), ("notes", "body"), ("remarks", "body")):
        texts = [r[0] for r in db.execute(f"SELECT {column} FROM {table}")]
        assert len(set(texts)) == len(texts) > 50, table
        assert not [t for t in texts if re.search(r"[{}]|\b[Aa] [AEIOaeio]|\.\.| $", t)]
    for r in db.execute(
        "SELECT r.*, category, rating FROM reviews r JOIN places p ON p.id = place_id"
    ):
        assert r["tip"].lower() in r["body"].lower()
        assert bool(r["tip"]) == (r["stars"] > 3)
        assert not r["tip"] or r["tip"] in KINDS[r["category"]].tips
        assert abs(r["stars"] - r["rating"]) <= 1.6
    assert (
        db.execute(
            "SELECT max(n) FROM (SELECT count(*) AS n FROM reviews GROUP BY place_id, author)"
        ).fetchone()[0]
        == 1
    )
    assert (
        db.execute("SELECT count(*) FROM reviews WHERE written > '2026-06-15'").fetchone()[0] == 0
    )


def test_a_review_names_facts_of_its_place_only(db):
    """Cuisine, seating and number of rooms in a review are those of the place."""
    facts = {}
    for d in db.execute("SELECT * FROM details"):
        facts.setdefault(d["place_id"], {})[d["label"]] = d["value"]
    named = 0
    for r in db.execute("SELECT r.*, category FROM reviews r JOIN places p ON p.id = place_id"):
        for label in {"Cuisine", "Seating", "Admission"} & set(facts[r["place_id"]]):
            options = [
                o
                for o in KINDS[r["category"]].facts[label]
                if re.search(rf"(?<![\w$]){re.escape(o)}(?!\w| on)", r["body"])
            ]
            named += len(options)
            assert set(options) <= {facts[r["place_id"]][label]}, r["body"]
    assert named > 100


def test_every_place_is_beside_its_street(db):
    joined = "places p JOIN streets s ON s.id = street_id JOIN nodes n ON n.id = node_id"
    for p in db.execute(f"SELECT p.*, s.name AS street, path, n.x, n.y FROM {joined}"):
        assert p["address"].endswith(p["street"])
        line = [(x / 1000, y / 1000) for x, y in points(p["path"])]
        away = min(((x - p["spot_x"]) ** 2 + (y - p["spot_y"]) ** 2) ** 0.5 for x, y in line)
        assert away < 0.09
        assert ((p["x"] - p["spot_x"]) ** 2 + (p["y"] - p["spot_y"]) ** 2) ** 0.5 < 0.25


def test_lines_are_written_and_read():
    line = [(10.0, 20.0), (13.0, -5.0), (13.0, 40.0)]
    assert path(line, closed=True) == "M10 20l3 -25l0 45z"
    assert points(path(line)) == line


def test_views_are_read_from_an_address():
    home = over(60, 45, 8)
    assert asked({"zoom": "15", "lat": "44.5", "lon": "-71.5", "layer": "cycle"}, home) == View(
        15, 44.5, -71.5, "cycle"
    )
    assert asked({"zoom": "99", "lat": "nan"}, home).zoom in (NEAREST, home.zoom)
    for wrong in (
        {"lat": "x"},
        {"layer": "<b>"},
        {"lat": "nan"},
        {"lon": "nan"},
        {"zoom": "nan"},
        {},
    ):
        assert asked(wrong, home) == home
    view = around((10, 10), (11, 10.5))
    assert view.shows(10, 10, 60, 130)
    assert view.shows(11, 10.5, 60, 130)
    assert not view.moved(nearer=1).shows(10, 10, 60, 130)
    assert view.moved(across=50).moved(across=-50) == view
    north = view.moved(down=-100)
    assert (north.lat > view.lat, north.lon) == (True, view.lon)


def names(page):
    return re.findall(r'<a href="/place/\d+" aria-label="([^"]+) \(', page)


def test_only_what_is_in_view_and_at_this_zoom_is_drawn(host, db):
    town = db.execute("SELECT * FROM towns WHERE id = 3").fetchone()
    far, near = (got(host, over(town["x"], town["y"], zoom).address) for zoom in (9, 15))
    assert ('href="/town/3"><circle' in far, names(far)) == (True, [])
    assert 'href="/town/3"><circle' not in near
    view = over(town["x"], town["y"], 15)
    wanted = {
        p["name"]
        for p in db.execute("SELECT * FROM places")
        if view.shows(p["spot_x"], p["spot_y"], 8)
    }
    assert set(names(near)) == wanted
    assert len(wanted) > 5
    assert "Bus stop" not in near
    assert "Bus stop" in got(host, view._replace(layer="transport").address)
    assert 'class="cycle"' in got(host, view._replace(layer="cycle").address)


def test_a_part_of_a_page_is_its_map_alone(host):
    part = got(host, "/place/57?part=map&w=500&h=400")
    assert (
        '<svg width="500" height="400"' in part,
        "<html" in part,
        'class="mark pin"' in part,
    ) == (True, False, True)


def test_directions_lead_from_towns_and_tell_the_turns(host):
    page = got(host, "/directions?from=Haverby&to=port+linnet&mode=car")
    steps = re.findall(r"<li>(.*?)</li>", page.split('<ol class="route">')[1])
    assert steps == [
        "Head east on Route 30 for 30.3 km",
        "Turn right onto Market Row for 0.3 km",
        "Turn right onto Route 35 for 29.6 km",
        "Turn left onto Route 38 for 25.1 km",
        "Turn right onto Quay Street for 0.6 km",
        "Continue onto Motorway M2 for 31.6 km",
        "Arrive at port linnet",
    ]
    assert 'class="course"' in page
    assert "/directions?from=port+linnet&amp;to=Haverby&amp;mode=car" in page


def test_nearby_counts_within_a_distance(host):
    page = got(host, "/nearby?category=cafe&near=Caf%C3%A9+Station&within=20")
    kilometres = [float(km) for km in re.findall(r'<td class="number">([\d.]+) km', page)]
    assert f"{len(kilometres)} found within 20 km" in page
    assert max(kilometres) <= 20
    assert "found within" not in got(host, "/nearby?category=cafe&near=Caf%C3%A9+Station")


def test_a_street_tells_what_it_crosses(host, db):
    street = db.execute("SELECT * FROM streets WHERE town_id = 3 AND name = 'Park Road'").fetchone()
    page = got(host, f"/street/{street['id']}")
    crosses = re.search(r"<dt>Crosses</dt><dd>(.*?)</dd>", page)[1]
    assert re.findall(r">([^<]+)</a>", crosses) == [
        "Bridge Street",
        "Church Lane",
        "Elm Avenue",
        "High Street",
    ]
    assert f"{street['speed']} km/h" in page


def test_suggestions_begin_with_what_is_typed(host):
    found = json.loads(got(host, "/suggest?q=port"))
    assert found[0] == {"text": "Port Linnet", "more": "town", "address": "/town/3"}
    assert {f["more"].split(",")[0] for f in json.loads(got(host, "/suggest?q=mill+road"))} >= {
        "street"
    }
    assert "street" not in {
        f["more"].split(",")[0] for f in json.loads(got(host, "/suggest?q=mill&kind=places"))
    }
    assert json.loads(got(host, "/suggest?q=")) == []


MARKUP = "<img src=x onerror=alert(1)>"


def test_notes_are_added_answered_and_resolved_as_text(host):
    assert sent(host, "/notes", lat="44.59", lon="-70.84", text=MARKUP).status == 302
    key, x, town = (
        host.database("map").execute("SELECT id, x, town_id FROM notes ORDER BY id DESC").fetchone()
    )
    assert (x, town) == (92.8, 3)
    sent(host, f"/note/{key}", how="resolved", text=f"Done {MARKUP}")
    page = got(host, f"/note/{key}") + got(host, "/notes")
    assert MARKUP not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") == 3
    read = (
        "SELECT state, (SELECT count(*) FROM remarks WHERE note_id = notes.id) FROM notes WHERE"
        " id = ?"
    )
    assert tuple(host.database("map").execute(read, (key,)).fetchone()) == ("resolved", 1)
    before = host.database("map").execute("SELECT count(*) FROM notes").fetchone()[0]
    assert "new" in sent(host, "/notes", lat="44.59", lon="-70.84", text="no").headers["Location"]
    assert host.database("map").execute("SELECT count(*) FROM notes").fetchone()[0] == before


def test_a_review_needs_stars_and_words(host):
    count = "SELECT count(*) FROM reviews WHERE place_id = 57"
    before = host.database("map").execute(count).fetchone()[0]
    for form in (
        {"stars": "6", "review": "Long enough for a review"},
        {"stars": "4", "review": "Short"},
        {"review": "Long enough it is"},
    ):
        sent(host, "/place/57", **form)
    assert host.database("map").execute(count).fetchone()[0] == before
    sent(host, "/place/57", stars="4", review=f"A fine place {MARKUP}")
    assert host.database("map").execute(count).fetchone()[0] == before + 1
    assert MARKUP not in got(host, "/place/57")


@pytest.fixture(scope="module")
def browser():
    env = gymnasium.make("agentgym/WebSites-v1", split="train", max_episode_steps=-1)
    env.reset(options={"task_id": "map-01-0"})
    yield env
    env.close()


def done(env, *actions):
    """Carries out actions; one can name its element: ``("click", "Zoom in")``."""
    shown = env.unwrapped.current if hasattr(env.unwrapped, "current") else ""
    for action in actions:
        if not isinstance(action, str):
            verb, name, *more = action
            action = " ".join([verb, f"[{find(shown, name).id}]", *(f"[{m}]" for m in more)])
        shown = env.step(action)[0]
        env.unwrapped.current = shown
    return shown, re.search(r"^URL: (.+)$", shown, re.M)[1]


def query(url):
    return {k: v[0] for k, v in urllib.parse.parse_qs(urllib.parse.urlsplit(url).query).items()}


def test_the_map_moves_by_buttons_and_keys_and_its_address_follows(browser):
    start = View(15, 44.59415, -70.84185)
    shown, url = done(browser, f"goto [{MAP}{start.address}]", ("click", "Zoom in"))
    assert url == MAP + start.moved(nearer=1).address
    assert "Zoom 16 · Standard" in shown
    shown, url = done(
        browser, "press [-]", ("click", "Pan east"), "press [ArrowLeft]", "press [ArrowUp]"
    )
    assert query(url) == query(start.moved(down=-200).address)
    assert re.search(r"button 'Layers'.* expanded: False", shown)
    shown, url = done(browser, ("click", "Layers"))
    assert re.search(r"button 'Layers'.* expanded: True", shown)
    shown, url = done(browser, ("click", "Cycle"))
    assert (query(url)["layer"], "Zoom 15 · Cycle" in shown) == ("cycle", True)
    assert not any(e.name == "Transport" for e in elements(shown))


def test_elsewhere_the_view_is_in_the_fragment_and_kept(browser):
    shown, url = done(browser, f"goto [{MAP}/place/57]", ("click", "Zoom out"))
    assert re.fullmatch(rf"{MAP}/place/57#map=15/44\.\d{{5}}/-70\.\d{{5}}", url)
    marks = [e.name for e in elements(shown) if e.role == "image"]
    assert "Café Station" in marks
    assert "Zoom 15" in done(browser, f"goto [{MAP}/towns]", "go_back")[0]


def test_a_field_suggests_and_takes_what_is_chosen(browser):
    shown, _ = done(browser, f"goto [{MAP}/directions]", ("type", "From", "haverby st", "0"))
    assert find(shown, "Haverby Station", role="button")
    shown, _ = done(browser, ("click", "Haverby Station"))
    assert find(shown, "From", role="textbox").text == "Haverby Station"
    assert "list 'Suggestions'" not in shown
    shown, _ = done(browser, ("type", "Search", "park road linnet", "0"))
    assert find(shown, "Park Road", role="link").name


def test_a_form_says_what_it_lacks_before_it_is_sent(browser):
    shown, url = done(
        browser,
        f"goto [{MAP}/place/57]",
        ("type", "Review", "Short", "0"),
        ("click", "Publish review"),
    )
    assert "Choose how many stars." in shown
    assert url == f"{MAP}/place/57"


def test_dragging_and_the_wheel_move_the_map(browser):
    start = View(15, 44.59415, -70.84185)
    done(browser, f"goto [{MAP}{start.address}]")
    page = browser.unwrapped.session.page
    page.mouse.move(700, 400)
    page.mouse.down()
    page.mouse.move(600, 450, steps=3)
    page.mouse.up()
    _, url = done(browser, "scroll [down]")
    assert query(url) == query(start.moved(across=100, down=-50).address)
    page.mouse.wheel(0, -100)
    assert query(done(browser, "scroll [down]")[1])["zoom"] == "16"
