"""The Chromium of a process.

It is found, started at the first use, shared by the environments of the process, and started again
after a crash.
"""

import os
import re
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from agentgym_envs.envs.web.clipboard import SharedClipboard
from agentgym_envs.envs.web.connection import (
    CommandRefused,
    ConnectionEnded,
    DevToolsConnection,
    PageTarget,
)
from agentgym_envs.envs.web.pipe import BrowserPipe
from agentgym_envs.errors import EnvRaised, EnvTimeout, MissingBrowser
from agentgym_envs.processes import temporary_folder
from agentgym_envs.randomness import undisturbed

# Chromium without the parts for a window is faster.
SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
SYSTEM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Features that are switched off. The list replaces Playwright's own list and adds requests about
# the fields of a page.
SILENT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "AutofillServerCommunication",
)
GRACE = 3.0  # time limit in seconds for closing a context
WATCH = 0.2  # seconds between two looks at the clock
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    # Pages ask the proxy: see proxy.py.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # A context has one process, and a page keeps the frame of the page before on the same site: an
    # address opens in half the time. Playwright's own features stay on.
    "--renderer-process-limit=1",
    "--enable-features=RenderDocument:level/crashed-frame,CDPScreenshotNewSurface,"
    "SkipListAccountsWithoutGaiaCookies",
    f"--disable-features={','.join(SILENT)}",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy",
)


UNPACED = "--disable-frame-rate-limit"


class BrowserOptions(NamedTuple):
    """The start options of a browser: environments with the same options share one.

    Attributes:
        executable: path or name of the program; None: the first that is found.
        headed: show the window.
        paced: draw at most sixty frames a second. Without a limit, pointers and keys do not wait
            for a frame. But pages that load or move then draw frames continuously, without any use.
    """

    executable: str | None = None
    headed: bool = False
    paced: bool = True


class TabWatcher(Protocol):
    """The owner of a context's tabs."""

    def opened(self, target: PageTarget) -> None:
        """Handles a new page."""

    def closed(self, session: str) -> None:
        """Handles the end of a page."""

    def heard(self, session: str, event: str, params: dict[str, Any]) -> None:
        """Handles an event of a page."""


class SharedBrowser:
    """A running browser and the number of environments that use it.

    Playwright starts and owns the browser. The operations of every step use our own connection.

    Attributes:
        browser: Playwright's browser.
        connection: connection to all pages of the browser.
        targets: the browser's pages, by the session for commands to them.
        watchers: receivers of events, by context.
        clipboard: the browser's clipboard.
    """

    def __init__(self, playwright: Any, setting: BrowserOptions):
        self.setting, self.users = setting, 0
        executable = find(
            setting.executable, playwright.chromium.executable_path, headed=setting.headed
        )
        self._end, self._overdue, self._context = float("inf"), False, ""
        self.clipboard = SharedClipboard(desktop=setting.headed)
        self.targets: dict[str, PageTarget] = {}
        self.watchers: dict[str, TabWatcher] = {}
        # A browser that is killed leaves files in its temporary folder.
        self._temporary = temporary_folder()
        try:
            self.browser, pipe = launch(
                playwright.chromium, executable, setting, temporary=self._temporary
            )
            try:
                self._connect(pipe)
            except BaseException:
                self.browser.close()
                raise
        except BaseException:
            self._remove_files()
            raise

    def _connect(self, pipe: BrowserPipe) -> None:
        self.connection = DevToolsConnection(pipe, self._heard)
        processes = self.connection.call("", "SystemInfo.getProcessInfo")["processInfo"]
        self.pid = next(int(p["id"]) for p in processes if p["type"] == "browser")
        place = Path(f"/proc/{self.pid}")
        self.user = place.stat().st_uid if place.exists() else os.getuid()
        self.connection.call(
            "", "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True
        )
        threading.Thread(target=self._watch, daemon=True).start()

    def _heard(self, session: str, event: str, params: dict[str, Any]) -> None:
        if event == "Target.attachedToTarget" and params["targetInfo"]["type"] == "page":
            info = params["targetInfo"]
            target = PageTarget(
                info["targetId"],
                info["browserContextId"],
                params["sessionId"],
                info["canAccessOpener"],
            )
            self.targets[target.session] = target
            if target.context in self.watchers:
                self.watchers[target.context].opened(target)
        elif event == "Target.detachedFromTarget":
            gone = self.targets.pop(params["sessionId"], None)
            if gone is not None and gone.context in self.watchers:
                self.watchers[gone.context].closed(gone.session)
        elif session in self.targets and self.targets[session].context in self.watchers:
            self.watchers[self.targets[session].context].heard(session, event, params)

    def close(self) -> None:
        """Ends the browser; removes its temporary files."""
        self.connection.close()
        self.browser.close()
        self._remove_files()

    def _remove_files(self) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    @property
    def alive(self) -> bool:
        """Whether the browser answers."""
        return bool(self.browser.is_connected()) and self.connection.open

    @contextmanager
    def deadline(self, seconds: float, context: str = "") -> Iterator[None]:
        """Limits the time of a block; closes a context when the time is over.

        Nothing else ends a page that never releases its thread. The browser is ended if there is no
        context, or if the block takes ``GRACE`` seconds longer.

        Args:
            seconds: time limit.
            context: id of the context; "" to end the browser instead.

        Raises:
            EnvTimeout: the time is over.
            EnvRaised: the browser crashed for another reason, or refused a command.
        """
        from playwright.sync_api import Error, TimeoutError

        self._context, self._end, self._overdue = context, time.monotonic() + seconds, False
        try:
            yield
        except (Error, CommandRefused, ConnectionEnded) as error:
            if self._overdue:
                ended = "its tabs were closed" if self.alive else "the browser was ended"
                raise EnvTimeout(
                    f"the page did not answer within {seconds:g} s; {ended}"
                ) from error
            if isinstance(error, TimeoutError):
                raise EnvTimeout(f"the page did not load within {seconds:g} s") from error
            what = "the browser failed" if self.alive else "the browser ended"
            raise EnvRaised(f"{what}: {next(iter(str(error).splitlines()), '')}") from error
        finally:
            self._end = float("inf")

    def _watch(self) -> None:
        while self.connection.open:
            time.sleep(WATCH)
            if time.monotonic() < self._end:
                continue
            if self._context and not self._overdue:
                self._overdue, self._end = True, time.monotonic() + GRACE
                self.connection.dispose(self._context)
            else:
                self._overdue = True
                os.kill(self.pid, signal.SIGKILL)
                return


