"""Messages over a stream socket: JSON in ASCII, each after its length. Reading one never runs code, whatever it holds."""

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

LENGTH = struct.Struct("!I")
LONGEST = 2**30  # bytes of a message: what claims to be longer is no message


class BadMessage(Exception):
    """Bytes that are no message."""


def pack(message: dict[str, Any], *, default: Callable[[Any], Any] | None = None) -> bytes:
    """Returns a message as bytes. ASCII escapes carry every string, lone surrogates included.

    Args:
        message: JSON-able.
        default: turns other values into such that are.

    Raises:
        TypeError, ValueError, RecursionError: a value has no JSON form, or the message is too long.
    """
    body = json.dumps(message, default=default).encode("ascii")
    if len(body) > LONGEST:
        raise ValueError(f"a message of {len(body)} bytes is longer than {LONGEST}")
    return LENGTH.pack(len(body)) + body


class Inbox:
    """Cuts a stream of bytes into messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Takes the next bytes; yields the messages that are now whole.

        Raises:
            BadMessage: these bytes are none.
        """
        self._bytes += data
        while len(self._bytes) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._bytes)
            if length > LONGEST:
                raise BadMessage(f"a message of {length} bytes")
            end = LENGTH.size + length
            if len(self._bytes) < end:
                break
            body = bytes(self._bytes[LENGTH.size : end])
            del self._bytes[:end]
            yield _parse(body)


def _parse(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadMessage(str(error)) from error
    if not isinstance(message, dict):
        raise BadMessage(f"a {type(message).__name__}")
    return message
