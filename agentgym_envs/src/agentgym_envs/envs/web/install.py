"""A browser for the web environments: Playwright's own if its installer works here, or how to get the system's."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec

from agentgym_envs.envs.web.chromium import find, own_executable
from agentgym_envs.errors import MissingBrowser, MissingExtra

SYSTEM = {
    "apt-get": "sudo apt-get install --yes chromium-headless-shell || sudo apt-get install --yes chromium",  # faster || everywhere
    "dnf": "sudo dnf install --assumeyes chromium",
    "pacman": "sudo pacman -S --noconfirm chromium",
    "zypper": "sudo zypper install --no-confirm chromium",
    "brew": "brew install --cask chromium",
    "winget": "winget install Google.Chrome",
}
"""The command that installs a browser with a package manager."""


def install_browser(run: Callable[[list[str]], int] = subprocess.call) -> str:
    """Installs Playwright's Chromium unless there is a browser already; returns the program's path.

    Raises:
        MissingBrowser: that did not work; says which command installs the system's browser.
        MissingExtra: Playwright is not installed.
    """
    if find_spec("playwright") is None:
        raise MissingExtra("a browser", "web")
    own = own_executable()
    try:
        return find(None, own)
    except MissingBrowser:
        if run([sys.executable, "-m", "playwright", "install", "chromium"]) == 0:
            return find(None, own)
    command = next((line for tool, line in SYSTEM.items() if shutil.which(tool)), "install Chromium or Chrome by hand")
    raise MissingBrowser(f"Playwright could not download its browser. Use the system's: {command}")
