"""The accessibility tree as text, by WebArena's rules.

A line is ``[id] role 'name' properties``, indented by one tab per level.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Node = Mapping[str, Any]
"""A node of Chromium's ``Accessibility.getFullAXTree``."""

# Roles that are shown only with a name or properties; "image" is a newer name of "img".
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
# Properties that are not shown; newer versions of Chromium add "url".
OMITTED = frozenset(
    ["focusable", "editable", "readonly", "level", "settable", "multiline", "invalid", "url"]
)
# ``<input type=date>``, time, and month, week or datetime-local.
DATES = frozenset(("Date", "InputTime", "DateTime"))
# Roles whose value is not shown in full by a text within them.
VALUED = frozenset(("slider", "progressbar", "meter", "ColorWell")) | DATES
# Roles of fields, which contain their texts.
FIELDS = frozenset(("textbox", "searchbox", "spinbutton", "combobox", "listbox")) | DATES
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
NEAR = 3  # number of lines before a text that can repeat it


class BoundingBox(NamedTuple):
    """The place of an element, in pixels from the upper left corner of the part in view."""

    left: float
    top: float
    width: float
    height: float


class MarkedElement(NamedTuple):
    """A usable element in view.

    Attributes:
        number: id of the element.
        box: place of the element.
        text: the element's line in the tree, without the id.
    """

    number: int
    box: BoundingBox
    text: str


class PageView(NamedTuple):
    """The part of the page in view.

    Attributes:
        width: in pixels.
        height: in pixels.
        boxes: places by DOM node; nodes without a place are missing.
        ask: finds the box of a node that ``boxes`` lacks, such as the buttons of a media player,
            which are the browser's own parts of an element.
    """

    width: float
    height: float
    boxes: Mapping[int, BoundingBox]
    ask: Callable[[int], BoundingBox | None] = lambda node: None

    def box(self, node: Node) -> BoundingBox | None:
        """Returns the place of a node; None without a place."""
        number = node["backendDOMNodeId"]
        return self.boxes[number] if number in self.boxes else self.ask(number)

    def shows(self, node: Node) -> bool:
        """Returns whether WebArena shows an element.

        WebArena compares the overlap in square pixels, divided by the width and multiplied by the
        height, with 0.6.
        """
        box = self.box(node)
        if box is None or not box.width or not box.height:
            return False
        across = max(0.0, min(box.left + box.width, self.width) - max(box.left, 0.0))
        down = max(0.0, min(box.top + box.height, self.height) - max(box.top, 0.0))
        return across * down / box.width * box.height >= IN_VIEW


def marks(
    nodes: Sequence[Node], number: Callable[[int], int], view: PageView
) -> list[MarkedElement]:
    """Returns the elements in view that can have the focus or have a control's role."""
    found = []
    for node in nodes[1:]:
        if node.get("ignored") or "backendDOMNodeId" not in node:
            continue
        role = node["role"]["value"]
        properties = {p["name"]: p["value"].get("value") for p in node.get("properties", ())}
        # An option of a closed drop-down list.
        unlisted = role == "option" and node["backendDOMNodeId"] not in view.boxes
        if (
            properties.get("disabled")
            or unlisted
            or not (properties.get("focusable") or role in USED)
            or not view.shows(node)
        ):
            continue
        if (box := view.box(node)) is not None:
            found.append(MarkedElement(number(node["backendDOMNodeId"]), box, describe(node)))
    return found


def describe(node: Node) -> str:
    """Returns role, name and properties of a node, or "" if the node is not shown."""
    role, name = node["role"]["value"], _name(node)
    properties = {
        p["name"]: p["value"]["value"]
        for p in node.get("properties", ())
        if p["name"] not in OMITTED and "value" in p["value"]
    }
    if role in VALUED and "value" in node:
        properties["value"] = node["value"].get("value")
    if role in MUTE or (
        not name.strip()
        and (role in ("StaticText", "listitem") or (role in SILENT and not properties))
    ):
        return ""
    return f"{role} {name!r}" + "".join(f" {key}: {value}" for key, value in properties.items())


def _name(node: Node) -> str:
    return str(node.get("name", {}).get("value", ""))


def render(
    nodes: Sequence[Node], number: Callable[[int], int], view: PageView | None = None
) -> str:
    """Writes the tree.

    Nodes without content are left out, and their children move up. A repeated text is also left out
    unless a field contains it. With a view, a text is repeated if one of the three lines before it
    contains it. In the whole page, a text is repeated if the texts of an element around it together
    are that element's name.

    Args:
        nodes: in Chromium's order, the root first.
        number: returns the id of a DOM node.
        view: the part of the page to show; None for the whole page.

    Returns:
        Lines, joined by newlines.
    """
    by_id = {node["nodeId"]: node for node in nodes}
    lines: list[str] = []
    stack: list[tuple[Node, int, bool, str, bool]] = (
        [(nodes[0], 0, True, "", False)] if nodes else []
    )
    while stack:
        # within: the role of the field around the node
        node, depth, shown, within, named = stack.pop()
        role = node["role"]["value"]
        line = "" if node.get("ignored") or "backendDOMNodeId" not in node else describe(node)
        if line and not within:
            shown = view is None or node is nodes[0] or view.shows(node)
        if line and role in FIELDS:
            within = role
        if line and shown:
            # The texts of a date field separate its parts.
            kept = role != "StaticText" or (within and within not in DATES)
            repeats = not kept and (named if view is None else _repeats(_name(node), lines))
            if not repeats:
                lines.append("\t" * depth + f"[{number(node['backendDOMNodeId'])}] {line}")
            depth += 1
            named = named or (view is None and node is not nodes[0] and _says_all(node, by_id))
        children = [by_id[i] for i in node.get("childIds", ()) if i in by_id]
        stack.extend((child, depth, shown, within, named) for child in reversed(children))
    return "\n".join(lines)


def _says_all(node: Node, by_id: Mapping[str, Node]) -> bool:
    """Returns whether an element's name consists of all texts in the element, in their order.

    The name can have a blank between two texts. A name with more or less than these texts can come
    from elsewhere. A text that occurs in such a name by chance must not be left out.
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
    # WebArena also searches the id of a line; we do not.
    return any(repr(text)[1:-1] in line.partition("] ")[2] for line in lines[-NEAR:])


def cut(text: str, limit: int) -> str:
    """Cuts a text to whole lines of at most ``limit`` characters; a note counts the rest."""
    if len(text) <= limit:
        return text
    kept = text[:limit].rpartition("\n")[0]
    return (
        f"{kept}\n… cut here: {len(text) - len(kept):,} more characters; scroll, or narrow what the"
        " page shows"
    )
