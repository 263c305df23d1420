"""The Chromium of a process: found, started at the first use, shared by the process's environments, started anew once it died."""

import os
import re
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from agentgym_envs.errors import EnvRaised, EnvTimeout, MissingBrowser

SHELLS = ("chromium-headless-shell", "chrome-headless-shell")  # Chromium without the parts for a window: faster
SYSTEM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    # A context has one process, and a page keeps the frame of the one before on the same site: an address opens in half the
    # time. Playwright's own features stay on.
    "--renderer-process-limit=1",
    "--enable-features=RenderDocument:level/crashed-frame,CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy",
)


class Setting(NamedTuple):
    """What a browser is started with: environments that agree on it share one."""

    executable: str | None = None
    headed: bool = False
    hosts: tuple[str, ...] = ()
    """Hosts that its pages may reach; the names of all others lead nowhere, however a page comes to ask for them."""


class Chromium:
    """A running browser and the number of environments that use it."""

    def __init__(self, playwright: Any, setting: Setting):
        self.setting, self.users = setting, 0
        executable = find(setting.executable, playwright.chromium.executable_path, headed=setting.headed)
        rules = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {host}" for host in setting.hosts)])
        args = [*ARGUMENTS, f"--host-resolver-rules={rules}"]
        self.browser = launch(playwright.chromium, executable, args, headed=setting.headed)
        processes = self.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        self.pid = next(int(p["id"]) for p in processes if p["type"] == "browser")

    @property
    def alive(self) -> bool:
        """Says whether it answers."""
        return bool(self.browser.is_connected())

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        """Kills the browser if the block takes longer: nothing else ends a page that never lets go of its thread.

        Raises:
            EnvTimeout: the time was over.
            EnvRaised: the browser has died for another reason, or does not do what it should.
        """
        from playwright.sync_api import Error, TimeoutError

        over = threading.Event()

        def end() -> None:
            over.set()
            os.kill(self.pid, signal.SIGKILL)

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        except Error as error:
            if over.is_set():
                raise EnvTimeout(f"the page did not answer within {seconds:g} s; the browser was ended") from error
            if isinstance(error, TimeoutError):
                raise EnvTimeout(f"the page did not load within {seconds:g} s") from error
            what = "the browser failed" if self.alive else "the browser ended"
            raise EnvRaised(f"{what}: {error.message.splitlines()[0]}") from error
        finally:
            timer.cancel()


class _Process:
    """Playwright and the browsers of this process. Playwright's synchronous interface allows one driver a thread."""

    def __init__(self) -> None:
        self.playwright: Any = None
        self.running: dict[Setting, Chromium] = {}

    def take(self, setting: Setting) -> Chromium:
        """Returns the browser for a setting, for one more user."""
        if self.playwright is None:
            from playwright.sync_api import sync_playwright

            self.playwright = sync_playwright().start()
        try:
            chromium = self.running.get(setting)
            if chromium is None or not chromium.alive:
                chromium = self.running[setting] = Chromium(self.playwright, setting)
        except MissingBrowser:
            self._rest()
            raise
        chromium.users += 1
        return chromium

    def give_back(self, chromium: Chromium) -> None:
        """Ends a browser with its last user, and the driver with the last browser."""
        chromium.users -= 1
        if chromium.users:
            return
        if self.running.get(chromium.setting) is chromium:
            del self.running[chromium.setting]
        chromium.browser.close()
        self._rest()

    def _rest(self) -> None:
        """Ends the driver if no browser runs."""
        if not self.running:
            self.playwright.stop()
            self.playwright = None


process = _Process()


def launch(kind: Any, executable: str, args: list[str], *, headed: bool) -> Any:
    """Starts a browser.

    Raises:
        MissingBrowser: it does not start; says why in a line.
    """
    from playwright.sync_api import Error

    try:
        return kind.launch(executable_path=executable, headless=not headed, args=args)
    except Error as error:
        if "XServer" in error.message:
            what = "a window needs a display, and there is none: leave headed out, or begin the command with xvfb-run"
            raise MissingBrowser(what) from None
        why = _reason(error.message)
        raise MissingBrowser(f"{executable} does not start ({why}): run it by hand, or name another with browser=") from None


def _reason(message: str) -> str:
    """Returns the last that the browser wrote, or else the first that Playwright says."""
    written = re.findall(r"^(?:- )?\[pid=\d+\]\[err\] (.+)$", message, re.M)
    return (written[-1] if written else message.splitlines()[0])[:300]


def own_executable() -> str:
    """Returns where Playwright keeps its own Chromium, whether it is there or not."""
    if process.playwright is not None:
        return str(process.playwright.chromium.executable_path)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return str(playwright.chromium.executable_path)


def find(executable: str | None, own: str, *, headed: bool = False) -> str:
    """Returns the browser to start: the one asked for, Playwright's own, or the system's.

    Raises:
        MissingBrowser: there is none.
    """
    if executable is not None:
        if (path := shutil.which(executable)) is None:
            raise MissingBrowser(f"browser={executable!r} is not a program")
        return path
    if Path(own).exists():
        return own
    for name in SYSTEM if headed else SHELLS + SYSTEM:
        if path := shutil.which(name):
            return path
    raise MissingBrowser("no browser: run `agentgym install web`, or install Chromium or Chrome, or name one with browser=")
