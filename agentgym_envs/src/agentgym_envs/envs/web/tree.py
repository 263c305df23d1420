"""The accessibility tree as text, in WebArena's form: ``[id] role 'name' properties``, a tab for each level."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

Node = Mapping[str, Any]
"""A node of Chromium's ``Accessibility.getFullAXTree``."""

# Roles that say nothing unless the node has a name.
SILENT = frozenset(
    [
        "generic",
        "img",
        "image",
        "list",
        "strong",
        "emphasis",
        "paragraph",
        "banner",
        "contentinfo",
        "navigation",
        "main",
        "Section",
        "SectionHeader",
        "SectionFooter",
        "LabelText",
        "Legend",
        "listitem",
        "DescriptionList",
        "LayoutTable",
        "LayoutTableRow",
        "LayoutTableCell",
        "MenuListPopup",
        "form",
        "figure",
        "article",
        "region",
        "complementary",
        "row",
        "rowgroup",
        "cell",
        "gridcell",
        "table",
        "search",
        "group",
        "code",
    ]
)
MUTE = frozenset(("InlineTextBox", "LineBreak", "ListMarker", "none"))
UNTOLD = frozenset(
    [
        "focusable",
        "editable",
        "readonly",
        "level",
        "settable",
        "multiline",
        "invalid",
        "live",
        "atomic",
        "relevant",
        "busy",
        "root",
        "url",
    ]
)


def describe(node: Node) -> str:
    """Returns what is said of a node, or "" if that is nothing."""
    role = node["role"]["value"]
    name = _name(node)
    told = {p["name"]: p["value"].get("value") for p in node.get("properties", ()) if p["name"] not in UNTOLD}
    if "value" in node and node["value"].get("value") not in ("", None) and role != "StaticText":
        told["value"] = str(node["value"]["value"])
    if role in MUTE or (not name and (role in SILENT or role == "StaticText")):
        return ""
    properties = "".join(f" {key}: {_shown(value)}" for key, value in told.items() if value not in (None, ""))
    return f"{role} {name!r}{properties}"


def _name(node: Node) -> str:
    return " ".join(str(node.get("name", {}).get("value", "")).split())


def _shown(value: Any) -> str:
    return {"true": "True", "false": "False"}.get(str(value).lower(), repr(value) if isinstance(value, str) else str(value))


def render(nodes: Sequence[Node], number: Callable[[int], int], visible: Collection[int] | None = None) -> str:
    """Writes the tree.

    Args:
        nodes: in Chromium's order, the root first.
        number: the id that stands for a DOM node.
        visible: DOM nodes that may be shown; None for all.

    Returns:
        Lines. A text that its parent's name repeats, and what has nothing to say, is left out; its children move up.
    """
    by_id = {node["nodeId"]: node for node in nodes}
    lines: list[str] = []
    stack: list[tuple[Node, int, str, bool]] = [(nodes[0], 0, "", True)] if nodes else []
    while stack:
        node, depth, above, shown = stack.pop()
        role = node["role"]["value"]
        # The options of a closed list have no place of their own: they are as visible as the list.
        if role not in ("MenuListPopup", "option"):
            shown = visible is None or node.get("backendDOMNodeId") in visible or depth == 0
        if shown and not node.get("ignored"):
            name = _name(node)
            repeated = role == "StaticText" and name in above
            line = "" if repeated or "backendDOMNodeId" not in node else describe(node)
            if line:
                lines.append("\t" * depth + f"[{number(node['backendDOMNodeId'])}] {line}")
                depth, above = depth + 1, name
        children = [by_id[i] for i in node.get("childIds", ()) if i in by_id]
        stack.extend((child, depth, above, shown) for child in reversed(children))
    return "\n".join(lines)


def cut(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters, whole lines, and says how much is missing."""
    if len(text) <= limit:
        return text
    kept = text[:limit].rpartition("\n")[0]
    return f"{kept}\n… cut here: {len(text) - len(kept):,} more characters; scroll, or narrow what the page shows"
