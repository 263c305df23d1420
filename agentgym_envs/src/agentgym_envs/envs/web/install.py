"""Installs a browser for the web environments.

An existing browser comes first, then Playwright's download, then, for root, the system's packages.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from agentgym_envs.envs.web.chromium import BrowserOptions, find, own_executable, process
from agentgym_envs.errors import MissingBrowser, MissingExtra

SYSTEM = {
    # The first package is faster, the second exists everywhere.
    "apt-get": (
        "sudo apt-get install --yes chromium-headless-shell || sudo apt-get install --yes chromium"
    ),
    "dnf": "sudo dnf install --assumeyes chromium",
    "pacman": "sudo pacman -S --noconfirm chromium",
    "zypper": "sudo zypper install --no-confirm chromium",
    "brew": "brew install --cask chromium",
    "winget": "winget install Google.Chrome",
}
"""The command that installs a browser, by package manager."""

PLAYWRIGHT = (sys.executable, "-m", "playwright")
APT = ("apt-get", "install", "--yes", "--no-install-recommends")


def install_browser(run: Callable[[list[str]], int] = subprocess.call) -> str:
    """Installs a browser unless a working one is present; returns its path.

    The first source is Playwright's download. The other sources, for root only, are packages of
    the system.

    Raises:
        MissingBrowser: no browser starts; the message names the command that installs the system's
            browser.
        MissingExtra: Playwright is not installed.
    """
    if find_spec("playwright") is None:
        raise MissingExtra("a browser", "web")
    own = own_executable()
    for commands in _sources(own):
        for command in commands:
            run(command)
        try:
            return usable(own)
        except MissingBrowser as error:
            reason = str(error)
    if Path(own).exists():
        raise MissingBrowser(f"Playwright's browser does not start: {reason}")
    line = next(
        (line for tool, line in SYSTEM.items() if shutil.which(tool)),
        "install Chromium or Chrome by hand",
    )
    raise MissingBrowser(f"Playwright could not download its browser. Use the system's: {line}")


def usable(own: str) -> str:
    """Starts and ends the default browser of the environments; returns its path.

    Raises:
        MissingBrowser: no browser is present, or it does not start.
    """
    path = find(None, own)
    process.give_back(process.take(BrowserOptions(path)))
    return path


def _sources(own: str) -> Iterator[list[list[str]]]:
    """Yields the commands of one source after another; the first source is this machine."""
    yield []
    yield [[*PLAYWRIGHT, "install", "chromium"]]
    if getattr(os, "geteuid", lambda: 1)() != 0:
        return
    if Path(own).exists():
        yield [[*PLAYWRIGHT, "install-deps", "chromium"]]
    elif shutil.which("apt-get"):
        yield [["apt-get", "update"], [*APT, "chromium-headless-shell"]]
        yield [[*APT, "chromium"]]
