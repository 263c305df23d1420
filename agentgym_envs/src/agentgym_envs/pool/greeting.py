"""How a driver and a host begin: addresses, the first messages and their checks.

The driver sends two messages: a short greeting with the token, then the arguments of the pool. The
host answers each with a message that is empty or an error. Then the driver sends requests as
:mod:`.worker` takes them, and the host sends the answers.
"""

import hashlib
import hmac
import socket
import sys
import time
from importlib.metadata import version
from typing import Any

from agentgym_envs import errors
from agentgym_envs.errors import AgentGymError, ArgumentError, message_of, shown
from agentgym_envs.pool.wire import BadMessage, MessageInbox, pack

TOKEN = "AGENTGYM_POOL_TOKEN"  # the variable of the environment
PROTOCOL = 1
GREETING_LONGEST = 4096  # bytes of the message that a host reads from anybody
GREETING_SECONDS = 5.0  # in which a driver's first message must arrive
GREETING_READS = 64  # parts in which it can arrive
GREETINGS = 256  # connections that have not sent it; above it, the oldest is closed
ARRIVAL = 30.0  # seconds in which a driver's second message must arrive
CONNECT_TIMEOUT = 10.0  # seconds
ANSWER_TIMEOUT = 60.0  # seconds; the host imports the environment's package
CHUNK = 2**18
FIRST_CHUNK = 2**12
IDLE, INTERVAL, PROBES = 60, 10, 6  # TCP keepalive: seconds, seconds, unanswered probes


def parse_address(text: str) -> tuple[str, int]:
    """Returns the host and the port of an address such as "10.0.0.2:9000" or "[::1]:9000".

    Raises:
        ArgumentError: it is not such an address.
    """
    host, colon, port = text.rpartition(":") if isinstance(text, str) else ("", "", "")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not (host and colon and port.isascii() and port.isdigit() and 0 < int(port) < 2**16):
        raise ArgumentError(
            f"hosts: {shown(text)} is not an address: write it as host:port, such as 10.0.0.2:9000"
        )
    return host, int(port)


def keep_alive(connection: socket.socket) -> None:
    """Makes the system notice that the other machine has vanished, and sends without delay."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    idle = "TCP_KEEPIDLE" if sys.platform == "linux" else "TCP_KEEPALIVE"
    for name, value in ((idle, IDLE), ("TCP_KEEPINTVL", INTERVAL), ("TCP_KEEPCNT", PROBES)):
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def connect(address: str, token: str | None, setup: bytes) -> socket.socket:
    """Connects to a host, which makes a pool for this connection.

    Args:
        address: the host.
        token: the host's password.
        setup: the packed arguments of the pool.

    Raises:
        AgentGymError: the host refuses; the message names the host and the field.
        OSError: the host cannot be reached.
    """
    connection = socket.create_connection(parse_address(address), CONNECT_TIMEOUT)
    try:
        keep_alive(connection)
        inbox = MessageInbox()
        for message in (pack(greeting(token)), setup):
            connection.settimeout(ANSWER_TIMEOUT)
            connection.sendall(message)
            if answer := receive(connection, inbox, ANSWER_TIMEOUT):
                raise _refusal(address, **answer)
        connection.setblocking(False)
        return connection
    except BaseException as error:
        connection.close()
        if isinstance(error, BadMessage | TypeError):
            raise ArgumentError(
                f"host {address}: its answer is not that of agentgym serve --pool: check the"
                " address and the port"
            ) from error
        raise


def greeting(token: str | None) -> dict[str, Any]:
    """Returns a driver's first message."""
    return {"protocol": PROTOCOL, "version": version("agentgym-envs"), "token": token}


def check(given: dict[str, Any], token: str | None) -> None:
    """Checks a driver's first message.

    Raises:
        ArgumentError: names the field.
    """
    # The token comes first: without it a stranger learns nothing about this machine. Digests of
    # equal length are compared, so that the time tells nothing about the token.
    digests = [hashlib.sha256(str(t).encode()).digest() for t in (given.get("token"), token)]
    if token is not None and not hmac.compare_digest(*digests):
        raise ArgumentError(
            "token: it is not this host's: pass token= or set AGENTGYM_POOL_TOKEN to the value of"
            " its agentgym serve --pool --token"
        )
    here = greeting(None)
    for field in ("protocol", "version"):
        if given.get(field) != here[field]:
            raise ArgumentError(
                f"{field}: agentgym-envs has {here[field]} there and {shown(given.get(field))}"
                " here: install the same version on both machines"
            )


def receive(connection: socket.socket, inbox: MessageInbox, seconds: float) -> dict[str, Any]:
    """Returns the next message of a blocking socket.

    Raises:
        BadMessage: the bytes are not a message.
        OSError: the socket is broken or closed, or the time is over.
    """
    end = time.monotonic() + seconds
    while (message := inbox.first()) is None:
        connection.settimeout(max(end - time.monotonic(), 0.001))
        if not inbox.read(connection, CHUNK if inbox.longest is None else FIRST_CHUNK):
            raise ConnectionResetError("the connection was closed")
    inbox.take()
    connection.settimeout(None)
    return message


def refusal_of(error: Exception) -> bytes:
    """Returns the packed answer of a host that refuses a driver."""
    kind = type(error).__name__ if isinstance(error, AgentGymError) else AgentGymError.__name__
    return pack({"kind": kind, "error": message_of(error)})


def _refusal(address: str, *, kind: str, error: str) -> AgentGymError:
    named = _kind(kind)
    refusal: AgentGymError = named.__new__(named)
    refusal.args = (f"host {address}: {error}",)  # some constructors take other arguments
    return refusal


def _kind(name: str) -> type[AgentGymError]:
    found: Any = vars(errors).get(name)
    return found if isinstance(found, type) and issubclass(found, AgentGymError) else AgentGymError
