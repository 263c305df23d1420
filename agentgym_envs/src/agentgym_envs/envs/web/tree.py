"""The accessibility tree as text, by WebArena's rules: ``[id] role 'name' properties``, a tab for each level."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Node = Mapping[str, Any]
"""A node of Chromium's ``Accessibility.getFullAXTree``."""

# Roles that say nothing without a name and properties; "image" is a newer name of "img".
SILENT = frozenset(
    [
        "generic",
        "img",
        "image",
        "list",
        "strong",
        "paragraph",
        "banner",
        "navigation",
        "Section",
        "LabelText",
        "Legend",
        "listitem",
    ]
)
MUTE = frozenset(("InlineTextBox", "LineBreak", "ListMarker", "MenuListPopup", "none"))
UNTOLD = frozenset(
    ["focusable", "editable", "readonly", "level", "settable", "multiline", "invalid", "url"]
)  # the last is new
DATES = frozenset(
    ("Date", "InputTime", "DateTime")
)  # <input type=date>, time, and month, week or datetime-local
VALUED = (
    frozenset(("slider", "progressbar", "meter", "ColorWell")) | DATES
)  # roles whose value no text within them shows in full
FIELDS = (
    frozenset(("textbox", "searchbox", "spinbutton", "combobox", "listbox")) | DATES
)  # what they hold is where they are
USED = frozenset(
    (
        "button",
        "link",
        "checkbox",
        "radio",
        "switch",
        "tab",
        "option",
        "treeitem",
        "menuitem",
        "menuitemcheckbox",
    )
)
IN_VIEW = 0.6
NEAR = 3  # lines before it that a text may repeat


class Box(NamedTuple):
    """Where an element is, in pixels from the upper left corner of what is in view."""

    left: float
    top: float
    width: float
    height: float


class Mark(NamedTuple):
    """An element that can be used, in view.

    Attributes:
        number: its id.
        box: where it is.
        text: what the tree says of it.
    """

    number: int
    box: Box
    text: str


class View(NamedTuple):
    """The visible part of the page.

    Attributes:
        width: in pixels.
        height: in pixels.
        boxes: of the DOM nodes that have a place on the page.
        ask: finds the box of a node that ``boxes`` lacks; the browser's own parts of an element,
            such as a player's buttons.
    """

    width: float
    height: float
    boxes: Mapping[int, Box]
    ask: Callable[[int], Box | None] = lambda node: None

    def box(self, node: Node) -> Box | None:
        """Returns where a node is; None without a place."""
        number = node["backendDOMNodeId"]
        return self.boxes[number] if number in self.boxes else self.ask(number)

    def shows(self, node: Node) -> bool:
        """Says whether WebArena shows an element: it compares an overlap in square pixels with 0.6 of the width by the height."""
        box = self.box(node)
        if box is None or not box.width or not box.height:
            return False
        across = max(0.0, min(box.left + box.width, self.width) - max(box.left, 0.0))
        down = max(0.0, min(box.top + box.height, self.height) - max(box.top, 0.0))
        return across * down / box.width * box.height >= IN_VIEW


def marks(nodes: Sequence[Node], number: Callable[[int], int], view: View) -> list[Mark]:
    """Returns the elements in view that an action can be for: those that can have the focus, or whose role says so."""
    found = []
    for node in nodes[1:]:
        if node.get("ignored") or "backendDOMNodeId" not in node:
            continue
        role, said = (
            node["role"]["value"],
            {p["name"]: p["value"].get("value") for p in node.get("properties", ())},
        )
        unlisted = (
            role == "option" and node["backendDOMNodeId"] not in view.boxes
        )  # of a drop-down list that is closed
        if (
            said.get("disabled")
            or unlisted
            or not (said.get("focusable") or role in USED)
            or not view.shows(node)
        ):
            continue
        if (box := view.box(node)) is not None:
            found.append(Mark(number(node["backendDOMNodeId"]), box, describe(node)))
    return found


def describe(node: Node) -> str:
    """Returns what is said of a node, or "" if that is nothing."""
    role, name = node["role"]["value"], _name(node)
    given = {p["name"]: p["value"] for p in node.get("properties", ()) if p["name"] not in UNTOLD}
    told = {key: value["value"] for key, value in given.items() if "value" in value}
    if role in VALUED and "value" in node:
        told["value"] = node["value"].get("value")
    if role in MUTE or (
        not name.strip() and (role in ("StaticText", "listitem") or (role in SILENT and not told))
    ):
        return ""
    return f"{role} {name!r}" + "".join(f" {key}: {value}" for key, value in told.items())


def _name(node: Node) -> str:
    return str(node.get("name", {}).get("value", ""))


def render(nodes: Sequence[Node], number: Callable[[int], int], view: View | None = None) -> str:
    """Writes the tree.

    Args:
        nodes: in Chromium's order, the root first.
        number: the id that stands for a DOM node.
        view: what is in view, to show nothing else.

    Returns:
        Lines. What has nothing to say is left out; children move up. So is a text that repeats,
        unless a field holds it: with a
        view, a text that one of the three lines before it holds; of a whole page, the texts that
        together are the name of an
        element around them.
    """
    by_id = {node["nodeId"]: node for node in nodes}
    lines: list[str] = []
    stack: list[tuple[Node, int, bool, str, bool]] = (
        [(nodes[0], 0, True, "", False)] if nodes else []
    )
    while stack:
        node, depth, shown, within, named = stack.pop()  # within: the role of the field around it
        role = node["role"]["value"]
        told = "" if node.get("ignored") or "backendDOMNodeId" not in node else describe(node)
        if told and not within:
            shown = view is None or node is nodes[0] or view.shows(node)
        if told and role in FIELDS:
            within = role
        if told and shown:
            kept = role != "StaticText" or (
                within and within not in DATES
            )  # a date's own texts part its fields
            repeats = not kept and (named if view is None else _repeats(_name(node), lines))
            if not repeats:
                lines.append("\t" * depth + f"[{number(node['backendDOMNodeId'])}] {told}")
            depth += 1
            named = named or (view is None and node is not nodes[0] and _says_all(node, by_id))
        children = [by_id[i] for i in node.get("childIds", ()) if i in by_id]
        stack.extend((child, depth, shown, within, named) for child in reversed(children))
    return "\n".join(lines)


def _says_all(node: Node, by_id: Mapping[str, Node]) -> bool:
    """Returns whether an element's name consists of the texts in the element, all of them and in their order.

    The name may have a blank between two texts. A name with more or less than these texts may come
    from elsewhere, and a text that occurs in it by chance would be lost to the reader.
    """
    rest = " ".join(_name(node).split())
    if not rest:
        return False
    below = [by_id[i] for i in reversed(node.get("childIds", ())) if i in by_id]
    while below:
        inner = below.pop()
        parts = [by_id[i] for i in reversed(inner.get("childIds", ())) if i in by_id]
        if parts and inner["role"]["value"] != "StaticText":
            below += parts
        elif inner["role"]["value"] != "ListMarker":
            text = " ".join(_name(inner).split())
            if not rest.startswith(text):
                return False
            rest = rest[len(text) :].lstrip()
    return not rest


def _repeats(text: str, lines: Sequence[str]) -> bool:
    return any(
        repr(text)[1:-1] in line.partition("] ")[2] for line in lines[-NEAR:]
    )  # not in its id, as WebArena would


def cut(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters, whole lines, and says how much is missing."""
    if len(text) <= limit:
        return text
    kept = text[:limit].rpartition("\n")[0]
    return (
        f"{kept}\n… cut here: {len(text) - len(kept):,} more characters; scroll, or narrow what the"
        " page shows"
    )
