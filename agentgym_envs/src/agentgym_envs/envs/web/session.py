"""An episode's share of the browser: a context with its tabs, cut off from everything that the task does not serve or allow."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import urljoin

from agentgym_envs.envs.web.actions import Action, BadAction
from agentgym_envs.envs.web.chromium import Chromium
from agentgym_envs.envs.web.tree import render
from agentgym_envs.errors import EnvFailure, EnvTimeout

VIEWPORT = {"width": 1280, "height": 720}  # WebArena's
DIALOGS = 50  # an action may open; a page that opens more is ended
TABS = 20  # an episode may have open; more are closed at once
COLLECT = 32  # episodes between two collections of a tab's garbage, which a browser with memory to spare lets grow
STEADY = 1.0  # seconds that a click waits for an element that moves away when the pointer comes
LOAD = 10.0  # seconds that parts of a page may load before the agent sees it as it is


def origin_of(url: str) -> str:
    """Returns scheme, host and port of an address."""
    return "/".join(url.split("/")[:3])[:200]


class Reply(NamedTuple):
    """What a request gets."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Request(NamedTuple):
    """What a page asked for."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


Serve = Callable[[Request], Reply | bool]
"""Answers a request itself; or says whether it may leave the machine."""


class Session:
    """Tabs of a context.

    Args:
        chromium: the browser.
        serve: decides about every request.
        seconds: that an action may take.
        state: cookies and local storage to begin with, in Playwright's form.
    """

    def __init__(self, chromium: Chromium, serve: Serve, seconds: float, state: Any = None):
        self.chromium, self.serve, self.seconds = chromium, serve, seconds
        self.blocked: Counter[str] = Counter()
        """Aborted requests of the episode: a URL's origin, "websocket", "download"."""
        self.dialogs: list[str] = []
        self.title = ""
        """Of the current tab, when it last settled."""
        self._pending: set[Any] = set()
        self._redirected, self._lending, self._episodes = False, False, 0
        self._numbers: dict[Any, tuple[int, dict[int, int]]] = {}
        self._cdp: dict[Any, Any] = {}
        self._origins: set[str] = set()
        with chromium.deadline(seconds):
            self.context = chromium.browser.new_context(
                viewport=VIEWPORT,
                accept_downloads=False,
                service_workers="block",
                locale="en-US",
                timezone_id="UTC",
                storage_state=state,
            )
            self.context.set_default_timeout(1000 * seconds)
            self.context.route("**/*", self._answer)
            self.context.route_web_socket("**/*", self._refuse_socket)
            self.tabs: list[Any] = []
            self.context.on("page", self._adopt)
            self.context.on("console", self._hear)
            self.context.on("request", lambda request: self._pending.add(request))
            for event in ("requestfinished", "requestfailed"):
                self.context.on(event, lambda request: self._pending.discard(request))
            self.page = self.context.new_page()

    def _hear(self, message: Any) -> None:
        if message.text.startswith("Service Worker registration blocked"):
            self.blocked["service worker"] += 1

    def _adopt(self, page: Any) -> None:
        if self._lending:
            return
        if len(self.tabs) == TABS:
            self.blocked["tab"] += 1
            page.close()
            return
        self.tabs.append(page)
        self.page = page
        page.on("dialog", self._dialog)
        page.on("download", lambda _: self.blocked.update(["download"]))
        page.on("close", lambda page: self._drop(page))

    def _drop(self, page: Any) -> None:
        self.tabs.remove(page)
        self._numbers.pop(page, None)
        self._cdp.pop(page, None)
        if self.page is page and self.tabs:
            self.page = self.tabs[-1]

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(f"{dialog.type}: {' '.join(dialog.message.split())[:200]}")
        if len(self.dialogs) <= DIALOGS:
            dialog.accept()

    def _answer(self, route: Any) -> None:
        request = route.request
        if request.is_navigation_request():
            self._redirected = False
        origin = origin_of(request.url)
        answer = self.serve(Request(request.method, request.url, request.headers, request.post_data_buffer or b""))
        if isinstance(answer, Reply) and 300 <= answer.status < 400:
            # The browser would follow the address past this function. A script sends it there instead.
            self._redirected = True
            kept = {k: v for k, v in answer.headers.items() if k.lower() == "set-cookie"}
            target = json.dumps(urljoin(request.url, answer.headers["Location"])).replace("<", "\\u003c")
            body = f"<script>location.replace({target})</script>"
            route.fulfill(status=200, headers={"content-type": "text/html", **kept}, body=body)
        elif isinstance(answer, Reply):
            route.fulfill(status=answer.status, headers=dict(answer.headers), body=answer.body)
        elif answer:
            route.continue_()
        else:
            self.blocked[origin] += 1
            route.abort("aborted")  # a tab that was to go there stays where it is
            return
        self._origins.add(origin)

    def _refuse_socket(self, socket: Any) -> None:
        self.blocked["websocket"] += 1
        socket.close()

    def begin(self) -> None:
        """Forgets the episode before: all but one tab, its history, cookies and storage, counts, element ids."""
        self._episodes += 1
        if self._episodes == 1:  # everything is new, and may hold a login
            return
        if self._origins - {origin_of(self.page.url)}:
            self.context.new_page()  # a tab keeps for itself what other origins have stored for the session
        for page in self.context.pages:
            if page is not self.page:
                page.close()
        self.context.clear_cookies()
        for origin in sorted(self._origins):
            self.cdp().send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
            if origin_of(self.page.url) == origin:
                self.cdp().send("DOMStorage.clear", {"storageId": {"securityOrigin": origin, "isLocalStorage": False}})
        if self._episodes % COLLECT == 0:
            self.cdp().send("HeapProfiler.collectGarbage")
        self._origins.clear()
        self.blocked.clear()
        self.dialogs.clear()
        self._numbers.clear()
        self._pending.clear()
        self.page.mouse.move(0, 0)

    def forget_history(self) -> None:
        """Makes the current page the first: there is nothing to go back to."""
        self.cdp().send("Page.resetNavigationHistory")

    def cdp(self) -> Any:
        """Returns the DevTools connection of the current tab."""
        if self.page not in self._cdp:
            self._cdp[self.page] = self.context.new_cdp_session(self.page)
        return self._cdp[self.page]

    @contextmanager
    def another_tab(self) -> Iterator[Any]:
        """Lends a tab that is not the agent's, and that it does not see."""
        self._lending = True
        try:
            page = self.context.new_page()
            yield page
            page.close()
        finally:
            self._lending = False

    def tree(self, *, whole: bool) -> str:
        """Returns the accessibility tree of the current tab, of the whole page or of what is in view."""
        nodes = self.cdp().send("Accessibility.getFullAXTree")["nodes"]
        document = nodes[0]["backendDOMNodeId"]
        if self._numbers.get(self.page, (None,))[0] != document:
            self._numbers[self.page] = (document, {})
        numbers = self._numbers[self.page][1]
        return render(nodes, lambda node: numbers.setdefault(node, len(numbers) + 1), None if whole else self._in_view())

    def _in_view(self) -> set[int]:
        """Returns the DOM nodes whose boxes meet the viewport."""
        shot = self.cdp().send("DOMSnapshot.captureSnapshot", {"computedStyles": []})["documents"][0]
        left, top = shot.get("scrollOffsetX", 0), shot.get("scrollOffsetY", 0)
        right, bottom = left + VIEWPORT["width"], top + VIEWPORT["height"]
        ids, layout = shot["nodes"]["backendNodeId"], shot["layout"]
        return {
            ids[index]
            for index, (x, y, width, height) in zip(layout["nodeIndex"], layout["bounds"], strict=True)
            if x < right and y < bottom and x + width > left and y + height > top
        }

    def settle(self, looks: int = 2) -> None:
        """Waits until what the last action began has loaded.

        Args:
            looks: in a row that must find the page quiet.

        Raises:
            EnvTimeout: not even the page's text has come after ``LOAD`` seconds.
        """
        from playwright.sync_api import Error

        end = time.monotonic() + LOAD
        quiet, ready = 0, ""
        while quiet < looks and time.monotonic() < end:
            try:
                ready, self.title = self.page.evaluate(READY)
            except Error as error:
                if not self.chromium.alive:
                    raise
                if not any(word in error.message for word in ("destroyed", "navigat", "closed")):
                    raise
                ready = "navigating"
            quiet = quiet + 1 if ready == "complete" and not self._pending and not self._redirected else 0
        if ready in ("loading", "navigating"):
            raise EnvTimeout(f"{self.page.url[:200]} did not load within {LOAD:g} s")

    def perform(self, action: Action) -> None:
        """Carries out an action other than ``stop`` and waits until the page has settled.

        Raises:
            BadAction: it cannot be done on this page; the page is as it was.
        """
        self.dialogs.clear()
        getattr(self, f"_do_{action.name}")(action)
        self.settle()

    def _node(self, action: Action) -> int:
        numbers = self._numbers.get(self.page, (0, {}))[1]
        for node, number in numbers.items():
            if number == action.target:
                return node
        raise BadAction(f"there is no element [{action.target}] on this page")

    def _point(self, action: Action, across: float = 0.5) -> tuple[tuple[float, float], str]:
        """Returns a point of the element, scrolled into view, and what a click there would meet.

        Args:
            action: with the element's id.
            across: of its width, from the left; half of its height. Where something covers that, a point near an edge may be free.
        """
        from playwright.sync_api import Error

        where = {"backendNodeId": self._node(action)}
        try:
            self.cdp().send("DOM.scrollIntoViewIfNeeded", where)
            quads = self.cdp().send("DOM.getContentQuads", where)["quads"]
        except Error as error:
            if not self.chromium.alive:
                raise
            raise BadAction(f"element [{action.target}] is not on the page any more, or has no place on it") from error
        if not quads:
            raise BadAction(f"element [{action.target}] has no place on the page")
        xs, ys = quads[0][0::2], quads[0][1::2]
        points = [
            (min(xs) + x * (max(xs) - min(xs)), min(ys) + y * (max(ys) - min(ys)))
            for x, y in ((across, 0.5), (0.1, 0.5), (0.9, 0.5), (0.5, 0.1), (0.5, 0.9))
        ]
        met = self._meets(where["backendNodeId"], points)
        best = next((i for i, what in enumerate(met) if what != "another"), 0)
        return points[best], met[best]

    def _call(self, node: int, function: str, argument: Any) -> Any:
        """Returns what a JavaScript function says with the node as its ``this``."""
        found = self.cdp().send("DOM.resolveNode", {"backendNodeId": node})["object"]["objectId"]
        call = {"functionDeclaration": function, "objectId": found, "arguments": [{"value": argument}], "returnByValue": True}
        return self.cdp().send("Runtime.callFunctionOn", call)["result"].get("value")

    def _meets(self, node: int, points: Sequence[tuple[float, float]]) -> list[str]:
        """Returns what clicks at some points would meet: "gone" without the node, "unknown" if the page does not let us ask."""
        from playwright.sync_api import Error

        try:
            met = self._call(node, MEETS, points)
        except Error:
            if not self.chromium.alive:
                raise
            met = ["gone"] * len(points)
        return met if isinstance(met, list) and len(met) == len(points) else ["unknown"] * len(points)

    def _do_click(self, action: Action, across: float = 0.5) -> None:
        """Clicks as a hand does: what changes under the pointer has changed before the button goes down."""
        point, before = self._point(action, across)
        node, end = self._node(action), time.monotonic() + STEADY
        self.page.mouse.move(*point)
        self.settle(looks=1)
        while self._meets(node, [point])[0] not in (before, "gone") and time.monotonic() < end:
            self.settle(looks=1)
        self.page.mouse.down()
        self.page.mouse.up()

    def _do_hover(self, action: Action) -> None:
        self.page.mouse.move(*self._point(action)[0])

    def _do_type(self, action: Action) -> None:
        self._do_click(action, across=0.2)  # a field's right end may be a button
        self.page.keyboard.type(action.text)
        if action.enter:
            self.page.keyboard.press("Enter")

    def _do_select(self, action: Action) -> None:
        if trouble := self._call(self._node(action), SELECT, action.text):
            raise BadAction(f"element [{action.target}] {trouble}")

    def _do_press(self, action: Action) -> None:
        from playwright.sync_api import Error

        try:
            self.page.keyboard.press(action.text)
        except Error as error:
            if not self.chromium.alive:
                raise
            raise BadAction(f"{action.text!r} is no key or combination of keys, such as Enter, Control+a or PageDown") from error

    def _do_scroll(self, action: Action) -> None:
        self.page.evaluate("sign => window.scrollBy(0, sign * window.innerHeight)", 1 if action.text == "down" else -1)

    def _do_new_tab(self, action: Action) -> None:
        self.context.new_page()

    def _do_tab_focus(self, action: Action) -> None:
        if action.target >= len(self.tabs):
            raise BadAction(f"there is no tab {action.target}: the last is {len(self.tabs) - 1}")
        self.page = self.tabs[action.target]
        self.page.bring_to_front()

    def _do_close_tab(self, action: Action) -> None:
        page = self.page
        if len(self.tabs) == 1:
            self.context.new_page()
        page.close()

    def _do_goto(self, action: Action) -> None:
        from playwright.sync_api import Error

        url = action.text if "://" in action.text else f"http://{action.text}"
        if not url.startswith(("http://", "https://")):
            raise BadAction(f"goto opens http and https addresses only, not {url[:200]!r}")
        try:
            self.page.goto(url, wait_until="commit", timeout=1000 * LOAD)
        except Error as error:
            if not self.chromium.alive:
                raise
            raise BadAction(f"{url[:200]} cannot be opened") from error

    def _do_go_back(self, action: Action) -> None:
        if not self.cdp().send("Page.getNavigationHistory")["currentIndex"]:
            raise BadAction("there is no page to go back to")
        self.page.go_back(wait_until="commit")

    def _do_go_forward(self, action: Action) -> None:
        self.page.go_forward(wait_until="commit")

    def close(self) -> None:
        """Closes the tabs and forgets their cookies and storage; ends the browser if a tab will not close."""
        if self.chromium.alive:
            with suppress(EnvFailure), self.chromium.deadline(self.seconds):
                self.context.close()


