"""``agentgym serve`` over a long time, beside bad clients, and after 20,000 lost sessions.

    python benchmarks/serve_soak.py

First, 20,000 sessions are opened and dropped: closed, left to expire, or over a WebSocket that ends
without a word. Then ``--sessions`` sessions of TextCraft play for ``--minutes``, half over HTTP and
half over WebSockets. Beside them, clients send one byte per second, huge bodies and garbage, and
close their side of a connection within a request. Descriptors, processes, threads and sessions
must return to their first numbers; otherwise the exit status is 1. Writes
``benchmarks/results/serve_soak.md``.

    python benchmarks/serve_soak.py --strangers

Sixteen sessions and sixteen environments of a host play at a steady pace for a third of
``--minutes``, then for ``--minutes`` beside the attacks of ``strangers.py``. Writes
``benchmarks/results/serve_strangers.md``. Strangers use the CPU of this machine, so the sessions
are also measured, for another third, while the same strangers attack another server and another
host. The exit status is 1 if p50 or p99 is more than 1.2 times as long as then, or if the memory
grows by more than 100 MiB.
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
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

import psutil
import typer
from serve_load import TEXTCRAFT, Client, cpu_seconds, memory, serving
from websockets.asyncio.client import connect

from agentgym_envs.pool import AsyncEnvPool

IDLE = 10  # seconds after which the server ends a session without requests
SETTLE = 60  # seconds in which a server must have freed everything
AT_ONCE = 32  # clients that open and drop sessions
SLOW = 16  # clients that send one byte per second
EPISODE = 50  # steps between two resets
HONEST = 16  # sessions beside strangers
ALONE, ELSEWHERE, HERE = "no strangers", "strangers of others", "strangers"
PACE = 0.05  # seconds from one of their steps to the next
WARM = 3.0  # seconds before the measurement
TOKEN = "a-long-password"
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

    def websocket(self, token: str = "") -> Any:
        """Returns a connection to open."""
        address = f"ws://any:{token}@127.0.0.1:{self.port}/openenv/{TEXTCRAFT}/ws"
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


async def play_paced(ask: Callable[[], Awaitable[Any]], took: list[float]) -> None:
    """Takes a step in each interval; appends the seconds of each step."""
    while True:
        begun = time.perf_counter()
        await ask()
        took.append(time.perf_counter() - begun)
        await asyncio.sleep(max(0.0, begun + PACE - time.perf_counter()))


async def honest(server: Server, pool: AsyncEnvPool, took: dict[str, list[float]]) -> None:
    """Plays sessions over HTTP and WebSockets, and environments of a host, for ever."""
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        for number in range(HONEST):
            assert not (await pool.reset(number, seed=0)).error
            ask = partial(play_step, pool, number)
            group.create_task(play_paced(ask, took["host"]))
            if number % 2:
                socket = await stack.enter_async_context(server.websocket(TOKEN))
                await talk(socket, "reset", RESET)
                group.create_task(play_paced(partial(talk, socket, "step", STEP), took["server"]))
                continue
            client = Client(server.port, stay=True, token=TOKEN)
            made = await client.ask("/create", {})
            step = partial(client.ask, "/step", {"id": made["id"], **STEP})
            group.create_task(play_paced(step, took["server"]))


async def play_step(pool: AsyncEnvPool, number: int) -> None:
    """Takes a step on a host."""
    result = await pool.send(number, STEP["action"])
    assert not result.error, result


async def compare(
    server: Server, host: Server, minutes: float, others: tuple[int, int]
) -> list[tuple[str, list[float]]]:
    """Returns p50, p99 and memory of server and host, without and with strangers.

    Args:
        server: has sessions.
        host: has environments.
        minutes: length of the last part; the two before it take a third each.
        others: ports of a server and a host that only strangers use.
    """
    attacked = {ALONE: None, ELSEWHERE: others, HERE: (server.port, host.port)}
    rows = []
    took: dict[str, list[float]] = {"server": [], "host": []}
    options = {"hosts": [f"127.0.0.1:{host.port}"], "token": TOKEN, "workers": 2}
    async with AsyncEnvPool(TEXTCRAFT, HONEST, max_episode_steps=-1, **options) as pool:
        players = asyncio.ensure_future(honest(server, pool, took))
        await asyncio.wait([players], timeout=WARM)
        for name, ports in attacked.items():
            seconds, bad = 60 * minutes / (1 if name == HERE else 3), None
            if ports:
                script = Path(__file__).with_name("strangers.py")
                command = [sys.executable, script, *map(str, ports), TOKEN]
                bad = await asyncio.create_subprocess_exec(*command)
            for one in took.values():
                one.clear()
            before = [cpu_seconds(one.process) for one in (server, host)]
            await asyncio.wait([players], timeout=seconds)
            if players.done():
                players.result()  # no player ends
            for (part, steps), one, cpu in zip(took.items(), (server, host), before, strict=True):
                cuts = quantiles(steps, n=100)
                busy = (cpu_seconds(one.process) - cpu) / seconds
                values = [1000 * cuts[49], 1000 * cuts[98], memory(one.process), 100 * busy]
                rows.append((f"{part}, {name}", values))
                print(rows[-1], flush=True)
            if bad is not None:
                assert bad.returncode is None, "the strangers have ended"
                bad.kill()
                await bad.wait()
        players.cancel()
        await asyncio.wait([players])
    return sorted(rows, key=lambda row: row[0].startswith("host"))


def beside_strangers(minutes: float, out: Path) -> None:
    """Measures, writes the table and checks it."""
    os.environ |= {"AGENTGYM_SERVE_TOKEN": TOKEN, "AGENTGYM_POOL_TOKEN": TOKEN}
    command = [sys.executable, "-m", "agentgym_envs.cli", "serve"]
    served = [TEXTCRAFT, "--workers", "2", "--set", "max_episode_steps=-1"]
    with ExitStack() as stack:
        commands = ([*command, *served], [*command, "--pool"]) * 2
        server, host, *others = [stack.enter_context(serving(one)) for one in commands]
        ports = (others[0][0], others[1][0])
        rows = asyncio.run(compare(Server(*server), Server(*host), minutes, ports))
    lines = [
        "# A server and a host beside strangers",
        "",
        f"`python benchmarks/serve_soak.py --strangers --minutes {minutes:g}`, 2 workers each,"
        f" {os.cpu_count()} CPU cores.",
        "",
        f"{HONEST} sessions, half over HTTP and half over WebSockets, and {HONEST} environments of"
        f" a host took {1 / PACE:g} steps per second each. All attacks of `benchmarks/strangers.py`"
        " ran at once, as another process of a lower priority on the same machine.",
        "",
        "| | p50 ms | p99 ms | MiB | CPU % of a core |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {p50:.2f} | {p99:.2f} | {mib:.0f} | {busy:.0f} |"
            for name, (p50, p99, mib, busy) in rows
        ),
    ]
    out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    found = dict(rows)
    for part in ("server", "host"):
        first, last = found[f"{part}, {ELSEWHERE}"], found[f"{part}, {HERE}"]
        if last[0] > 1.2 * first[0] or last[1] > 1.2 * first[1] or last[2] > first[2] + 100:
            sys.exit(f"the {part} is slower or larger beside strangers")


def main(
    minutes: float = 10.0,
    sessions: int = 256,
    dropped: int = 10_000,
    workers: int = 2,
    strangers: bool = False,
    results: Path = Path("benchmarks/results"),
) -> None:
    """Measures and writes the tables."""
    if strangers:
        beside_strangers(minutes, results / "serve_strangers.md")
        return
    out = results / "serve_soak.md"
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
