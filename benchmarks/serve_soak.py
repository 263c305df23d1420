"""``agentgym serve`` over a long time, beside bad clients, and after 20,000 lost sessions.

    python benchmarks/serve_soak.py

First, 20,000 sessions are opened and dropped: closed, left to expire, or over a WebSocket that ends
without a word. Then ``--sessions`` sessions of TextCraft play for ``--minutes``, half over HTTP and
half over WebSockets. Beside them, clients send one byte per second, huge bodies and garbage, and
close their side of a connection within a request. Descriptors, processes, threads and sessions
must return to their first numbers; otherwise the exit status is 1. Writes
``benchmarks/results/serve_soak.md``.
"""

import asyncio
import itertools
import json
import os
import re
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

import psutil
import typer
from serve_load import TEXTCRAFT, Client, memory, serving
from websockets.asyncio.client import connect

IDLE = 10  # seconds after which the server ends a session without requests
SETTLE = 60  # seconds in which a server must have freed everything
AT_ONCE = 32  # clients that open and drop sessions
SLOW = 16  # clients that send one byte per second
EPISODE = 50  # steps between two resets
STEP, RESET = {"action": "inventory"}, {"seed": 0}


class Held(NamedTuple):
    """The resources that a server uses."""

    sessions: int
    files: int
    """Open file descriptors of the server and its workers."""
    processes: int
    threads: int
    memory: float
    """MiB."""

    def row(self, name: str) -> str:
        """Returns a table row."""
        return f"| {name} | {' | '.join(map(str, self[:4]))} | {self.memory:.0f} |"


