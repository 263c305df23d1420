"""A browser context: separate storage and tabs, and the proxy as the only network access."""

import time
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from agentgym_envs.envs.web.tab import POLL, VIEWPORT, script


def new_context(
    browser: Any, proxy: str, *, seconds: float, clock: datetime | None, state: Any
) -> Any:
    """Returns a new context of Playwright.

    Args:
        browser: Playwright's browser.
        proxy: address of the proxy.
        seconds: time limit of a Playwright call.
        clock: the fixed time of the pages' clock; None: the real time.
        state: cookies and storage at the start, in Playwright's form.
    """
    context = browser.new_context(
        viewport=VIEWPORT,
        accept_downloads=True,
        service_workers="block",
        locale="en-US",
        timezone_id="UTC",
        storage_state=state,
        proxy={"server": proxy, "bypass": "<-loopback>"},
    )
    context.set_default_timeout(1000 * seconds)
    context.add_init_script(script("closed.js"))
    if clock is not None:
        # The clock can only be stopped at a time that is still to come.
        context.clock.install(time=clock - timedelta(hours=1))
        context.clock.pause_at(clock)
    context.on("dialog", lambda dialog: None)  # Playwright leaves dialogs to the session
    return context


def target_of(context: Any, page: Any) -> dict[str, Any]:
    """Returns the browser's description of a page: ``targetId``, ``browserContextId`` and more."""
    devtools = context.new_cdp_session(page)
    info: dict[str, Any] = devtools.send("Target.getTargetInfo")["targetInfo"]
    devtools.detach()
    return info


class PlaywrightPages:
    """Finds Playwright's page of a target.

    Playwright learns of new, moved and closed pages only while it waits for an answer.

    Args:
        context: Playwright's context.
    """

    def __init__(self, context: Any):
        self._context = context
        self._pages: dict[str, Any] = {}  # by the target's id

    def find(self, target: str) -> Any:
        """Returns the page of a target; its ``url`` is up to date."""
        from playwright.sync_api import Error

        while target not in self._pages:
            self._read()
            if target not in self._pages:  # Playwright has not noticed the page yet
                time.sleep(POLL / 1000)
                # Playwright reads events during any request; the first page may not exist yet.
                self._context.cookies()
        page = self._pages[target]
        # Without a request, Playwright would name the address of an earlier moment.
        for _ in range(2):
            with suppress(Error):  # the page that was asked has just gone
                page.evaluate("0")
                return page
        page.evaluate("0")
        return page

    def _read(self) -> None:
        """Updates the list of pages."""
        from playwright.sync_api import Error

        self._pages.clear()
        for page in self._context.pages:
            with suppress(Error):  # the page is closed, and Playwright has not noticed it yet
                self._pages[target_of(self._context, page)["targetId"]] = page
