"""A browser context: separate storage and tabs, and the proxy as the only network access."""

from datetime import datetime, timedelta
from typing import Any

from agentgym_envs.envs.web.tab import VIEWPORT, script


def new_context(
    browser: Any, proxy: str, *, seconds: float, clock: datetime | None, state: Any
) -> Any:
    """Returns a new context of Playwright.

    Args:
        browser: Playwright's browser.
        proxy: address of the proxy.
        seconds: that a call of Playwright may take.
        clock: the time at which the clock of the pages stands still; None: it is the world's.
        state: cookies and storage to begin with, in Playwright's form.
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
        context.clock.install(
            time=clock - timedelta(hours=1)
        )  # it can only be stopped at a time to come
        context.clock.pause_at(clock)
    context.on("dialog", lambda dialog: None)  # Playwright leaves them to us
    return context


def target_of(context: Any, page: Any) -> dict[str, Any]:
    """Returns the browser's description of a page: ``targetId``, ``browserContextId`` and more."""
    devtools = context.new_cdp_session(page)
    info: dict[str, Any] = devtools.send("Target.getTargetInfo")["targetInfo"]
    devtools.detach()
    return info
