"""The wait after an action: until the page that the agent will see is quiet."""

import time

from agentgym_envs.envs.web.session import BrowserSession
from agentgym_envs.envs.web.tab import LOAD, POLL, BrowserTab
from agentgym_envs.errors import EnvRaised, EnvTimeout

# Seconds without a request after which a document counts as loaded, although it is still open.
REST_SECONDS = 0.5
REST_LOOKS = 10  # minimum of looks in this time: a busy machine can load a document slowly


class QuietWait:
    """One wait.

    Args:
        session: its current tab is waited for.
        passing: milliseconds of the page's clock that pass once the page is quiet.
    """

    def __init__(self, session: BrowserSession, passing: int):
        self._session, self._passing = session, passing
        # The tab that was quiet at the last look.
        self._quiet_tab = None if session.tab.busy(session.since) else session.tab
        self._advanced_tab: BrowserTab | None = None  # the tab whose time has passed
        self._quiet_since, self._quiet_looks = time.monotonic(), 0
        self.text_arrived = False
        """Whether the text of a page has arrived."""

    def look(self) -> bool:
        """Looks at the current tab once, and lets its time pass if that is due.

        Returns:
            Whether the tab is quiet.
        """
        session, tab = self._session, self._session.tab
        due = self._passing if tab is self._quiet_tab and tab is not self._advanced_tab else 0
        state = tab.look(due)
        loading = state == "navigating"
        if due and not loading:
            self._advanced_tab = tab
        busy = (
            tab is not session.tab
            or session.expects_tab()
            or tab.busy(session.since)
            or session.effects.downloading
        )
        self._quiet_looks += 1
        if busy or loading:
            self._quiet_since, self._quiet_looks = time.monotonic(), 0
        self.text_arrived = self.text_arrived or state in ("interactive", "complete")
        rested = (
            self._quiet_looks > REST_LOOKS and time.monotonic() > self._quiet_since + REST_SECONDS
        )
        done = state == "complete" or (not loading and rested)
        self._quiet_tab = tab if done and not busy else None
        return self._quiet_tab is not None and (not self._passing or tab is self._advanced_tab)

    @property
    def loading(self) -> bool:
        """Whether the last look found a page that is loading."""
        return self._quiet_tab is None


def settle(session: BrowserSession, looks: int = 2, *, passing: int = 0) -> None:
    """Waits until everything that the last action began has loaded.

    Args:
        session: its current tab is waited for.
        looks: number of consecutive looks that must find the page quiet.
        passing: milliseconds of the page's clock that pass before the wait ends.

    Raises:
        EnvTimeout: the page's text has not arrived after ``LOAD`` seconds.
        EnvRaised: the server of the pages has failed.
    """
    if session.clock is None:
        time.sleep(passing / 1000)
        passing = 0
    wait, quiet, end = QuietWait(session, passing), 0, time.monotonic() + LOAD
    while quiet < looks and time.monotonic() < end:
        quiet = quiet + 1 if wait.look() else 0
        if wait.loading:
            session.chromium.connection.wait(POLL / 1000)
    if session.proxy.trouble is not None:
        raise EnvRaised.of("a page's server", session.proxy.trouble) from session.proxy.trouble
    if not quiet and not wait.text_arrived:
        raise EnvTimeout(f"{session.tab.url[:200]} did not load within {LOAD:g} s")
