"""An episode's part of the browser: a context with its tabs.

The context is cut off from everything that the task does not serve or allow.
"""

import base64
import shutil
import tempfile
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from agentgym_envs.envs.web import clipboard
from agentgym_envs.envs.web.chromium import SharedBrowser
from agentgym_envs.envs.web.connection import CommandRefused, PageTarget
from agentgym_envs.envs.web.context import PlaywrightPages, new_context, target_of
from agentgym_envs.envs.web.effects import EffectNote, EpisodeEffects
from agentgym_envs.envs.web.proxy import LoopbackProxy, Serve, origin_of
from agentgym_envs.envs.web.tab import NAVIGATION_WAIT, BrowserTab
from agentgym_envs.errors import EnvFailure

DIALOGS = 50  # dialogs that an action may open; a page that opens more is ended
TABS = 20  # tabs that an episode may have open; more are closed
# A window has appeared once it loads a document or its opener writes one.
WINDOW_EVENTS = (
    "Page.frameRequestedNavigation",
    "Page.documentOpened",
)
KEPT_TABS = 16  # pages that stay loaded for later episodes
# Episodes between two garbage collections of a tab: a browser with free memory lets garbage grow.
COLLECT = 32


class BrowserSession:
    """Tabs of a context.

    Args:
        chromium: the browser.
        serve: decides about every request.
        seconds: time limit of an action.
        clock: the fixed time of the pages' clock, which only :func:`settle` moves; None: the real
            time.
        state: cookies and local storage at the start, in Playwright's form.

    Attributes:
        context: Playwright's context.
        tabs: the tabs that the agent has open.
        tab: the tab that the agent sees.
        effects: effects of the episode beside its pages.
        clipboard: the copied text, while another environment uses the browser's clipboard.
        since: start of the last action. Requests from before that moment are not waited for.
    """

    def __init__(
        self,
        chromium: SharedBrowser,
        serve: Serve,
        seconds: float,
        *,
        clock: datetime | None = None,
        state: Any = None,
    ):
        self.chromium, self.seconds, self.clock, self._state = chromium, seconds, clock, state
        self._folder = Path(tempfile.mkdtemp(prefix="agentgym-downloads-"))
        self.effects, self.proxy, self.clipboard = (
            EpisodeEffects(self._folder),
            LoopbackProxy(serve),
            "",
        )
        self.proxy.browser_user = chromium.user
        # Tabs that are about to open: each with the end of the wait for it, and its address.
        self._announced: deque[tuple[float, str]] = deque()
        self._kept: OrderedDict[str, BrowserTab] = OrderedDict()
        self._episodes, self._id = 0, ""
        self._make_context()

    def _make_context(self) -> None:
        """Creates a context with one tab."""
        self.tabs: list[BrowserTab] = []
        self._kept.clear()
        self._lending = False
        self._copier: BrowserTab | None = None
        self.start()
        with self.deadline():
            self.context = new_context(
                self.chromium.browser,
                self.proxy.address,
                seconds=self.seconds,
                clock=self.clock,
                state=self._state,
            )
            self._pages = PlaywrightPages(self.context)
            # This is our first page: Playwright opens and closes pages to restore the storage.
            info = target_of(self.context, self.context.new_page())
            self._id = info["browserContextId"]
            self.opened(self._await_target(info["targetId"]))
            self.chromium.watchers[self._id] = self
            self.chromium.connection.call(
                "",
                "Browser.setDownloadBehavior",
                behavior="allowAndName",
                browserContextId=self._id,
                downloadPath=str(self._folder),
                eventsEnabled=True,
            )

    def _drop_context(self) -> None:
        """Closes the tabs and forgets their storage; ends the browser if a tab will not close."""
        self.chromium.watchers.pop(self._id, None)
        self.chromium.clipboard.leave(self)
        if self.chromium.alive:
            with suppress(EnvFailure), self.deadline():
                self.context.close()

    def deadline(self, seconds: float | None = None) -> Any:
        """Limits the time of a block; the context, or else the browser, is ended when it is over.

        See :meth:`SharedBrowser.deadline`.
        """
        return self.chromium.deadline(seconds or self.seconds, self._id)

    @property
    def blocked(self) -> Counter[str]:
        """Stopped attempts of this episode, counted by kind.

        The keys are an origin or a scheme (counts of different addresses), "download", "service
        worker" and "tab".
        """
        return self.proxy.blocked + self.effects.counts

    def take_notes(self) -> list[EffectNote]:
        """Returns what the next observation says of the effects that no page shows."""
        return self.effects.take_notes(self.proxy.refused, self.proxy.reason)

    def expects_tab(self) -> bool:
        """Returns whether a tab is about to open."""
        return any(until > time.monotonic() for until, _ in self._announced)

    @property
    def page(self) -> Any:
        """Playwright's page of the current tab, for rare operations."""
        return self._pages.find(self.tab.target.id)

    def _await_target(self, target: str) -> PageTarget:
        """Returns a page of the context once the connection is attached to it."""
        while True:
            for found in self.chromium.targets.values():
                if found.id == target:
                    return found
            self.chromium.connection.wait(self.seconds)

    def opened(self, target: PageTarget) -> None:
        """Makes a new page the current one."""
        if self._lending:
            return
        if len(self.tabs) == TABS:
            self.effects.refuse("tab")
            # The script of the opener waits for ever if the page is closed before it is shown.
            if target.opener:
                self.chromium.connection.post(target.session, "Page.enable")
            else:
                self._close(target)
            return
        self.tab = BrowserTab(self.chromium.connection, target)
        self.tabs.append(self.tab)
        if self._announced and self._announced.popleft()[1] not in ("", "about:blank"):
            self.tab.announce()

    def _close(self, target: PageTarget) -> None:
        self.chromium.connection.post("", "Target.closeTarget", targetId=target.id)

    def closed(self, session: str) -> None:
        """Forgets a page."""
        if self._copier is not None and self._copier.target.session == session:
            self._copier = None
        self._kept = OrderedDict(
            (key, tab) for key, tab in self._kept.items() if tab.target.session != session
        )
        self.tabs = [tab for tab in self.tabs if tab.target.session != session]
        if self.tabs and self.tab not in self.tabs:
            self.tab = self.tabs[-1]

    def heard(self, session: str, event: str, params: dict[str, Any]) -> None:
        """Handles an event of a page: answers dialogs, counts refusals, and informs the tab."""
        tab = next(
            (tab for tab in [*self.tabs, *self._kept.values()] if tab.target.session == session),
            None,
        )
        if tab is None:
            # The page is above the limit of tabs.
            if event in WINDOW_EVENTS and session in self.chromium.targets:
                self._close(self.chromium.targets[session])
            return
        if event == "Page.javascriptDialogOpening":
            self.effects.dialog(params["type"], params["message"])
            if self.effects.dialogs <= DIALOGS:
                tab.post(
                    "Page.handleJavaScriptDialog",
                    accept=True,
                    promptText=params.get("defaultPrompt", ""),
                )
        elif event == "Page.windowOpen":
            url = params["url"] or "about:blank"
            if self.effects.document_requested(url, url):
                self._announced.append((time.monotonic() + NAVIGATION_WAIT, params["url"]))
        elif event == "Network.requestWillBeSent" and params.get("type") == "Document":
            self.effects.document_requested(params["requestId"], params["request"]["url"])
        elif event == "Network.loadingFailed" and params["type"] == "Document":
            self.effects.failed(params["requestId"], params["errorText"])
        elif event == "Log.entryAdded":
            self.effects.logged(params["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and params["type"] == "warning":
            text = str(params["args"][0].get("value", "")) if params["args"] else ""
            if text.startswith("Service Worker registration blocked"):
                self.effects.refuse("service worker")
        else:
            self._heard_of_download(event, params)
        tab.heard(event, params)

    def _heard_of_download(self, event: str, params: dict[str, Any]) -> None:
        if event == "Page.downloadWillBegin":
            goes_on = self.effects.begin_download(params["guid"], params["suggestedFilename"])
        elif event == "Page.downloadProgress":
            goes_on = self.effects.downloaded(
                params["guid"], params["state"], params["receivedBytes"]
            )
        else:
            return
        if not goes_on:
            self.chromium.connection.post(
                "", "Browser.cancelDownload", guid=params["guid"], browserContextId=self._id
            )

    def start(self) -> None:
        """Begins an action: clears the state of the last action and closes surplus tabs."""
        own = {
            tab.target
            for tab in [*self.tabs, *self._kept.values(), self._copier]
            if tab is not None
        }
        for target in [
            t
            for t in self.chromium.targets.values()
            if self.tabs and t.context == self._id and t not in own
        ]:
            self._close(target)
        self.since = time.monotonic()
        self.effects.dialogs = 0
        self._announced.clear()
        if self.tabs:
            self.chromium.clipboard.hand_to(self)

    def begin(self) -> None:
        """Begins an episode and clears the state of the last one.

        If the last episode reached servers outside of this process, its context is replaced.
        """
        self._episodes += 1
        if self._episodes > 1 and self.proxy.passed:
            self._drop_context()
            self._make_context()
        elif self._episodes > 1:
            self._clear()
        self.start()
        self.proxy.forget()
        self.effects.forget()

    def _clear(self) -> None:
        """Clears everything of the last episode except one tab.

        This covers the tab's history and name, cookies and storage, the clipboard, counts and
        element ids.
        """
        reached, connection = self.proxy.reached, self.chromium.connection
        if reached - {origin_of(self.tab.url)}:
            # A tab keeps the session storage of every origin that it has shown.
            self.open_tab()
        for tab in self.tabs:
            if tab is not self.tab:
                self._close(tab.target)
        self.tabs = [self.tab]
        asked = [connection.send("", "Storage.clearCookies", browserContextId=self._id)]
        asked.append(connection.send("", "Browser.resetPermissions", browserContextId=self._id))
        asked.append(self.tab.send("Network.clearBrowserCache"))
        for origin in sorted(reached):
            asked.append(
                self.tab.send("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
            )
        if self._episodes % COLLECT == 0:
            asked.append(self.tab.send("HeapProfiler.collectGarbage"))
        asked.append(self.tab.send("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0))
        if self.tab not in self._kept.values():
            # Navigating to the same address again would keep the state of the tab's history.
            self.tab.call("Page.navigate", url="about:blank")
            self.tab.evaluate("window.name = ''")
        for number in asked:
            connection.result(number)
        self.chromium.clipboard.empty(self)

    def keep(self, key: str) -> bool:
        """Shows the tab that is kept under a key.

        Args:
            key: name of the tab. At most ``KEPT_TABS`` are kept; the one not shown for longest is
                closed.

        Returns:
            True if the tab existed; False if it is new and its page must still be opened.
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
        if len(self._kept) > KEPT_TABS:
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
        """Lends a tab that the agent does not see."""
        self._lending = True
        try:
            page = self.context.new_page()
            # If the event came later, the tab would count as the agent's.
            self._await_target(target_of(self.context, page)["targetId"])
            page.on("dialog", lambda dialog: dialog.dismiss())  # as WebArena does
            yield page
            page.close()
            self.chromium.connection.wait(0.0)
        finally:
            self._lending = False

    def clipboard_page(self) -> BrowserTab:
        """Returns a page that copies and pastes; the agent does not see it."""
        if self._copier is None:
            self._lending = True
            try:
                page = self.context.new_page()
                target = self._await_target(target_of(self.context, page)["targetId"])
            finally:
                self._lending = False
            self._copier = BrowserTab(self.chromium.connection, target)
            clipboard.prepare(self._copier)
            self.focus(self.tab)  # a hidden page notices the pointer only after a second
        return self._copier

    def focus(self, tab: BrowserTab) -> None:
        """Makes a tab the current one."""
        self.tab = tab
        tab.call("Page.bringToFront")

    def close_tab(self, tab: BrowserTab) -> None:
        """Closes a tab; the last one becomes the current one."""
        self.chromium.connection.call("", "Target.closeTarget", targetId=tab.target.id)
        while tab in self.tabs:
            self.chromium.connection.wait(self.seconds)

    def add_cookies(self, cookies: Sequence[dict[str, Any]]) -> None:
        """Adds cookies, each with ``name``, ``value`` and ``url``."""
        self.chromium.connection.call(
            "", "Storage.setCookies", browserContextId=self._id, cookies=cookies
        )

    def open(self, url: str) -> None:
        """Opens an address in the current tab.

        Raises:
            CommandRefused: the address cannot be opened; the message says why.
        """
        answer = self.tab.call("Page.navigate", url=url)
        # For a server that does not answer, the headless shell shows a page and reports no error.
        trouble = answer.get("errorText") or self.proxy.reason(url)
        if not trouble or answer.get("isDownload"):
            return
        reason = self.proxy.reason(url) or self.effects.reason() or trouble
        self.effects.reported(url)
        raise CommandRefused(f"{url[:200]} cannot be opened: {reason}")

    def screenshot(self) -> bytes:
        """Returns a PNG picture of the part in view."""
        return base64.b64decode(self.tab.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """Closes the tabs; forgets their storage, downloads and clipboard."""
        self._drop_context()
        self.proxy.close()
        shutil.rmtree(self._folder, ignore_errors=True)
