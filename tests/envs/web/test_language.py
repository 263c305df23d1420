"""The action language, the tree as text, and its parsing by scripts: no browser is needed."""

import sys
import time
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raised import raises
from webarena_cases import ACTION_DIFFERENCES, ACTIONS

from agentgym_envs.envs.web import look, steps, tree
from agentgym_envs.envs.web.actions import TOOLS, BadAction, parse


def read(text):
    try:
        return tuple(parse(text))
    except BadAction:
        return None


@pytest.mark.parametrize(("text", "action"), ACTIONS)
def test_actions_are_read_as_upstream_reads_them(text, action):
    assert read(text) == action


@pytest.mark.parametrize(("text", "theirs", "ours"), ACTION_DIFFERENCES)
def test_where_actions_are_read_otherwise(text, theirs, ours):
    assert read(text) == ours != theirs


def test_there_are_enough_actions_and_each_once():
    assert len({text for text, _ in ACTIONS}) == len(ACTIONS) >= 60


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is no action: it must begin with one of click, hover,"),
        ("Click [1]", "'Click [1]' is no action"),
        ("click 12", "'click 12' is not of the form click [id]"),
        ("type [7] [] [0]", "with a text that is not empty"),
    ],
)
def test_what_is_no_action_says_so(text, message):
    with raises(BadAction, message):
        parse(text)


def test_an_action_has_an_end():
    assert parse(f"stop [{'x' * 9993}]").text == "x" * 9993
    with raises(BadAction, "10,001", "10,000"):
        parse(f"stop [{'x' * 9993}]".ljust(10_001))
    start = time.perf_counter()
    assert read("type [1] [x " * 800) is None
    assert time.perf_counter() - start < 2


def test_keys_go_by_any_case_and_the_command_key_by_what_does_its_work():
    """WebArena writes Control for Meta on every system except a Mac."""
    told = {
        "CONTROL+A": "Control+A",
        "meta+a": "Control+a",
        "Cmd+c": "Control+c",
        "del": "Delete",
        "return": "Enter",
        "f12": "F12",
        "ä": "ä",
    }
    if sys.platform == "darwin":
        told |= {"meta+a": "Meta+a", "Cmd+c": "Meta+c"}
    assert {keys: parse(f"press [{keys}]").text for keys in told} == told


def test_every_tool_writes_an_action_of_its_name():
    values = {
        "id": 3,
        "text": "x",
        "press_enter": 0,
        "option": "y",
        "keys": "Enter",
        "direction": "up",
        "index": 1,
        "url": "http://a.test",
        "answer": "z",
    }
    for name, template in TOOLS.items():
        assert parse(template.format(**values)).name == name


def node(key, role, name="", children=(), **more):
    return {
        "nodeId": str(key),
        "backendDOMNodeId": 100 + key,
        "role": {"value": role},
        "name": {"value": name},
        "childIds": [str(c) for c in children],
        "ignored": False,
        **more,
    }


def test_the_tree_is_written_as_webarena_writes_it():
    checked = [
        {"name": "checked", "value": {"value": "true"}},
        {"name": "focusable", "value": {"value": True}},
    ]
    nodes = [
        node(1, "RootWebArea", "Shop", [2, 3, 6]),
        node(2, "generic", "", [4]),  # left out: its child moves up
        node(3, "link", "It's new", [5]),
        node(4, "heading", "Hello"),
        node(5, "StaticText", "It's new"),  # repeats the link's name
        node(6, "checkbox", "Agree", properties=checked),
    ]
    numbers = {}
    text = tree.render(nodes, lambda dom: numbers.setdefault(dom, len(numbers) + 1))
    assert (
        text
        == "[1] RootWebArea 'Shop'\n\t[2] heading 'Hello'\n\t[3] link \"It's new\"\n\t[4] checkbox"
        " 'Agree' checked: true"
    )
    assert numbers == {101: 1, 104: 2, 103: 3, 106: 4}


