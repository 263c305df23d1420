"""A browser without a screen or scripts: plays an oracle's plan on the sites within the process, in milliseconds.

It reads the sites' HTML into roles and names as a real browser's accessibility tree has them,
follows links and sends forms. The sites work without scripts; a menu that a script would close
counts as closed until its button is clicked.
"""

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

from agentgym_envs.envs.web.embedded import NotShown, ProxyRequest, Step
from agentgym_websites.host import Host

VOID = frozenset(
    (
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    )
)
UNSEEN = frozenset(("head", "script", "style", "template"))
INPUTS = {
    "search": "searchbox",
    "checkbox": "checkbox",
    "radio": "radio",
    "number": "spinbutton",
    "submit": "button",
}
ROLES = {
    "button": "button",
    "select": "combobox",
    "textarea": "textbox",
    **{f"h{n}": "heading" for n in range(1, 7)},
}


class Node:
    """An element of a page: its tag, its attributes, the texts and elements in it."""

    def __init__(self, tag: str, attrs: dict[str, str], parent: "Node | None"):
        self.tag, self.attrs, self.parent = tag, attrs, parent
        self.children: list[Node | str] = []

    def every(self) -> "Iterator[Node]":
        """Yields this element and all in it, in the page's order."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.every()

    def text(self) -> str:
        """Returns the visible text, without what a screen reader leaves out and without the options of lists."""
        parts = [
            c
            if isinstance(c, str)
            else ""
            if "aria-hidden" in c.attrs or c.tag == "select"
            else c.text()
            for c in self.children
        ]
        return "".join(parts)

    def above(self, tag: str) -> "Node | None":
        """Returns the nearest element with a tag around this one."""
        found = self.parent
        while found is not None and found.tag != tag:
            found = found.parent
        return found


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.here = Node("document", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {key: value or "" for key, value in attrs}, self.here)
        self.here.children.append(node)
        if tag not in VOID:
            self.here = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.children.append(Node(tag, {key: value or "" for key, value in attrs}, self.here))

    def handle_endtag(self, tag: str) -> None:
        found = self.here if self.here.tag == tag else self.here.above(tag)
        if found is not None and found.parent is not None:
            self.here = found.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


class Shown(NamedTuple):
    """A line that the accessibility tree would have."""

    role: str
    name: str
    node: Node


class PlainBrowser:
    """Somebody who is signed in on all sites and reads them without scripts.

    Args:
        host: the sites of one episode.

    Attributes:
        url: of the current page.
    """

    def __init__(self, host: Host):
        self.host, self.url, self.root = host, "", Node("document", {}, None)
        self._cookies = {c["url"]: f"{c['name']}={c['value']}" for c in host.cookies()}
        self._closed, self._opened, self._before = set[str](), set[str](), list[str]()

    def play(self, start: str, steps: Sequence[Step]) -> str:
        """Carries out a plan and returns its answer.

        Raises:
            NotShown: a page lacks what a step needs.
        """
        self.open(start)
        for step in steps:
            if step[0] == "stop":
                return str(step[1])
            self.do(step)
        return ""

    def do(self, step: Step) -> None:
        """Carries out a step."""
        if step[0] in ("goto", "back"):
            self.open(self._before.pop() if step[0] == "back" else step[1])
            return
        verb, role, name, content, where = step
        node = self.find(role, name, **where).node
        if verb == "click":
            self._before.append(self.url)
            self._click(node)
        elif verb == "select":
            self._choose(node, content)
        else:
            node.attrs["value"] = content
            if verb == "enter":
                self._send(node, None)

    def open(
        self,
        url: str,
        method: str = "GET",
        form: Sequence[tuple[str, str]] = (),
        *,
        stay: bool = False,
    ) -> None:
        """Asks for a page and follows where it leads; ``stay`` leaves the shown page as it is."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        headers = {"cookie": self._cookies.get(origin, ""), "referer": self.url}
        if method == "POST":
            headers |= {
                "content-type": "application/x-www-form-urlencoded",
                "accept": "application/json" if stay else "text/html",
            }
        reply = self.host.serve(
            ProxyRequest(method, url.partition("#")[0], headers, urlencode(form).encode())
        )
        if isinstance(reply, bool):
            raise NotShown(f"{url} leads out of the sites")
        if "Set-Cookie" in reply.headers:
            self._cookies[origin] = reply.headers["Set-Cookie"].partition(";")[0]
        if reply.status in (301, 302, 303, 307, 308):
            self.open(urljoin(url, reply.headers["Location"]))
        elif not stay:
            self._show(url, reply.body.decode())

    def _show(self, url: str, html: str) -> None:
        builder = _Builder()
        builder.feed(html)
        self.root, self.url, self._opened = builder.root, url, set()
        self._closed = {
            n.attrs["aria-controls"]
            for n in self.root.every()
            if "aria-controls" in n.attrs and "data-open" not in n.attrs
        }

    def shown(self, node: Node | None = None) -> Iterator[Shown]:
        """Yields what the page shows, in its order."""
        for child in (node or self.root).children:
            if isinstance(child, str):
                if child.strip():
                    yield Shown("StaticText", " ".join(child.split()), node or self.root)
            elif not self._unseen(child):
                role = self._role(child)
                if role:
                    yield Shown(role, self.name(child), child)
                if child.tag != "select":
                    yield from self.shown(child)

    def find(
        self, role: str | None, name: str | None, *, after: str | None = None, nth: int = 0
    ) -> Shown:
        """Returns the nth element with a role and a name, counted behind the first one with the name ``after``.

        Raises:
            NotShown: there is none.
        """
        lines = list(self.shown())
        if after is not None:
            lines = lines[
                next((i for i, line in enumerate(lines) if line.name == after), len(lines)) + 1 :
            ]
        fitting = [
            line for line in lines if name in (None, line.name) and role in (None, line.role)
        ]
        if len(fitting) <= nth:
            raise NotShown(f"{role or 'element'} {name!r} number {nth} is not shown on {self.url}")
        return fitting[nth]

    def name(self, node: Node) -> str:
        """Returns an element's accessible name."""
        text = node.attrs.get("aria-label", "")
        if "data-author" in node.attrs:  # a script names it by what a click would do
            text = f"Expand comment by {node.attrs['data-author']}"
        if not text and node.tag in ("input", "select", "textarea"):
            around = node.above("label")
            labels = [
                n
                for n in self.root.every()
                if n.tag == "label" and n.attrs.get("for") == node.attrs.get("id", "-")
            ]
            label = labels[0] if labels else around
            text = label.text() if label else node.attrs.get("placeholder", "")
        return " ".join(
            (
                text
                or (node.text() if node.tag not in ("section", "article", "nav", "form") else "")
            ).split()
        )

    def _unseen(self, node: Node) -> bool:
        key = node.attrs.get("id", "")
        hidden = (
            "hidden" in node.attrs
            and "data-script" not in node.attrs
            and key not in ("select-all", *self._opened)
        )
        return hidden or node.tag in UNSEEN or "aria-hidden" in node.attrs or key in self._closed

    def _role(self, node: Node) -> str:
        if "role" in node.attrs:
            return node.attrs["role"]
        if node.tag == "a":
            return "link" if "href" in node.attrs else ""
        if node.tag == "input":
            kind = node.attrs.get("type", "text")
            return "" if kind == "hidden" else INPUTS.get(kind, "textbox")
        return ROLES.get(node.tag, "group" if "aria-label" in node.attrs else "")

    def _click(self, node: Node) -> None:
        kind = node.attrs.get("type", "")
        if "href" in node.attrs:
            self.open(urljoin(self.url, node.attrs["href"]))
        elif "aria-controls" in node.attrs:
            self._closed.discard(node.attrs["aria-controls"])
            self._opened.add(node.attrs["aria-controls"])
        elif kind in ("checkbox", "radio"):
            self._tick(node, kind)
        elif node.tag == "button" and kind != "button":
            self._send(node, node)

    def _tick(self, node: Node, kind: str) -> None:
        if kind == "radio":
            for other in self.root.every():
                if other.attrs.get("name") == node.attrs["name"]:
                    other.attrs.pop("checked", None)
        if "checked" in node.attrs:
            del node.attrs["checked"]
        else:
            node.attrs["checked"] = ""
        if node.attrs.get("id") == "select-all":
            for other in self.root.every():
                if other.attrs.get("name") == "row":
                    other.attrs["checked"] = ""

    def _choose(self, node: Node, content: str) -> None:
        options = [n for n in node.every() if n.tag == "option"]
        chosen = next((n for n in options if " ".join(n.text().split()) == content), None)
        if chosen is None and any(
            n.attrs.get("data-flairs") == node.attrs.get("id", "-") for n in self.root.every()
        ):
            # A script adds what fits another field.
            chosen = Node("option", {"value": content}, node)
            node.children.append(chosen)
        if chosen is None:
            raise NotShown(f"{self.name(node)!r} has no option {content!r}")
        for option in options:
            option.attrs.pop("selected", None)
        chosen.attrs["selected"] = ""

    def _form(self, node: Node) -> Node | None:
        named = node.attrs.get("form")
        return (
            next((n for n in self.root.every() if n.attrs.get("id") == named), None)
            if named
            else node.above("form")
        )

    def _send(self, node: Node, button: Node | None) -> None:
        form = self._form(node)
        if form is None:
            return
        pairs = [
            pair
            for n in self.root.every()
            if "name" in n.attrs and self._form(n) is form
            for pair in _value(n, button)
        ]
        url = urljoin(self.url, form.attrs.get("action") or self.url)
        if form.attrs.get("method", "get").lower() == "post":
            self.open(url, "POST", pairs, stay="data-live" in form.attrs)
        else:
            self.open(f"{url.partition('#')[0].partition('?')[0]}?{urlencode(pairs)}")


def _value(node: Node, button: Node | None) -> Iterator[tuple[str, str]]:
    """Yields what a control adds to a form."""
    kind, name = node.attrs.get("type", ""), node.attrs["name"]
    if node.tag == "select":
        options = [n for n in node.every() if n.tag == "option"]
        chosen = next((o for o in options if "selected" in o.attrs), options[0])
        yield name, chosen.attrs.get("value", " ".join(chosen.text().split()))
    elif node.tag == "textarea":
        yield name, node.attrs.get("value", node.text().removeprefix("\n")).replace("\n", "\r\n")
    elif node.tag == "button":
        if node is button:
            yield name, node.attrs.get("value", "")
    elif node.tag == "input" and (kind not in ("checkbox", "radio") or "checked" in node.attrs):
        yield name, node.attrs.get("value", "on" if kind in ("checkbox", "radio") else "")