# What clicks at some points would meet: the element itself, one around it, or another. A frame has points of its own.
MEETS = """function(points) {
  const element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement ?? this.documentElement;
  if (!element?.isConnected) return points.map(() => 'gone');
  if (element.ownerDocument.defaultView !== window.top) return points.map(() => 'framed');
  return points.map(([x, y]) => {
    const top = document.elementFromPoint(x, y);
    return !top ? 'another' : element.contains(top) ? 'itself' : top.contains(element) ? 'around' : 'another';
  });
}"""
READY = """() => new Promise(done => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done([document.readyState, document.title]);
  channel.port2.postMessage(0);
})"""  # after what the page has queued; its clock may stand still
SELECT = """function(wanted) {
  if (this.tagName !== 'SELECT') return 'is no drop-down list';
  const clean = text => text.replace(/\\s+/g, ' ').trim();
  const options = [...this.options], labels = options.map(o => clean(o.label || o.text));
  const index = labels.indexOf(clean(wanted));
  if (index < 0) return `has no option '${wanted}', only ${labels.slice(0, 20).join(', ')}`;
  if (options[index].disabled) return `does not allow '${wanted}'`;
  if (this.multiple) options[index].selected = !options[index].selected; else this.selectedIndex = index;
  this.dispatchEvent(new Event('input', {bubbles: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
  return '';
}"""
