"""The clipboard of the browser, shared by its environments, with a separate text for each."""

import json
from contextlib import suppress
from typing import Any, Protocol

from agentgym_envs.envs.web.connection import CommandRefused
from agentgym_envs.envs.web.tab import BrowserTab

PAGE = """
const area = document.body.appendChild(document.createElement('textarea'));
area.focus();
document.oncopy = event => {
  event.preventDefault();
  event.clipboardData.setData('text/plain', held);
};
document.onpaste = event => {
  event.preventDefault();
  held = event.clipboardData.getData('text/plain');
};
var held = '';
"""


class ClipboardOwner(Protocol):
    """An environment's part of the browser."""

    clipboard: str

    def clipboard_page(self) -> BrowserTab:
        """Returns a page that copies and pastes for the owner."""


class SharedClipboard:
    """Keeps the texts of all owners apart.

    The browser holds the text of the acting owner; the texts of the others are stored here.

    Args:
        desktop: the browser uses the clipboard of the desktop, which must not change.
    """

    def __init__(self, *, desktop: bool):
        self._owner: ClipboardOwner | None = None
        self._used, self._desktop = False, desktop

    def hand_to(self, owner: ClipboardOwner) -> None:
        """Gives the clipboard to the owner that is about to act."""
        before, self._owner = self._owner, owner
        if before is owner or self._desktop:
            return
        if before is not None:
            with suppress(CommandRefused):  # its pages have crashed, and the episode ends
                before.clipboard = read(before.clipboard_page())
        if self._used:
            write(owner.clipboard_page(), owner.clipboard)
        self._used = True

    def empty(self, owner: ClipboardOwner) -> None:
        """Forgets the text of an owner."""
        owner.clipboard = ""
        if self._owner is owner and not self._desktop:
            write(owner.clipboard_page(), "")

    def leave(self, owner: ClipboardOwner) -> None:
        """Forgets an owner that closes. The next owner overwrites its text."""
        if self._owner is owner:
            self._owner = None


def prepare(tab: BrowserTab) -> None:
    """Prepares an empty page for copying and pasting."""
    tab.call("Emulation.setFocusEmulationEnabled", enabled=True)
    tab.evaluate(PAGE)


def read(tab: BrowserTab) -> str:
    """Returns the text of the clipboard."""
    tab.evaluate("held = ''")
    _command(tab, "paste")
    return str(tab.evaluate("held"))


def write(tab: BrowserTab, text: str) -> None:
    """Replaces the contents of the clipboard by a text, which can be empty."""
    tab.evaluate(f"held = {json.dumps(text)}; 0")
    _command(tab, "copy")


def _command(tab: BrowserTab, name: str) -> Any:
    return tab.call(
        "Input.dispatchKeyEvent", type="rawKeyDown", key="Unidentified", commands=[name]
    )
