"""An episode's share of the browser: a context with its tabs, cut off from everything that the task does not serve or allow."""

import base64
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

from agentgym_envs.envs.web.chromium import Chromium, Target
from agentgym_envs.envs.web.connection import Refused
from agentgym_envs.envs.web.proxy import Proxy, Serve, origin_of
from agentgym_envs.envs.web.tab import LOAD, RUMOUR, VIEWPORT, Tab
from agentgym_envs.errors import EnvFailure, EnvRaised, EnvTimeout

DIALOGS = 50  # an action may open; a page that opens more is ended
TABS = 20  # an episode may have open; more are closed
SHOWN = ("Page.frameRequestedNavigation", "Page.documentOpened")  # what opened a window has gone on: it loads or writes it
KEPT = 16  # pages that stay loaded for later episodes
COLLECT = 32  # episodes between two collections of a tab's garbage, which a browser with memory to spare lets grow
REST = 0.5  # seconds after which a document that asks for nothing is taken as it is, although it was left open
POLL = 50  # milliseconds between two looks at a page that loads
RESTED = 10  # looks in that time: a busy machine may be slow with a document that goes on loading
# A connection of its own past the proxy, which nothing in a browser's settings closes.
CLOSED = "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete window[name]"


class Session:
    """Tabs of a context.

    Args:
        chromium: the browser.
        serve: decides about every request.
        seconds: that an action may take.
        clock: the time at which its pages' clock stands still but for what :meth:`settle` lets pass; None: it is the world's.
        state: cookies and local storage to begin with, in Playwright's form.

    Attributes:
        context: Playwright's.
        tabs: that the agent has open.
        tab: the one that it sees.
        dialogs: what opened during the last action.
        since: when that began; what pages had asked for before then is not waited for.
    """

    def __init__(self, chromium: Chromium, serve: Serve, seconds: float, *, clock: datetime | None = None, state: Any = None):
        self.chromium, self.seconds, self.clock = chromium, seconds, clock
        self.dialogs: list[str] = []
        self.tabs: list[Tab] = []
        self._kept: OrderedDict[str, Tab] = OrderedDict()
        # Tabs that are about to open: until when that is believed, and their address.
        self._announced: deque[tuple[float, str]] = deque()
        self._refused: Counter[str] = Counter()
        self._pages: dict[str, Any] = {}  # Playwright's, by the target's id
        self._episodes, self._lending = 0, False
        self.proxy = Proxy(serve)
        self.start()
        with chromium.deadline(seconds):
            self.context = chromium.browser.new_context(
                viewport=VIEWPORT,
                accept_downloads=False,
                service_workers="block",
                locale="en-US",
                timezone_id="UTC",
                storage_state=state,
                proxy={"server": self.proxy.address, "bypass": "<-loopback>"},
            )
            self.context.set_default_timeout(1000 * seconds)
            self.context.add_init_script(CLOSED)
            if clock is not None:
                self.context.clock.install(time=clock - timedelta(hours=1))  # it can only be stopped at a time to come
                self.context.clock.pause_at(clock)
            self.context.on("dialog", lambda dialog: None)  # Playwright leaves them to us
            page = self.context.new_page()
            self._id = self._target(page)["browserContextId"]
            chromium.watchers[self._id] = self
            for target in [t for t in chromium.targets.values() if t.context == self._id]:
                self.opened(target)
            self._await_tab()

    @property
    def blocked(self) -> Counter[str]:
        """What was refused in this episode: requests, by their origin; "download", "service worker", "tab"."""
        return self.proxy.blocked + self._refused

    @property
    def page(self) -> Any:
        """Playwright's page of the current tab: for what does not happen at every step."""
        from playwright.sync_api import Error

        wanted = self.tab.target.id
        while wanted not in self._pages:
            self._pages.clear()
            for page in self.context.pages:
                with suppress(Error):  # it has been closed, and Playwright has yet to take notice
                    self._pages[self._target(page)["targetId"]] = page
            if wanted not in self._pages:
                self.context.pages[0].wait_for_timeout(POLL)  # Playwright has yet to take notice of it
        page = self._pages[wanted]
        for _ in range(2):  # Playwright hears only while it waits: without this, it would say where the page was
            with suppress(Error):  # just now it hears that the page which it asked has gone
                page.evaluate("0")
                return page
        page.evaluate("0")
        return page

    def _target(self, page: Any) -> Any:
        devtools = self.context.new_cdp_session(page)
        info = devtools.send("Target.getTargetInfo")["targetInfo"]
        devtools.detach()
        return info

    def _await_tab(self) -> None:
        while not self.tabs:
            self.chromium.connection.wait(self.seconds)

    def opened(self, target: Target) -> None:
        """Makes a new page the current one."""
        if self._lending:
            return
        if len(self.tabs) == TABS:
            self._refused["tab"] += 1
            if target.opener:  # its script would wait for ever for a page that was closed before it is shown
                self.chromium.connection.post(target.session, "Page.enable")
            else:
                self._close(target)
            return
        self.tab = Tab(self.chromium.connection, target)
        self.tabs.append(self.tab)
        if self._announced and self._announced.popleft()[1] not in ("", "about:blank"):
            self.tab.announce()

    def _close(self, target: Target) -> None:
        self.chromium.connection.post("", "Target.closeTarget", targetId=target.id)

    def closed(self, session: str) -> None:
        """Forgets a page."""
        self._kept = OrderedDict((key, tab) for key, tab in self._kept.items() if tab.target.session != session)
        self.tabs = [tab for tab in self.tabs if tab.target.session != session]
        if self.tabs and self.tab not in self.tabs:
            self.tab = self.tabs[-1]

    def heard(self, session: str, event: str, params: dict[str, Any]) -> None:
        """Answers dialogs, counts what was refused, and tells the tab."""
        tab = next((tab for tab in [*self.tabs, *self._kept.values()] if tab.target.session == session), None)
        if tab is None:
            if event in SHOWN and session in self.chromium.targets:  # one too many
                self._close(self.chromium.targets[session])
            return
        if event == "Page.javascriptDialogOpening":
            self.dialogs.append(f"{params['type']}: {' '.join(params['message'].split())[:200]}")
            if len(self.dialogs) <= DIALOGS:
                tab.post("Page.handleJavaScriptDialog", accept=True, promptText=params.get("defaultPrompt", ""))
        elif event == "Page.windowOpen":
            self._announced.append((time.monotonic() + RUMOUR, params["url"]))
        elif event == "Page.downloadWillBegin":
            self._refused["download"] += 1
        elif event == "Runtime.consoleAPICalled" and params["type"] == "warning":
            said = str(params["args"][0].get("value", "")) if params["args"] else ""
            self._refused["service worker"] += said.startswith("Service Worker registration blocked")
        tab.heard(event, params)

    def start(self) -> None:
        """An action begins: forgets what the one before has opened and announced, and closes what was missed of tabs too many."""
        own = {tab.target for tab in [*self.tabs, *self._kept.values()]}
        for target in [t for t in self.chromium.targets.values() if self.tabs and t.context == self._id and t not in own]:
            self._close(target)
        self.since = time.monotonic()
        self.dialogs.clear()
        self._announced.clear()

    def begin(self) -> None:
        """Forgets the episode before: all but one tab, its history, cookies and storage, counts, element ids."""
        self.start()
        self._episodes += 1
        if self._episodes == 1:  # everything is new, and may hold a login
            return
        reached, connection = self.proxy.reached, self.chromium.connection
        if reached - {origin_of(self.tab.url)}:
            self.open_tab()  # a tab keeps for itself what other origins have stored for the session
        for tab in self.tabs:
            if tab is not self.tab:
                self._close(tab.target)
        self.tabs = [self.tab]
        asked = [connection.send("", "Storage.clearCookies", browserContextId=self._id)]
        for origin in sorted(reached):
            asked.append(self.tab.send("Storage.clearDataForOrigin", origin=origin, storageTypes="all"))
        if self._episodes % COLLECT == 0:
            asked.append(self.tab.send("HeapProfiler.collectGarbage"))
        asked.append(self.tab.send("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0))
        for number in asked:
            connection.result(number)
        self.proxy.forget()
        self._refused.clear()

    def keep(self, key: str) -> bool:
        """Shows the tab that is kept under a key; says whether it is there already, or a new one whose page is still to be opened.

        Args:
            key: of at most ``KEPT``; the one that was not shown for longest goes.
        """
        known = key in self._kept
        before = self.tab
        if not known:
            if before in self._kept.values():
                self.open_tab()
            self._kept[key] = self.tab
        self._kept.move_to_end(key)
        self.tab = self._kept[key]
        self.tabs = [self.tab]
        if len(self._kept) > KEPT:
            _, oldest = self._kept.popitem(last=False)
            self._close(oldest.target)
        return known

    def open_tab(self) -> None:
        """Opens an empty tab and makes it the current one."""
        count = len(self.tabs)
        self.context.new_page()
        while len(self.tabs) == count < TABS:
            self.chromium.connection.wait(self.seconds)

    @contextmanager
    def another_tab(self) -> Iterator[Any]:
        """Lends a tab that is not the agent's, and that it does not see."""
        self._lending = True
        try:
            page = self.context.new_page()
            wanted = self._target(page)["targetId"]
            while wanted not in [target.id for target in self.chromium.targets.values()]:  # heard later, it would be the agent's
                self.chromium.connection.wait(self.seconds)
            page.on("dialog", lambda dialog: dialog.accept())
            yield page
            page.close()
            self.chromium.connection.wait(0.0)
        finally:
            self._lending = False

    def focus(self, tab: Tab) -> None:
        """Makes a tab the current one."""
        self.tab = tab
        tab.call("Page.bringToFront")

    def close_tab(self, tab: Tab) -> None:
        """Closes a tab; the last one becomes the current one."""
        self.chromium.connection.call("", "Target.closeTarget", targetId=tab.target.id)
        while tab in self.tabs:
            self.chromium.connection.wait(self.seconds)

    def add_cookies(self, cookies: Sequence[dict[str, Any]]) -> None:
        """Adds cookies, each with ``name``, ``value`` and ``url``."""
        self.chromium.connection.call("", "Storage.setCookies", browserContextId=self._id, cookies=cookies)

    def open(self, url: str) -> None:
        """Opens an address in the current tab.

        Raises:
            Refused: it cannot be opened; says why.
        """
        answer = self.tab.call("Page.navigate", url=url)
        if trouble := answer.get("errorText"):
            raise Refused(f"{url[:200]} cannot be opened: {trouble}")

    def screenshot(self) -> bytes:
        """Returns a PNG picture of what is in view."""
        return base64.b64decode(self.tab.call("Page.captureScreenshot", format="png")["data"])

    def settle(self, looks: int = 2, *, passing: int = 0) -> None:
        """Waits until what the last action began has loaded.

        Args:
            looks: in a row that must find the page quiet.
            passing: milliseconds of the current page's time that pass before.

        Raises:
            EnvTimeout: not even the page's text has come after ``LOAD`` seconds.
            EnvRaised: what serves the pages has failed.
        """
        if self.clock is None:
            time.sleep(passing / 1000)
            passing = 0
        still = None if self.tab.busy(self.since) else self.tab  # the tab that was quiet at the last look: its time may pass
        passed = None  # the tab whose time has
        began = quieted = time.monotonic()
        quiet, seen, idle = 0, False, 0
        while quiet < looks and time.monotonic() < began + LOAD:
            tab = self.tab
            due = passing if tab is still and tab is not passed else 0
            state = tab.look(due)
            coming = any(until > time.monotonic() for until, _ in self._announced)
            busy = tab is not self.tab or coming or tab.busy(self.since)
            if due and state != "navigating":
                passed = tab
            idle += 1
            if busy or state == "navigating":
                quieted, idle = time.monotonic(), 0
            seen = seen or state in ("interactive", "complete")
            rested = idle > RESTED and time.monotonic() > quieted + REST
            done = state == "complete" or (state != "navigating" and rested)
            still = tab if done and not busy else None
            quiet = quiet + 1 if still and (not passing or tab is passed) else 0
            if still is None:
                self.chromium.connection.wait(POLL / 1000)
        if self.proxy.trouble is not None:
            raise EnvRaised.of("a page's server", self.proxy.trouble) from self.proxy.trouble
        if not quiet and not seen:
            raise EnvTimeout(f"{self.tab.url[:200]} did not load within {LOAD:g} s")

    def close(self) -> None:
        """Closes the tabs and forgets their cookies and storage; ends the browser if a tab will not close."""
        self.chromium.watchers.pop(self._id, None)
        if self.chromium.alive:
            with suppress(EnvFailure), self.chromium.deadline(self.seconds):
                self.context.close()
        self.proxy.close()