def test_only_what_is_visible_is_written():
    """By WebArena's count: an overlap in pixels, by the width, times the height, is 0.6 or more."""
    places = {
        "above": (0, -30, 100, 20),
        "touching": (0, -19, 100, 20),
        "in view": (0, 10, 100, 20),
        "thin": (0, 719.5, 100, 1),
    }
    boxes = {102 + i: tree.BoundingBox(*place) for i, place in enumerate(places.values())}
    nodes = [
        node(1, "RootWebArea", "Shop", [2, 3, 4, 5, 6, 7]),
        *(node(2 + i, "link", name) for i, name in enumerate(places)),
    ]
    nodes += [
        node(6, "link", "nowhere"),
        node(7, "textbox", "Name", [8]),
        node(8, "StaticText", "Ada"),
    ]
    view = tree.PageView(1280, 720, boxes | {107: tree.BoundingBox(0, 100, 100, 20)})
    shown = [e.name for e in look.elements(tree.render(nodes, lambda dom: dom, view))]
    # A field's text counts as in view with the field.
    assert shown == [
        "Shop",
        "touching",
        "in view",
        "Name",
        "Ada",
    ]


def test_in_view_a_text_is_left_out_where_one_of_three_lines_before_holds_it():
    nodes = [node(1, "RootWebArea", "Shop", [2, 3, 4, 5, 6, 7, 8])]
    # A field's text is never left out.
    nodes += [
        node(8, "textbox", "Search", [9]),
        node(9, "StaticText", "lamp"),
    ]
    nodes += [
        node(2, "link", "New lamps"),
        node(3, "StaticText", "lamp"),
        node(4, "StaticText", "one"),
        node(5, "row", ""),
    ]
    nodes += [node(6, "StaticText", "10"), node(7, "StaticText", "lamp")]
    view = tree.PageView(1280, 720, {100 + i: tree.BoundingBox(0, 0, 10, 10) for i in range(1, 10)})
    text = tree.render(nodes, lambda dom: dom, view)
    # 10 is in ids alone.
    assert [e.name for e in look.elements(text)] == [
        "Shop",
        "New lamps",
        "one",
        "",
        "10",
        "lamp",
        "Search",
        "lamp",
    ]


def test_a_cut_keeps_whole_lines_and_counts_what_is_missing():
    text = "\n".join(f"[{i}] link 'x'" for i in range(100))
    cut = tree.cut(text, 50)
    kept, _, mark = cut.rpartition("\n")
    assert text.startswith(kept)
    assert len(kept) <= 50
    assert f"{len(text) - len(kept):,} more characters" in mark
    assert tree.cut(text, len(text)) == text


@given(
    st.text(
        st.characters(exclude_categories=["Cs", "Zl", "Zp", "Zs", "Cc"]), min_size=1, max_size=30
    )
)
def test_scripts_find_every_name_that_is_shown(name):
    text = tree.render([node(1, "RootWebArea", "R", [2]), node(2, "button", name)], lambda dom: dom)
    shown = look.elements(text)
    assert [(e.id, e.role, e.depth) for e in shown] == [(101, "RootWebArea", 0), (102, "button", 1)]
    assert look.find(text, name, role="button").id == 102


def test_elements_are_found_by_name_role_order_and_neighbour():
    text = (
        "[1] RootWebArea 'R'\n\t[2] button 'Add'\n\t[3] StaticText 'Lamp'\n\t[4] button"
        " 'Add'\n\t[5] textbox 'Note'\n\t\t[6] StaticText 'old'"
    )
    assert look.find(text, "Add").id == 2
    assert look.find(text, "Add", nth=1).id == 4
    assert look.find(text, "Add", after="Lamp").id == 4
    with raises(look.NotShown, "'Remove'", "0"):
        look.find(text, "Remove", role="button")
    assert [*steps.actions_of(steps.click("Add", "button", after="Lamp"), lambda: text)] == [
        "click [4]"
    ]
    for is_open, wanted in ((False, ["click [2]"]), (True, [])):
        menu = f"[1] RootWebArea 'R'\n\t[2] button 'Garden' expanded: {is_open}"
        assert [*steps.actions_of(steps.click("Garden", "button"), partial(str, menu))] == wanted
    wanted = ["click [5]", "press [Control+a]", "press [Delete]", "type [5] [new] [0]"]
    assert [*steps.actions_of(steps.fill("Note", "new"), lambda: text)] == wanted
