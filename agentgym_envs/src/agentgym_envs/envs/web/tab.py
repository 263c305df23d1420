"""A page of the browser: its loading state, its numbered elements, and commands to it."""

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agentgym_envs.envs.web.connection import CommandRefused, DevToolsConnection, PageTarget
from agentgym_envs.envs.web.tree import BoundingBox, MarkedElement, Node, PageView, marks, render

VIEWPORT = {"width": 1280, "height": 720}  # as in WebArena
# Requests that no page waits for.
STREAMS = frozenset(("EventSource", "Media", "Ping", "Prefetch", "CSPViolationReport"))
LOAD = 10.0  # seconds that parts of a page can load before the agent sees the page unfinished
# Seconds to wait for a request of a loaded page: WebArena waits as long after each action.
REQUEST_WAIT = 2.0
POLL = 50  # milliseconds between two looks at a page that loads
NAVIGATION_WAIT = 1.0  # seconds in which an announced navigation begins, or else never will


@cache
def script(name: str) -> str:
    """Returns a file of ``scripts``: an expression, or a function for an element."""
    return (Path(__file__).parent / "scripts" / name).read_text(encoding="utf-8")


class BrowserTab:
    """A page.

    Args:
        connection: the connection to its browser.
        target: the browser's description of the page.

    Attributes:
        url: the page's address at the last look.
        title: the page's title at the last look.
    """

    def __init__(self, connection: DevToolsConnection, target: PageTarget):
        self.connection, self.target = connection, target
        self.url, self.title = "about:blank", ""
        self._requests: dict[str, float] = {}  # start times by request
        # Frames that are about to show another document, with the end of the wait for it.
        self._leaving: dict[str, float] = {}
        self._numbers: tuple[int, dict[int, int]] = (0, {})
        for domain in ("Page", "Network", "Runtime", "Inspector", "Log"):
            self.post(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> int:
        """Sends a command and returns its number: see :class:`DevToolsConnection`."""
        return self.connection.send(self.target.session, method, **params)

    def post(self, method: str, **params: Any) -> None:
        """Sends a command without waiting for its answer."""
        self.connection.post(self.target.session, method, **params)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer."""
        return self.connection.result(self.send(method, **params))

    def send_expression(self, expression: str) -> int:
        """Sends a JavaScript expression to the page; :meth:`value_of` returns its value."""
        return self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )

    def value_of(self, number: int) -> Any:
        """Returns the value of an expression that was sent.

        Raises:
            CommandRefused: the page is closed, or the expression has raised.
        """
        answer = self.connection.result(number)
        if "exceptionDetails" in answer:
            raised = answer["exceptionDetails"]
            raise CommandRefused(raised.get("exception", {}).get("description") or raised["text"])
        return answer["result"].get("value")

    def evaluate(self, expression: str) -> Any:
        """Returns the value of a JavaScript expression or of its promise: see :meth:`value_of`."""
        return self.value_of(self.send_expression(expression))

    def advance(self, milliseconds: int, then: str = "null") -> Any:
        """Lets the page's clock run; returns the value of a JavaScript expression afterwards."""
        return self.evaluate(f"({script('advance.js')})({milliseconds}).then(() => ({then}))")

    def call_on_node(self, node: int, function: str, argument: Any) -> Any:
        """Returns the result of a JavaScript function with a DOM node as its ``this``."""
        found = self.call("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]
        return self.call_on(found, function, argument)

    def call_on(self, object_id: str, function: str, argument: Any) -> Any:
        """Returns the result of a JavaScript function with a page's object as its ``this``."""
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
        """Keeps track of the page's loading."""
        if event == "Network.requestWillBeSent":
            # The browser itself requests documents and workers, under ids without a dot. This tab
            # does not see the end of those requests.
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
            self._leaving[params["frameId"]] = time.monotonic() + (
                LOAD if sure else NAVIGATION_WAIT
            )
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
                # These belong to the page before; ``readyState`` describes the new one.
                self._requests.clear()

    def announce(self) -> None:
        """Expects, for a moment, that the page is about to show another document."""
        self._leaving[self.target.id] = time.monotonic() + NAVIGATION_WAIT

    def busy(self, since: float) -> bool:
        """Returns whether the page is about to change or has requests that are worth a wait.

        Args:
            since: start of the last action. Requests from before that moment can be held back on
                purpose.
        """
        now = time.monotonic()
        asked = any(since <= began > now - REQUEST_WAIT for began in self._requests.values())
        return asked or any(until > now for until in self._leaving.values())

    def look(self, passing: int = 0) -> str:
        """Reads title and address; returns the document's ``readyState``.

        Args:
            passing: milliseconds of the page's clock that pass before.

        Returns:
            The ``readyState``, or "navigating" without a document at this moment.
        """
        ready = script("ready.js")
        try:
            state, self.title, self.url = (
                self.advance(passing, ready) if passing else self.evaluate(ready)
            )
        except CommandRefused:
            return "navigating"
        return str(state)

    def begin_tree(self) -> int:
        """Requests the accessibility tree, which :meth:`nodes` reads."""
        return self.send("Accessibility.getFullAXTree")

    def nodes(self, number: int) -> Sequence[Node]:
        """Returns the nodes of the accessibility tree; ids begin anew on a new page."""
        nodes: Sequence[Node] = self.connection.result(number)["nodes"]
        document = nodes[0]["backendDOMNodeId"]
        if self._numbers[0] != document:
            self._numbers = (document, {})
        return nodes

    def tree(self, nodes: Sequence[Node], *, whole: bool) -> str:
        """Returns the accessibility tree as text: the whole page, or the part in view."""
        return render(nodes, self._number, None if whole else self._view())

    def marks(self, nodes: Sequence[Node]) -> list[MarkedElement]:
        """Returns the elements in view that can be used."""
        return marks(nodes, self._number, self._view())

    def _number(self, node: int) -> int:
        numbers = self._numbers[1]
        return numbers.setdefault(node, len(numbers) + 1)

    def node(self, number: int) -> int | None:
        """Returns the DOM node that the tree shows under a number."""
        return next((node for node, shown in self._numbers[1].items() if shown == number), None)

    def forget(self) -> None:
        """Numbers elements anew, and begins the tab's history with the current page."""
        self._numbers = (0, {})
        self.post("Page.resetNavigationHistory")

    def _view(self) -> PageView:
        """Returns the places of the page's nodes."""
        shot = self.call("DOMSnapshot.captureSnapshot", computedStyles=[])["documents"][0]
        left, top = shot.get("scrollOffsetX", 0), shot.get("scrollOffsetY", 0)
        ids, layout = shot["nodes"]["backendNodeId"], shot["layout"]
        boxes: dict[int, BoundingBox] = {}
        for index, (x, y, width, height) in zip(layout["nodeIndex"], layout["bounds"], strict=True):
            boxes.setdefault(ids[index], BoundingBox(x - left, y - top, width, height))
        return PageView(VIEWPORT["width"], VIEWPORT["height"], boxes, self._box)

    def _box(self, node: int) -> BoundingBox | None:
        """Returns the place of one node."""
        try:
            border = self.call("DOM.getBoxModel", backendNodeId=node)["model"]["border"]
        except CommandRefused:  # the node has no place on the page
            return None
        xs, ys = border[0::2], border[1::2]
        return BoundingBox(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
