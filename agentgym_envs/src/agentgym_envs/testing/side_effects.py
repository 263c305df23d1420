"""Records side effects of environments: output, connections, exits and global state."""

import ctypes
import errno
import ipaddress
import logging
import os
import secrets
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any, NoReturn

from agentgym_envs.testing.process_state import shared_state
from agentgym_envs.testing.resources import children, threads

# All processes that an environment starts inherit this environment variable.
_MARK = "AGENTGYM_CHECK"


class SideEffects:
    """The state before the first check, and the changes that the checks have seen.

    Attributes:
        connections: attempted connections to other machines, as "host:port".
        subprocesses: the results of the kit's subprocesses.
        mark: ``NAME=value``, in the environment of each process that was started since.
        files: the names in the working folder at the start.
        processes: the ids of the child processes at the start.
        threads: the threads at the start.
        state: the global state at the start.
    """

    def __init__(self, output: IO[bytes], mark: str):
        self._output, self.mark = output, mark
        self.connections: dict[str, None] = {}
        self.subprocesses: list[Any] = []
        self.files, self.processes, self.threads = set(os.listdir()), set(children()), threads()
        self.state = shared_state()

    def printed(self) -> str:
        """Returns the first 4,000 bytes of all output, including that of C code."""
        _flush()
        return os.pread(self._output.fileno(), 4000, 0).decode("utf-8", "replace")


@contextmanager
def recorded(allowed: str) -> Iterator[SideEffects]:
    """Captures output, and refuses connections to other machines and ``os._exit``.

    Args:
        allowed: a text; connections to hosts that it names are allowed.
    """
    with ExitStack() as stack:
        output = stack.enter_context(_captured())
        mark = secrets.token_hex(8)
        stack.enter_context(_marking(mark))
        stack.enter_context(no_exit())
        evidence = SideEffects(output, f"{_MARK}={mark}")
        stack.enter_context(_offline(evidence.connections, allowed))
        yield evidence


@contextmanager
def no_exit() -> Iterator[None]:
    """Makes ``os._exit`` raise in this process; it would end a check without a message."""
    here, leave = os.getpid(), os._exit

    def refuse(status: int) -> NoReturn:
        if os.getpid() != here:  # a fork can exit
            leave(status)
        raise SystemExit(f"os._exit({status})")

    with _replaced(os, "_exit", refuse):
        yield


@contextmanager
def _captured() -> Iterator[IO[bytes]]:
    """Redirects stdout and stderr to a file, including those of C code; stdin is empty.

    Warnings and logs still reach the user.
    """
    with ExitStack() as stack:
        stack.enter_context(_warnings_kept())
        output = stack.enter_context(tempfile.TemporaryFile())
        nothing = stack.enter_context(open(os.devnull))
        _flush()
        terminal = stack.enter_context(
            os.fdopen(os.dup(2), "w", encoding="utf-8", errors="backslashreplace")
        )
        for number, target in ((0, nothing.fileno()), (1, output.fileno()), (2, output.fileno())):
            stack.callback(_give_back, os.dup(number), number)
            os.dup2(target, number)
        stack.callback(_flush)
        stack.enter_context(_replaced(logging, "lastResort", logging.StreamHandler(terminal)))
        # The descriptors stay open: code that keeps a stream can write to the terminal later.
        options: Any = {"buffering": 1, "errors": "backslashreplace", "closefd": False}
        for name, number in (("stdout", 1), ("stderr", 2)):
            stream = open(number, "w", encoding="utf-8", **options)  # noqa: SIM115
            stack.enter_context(_replaced(sys, name, stream))
        stack.enter_context(_replaced(sys, "stdin", nothing))
        yield output


@contextmanager
def _warnings_kept() -> Iterator[None]:
    """Collects warnings and shows them at the end."""
    kept: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            kept = caught
            yield
    finally:
        for warning in kept:
            warnings.showwarning(
                warning.message,
                warning.category,
                warning.filename,
                warning.lineno,
                warning.file,
                warning.line,
            )


def _give_back(saved: int, number: int) -> None:
    os.dup2(saved, number)
    os.close(saved)


def _flush() -> None:
    """Flushes the buffers of Python and C."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with suppress(AttributeError, OSError, ValueError):  # the stream is None or closed
            stream.flush()  # type: ignore[union-attr]
    ctypes.CDLL(None).fflush(None)


@contextmanager
def _marking(mark: str) -> Iterator[None]:
    outer = os.environ.get(_MARK)
    os.environ[_MARK] = mark
    try:
        yield
    finally:
        os.environ.pop(_MARK, None)
        if outer is not None:
            os.environ[_MARK] = outer


@contextmanager
def _offline(connections: dict[str, None], allowed: str) -> Iterator[None]:
    """Records and refuses connections to other machines, like a machine without a network."""

    def check(host: object, port: object) -> None:
        name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
        if not _is_local(name) and name not in allowed:
            connections[f"{name}:{port}"] = None
            raise OSError(
                errno.ENETUNREACH, f"the conformance kit refuses the connection to {name}"
            )

    def method(name: str) -> Callable[..., Any]:
        original = getattr(socket.socket, name)

        def call(self: socket.socket, *args: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                check(*args[-1][:2])
            return original(self, *args)

        return call

    resolve = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        check(host, port)
        return resolve(host, port, *args, **kwargs)

    with ExitStack() as stack:
        for name in ("connect", "connect_ex", "sendto"):
            stack.enter_context(_replaced(socket.socket, name, method(name)))
        stack.enter_context(_replaced(socket, "getaddrinfo", getaddrinfo))
        yield


def _is_local(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host in ("localhost", socket.gethostname())
    return address.is_loopback or address.is_unspecified


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Replaces an attribute temporarily; an inherited attribute is inherited again later."""
    own, before = name in vars(owner), getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)