class _Process:
    """Playwright and the browsers of this process.

    Playwright's synchronous interface allows one driver per thread.
    """

    def __init__(self) -> None:
        self.playwright: Any = None
        self.running: dict[BrowserOptions, SharedBrowser] = {}

    def take(self, setting: BrowserOptions) -> SharedBrowser:
        """Returns the browser for a setting, for one more user."""
        if self.playwright is None:
            from playwright.sync_api import sync_playwright

            with undisturbed():
                self.playwright = sync_playwright().start()
        try:
            chromium = self.running.get(setting)
            if chromium is None or not chromium.alive:
                chromium = self.running[setting] = SharedBrowser(self.playwright, setting)
        # A remaining driver would block every other event loop of this thread.
        except BaseException:
            self._rest()
            raise
        chromium.users += 1
        return chromium

    def give_back(self, chromium: SharedBrowser) -> None:
        """Ends a browser with its last user, and the driver with the last browser."""
        chromium.users -= 1
        if chromium.users:
            return
        if self.running.get(chromium.setting) is chromium:
            del self.running[chromium.setting]
        chromium.close()
        self._rest()

    def _rest(self) -> None:
        """Ends the driver if no browser runs."""
        if not self.running:
            self.playwright.stop()
            self.playwright = None


process = _Process()


def launch(
    kind: Any, executable: str, setting: BrowserOptions, *, temporary: str
) -> tuple[Any, BrowserPipe]:
    """Starts a browser, in its sandbox unless the user is root.

    If the kernel allows no sandbox, the browser runs without one, and a warning says so.

    Args:
        kind: Playwright's type of browser.
        executable: the browser's program.
        setting: the start options.
        temporary: folder for the browser's temporary files.

    Returns:
        Playwright's browser and our side of its pipe.

    Raises:
        MissingBrowser: the browser does not start; the message gives the reason in one line.
    """
    from playwright.sync_api import Error

    for sandbox in (True, False) if os.geteuid() else (False,):
        pipe = BrowserPipe(executable)
        arguments = [*ARGUMENTS, *[UNPACED] * (not setting.paced)]
        try:
            browser = kind.launch(
                executable_path=pipe.program,
                headless=not setting.headed,
                args=arguments,
                chromium_sandbox=sandbox,
                env={**os.environ, "TMPDIR": temporary},
            )
        except Error as error:
            message = error.message
        else:
            return browser, pipe
        finally:
            pipe.started()
        if not sandbox or "sandbox" not in _reason(message):
            break
        warnings.warn(
            f"{executable} runs without its sandbox: {_reason(message)}",
            RuntimeWarning,
            stacklevel=2,
        )
    if "XServer" in message:
        what = (
            "a window needs a display, and there is none: leave headed out, or begin the command"
            " with xvfb-run"
        )
        raise MissingBrowser(what)
    why = _reason(message)
    raise MissingBrowser(
        f"{executable} does not start ({why}): run it by hand, or name another with browser="
    )


def _reason(message: str) -> str:
    """Returns the browser's last line, or else the first line of Playwright's message."""
    written = re.findall(r"^\s*(?:- )?\[pid=\d+\]\[err\] (.+)$", message, re.M)
    return (written[-1] if written else message.splitlines()[0])[:300]


def own_executable() -> str:
    """Returns the path of Playwright's own Chromium, installed or not."""
    if process.playwright is not None:
        return str(process.playwright.chromium.executable_path)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return str(playwright.chromium.executable_path)


def find(executable: str | None, own: str, *, headed: bool = False) -> str:
    """Returns the browser to start: the requested one, Playwright's own, or the system's.

    Raises:
        MissingBrowser: no browser was found.
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
    raise MissingBrowser(
        "no browser: run `agentgym install web`, or install Chromium or Chrome, or name one with"
        " browser="
    )
