"""CPU time of ``agentgym serve`` per request, workers included.

    python benchmarks/serve_load.py --original "other/bin/python -m agentenv_textcraft.launch"

Steps of TextCraft go over connections that stay, over one connection per request, and over
WebSockets. ``--original`` also measures AgentGym's own TextCraft server in the same run; its
command gets ``--host`` and ``--port``. CPU time is steadier than requests per second on a busy
machine. Writes ``benchmarks/results/serve_load.md``.
"""

import asyncio
import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

import psutil
import typer
from websockets.asyncio.client import connect

TEXTCRAFT = "agentgym/TextCraft-v2"
Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]


class Load(NamedTuple):
    """What a run of requests took."""

    cpu: float
    """Milliseconds per request, of the server and its child processes."""
    rate: float
    """Requests per second."""
    p50: float
    """Milliseconds."""
    p99: float
    memory: float
    """Largest memory of the server and its child processes, in MiB."""


class Client:
    """A plain HTTP client that costs little: one connection, or one per request."""

    def __init__(self, port: int, *, stay: bool, token: str = ""):
        self._port, self._stay, self._token = port, stay, token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, fields: dict[str, Any]) -> Any:
        """Posts and returns the JSON value of the answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = json.dumps(fields).encode()
        keep = "keep-alive" if self._stay else "close"
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: {keep}\r\n"
            f"Authorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer
        length = answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        value = json.loads(await reader.readexactly(int(length)))
        if not self._stay:
            writer.close()
            self._streams = None
        return value

    def close(self) -> None:
        """Closes the connection."""
        if self._streams is not None:
            self._streams[1].close()


@contextmanager
def serving(command: list[str]) -> Iterator[tuple[int, psutil.Process]]:
    """Starts a server; yields its port and process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*command, "--port", str(port)], **quiet)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def cpu_seconds(process: psutil.Process) -> float:
    """Returns the CPU time of a process and its child processes."""
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def memory(process: psutil.Process) -> float:
    """Returns the memory of a process and its child processes in MiB."""
    return sum(p.memory_info().rss for p in (process, *process.children(recursive=True))) / 2**20


async def http(port: int, *, sessions: int, seconds: float, stay: bool) -> Callable[[], Any]:
    """Opens sessions over HTTP; returns a coroutine function that takes steps."""
    clients = [Client(port, stay=stay) for _ in range(sessions)]
    numbers = [(await client.ask("/create", {}))["id"] for client in clients]
    for client, number in zip(clients, numbers, strict=True):
        await client.ask("/reset", {"id": number, "data_idx": 0})

    async def steps(number: int, end: float, took: list[float]) -> None:
        while time.perf_counter() < end:
            begun = time.perf_counter()
            await clients[number].ask("/step", {"id": numbers[number], "action": "inventory"})
            took.append(time.perf_counter() - begun)

    return await _running(steps, sessions, seconds, lambda: [c.close() for c in clients])


async def websocket(port: int, *, sessions: int, seconds: float) -> Callable[[], Any]:
    """Opens sessions over WebSocket; returns a coroutine function that takes steps."""
    address = f"ws://127.0.0.1:{port}/openenv/{TEXTCRAFT}/ws"
    opened = [connect(address, compression=None) for _ in range(sessions)]
    sockets = [await one.__aenter__() for one in opened]
    step = json.dumps({"type": "step", "data": {"action": "inventory"}})
    for one in sockets:
        await one.send(json.dumps({"type": "reset", "data": {"seed": 0}}))
        await one.recv()

    async def steps(number: int, end: float, took: list[float]) -> None:
        while time.perf_counter() < end:
            begun = time.perf_counter()
            await sockets[number].send(step)
            assert '"observation"' in await sockets[number].recv()
            took.append(time.perf_counter() - begun)

    return await _running(steps, sessions, seconds, lambda: None)


async def _running(steps: Any, sessions: int, seconds: float, close: Any) -> Callable[[], Any]:
    async def run() -> list[float]:
        took: list[float] = []
        end = time.perf_counter() + seconds
        await asyncio.gather(*(steps(number, end, took) for number in range(sessions)))
        close()
        return took

    return run


def measure(command: list[str], prepare: Any, **options: Any) -> Load:
    """Runs one kind of load against a new server."""
    with serving(command) as (port, process):

        async def go() -> tuple[float, float, list[float], float]:
            run = await prepare(port, **options)
            before, begun = cpu_seconds(process), time.perf_counter()
            took = await run()
            return cpu_seconds(process) - before, time.perf_counter() - begun, took, memory(process)

        cpu, wall, took, most = asyncio.run(go())
    cuts = quantiles(took, n=100)
    return Load(1000 * cpu / len(took), len(took) / wall, 1000 * cuts[49], 1000 * cuts[98], most)


def main(
    original: str | None = None,
    sessions: int = 256,
    seconds: float = 30.0,
    workers: int = 2,
    out: Path = Path("benchmarks/results/serve_load.md"),
) -> None:
    """Measures and writes the table."""
    ours = [sys.executable, "-m", "agentgym_envs.cli", "serve", TEXTCRAFT, "--workers"]
    # Steps never end an episode here: "inventory" solves nothing, and there is no step limit.
    ours += [str(workers), "--sessions", str(sessions), "--set", "max_episode_steps=-1"]
    kinds: list[tuple[str, list[str], Any, dict[str, Any]]] = []
    if original:
        theirs = [*shlex.split(original), "--host", "127.0.0.1"]
        kinds += [
            ("AgentGym's server, keep-alive", theirs, http, {"stay": True}),
            ("AgentGym's server, a connection per request", theirs, http, {"stay": False}),
        ]
    kinds += [
        ("agentgym serve, keep-alive", ours, http, {"stay": True}),
        ("agentgym serve, a connection per request", ours, http, {"stay": False}),
        ("agentgym serve, WebSocket", ours, websocket, {}),
    ]
    lines = [
        "# CPU time of servers per request",
        "",
        f"`python benchmarks/serve_load.py --sessions {sessions} --seconds {seconds:g}"
        f"{' --original COMMAND' if original else ''}`",
        "",
        f"{sessions} sessions of TextCraft, {seconds:g} s each, {workers} workers,"
        f" {os.cpu_count()} CPU cores. CPU time includes the workers; memory is that at the end.",
        "",
        "| server | CPU ms per request | requests/s | p50 ms | p99 ms | MiB |",
        "|---|---|---|---|---|---|",
    ]
    for name, command, prepare, options in kinds:
        load = measure(command, prepare, sessions=sessions, seconds=seconds, **options)
        lines.append(
            f"| {name} | {load.cpu:.3f} | {load.rate:.0f} | {load.p50:.1f} | {load.p99:.1f} |"
            f" {load.memory:.0f} |"
        )
        print(lines[-1], flush=True)
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    typer.run(main)