class Server(NamedTuple):
    """A running server."""

    port: int
    process: psutil.Process

    async def held(self) -> Held:
        """Returns what the server holds now."""
        address = f"http://127.0.0.1:{self.port}/metrics"
        text = await asyncio.to_thread(lambda: urllib.request.urlopen(address).read().decode())
        found = re.search(r"^agentgym_sessions\{.*\} (\d+)", text, re.MULTILINE)
        assert found
        all_ = (self.process, *self.process.children(recursive=True))
        return Held(
            int(found[1]),
            sum(one.num_fds() for one in all_),
            len(all_),
            sum(one.num_threads() for one in all_),
            memory(self.process),
        )

    async def settled(self, first: Held | None = None) -> Held:
        """Waits until no session is open and, if ``first`` is given, nothing more is held."""
        for _ in range(SETTLE):
            held = await self.held()
            if not held.sessions and (first is None or not leaks(first, held)):
                break
            await asyncio.sleep(1)
        return held

    async def send(self, *parts: bytes, pause: float = 0.0, half_close: bool = False) -> bytes:
        """Sends bytes over a new connection; returns the beginning of the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            async with asyncio.timeout(60):
                for part in parts:
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(pause)
                if half_close:
                    writer.write_eof()
                return await reader.read(1000)
        except (OSError, TimeoutError):
            return b""
        finally:
            writer.transport.abort()

    def websocket(self) -> Any:
        """Returns a connection to open."""
        address = f"ws://127.0.0.1:{self.port}/openenv/{TEXTCRAFT}/ws"
        return connect(address, compression=None, ping_interval=None)


def leaks(first: Held, last: Held) -> list[str]:
    """Returns the names of the numbers that have grown; memory is not one of them."""
    return [name for name in Held._fields[:4] if getattr(last, name) > getattr(first, name)]


async def talk(socket: Any, kind: str, data: dict[str, Any]) -> None:
    """Sends a message of OpenEnv and checks the answer."""
    await socket.send(json.dumps({"type": kind, "data": data}))
    answer = await socket.recv()
    assert '"observation"' in answer, answer


async def open_and_drop(server: Server, number: int) -> None:
    """Opens a session, plays one step, and leaves it in one of three ways."""
    if number % 3 == 0:
        socket = await server.websocket()
        await talk(socket, "reset", RESET)
        await talk(socket, "step", STEP)
        socket.transport.abort()
        return
    client = Client(server.port, stay=number % 2 == 0)
    made = await client.ask("/create", {})
    await client.ask("/step", {"id": made["id"], **STEP})
    if number % 3 == 1:
        await client.ask("/close", {"id": made["id"]})
    client.close()


async def drop_sessions(server: Server, count: int, limit: int) -> None:
    """Opens and drops sessions; waits for sessions to expire where all are taken."""
    numbers = iter(range(count))

    async def drop() -> None:
        for number in numbers:
            while number % 20 == 0 and (await server.held()).sessions > limit - 20 * AT_ONCE:
                await asyncio.sleep(1)
            await open_and_drop(server, number)

    await asyncio.gather(*(drop() for _ in range(AT_ONCE)))


async def be_bad(server: Server) -> None:
    """Sends bad requests for ever."""
    head = b"POST /create HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
    huge = head % 2**24
    kinds: list[Callable[[], Awaitable[bytes]]] = [
        lambda: server.send(huge, *[b"x" * 2**16] * 256),
        lambda: server.send(head % 100, b"{", half_close=True),
        lambda: server.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", half_close=True),
        lambda: server.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
        lambda: server.send(head % 20, b"{}", b"not JSON"),
    ]

    async def slowly() -> None:
        while True:
            await server.send(b"GET / HTTP/1.1\r\nX: ", *[b"a"] * 60, pause=1.0)

    async def each() -> None:
        for kind in itertools.cycle(kinds):
            await kind()
            await asyncio.sleep(0.2)

    async with asyncio.TaskGroup() as group:
        for _ in range(SLOW):
            group.create_task(slowly())
        group.create_task(each())


async def play_http(server: Server, took: list[float]) -> None:
    """Plays one session over a connection that stays; appends the seconds of each request."""
    client = Client(server.port, stay=True)
    made = await client.ask("/create", {})
    try:
        for number in itertools.count():
            path, fields = ("/step", STEP) if number % EPISODE else ("/reset", {"data_idx": 0})
            begun = time.perf_counter()
            await client.ask(path, {"id": made["id"], **fields})
            took.append(time.perf_counter() - begun)
    finally:
        client.close()


async def play_websocket(server: Server, took: list[float]) -> None:
    """Plays one session over a WebSocket."""
    async with server.websocket() as socket:
        for number in itertools.count():
            begun = time.perf_counter()
            await talk(socket, *(("step", STEP) if number % EPISODE else ("reset", RESET)))
            took.append(time.perf_counter() - begun)


async def soak(server: Server, sessions: int, minutes: float) -> list[str]:
    """Plays beside bad clients; returns a table row per minute."""
    took: list[float] = []
    kinds = itertools.cycle((play_http, play_websocket))
    players = [asyncio.ensure_future(next(kinds)(server, took)) for _ in range(sessions)]
    tasks = [asyncio.ensure_future(be_bad(server)), *players]
    rows: list[str] = []
    end = time.perf_counter() + 60 * minutes
    while (left := end - time.perf_counter()) > 0.1:
        minute = min(60.0, left)
        done, _ = await asyncio.wait(tasks, timeout=minute, return_when=asyncio.FIRST_EXCEPTION)
        for one in done:
            one.result()  # no player and no bad client ends
        cuts = quantiles(took, n=100)
        held = await server.held()
        rows.append(
            f"| {len(rows) + 1} | {len(took) / minute:.0f} | {1000 * cuts[49]:.1f} |"
            f" {1000 * cuts[98]:.1f} | {held.sessions} | {held.files} | {held.memory:.0f} |"
        )
        print(rows[-1], flush=True)
        took.clear()
    for one in tasks:
        one.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return rows


async def run(
    server: Server, *, sessions: int, minutes: float, dropped: int, limit: int
) -> tuple[dict[str, Held], list[str]]:
    """Returns what the server holds after each part, and the rows of the minutes."""
    await drop_sessions(server, limit, limit)  # every place for a session has been used
    warm = await server.settled()
    held = {f"after {limit:,} lost sessions": warm}
    for part in (1, 2):  # memory grows in the first part only
        await drop_sessions(server, dropped, limit)
        held[f"after {part * dropped:,} more"] = await server.settled(warm)
    rows = await soak(server, sessions, minutes)
    held["after the minutes below"] = await server.settled(warm)
    return held, rows


def main(
    minutes: float = 10.0,
    sessions: int = 256,
    dropped: int = 10_000,
    workers: int = 2,
    out: Path = Path("benchmarks/results/serve_soak.md"),
) -> None:
    """Measures and writes the tables."""
    limit = max(4 * sessions, 2048)
    command = [sys.executable, "-m", "agentgym_envs.cli", "serve", TEXTCRAFT, "--workers"]
    command += [str(workers), "--sessions", str(limit), "--idle", str(IDLE)]
    command += ["--set", "max_episode_steps=-1"]
    with serving(command) as (port, process):
        held, rows = asyncio.run(
            run(
                Server(port, process),
                sessions=sessions,
                minutes=minutes,
                dropped=dropped,
                limit=limit,
            )
        )
    first, *_, last = held.values()
    lines = [
        "# A server over a long time",
        "",
        f"`python benchmarks/serve_soak.py --minutes {minutes:g} --sessions {sessions} --dropped"
        f" {dropped}`, {workers} workers, {os.cpu_count()} CPU cores.",
        "",
        "A third of the lost sessions were closed, a third expired, and a third were WebSockets"
        " that ended without a word.",
        "",
        "| | sessions | descriptors | processes | threads | MiB |",
        "|---|---|---|---|---|---|",
        *(one.row(name) for name, one in held.items()),
        "",
        f"{sessions} sessions at full speed, with a reset in {EPISODE} requests, beside {SLOW}"
        " clients of one byte per second, and clients with bodies of 16 MiB, garbage and"
        " half-closed connections:",
        "",
        "| minute | requests/s | p50 ms | p99 ms | sessions | descriptors | MiB |",
        "|---|---|---|---|---|---|---|",
        *rows,
    ]
    out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    if found := leaks(first, last):
        sys.exit(f"these numbers have grown: {', '.join(found)}")


if __name__ == "__main__":
    typer.run(main)
