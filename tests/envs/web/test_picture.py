"""Pictures for models with vision, numbered boxes in them, and clicks at a point."""

import base64
import io
import json
import re

import numpy
import pytest
from pages import PagesEnv
from PIL import Image
from raised import raises

from agentgym_envs.envs.web.actions import TOOLS, TOOLS_BY_PLACE, BadAction, parse
from agentgym_envs.envs.web.look import elements, find
from agentgym_envs.envs.web.picture import COLOURS
from agentgym_envs.errors import ArgumentError

pytestmark = pytest.mark.timeout(120)
PAGE = """<title>Page</title>
<style>body { margin: 0 } a, button, input { position: absolute; box-sizing: border-box }</style>
<a href=#home style="left:0;top:0;width:80px;height:20px">Home</a>
<button style="left:300px;top:200px;width:100px;height:40px"
 onclick="document.title = 'pressed'">Press</button>
<input style="left:300px;top:300px;width:200px;height:30px" aria-label=Name>
<button disabled style="left:500px;top:200px;width:100px;height:40px">Off</button>
<button style="left:1200px;top:600px;width:200px;height:40px">Edge</button>
<a href=#far style="left:0;top:2000px">Far</a>
<script>onclick = event => document.title = `${event.clientX} ${event.clientY}`</script>"""
PLACES = {
    "Home": (0, 0, 79, 19),
    "Press": (300, 200, 399, 239),
    "Name": (300, 300, 499, 329),
    "Edge": (1200, 600, 1279, 639),
}


def picture(info):
    kind, _, coded = info["screenshot"].partition(",")
    assert kind == "data:image/png;base64"
    return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(coded))).convert("RGB"))


def colour(number):
    return tuple(bytes.fromhex(COLOURS[number % len(COLOURS)][1:]))


def test_a_picture_is_in_the_info_and_the_tree_in_the_text(make):
    for kind, shown in (("tree", True), ("screenshot", False), ("both", True)):
        env = make(PAGE, observation=kind, render_mode="rgb_array")
        for text, info in (env.reset(seed=1), env.step("scroll [up]")[::4]):
            assert ("RootWebArea" in text) is shown
            assert text.startswith("Tab 0 (current): Page\n\n")
            assert "\nOBJECTIVE: look around\n" in text
            assert ("screenshot" in info) is (kind != "tree")
            json.dumps(info)
        rendered = env.render()
        assert (rendered.shape, rendered.dtype) == ((720, 1280, 3), numpy.uint8)
        if kind != "tree":
            assert (rendered == picture(info)).all()


def test_boxes_are_drawn_around_the_elements_that_the_list_names(make):
    env = make(PAGE, observation="screenshot", marks=True)
    text, info = env.reset(seed=1)
    shown, bare = picture(info), make(PAGE, observation="screenshot")
    plain = picture(bare.reset(seed=1)[1])
    assert [e.name for e in elements(text)] == [*PLACES]
    outside = numpy.full(shown.shape[:2], True)
    for name, (left, top, right, bottom) in PLACES.items():
        for x, y in ((right, top), (right, bottom), (left, bottom), (right - 1, bottom - 1)):
            assert tuple(shown[y, x]) == colour(find(text, name).id), name
        assert (
            shown[top + 3 : bottom - 2, left + 20 : right - 2]
            == plain[top + 3 : bottom - 2, left + 20 : right - 2]
        ).all()
        outside[max(top - 20, 0) : bottom + 1, left : right + 1] = False
    assert (shown[outside] == plain[outside]).all()


def test_the_numbers_are_the_ids_of_actions_and_of_the_tree(make):
    env = make(PAGE, observation="both", marks=True, viewport=True)
    text, info = env.reset(seed=1)
    shown = picture(info)
    for name, (_, top, right, _) in PLACES.items():
        assert tuple(shown[top, right]) == colour(find(text, name).id)
    assert env.step(f"click [{find(text, 'Press').id}]")[0].startswith("Tab 0 (current): 350 220")
    assert "ERROR" not in env.step(f"type [{find(text, 'Name').id}] [Ada] [0]")[0]


