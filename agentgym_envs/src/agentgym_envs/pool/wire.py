"""Messages over a stream socket: a length, then JSON in ASCII.

Reading a message never runs code.
"""

import ast
import json
import re
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

LENGTH = struct.Struct("!I")
LONGEST = 2**30  # bytes; a longer message is an error
NUMBER = re.compile(rb'\{"id": (\d{1,19})(?=[,}])')  # the beginning of a numbered message


class BadMessage(Exception):
    """Bytes that are not a valid message."""


def pack(message: dict[str, Any], *, default: Callable[[Any], Any] | None = None) -> bytes:
    """Returns a message as bytes. ASCII escapes can hold every string, including lone surrogates.

    Args:
        message: a JSON-able dictionary.
        default: converts other values to JSON-able ones.

    Raises:
        TypeError, ValueError, RecursionError: a value has no JSON form, or the message is too long.
    """
    return framed(json.dumps(message, default=default).encode("ascii"))


def literal(value: Any) -> str:
    """Returns a value as a Python literal, which ``ast.literal_eval`` reads; it keeps tuples.

    Raises:
        TypeError: the value is or holds an object without a literal.
    """
    text = repr(value)
    try:
        same = bool(ast.literal_eval(text) == value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        same = False
    if not same:
        raise TypeError(
            f"{type(value).__name__} cannot leave the environment's process: only texts, numbers,"
            " tuples, lists, sets and dictionaries can"
        )
    return text


def framed(body: bytes) -> bytes:
    """Returns the JSON of a message with its length.

    Raises:
        ValueError: the message is too long.
    """
    if len(body) > LONGEST:
        raise ValueError(f"a message of {len(body)} bytes is longer than {LONGEST}")
    return LENGTH.pack(len(body)) + body


def parse(body: bytes) -> dict[str, Any]:
    """Returns the message in a JSON text.

    Raises:
        BadMessage: it is no JSON object.
    """
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadMessage(str(error)) from error
    if not isinstance(message, dict):
        raise BadMessage(f"a {type(message).__name__}")
    return message


def split_number(body: bytes) -> tuple[int, bytes]:
    """Returns the number of a message, and the JSON text after it.

    Raises:
        BadMessage: the message does not begin with its number, as those of :func:`pack` do.
    """
    if (match := NUMBER.match(body)) is None:
        raise BadMessage("a message without a number")
    return int(match[1]), body[match.end() :]


def numbered(number: int, rest: bytes) -> bytes:
    """Returns a packed message with a number, and the JSON text after it."""
    return framed(b'{"id": %d%b' % (number, rest))


class _IncomingBytes(NamedTuple):
    chunks: deque[bytes]
    start: int
    """Bytes of the first chunk that have been taken."""
    taken: int
    """Number of the last message that was taken."""


class MessageInbox:
    """Splits a stream of bytes into messages.

    A signal handler, such as that of Ctrl-C, can raise between any two instructions. No byte is
    lost or read twice: one C call moves bytes from the socket into ``chunks``, and one assignment
    takes a message.

    Args:
        longest: bytes of the longest message that is accepted; None: ``LONGEST``.
    """

    def __init__(self, longest: int | None = None) -> None:
        self.longest = longest
        self._stream = _IncomingBytes(deque(), 0, 0)

    @property
    def taken(self) -> int:
        """The number of the last message that was taken; 0 before the first."""
        return self._stream.taken

    def read(self, connection: socket.socket, size: int) -> bool:
        """Reads at most ``size`` bytes; returns False at the end of the stream.

        Raises:
            OSError: the socket is broken.
            BlockingIOError: no bytes are available now.
        """
        chunks = self._stream.chunks
        chunks.extend(map(connection.recv, (size,)))  # no bytecode between recv and append
        return bool(chunks[-1])

    def first(self) -> dict[str, Any] | None:
        """Returns the first message, or None if it is incomplete. It stays until :meth:`take`.

        Raises:
            BadMessage: the bytes are not a message.
        """
        body = self.first_body()
        return None if body is None else parse(body)

    def first_body(self) -> bytes | None:
        """Returns the JSON text of the first message, as :meth:`first` does.

        Raises:
            BadMessage: the message is too long.
        """
        head = self._peek(LENGTH.size)
        if head is None:
            return None
        (length,) = LENGTH.unpack(head)
        if length > (LONGEST if self.longest is None else self.longest):
            raise BadMessage(f"a message of {length} bytes")
        whole = self._peek(LENGTH.size + length)
        return None if whole is None else whole[LENGTH.size :]

    def take(self, number: int = 0) -> None:
        """Removes the message that :meth:`first` returned, and sets :attr:`taken` to ``number``."""
        chunks, start, _ = self._stream
        end = start + LENGTH.size + LENGTH.unpack_from(chunks[0], start)[0]
        if end == len(chunks[0]):
            chunks, end = deque(islice(chunks, 1, None)), 0
        self._stream = _IncomingBytes(chunks, end, number)

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Adds bytes; yields the messages that are now complete.

        Raises:
            BadMessage: the bytes are not a message.
        """
        return map(parse, self.bodies(data))

    def bodies(self, data: bytes) -> Iterator[bytes]:
        """Adds bytes; yields the JSON texts of the messages that are now complete.

        Raises:
            BadMessage: a message is too long.
        """
        self._stream.chunks.append(data)
        while (body := self.first_body()) is not None:
            self.take()
            yield body

    def _peek(self, size: int) -> bytes | None:
        """Returns the next ``size`` bytes, or None if fewer have arrived."""
        chunks, start, taken = self._stream
        if sum(map(len, chunks)) < start + size:
            return None
        if len(chunks[0]) < start + size:
            chunks, start = deque([b"".join(chunks)[start:]]), 0
            self._stream = _IncomingBytes(chunks, start, taken)
        return chunks[0][start : start + size]
