"""The debugging pipe of a browser, shared by Playwright and our connection.

The browser listens on no port.

Playwright starts the browser through ``handover.py``. That program gives Playwright's ends of the
pipe to this process, takes the ends of a new pipe for them, and becomes the browser. Two threads
then carry messages. Playwright's messages go to the browser. The browser's messages go to the side
that attached their session.
"""

import json
import os
import queue
import re
import shlex
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agentgym_envs.processes import temporary_folder

FIRST = 2**30
"""Number of our first command. Playwright counts from 1: the numbers never collide."""
HANDOVER = Path(__file__).with_name("handover.py")
LAST_WORDS = 0.3
"""Seconds in which Playwright reads the error that a browser wrote before it ended."""
_SESSION = re.compile(rb'"sessionId":"(\w+)"\}\Z')  # the browser writes the session last
_CHUNK = 2**18
_END = b"\0"


class PipeClosed(Exception):
    """The pipe is closed."""


class BrowserPipe:
    """One browser's pipe.

    Args:
        executable: the browser's program.

    Attributes:
        program: the path that Playwright starts instead.
    """

    def __init__(self, executable: str):
        self._folder = Path(temporary_folder())  # only this user can enter it
        place = str(self._folder / "socket")
        self.program = str(self._folder / "browser")
        command = shlex.join([sys.executable, "-I", "-S", str(HANDOVER), place, executable])
        Path(self.program).write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        os.chmod(self.program, 0o700)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(place)
        self._listener.listen(1)
        self._received: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._sessions: set[str] = set()
        self._writing = threading.Lock()
        self._to_browser = -1
        threading.Thread(target=self._carry, daemon=True).start()

    def started(self) -> None:
        """Removes the program and the socket, which only a start needs."""
        with suppress(OSError):  # no client has connected
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def send(self, message: bytes) -> None:
        """Writes a message to the browser. Any thread can call this method.

        Raises:
            PipeClosed: the browser does not read any more.
        """
        data = memoryview(message + _END)
        with self._writing:
            try:
                while data:
                    data = data[os.write(self._to_browser, data) :]
            except OSError as error:
                raise PipeClosed(str(error)) from error

    def receive(self, seconds: float | None = None) -> bytes | None:
        """Returns the next message for our sessions, or None after some seconds.

        Raises:
            PipeClosed: the browser writes no more.
        """
        try:
            message = self._received.get(timeout=seconds)
        except queue.Empty:
            return None
        if not message:
            self._received.put(message)  # for the next caller
            raise PipeClosed("the browser closed its pipe")
        return message

    def _carry(self) -> None:
        """Exchanges the pipe's ends and carries messages until one side closes."""
        try:
            commands, events = self._handed_over()
        except OSError:
            self._received.put(b"")
            return
        threading.Thread(target=self._forward, args=(commands,), daemon=True).start()
        began = False
        for message in _messages(self._from_browser):
            began = True
            if self._ours(message):
                self._received.put(message)
            else:
                _write(events, message)
        self._received.put(b"")
        if not began:
            time.sleep(LAST_WORDS)
        os.close(self._from_browser)
        os.close(events)
        with suppress(OSError):  # Playwright has closed its end
            commands.shutdown(socket.SHUT_RDWR)  # both the thread and Playwright wait for this

    def _handed_over(self) -> tuple[socket.socket, int]:
        """Returns the socket of Playwright's commands and the descriptor for its events."""
        there, _ = self._listener.accept()
        with there:
            _, (commands, events), _, _ = socket.recv_fds(there, 1, 2)
            for descriptor in (commands, events):
                os.set_inheritable(descriptor, False)
            (its_commands, self._to_browser), (self._from_browser, its_events) = (
                os.pipe(),
                os.pipe(),
            )
            socket.send_fds(there, [b"x"], [its_commands, its_events])
        os.close(its_commands)
        os.close(its_events)
        return socket.socket(fileno=commands), events

    def _forward(self, commands: socket.socket) -> None:
        """Carries Playwright's commands to the browser. The browser ends with the pipe."""
        with suppress(PipeClosed):
            for message in _messages(commands.fileno()):
                self.send(message)
        commands.close()
        with self._writing:
            os.close(self._to_browser)
            self._to_browser = -1

    def _ours(self, message: bytes) -> bool:
        """Returns whether a message belongs to our sessions; remembers newly opened sessions."""
        tail = _SESSION.search(message, max(0, len(message) - 60))
        if tail is None:
            parsed = json.loads(message)
            ours = bool(parsed.get("id", 0) >= FIRST)
            if ours and "sessionId" in parsed.get("result", ()):
                self._sessions.add(parsed["result"]["sessionId"])
            return ours
        ours = tail[1].decode() in self._sessions
        if ours and b'"Target.attachedToTarget"' in message:
            self._sessions.add(json.loads(message)["params"]["sessionId"])
        return ours


def _messages(descriptor: int) -> Iterator[bytes]:
    """Yields the messages that arrive until the other side closes."""
    pending: list[bytes] = []
    with suppress(OSError):
        while data := os.read(descriptor, _CHUNK):
            *whole, rest = data.split(_END)
            for part in whole:
                yield b"".join([*pending, part])
                pending = []
            pending.append(rest)


def _write(descriptor: int, message: bytes) -> None:
    """Writes a message; does nothing if the reader is closed."""
    data = memoryview(message + _END)
    with suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]
