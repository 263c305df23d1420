"""Strangers of ``agentgym serve`` and ``agentgym serve --pool``, for ``serve_soak.py``.

    python benchmarks/strangers.py PORT POOL_PORT TOKEN

Each kind of attack runs again and again over its own connections until the process is ended. The
WebSocket kinds have the token, because nobody else gets that far.
"""

import asyncio
import itertools
import os
import struct
import sys
from collections.abc import Iterable

TEXTCRAFT = "agentgym/TextCraft-v2"
WEBSOCKET = f"/openenv/{TEXTCRAFT}/ws"
CHUNKED = "Transfer-Encoding: chunked\r\n"
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
PIECE = 2**16  # bytes
PAUSE = 0.5  # seconds between two connections
LONGEST = 40.0  # seconds of a connection; the server ends most of them before
NICENESS = 19  # strangers would have other machines


def head(method: str, path: str, more: str = "", token: str = "wrong") -> bytes:
    """Returns the head of a request."""
    rights = f"Authorization: Bearer {token}\r\n"
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{rights}{more}\r\n".encode()


def frame(opcode: int, data: bytes = b"", *, last: bool = True) -> bytes:
    """Returns a short frame of a WebSocket."""
    return bytes([0x80 * last | opcode, 0x80 | len(data)]) + bytes(4) + data


def http_kinds() -> dict[str, tuple[bytes, bytes, float]]:
    """Returns what strangers send to a server: first bytes, later bytes, seconds between these."""
    body = head("POST", "/create", CHUNKED)
    length = head("POST", "/create", "Content-Length: 1000000\r\n")
    return {
        "trailers": (body + b"0\r\n", b"a:b\r\n", 0),
        "one trailer": (body + b"0\r\nX: ", b"a", 0),
        "the size of a chunk": (body + b"2;", b"a", 0),
        "chunks of one byte": (body, b"1\r\nx\r\n", 0),
        "headers": (body[:-2], b"a:\r\n", 0),
        "empty lines": (b"", b"\r\n", 0),
        "short requests": (b"", b"GET / HTTP/1.1\r\n\r\n", 0),
        "requests with a wrong token": (b"", head("GET", "/"), 0),
        "upgrades": (b"", head("GET", WEBSOCKET, UPGRADE), 0),
        "a huge body": (length, b"x", 0),
        "permission to send": (head("POST", "/create", "Expect: 100-continue\r\n"), b"", 1),
        "a slow head": (b"GET / HTTP/1.1\r\nX: ", b"a", 1),
        "a slow body": (length, b"x", 1),
        "silence": (b"", b"", 1),
    }


def websocket_kinds(token: str) -> dict[str, tuple[bytes, bytes, float]]:
    """Returns the first bytes of WebSockets, their frames, and the seconds between these."""
    opening = head("GET", WEBSOCKET, UPGRADE, token)
    start = frame(1, last=False)
    return {
        "empty continuations": (opening, start + frame(0, last=False) * 10_000, 0),
        "parts of one byte": (opening, start + frame(0, b"x", last=False) * 10_000, 0),
        "pings": (opening, frame(9, b"x" * 125), 0),
        "messages": (opening, frame(1, b"{}"), 0),
    }


def pool_kinds() -> dict[str, tuple[bytes, bytes, float]]:
    """Returns what strangers send to a host."""
    wrong = b'{"protocol": 1, "version": "0", "token": "wrong"}'
    return {
        "no greeting": (b"", b"", 1),
        "half a greeting": (struct.pack("!I", 4000), b"x", 1),
        "a huge greeting": (struct.pack("!I", 2**30), b"x", 0),
        "a wrong token": (struct.pack("!I", len(wrong)) + wrong, b"", 1),
    }


async def attack(port: int, first: bytes, later: bytes, pause: float, *, reads: bool) -> None:
    """Opens connections for ever, one after another."""
    piece = later if pause else later * max(1, PIECE // len(later))
    for number in itertools.count():
        try:
            async with asyncio.timeout(LONGEST):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    writer.write(first)
                    if reads:
                        await reader.readuntil(b"\r\n\r\n")
                    reader._transport.pause_reading()  # type: ignore[attr-defined]
                    if number % 4 == 3:
                        writer.write_eof()
                    while not writer.transport.is_closing():
                        if piece and number % 4 != 3:
                            writer.write(piece)
                            await writer.drain()
                        await asyncio.sleep(pause)
                finally:
                    writer.transport.abort()
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
        await asyncio.sleep(PAUSE)


async def run(port: int, pool_port: int, token: str) -> None:
    """Attacks both ports with all kinds at once; hosts get many connections without a greeting."""
    kinds: Iterable[tuple[int, tuple[bytes, bytes, float], bool]] = [
        *((port, kind, False) for kind in http_kinds().values()),
        *((port, kind, True) for kind in websocket_kinds(token).values()),
        *((pool_port, kind, False) for kind in [*pool_kinds().values()] * 100),
    ]
    async with asyncio.TaskGroup() as group:
        for where, kind, reads in kinds:
            group.create_task(attack(where, *kind, reads=reads))


if __name__ == "__main__":
    os.nice(NICENESS)
    asyncio.run(run(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
