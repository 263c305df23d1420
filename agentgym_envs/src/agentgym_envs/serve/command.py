"""The command ``agentgym serve``."""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from agentgym_envs.errors import AgentGymError, ArgumentError, MissingExtra
from agentgym_envs.keywords import keywords
from agentgym_envs.network import is_local
from agentgym_envs.pool.greeting import TOKEN
from agentgym_envs.pool.host import HostServer
from agentgym_envs.serve.limits import ServerLimits, allow_descriptors
from agentgym_envs.stopping import GRACE, stop
from agentgym_envs.terminal import CommandConsole

PACKAGES = ("uvicorn", "httptools", "websockets", "mcp_types")  # of version 2 of mcp
BACKLOG = 2048  # connections that wait to be accepted
OTHER_FILES = 1024  # open files of the server beside its connections
BUFFER = 2**17  # bytes; the system keeps at most twice as many for each direction of a connection
HOST_FILES = 2**16  # open files of a host: about three per worker process
DRAIN = 30  # seconds in which requests can finish after SIGTERM
out = CommandConsole(emoji=False, highlight=False)


def serve(
    env_ids: Annotated[
        list[str] | None,
        typer.Argument(help='Registered ids, "module:id", "module:Class" or "./file.py:Class".'),
    ] = None,
    pool: Annotated[
        bool, typer.Option("--pool", help="Run environments for EnvPool(hosts=…) elsewhere.")
    ] = False,
    address: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 for any free port.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            help=(
                "The clients' password; needed for every address except this machine's."
                " Default: $AGENTGYM_SERVE_TOKEN, with --pool $AGENTGYM_POOL_TOKEN."
            ),
        ),
    ] = None,
    sessions: Annotated[
        int, typer.Option(min=1, help="Largest number of sessions per id.")
    ] = ServerLimits.sessions,
    idle: Annotated[
        float, typer.Option(min=1, help="Seconds without a request after which a session ends.")
    ] = ServerLimits.idle,
    rate: Annotated[
        float | None,
        typer.Option(min=0.01, help="Requests per second of one client; default: no limit."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes per id; default: one per core.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A constructor keyword of every environment."),
    ] = None,
) -> None:
    """Serves environments to other programs over HTTP and WebSocket.

    The server answers in the protocols of AgentGym, OpenEnv and MCP. SIGTERM and Ctrl-C end it
    after the running requests. With --pool it runs environments of any id for the pools of other
    machines instead.
    """
    limits = ServerLimits(sessions=sessions, idle=idle, rate=rate)
    if pool:
        _refuse(
            {
                "id": env_ids,
                "--workers": workers,
                "--set": set_,
                "--sessions, --idle or --rate": limits != ServerLimits(),
            }
        )
    elif not all(map(find_spec, PACKAGES)):
        raise MissingExtra("agentgym serve", "serve")
    elif not env_ids:
        raise ArgumentError("no environment: name at least one id, or pass --pool")
    if token is None:
        token = os.environ.get(TOKEN if pool else "AGENTGYM_SERVE_TOKEN")
    if token == "":
        raise ArgumentError("token='': must not be empty")
    if not _loopback(address) and token is None:
        raise ArgumentError(
            f"address={address!r} is open to other machines: set --token, or use 127.0.0.1"
        )
    with _listen(address, port) as listener:
        shown = f"[{address}]" if ":" in address else address
        place = f"{shown}:{listener.getsockname()[1]}"
        if pool:
            out.print(f"the host: {place}", soft_wrap=True)
            run_host(listener, token)
        else:
            run(
                env_ids or [],
                listener,
                limits=limits,
                token=token,
                workers=workers,
                keywords=keywords(set_),
                on_start=lambda: out.print(f"the server: http://{place}", soft_wrap=True),
            )


def _refuse(options: Mapping[str, object]) -> None:
    """Rejects options that --pool does not take.

    Raises:
        ArgumentError: one of them has a value.
    """
    for name, given in options.items():
        if given:
            raise ArgumentError(f"--pool takes no {name}: each driver's EnvPool decides")


def run_host(listener: socket.socket, token: str | None) -> None:
    """Runs environments for other machines until a signal ends the process."""
    allow_descriptors(HOST_FILES)
    host = HostServer(listener, token)
    try:
        host.serve()
    finally:
        host.close()


def run(
    env_ids: Sequence[str],
    listener: socket.socket,
    *,
    limits: ServerLimits,
    token: str | None,
    workers: int | None,
    keywords: Mapping[str, Any],
    on_start: Callable[[], None],
) -> None:
    """Serves until a signal ends the process; calls ``on_start`` when the server answers.

    Raises:
        AgentGymError: an environment cannot be made.
    """
    import uvicorn

    from agentgym_envs.serve.peers import ServerConnections
    from agentgym_envs.serve.protocol import HttpServer, LimitedProtocol
    from agentgym_envs.serve.server import make_app
    from agentgym_envs.serve.websocket import LimitedSocket

    app = make_app(env_ids, limits=limits, workers=workers, keywords=keywords)
    connections = limits.connections or 4 * limits.sessions * len(env_ids) + 64
    allow_descriptors(connections + OTHER_FILES)
    for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        listener.setsockopt(socket.SOL_SOCKET, buffer, BUFFER)
    peers = ServerConnections(limits, connections, token, app.metrics)
    http: Any = partial(LimitedProtocol, peers=peers)
    websocket: Any = partial(LimitedSocket, peers=peers)
    config = uvicorn.Config(
        app,
        http=http,
        ws=websocket,
        ws_max_size=limits.body,
        ws_ping_timeout=None,  # some clients read only while they wait for an answer
        lifespan="on",
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=int(limits.keep_alive),
        timeout_graceful_shutdown=DRAIN,
    )
    server = HttpServer(config, peers, on_start)
    stop.grace = GRACE + DRAIN
    try:
        with stop.instead(lambda: setattr(server, "should_exit", True)):
            server.run(sockets=[listener])
    except SystemExit:
        if app.trouble is None:
            raise
    if isinstance(app.trouble, AgentGymError):
        raise app.trouble
    if app.trouble is not None:
        raise RuntimeError("the server did not start") from app.trouble


def _loopback(address: str) -> bool:
    return is_local(address) and address not in ("0.0.0.0", "::")


def _listen(address: str, port: int) -> socket.socket:
    """Returns a socket that accepts connections.

    Raises:
        ArgumentError: the address or the port is not available.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # asyncio sets TCP_NODELAY only on sockets that name their protocol. Without it, an answer waits
    # 40 ms for the client's acknowledgement of its head.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(BACKLOG)
        return listener
    except (OSError, OverflowError) as error:
        listener.close()
        raise ArgumentError(
            f"{address} port {port} is not available ({error}): use another --port, or 0 for any"
            " free port"
        ) from error