def test_the_page_cannot_notice_the_boxes(make):
    watch = (
        "<script>window.seen = 0; new MutationObserver(all => seen += all.length).observe(document,"
        " {subtree: true, "
    )
    watch += (
        "childList: true, attributes: true, characterData: true}); onresize = onscroll = onfocus ="
        " onblur = () => seen++</script>"
    )
    env = make(PAGE + watch, observation="both", marks=True)
    env.reset(seed=1)
    before = env.session.tab.evaluate("[document.documentElement.outerHTML, seen = 0][0]")
    for _ in range(2):
        env.step("none")
    assert env.session.tab.evaluate("[document.documentElement.outerHTML, seen]") == [before, 0]


def test_a_click_lands_where_the_coordinates_say(make):
    env = make(PAGE, observation="screenshot")
    env.reset(seed=1)
    for x, y in [(0, 0), (640, 360), (1279, 719), (7, 700)]:
        assert env.step(f"click_at [{x}] [{y}]")[0].startswith(f"Tab 0 (current): {x} {y}\n")
    for x, y in [(1280, 10), (10, 720), (-1, 10), (99999, 0)]:
        text, *_, info = env.step(f"click_at [{x}] [{y}]")
        assert info["invalid"]
        assert text.endswith(
            f"ERROR: click_at [{x}] [{y}] is outside of the window: x must be 0 to 1279, y 0 to 719"
        )


def test_text_is_typed_where_the_click_put_the_focus(make):
    env = make(PAGE, observation="screenshot")
    env.reset(seed=1)
    env.step("click_at [400] [315]")
    text, *_, info = env.step("type_text [Ada L.]")
    assert env.session.page.evaluate("document.querySelector('input').value") == "Ada L."
    assert "PREVIOUS ACTION: type_text [Ada L.]" in text
    assert (picture(info)[300:330, 300:500] < 100).any()


def test_rules_and_functions_are_those_of_what_is_seen():
    rules = {(kind, marks): PagesEnv({}, observation=kind, marks=marks) for kind, marks in SEEN}
    for (kind, marks), env in rules.items():
        ids, places = "click [id]" in env.instructions, "click_at [x] [y]" in env.instructions
        assert (ids, places) == (kind != "screenshot" or marks, kind != "tree")
        assert ("click" in env.tools, "click_at" in env.tools) == (ids, places)
        assert ("picture" in env.instructions, "tree" in env.instructions) == (
            kind != "tree",
            kind != "screenshot",
        )
        assert ("Boxes" in env.instructions) is marks
    assert rules["both", True].tools == {**TOOLS_BY_PLACE, **TOOLS}


SEEN = [
    ("tree", False),
    ("screenshot", False),
    ("screenshot", True),
    ("both", False),
    ("both", True),
]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"observation": "image"}, "observation='image' must be one of tree, screenshot, both"),
        (
            {"marks": True},
            (
                'marks=True needs a picture to draw on; set observation="screenshot" or'
                ' observation="both"'
            ),
        ),
    ],
)
def test_what_cannot_be_seen_is_refused(keywords, message):
    with raises(ArgumentError, message):
        PagesEnv({}, **keywords)


def test_clicks_at_a_point_are_read_and_what_is_wrong_is_said():
    assert tuple(parse("click_at [12] [7] there")) == ("click_at", 0, "12 7", False)
    assert tuple(parse("type_text [a [b] c]")) == ("type_text", 0, "a [b] c", False)
    for text, form in (
        ("click_at [1.5] [2]", "click_at [x] [y], in whole pixels"),
        ("type_text []", "type_text [text], on one line"),
    ):
        with pytest.raises(BadAction, match=re.escape(f"is not of the form {form}")):
            parse(text)
    values = {"x": 3, "y": 4, "text": "x"}
    assert [parse(form.format(**values)).name for form in TOOLS_BY_PLACE.values()] == [
        *TOOLS_BY_PLACE
    ]
