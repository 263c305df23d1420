"""A page of the browser: its loading state, its numbered elements, and commands to it."""

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agentgym_envs.envs.web.connection import Connection, Refused, Target
from agentgym_envs.envs.web.tree import Box, Mark, Node, View, marks, render

VIEWPORT = {"width": 1280, "height": 720}  # WebArena's
STREAMS = frozenset(
    ("EventSource", "Media", "Ping", "Prefetch", "CSPViolationReport")
)  # requests that no page waits for
LOAD = 10.0  # seconds that parts of a page may load before the agent sees it as it is
# seconds that a request of a loaded page is waited for: as long as WebArena waits after each action
PATIENCE = 2.0
RUMOUR = 1.0  # seconds in which a navigation that was announced has begun, or never will


@cache
def script(name: str) -> str:
    """Returns a file of ``scripts``: an expression, or a function for an element."""
    return (Path(__file__).parent / "scripts" / name).read_text(encoding="utf-8")


class Tab:
    """A page.

    Args:
        connection: to its browser.
        target: what it is to the browser.

    Attributes:
        url: its address, when it was last looked at.
        title: its title, then.
    """

    def __init__(self, connection: Connection, target: Target):
        self.connection, self.target = connection, target
        self.url, self.title = "about:blank", ""
        self._requests: dict[str, float] = {}  # when each began
        self._leaving: dict[
            str, float
        ] = {}  # frames that are about to show something else, and until when that is believed
        self._numbers: tuple[int, dict[int, int]] = (0, {})
        for domain in ("Page", "Network", "Runtime", "Inspector", "Log"):
            self.post(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> int:
        """Sends a command: see :class:`Connection`."""
        return self.connection.send(self.target.session, method, **params)

    def post(self, method: str, **params: Any) -> None:
        """Sends a command without waiting for its answer."""
        self.connection.post(self.target.session, method, **params)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer."""
        return self.connection.result(self.send(method, **params))

    def asked(self, expression: str) -> int:
        """Sends a JavaScript expression to the page; :meth:`told` has its value."""
        return self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )

    def told(self, number: int) -> Any:
        """Returns the value of an expression.

        Raises:
            Refused: the page has gone, or the expression has raised.
        """
        answer = self.connection.result(number)
        if "exceptionDetails" in answer:
            raised = answer["exceptionDetails"]
            raise Refused(raised.get("exception", {}).get("description") or raised["text"])
        return answer["result"].get("value")

    def evaluate(self, expression: str) -> Any:
        """Returns the value of a JavaScript expression, which may be a promise: see :meth:`told`."""
        return self.told(self.asked(expression))

    def advance(self, milliseconds: int, then: str = "null") -> Any:
        """Lets the page's clock run; returns the value that a JavaScript expression has afterwards."""
        return self.evaluate(f"({script('advance.js')})({milliseconds}).then(() => ({then}))")

    def on(self, node: int, function: str, argument: Any) -> Any:
        """Returns what a JavaScript function says with a DOM node as its ``this``."""
        found = self.call("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]
        return self.applied(found, function, argument)

    def applied(self, object_id: str, function: str, argument: Any) -> Any:
        """Returns what a JavaScript function says with an object of the page as its ``this``."""
        arguments = [{"value": argument}]
        answer = self.call(
            "Runtime.callFunctionOn",
            functionDeclaration=function,
            objectId=object_id,
            arguments=arguments,
            returnByValue=True,
        )
        return answer["result"].get("value")

    def heard(self, event: str, params: dict[str, Any]) -> None:
        """Keeps track of what the page is loading."""
        if event == "Network.requestWillBeSent":
            # Documents and workers, which the browser itself asks for under other names, end where
            # this tab does not hear of it.
            own = "." in params["requestId"]
            if own and params.get("type") not in STREAMS:
                self._requests[params["requestId"]] = time.monotonic()
        elif event in ("Network.loadingFinished", "Network.loadingFailed"):
            self._requests.pop(params["requestId"], None)
        elif event == "Network.responseReceived":
            if params["response"]["mimeType"] == "text/event-stream":
                self._requests.pop(params["requestId"], None)
        elif event in ("Page.frameStartedLoading", "Page.frameScheduledNavigation") or (
            event == "Page.frameRequestedNavigation" and params["disposition"] == "currentTab"
        ):
            sure = event == "Page.frameStartedLoading" and params["frameId"] == self.target.id
            self._leaving[params["frameId"]] = time.monotonic() + (LOAD if sure else RUMOUR)
        elif event in (
            "Page.frameStoppedLoading",
            "Page.frameDetached",
            "Page.navigatedWithinDocument",
            "Page.downloadWillBegin",
        ):
            self._leaving.pop(params["frameId"], None)
        elif event == "Page.frameNavigated":
            self._leaving.pop(params["frame"]["id"], None)
            if params["frame"]["id"] == self.target.id:
                # of the page before; how this one stands its readyState says
                self._requests.clear()

    def announce(self) -> None:
        """Believes for a moment that it is about to show another page."""
        self._leaving[self.target.id] = time.monotonic() + RUMOUR

    def busy(self, since: float) -> bool:
        """Says whether it is about to show another page, or has asked for something that an agent should wait for.

        Args:
            since: when the last action began. What had been asked for before then may be held back
                on purpose.
        """
        now = time.monotonic()
        asked = any(since <= began > now - PATIENCE for began in self._requests.values())
        return asked or any(until > now for until in self._leaving.values())

    def look(self, passing: int = 0) -> str:
        """Reads title and address; returns the document's ``readyState``, or "navigating" if there is none right now.

        Args:
            passing: milliseconds that pass on its clock before.
        """
        ready = script("ready.js")
        try:
            state, self.title, self.url = (
                self.advance(passing, ready) if passing else self.evaluate(ready)
            )
        except Refused:
            return "navigating"
        return str(state)

    def begin_tree(self) -> int:
        """Asks for the accessibility tree, which :meth:`nodes` reads."""
        return self.send("Accessibility.getFullAXTree")

    def nodes(self, number: int) -> Sequence[Node]:
        """Returns the nodes of the accessibility tree; on another page than before, ids begin anew."""
        nodes: Sequence[Node] = self.connection.result(number)["nodes"]
        document = nodes[0]["backendDOMNodeId"]
        if self._numbers[0] != document:
            self._numbers = (document, {})
        return nodes

    def tree(self, nodes: Sequence[Node], *, whole: bool) -> str:
        """Returns the accessibility tree as text, of the whole page or of what is in view."""
        return render(nodes, self._number, None if whole else self._view())

    def marks(self, nodes: Sequence[Node]) -> list[Mark]:
        """Returns the elements in view that can be used."""
        return marks(nodes, self._number, self._view())

    def _number(self, node: int) -> int:
        numbers = self._numbers[1]
        return numbers.setdefault(node, len(numbers) + 1)

    def node(self, number: int) -> int | None:
        """Returns the DOM node that the tree shows under a number."""
        return next((node for node, shown in self._numbers[1].items() if shown == number), None)

    def forget(self) -> None:
        """Numbers elements anew, and begins the tab's history with the page that it shows."""
        self._numbers = (0, {})
        self.post("Page.resetNavigationHistory")

    def _view(self) -> View:
        """Returns where the page's nodes are."""
        shot = self.call("DOMSnapshot.captureSnapshot", computedStyles=[])["documents"][0]
        left, top = shot.get("scrollOffsetX", 0), shot.get("scrollOffsetY", 0)
        ids, layout = shot["nodes"]["backendNodeId"], shot["layout"]
        boxes: dict[int, Box] = {}
        for index, (x, y, width, height) in zip(layout["nodeIndex"], layout["bounds"], strict=True):
            boxes.setdefault(ids[index], Box(x - left, y - top, width, height))
        return View(VIEWPORT["width"], VIEWPORT["height"], boxes, self._box)

    def _box(self, node: int) -> Box | None:
        """Returns where one node is."""
        try:
            border = self.call("DOM.getBoxModel", backendNodeId=node)["model"]["border"]
        except Refused:  # it has no place on the page
            return None
        xs, ys = border[0::2], border[1::2]
        return Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
