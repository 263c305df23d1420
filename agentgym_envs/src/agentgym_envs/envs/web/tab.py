"""A page of the browser: what it is loading, how its elements are numbered, and what it is asked."""

import time
from functools import cache
from pathlib import Path
from typing import Any

from agentgym_envs.envs.web.chromium import Target
from agentgym_envs.envs.web.connection import Connection, Refused
from agentgym_envs.envs.web.tree import render

VIEWPORT = {"width": 1280, "height": 720}  # WebArena's
STREAMS = frozenset(("EventSource", "WebSocket", "Ping", "Prefetch", "CSPViolationReport"))  # requests that no page waits for
PATIENCE = 2.0  # seconds that a page's own requests are waited for, as WebArena does: an answer may be held back on purpose
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
        self._requests: dict[str, tuple[float, str, bool]] = {}  # when a request began, for which document, is it the page's own
        self._loading: dict[str, float] = {}  # frames that load; until when that is believed
        self._numbers: tuple[int, dict[int, int]] = (0, {})
        for domain in ("Page", "Network", "Runtime", "Inspector"):
            self.post(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> int:
        """Sends a command: see :class:`Connection`."""
        return self.connection.send(self.target.session, method, **params)

    def post(self, method: str, **params: Any) -> None:
        """Sends a command whose answer nobody waits for."""
        self.connection.post(self.target.session, method, **params)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer."""
        return self.connection.result(self.send(method, **params))

    def asked(self, expression: str) -> int:
        """Sends a JavaScript expression to the page; :meth:`told` has its value."""
        return self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)

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
            "Runtime.callFunctionOn", functionDeclaration=function, objectId=object_id, arguments=arguments, returnByValue=True
        )
        return answer["result"].get("value")

    def heard(self, event: str, params: dict[str, Any]) -> None:
        """Keeps track of what the page is loading."""
        if event == "Network.requestWillBeSent":
            if params.get("type") not in STREAMS:
                own = params.get("type") in ("Fetch", "XHR")
                self._requests[params["requestId"]] = (time.monotonic(), params["loaderId"], own)
        elif event in ("Network.loadingFinished", "Network.loadingFailed"):
            self._requests.pop(params["requestId"], None)
        elif event == "Network.responseReceived":
            if params["response"]["mimeType"] == "text/event-stream":
                self._requests.pop(params["requestId"], None)
        elif event == "Page.frameStartedLoading":
            self._loading[params["frameId"]] = float("inf")
        elif event == "Page.frameScheduledNavigation" or (
            event == "Page.frameRequestedNavigation" and params["disposition"] == "currentTab"
        ):
            self._loading.setdefault(params["frameId"], time.monotonic() + RUMOUR)
        elif event in ("Page.frameStoppedLoading", "Page.frameDetached", "Page.downloadWillBegin"):
            self._loading.pop(params["frameId"], None)
        elif event == "Page.navigatedWithinDocument":
            if self._loading.get(params["frameId"], 0.0) != float("inf"):
                self._loading.pop(params["frameId"], None)
        elif event == "Page.frameNavigated" and "parentId" not in params["frame"]:
            document = params["frame"]["loaderId"]
            self._requests = {key: request for key, request in self._requests.items() if request[1] == document}

    def busy(self, since: float) -> bool:
        """Says whether it is loading something that an agent should wait for, or is about to.

        Args:
            since: when the last action began. What the page itself had asked for before then, it is still free to wait for.
        """
        now = time.monotonic()
        asked = any(not own or since <= began > now - PATIENCE for began, _, own in self._requests.values())
        return asked or any(until > now for until in self._loading.values())

    def look(self) -> str:
        """Reads title and address; returns the document's ``readyState``, or "navigating" if there is none right now."""
        try:
            state, self.title, self.url = self.evaluate(script("ready.js"))
        except Refused:
            return "navigating"
        return str(state)

    def begin_tree(self) -> int:
        """Asks for the accessibility tree, which :meth:`tree` reads."""
        return self.send("Accessibility.getFullAXTree")

    def tree(self, number: int, *, whole: bool) -> str:
        """Returns the accessibility tree, of the whole page or of what is in view."""
        nodes = self.connection.result(number)["nodes"]
        document = nodes[0]["backendDOMNodeId"]
        if self._numbers[0] != document:
            self._numbers = (document, {})
        numbers = self._numbers[1]
        return render(nodes, lambda node: numbers.setdefault(node, len(numbers) + 1), None if whole else self._in_view())

    def node(self, number: int) -> int | None:
        """Returns the DOM node that the tree shows under a number."""
        return next((node for node, shown in self._numbers[1].items() if shown == number), None)

    def forget(self) -> None:
        """Numbers elements anew, and begins the tab's history with the page that it shows."""
        self._numbers = (0, {})
        self.post("Page.resetNavigationHistory")

    def _in_view(self) -> set[int]:
        """Returns the DOM nodes whose boxes meet the viewport."""
        shot = self.call("DOMSnapshot.captureSnapshot", computedStyles=[])["documents"][0]
        left, top = shot.get("scrollOffsetX", 0), shot.get("scrollOffsetY", 0)
        right, bottom = left + VIEWPORT["width"], top + VIEWPORT["height"]
        ids, layout = shot["nodes"]["backendNodeId"], shot["layout"]
        return {
            ids[index]
            for index, (x, y, width, height) in zip(layout["nodeIndex"], layout["bounds"], strict=True)
            if x < right and y < bottom and x + width > left and y + height > top
        }

