"""Clients that send without end or do not read: they cost no memory, and the others no time."""

import json
import re
import select
import socket
import struct
import time
from collections import Counter
from contextlib import suppress

import psutil
import pytest
from served import limited, until
from websockets.sync.client import connect

ODD = "faulty_envs:support/Odd-v0"
WEBSOCKET = "/openenv/support/Odd-v0/ws"
TOKEN = "s3cret"
ARRIVAL = 1.0
CHUNKED = "Transfer-Encoding: chunked\r\n"
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
MOST = 8  # MiB by which the server can grow while two clients attack it


@pytest.fixture(scope="module")
def server():
    with limited(ODD, "--token", TOKEN, arrival=ARRIVAL, keep_alive=2.0) as served:
        ask(served)  # it has started
        served.files = psutil.Process(served.process.pid).num_fds()
        yield served


def head(method, path, more="", *, token=True):
    rights = f"Authorization: Bearer {TOKEN}\r\n" if token else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{rights}{more}\r\n".encode()


def ask(server, path="/metrics"):
    with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
        connection.sendall(head("GET", path, "Connection: close\r\n"))
        return b"".join(iter(lambda: connection.recv(2**16), b"")).decode()


def counts(server):
    """Returns the numbers of requests by status."""
    found = re.findall(r'requests_total\{.*status="(\d+)"\} (\d+)', ask(server))
    return {int(status): sum(int(n) for s, n in found if s == status) for status, _ in found}


def frame(opcode, data=b"", *, last=True):
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack("!H", len(data))
    return bytes([0x80 * last | opcode]) + size + bytes(4) + data


def opened(server, first=b"", buffer=None):
    """Returns a connection that has sent its first bytes."""
    connection = socket.socket()
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(10)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(first)
    return connection


def websocket(server, first=b""):
    """Returns a WebSocket that has sent its first frames."""
    connection = opened(server, head("GET", WEBSOCKET, UPGRADE))
    assert connection.recv(4096).startswith(b"HTTP/1.1 101")
    connection.sendall(first)
    return connection


def ended(connection, seconds=10):
    """Returns whether the server closes a connection that is not read before, within a time."""
    poll = select.poll()
    poll.register(connection, select.POLLHUP | select.POLLERR | select.POLLRDHUP)
    return bool(poll.poll(1000 * seconds))


def flood(connections, piece, seconds=0.4):
    """Sends a piece again and again, and reads nothing, until the time or the connections end."""
    end = time.monotonic() + seconds
    data = memoryview(piece * (2**16 // len(piece)))
    left = dict.fromkeys(connections, data)
    while left and time.monotonic() < end:
        for connection in select.select([], [*left], [], 0.05)[1]:
            connection.setblocking(False)
            try:
                sent = connection.send(left[connection])
            except OSError:
                del left[connection]
            else:
                left[connection] = left[connection][sent:] or data


STREAMS = {
    "trailers": (head("POST", "/x", CHUNKED, token=False) + b"0\r\n", b"a:b\r\n"),
    "trailers, with the token": (head("POST", "/metrics", CHUNKED) + b"0\r\n", b"a:b\r\n"),
    "one trailer": (head("POST", "/x", CHUNKED) + b"0\r\nX: ", b"a"),
    "the size of a chunk": (head("POST", "/x", CHUNKED) + b"2;", b"a"),
    "chunks of one byte": (head("POST", "/x", CHUNKED), b"1\r\nx\r\n"),
    "headers": (head("POST", "/x")[:-2], b"a:\r\n"),
    "empty lines": (b"", b"\r\n"),
    "short requests": (b"", b"GET / HTTP/1.1\r\n\r\n"),
    "requests with the token": (b"", head("GET", "/")),
    "upgrades": (b"", head("GET", WEBSOCKET, UPGRADE, token=False)),
    "a huge body": (head("POST", "/x", "Content-Length: 99999999999\r\n", token=False), b"x"),
}
FRAMES = {
    "continuations": (frame(1, last=False), frame(0, last=False)),
    "parts of one byte": (frame(1, b"x", last=False), frame(0, b"x", last=False)),
    "pings": (b"", frame(9, b"x" * 125)),
    "pongs": (b"", frame(10)),
    "messages": (b"", frame(1, b"{}")),
}


def kinds(cases, *often):
    return [
        pytest.param(*case, id=kind, marks=() if kind in often else pytest.mark.full)
        for kind, case in cases.items()
    ]


def grown(server, connections, piece):
    """Returns the MiB that a flood costs the server; checks that another client is answered."""
    process = psutil.Process(server.process.pid)
    before = process.memory_info().rss
    flood(connections, piece)
    begun = time.monotonic()
    assert ask(server).startswith("HTTP/1.1 200")
    assert time.monotonic() - begun < 1
    return (process.memory_info().rss - before) / 2**20


@pytest.mark.parametrize(
    ("first", "piece"),
    kinds(STREAMS, "trailers", "one trailer", "chunks of one byte", "requests with the token"),
)
def test_a_request_without_end_costs_no_memory_and_ends(server, first, piece):
    connections = [opened(server, first) for _ in range(2)]
    assert grown(server, connections, piece) < MOST
    for connection in connections:
        assert ended(connection)
        connection.close()


@pytest.mark.parametrize(("first", "piece"), kinds(FRAMES, "parts of one byte", "pings"))
def test_a_websocket_without_end_costs_no_memory_and_ends(server, first, piece):
    connections = [websocket(server, first) for _ in range(2)]
    assert grown(server, connections, piece) < MOST
    for connection in connections:
        assert ended(connection)
        connection.close()


def test_too_many_frames_close_a_websocket_with_1008(server):
    with websocket(server, frame(10) * 1500) as connection:
        received = b"".join(iter(lambda: connection.recv(2**12), b""))
        assert received[2:4] == (1008).to_bytes(2, "big")


@pytest.mark.full
def test_a_websocket_that_reads_nothing_for_long_goes_on(server):
    with websocket(server) as connection:
        time.sleep(45)  # two pings have no pong
        connection.sendall(frame(1, b'{"type": "state"}'))
        received = b""
        while b"step_count" not in received:
            more = connection.recv(2**12)
            assert more
            received += more


def test_an_unused_connection_is_closed(server):
    with opened(server, head("GET", "/x")) as connection:
        answer = b""
        while not answer.endswith(b"}"):
            answer += connection.recv(2**12)
        begun = time.monotonic()
        assert connection.recv(1) == b""
        assert 1 < time.monotonic() - begun < 8


def test_a_message_of_a_websocket_has_a_time_to_arrive(server):
    with websocket(server, frame(1, b"{", last=False)) as half, websocket(server) as idle:
        begun = time.monotonic()
        assert ended(half)
        assert time.monotonic() - begun > ARRIVAL / 2
        assert not ended(idle, 0.1)


def test_honest_websockets_pass(server):
    address = f"ws://127.0.0.1:{server.port}{WEBSOCKET}"
    rights = {"Authorization": f"Bearer {TOKEN}"}
    with connect(address, additional_headers=rights, compression=None) as session:
        reset = json.dumps({"type": "reset", "data": {"seed": 1}})
        session.send(reset[i : i + 4] for i in range(0, len(reset), 4))
        assert "seed 1" in session.recv(30)
        for _ in range(20):
            session.ping().wait(5)
        step = json.dumps({"type": "step", "data": {"action": f"echo {'x' * 900_000}"}})
        session.send(step[i : i + 1000] for i in range(0, len(step), 1000))
        assert "x" * 900_000 in session.recv(30)
        session.send(json.dumps({"type": "step", "data": {"action": f"hold {2 * ARRIVAL}"}}))
        session.send(json.dumps({"type": "state"}))  # waits for the step
        assert '"observation"' in session.recv(30)
        assert '"step_count": 2' in session.recv(30)


def call(server, connection, name, **arguments):
    """Sends a call of a tool."""
    params = {"name": name, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    length = f"Content-Length: {len(body)}\r\n"
    connection.sendall(head("POST", "/openenv/support/Odd-v0/mcp", length) + body.encode())


def answered(server, connection, name, **arguments):
    """Calls a tool; returns the fields of the result."""
    call(server, connection, name, **arguments)
    answer = b""
    while b'"isError"' not in answer:
        answer += connection.recv(2**16)
    return json.loads(answer.partition(b"\r\n\r\n")[2])["result"]["structuredContent"]


def test_a_long_answer_can_be_read_slowly_but_must_be_read(server):
    size = 900_000
    with opened(server, buffer=2**16) as slow, opened(server, buffer=2**16) as deaf:
        for connection in (slow, deaf):
            session = answered(server, connection, "reset", seed=1)["session"]
            call(server, connection, "act", session=session, action=f"echo {'x' * size}")
        received, begun = b"", time.monotonic()
        while received.count(b"x") < size:
            more = slow.recv(min(2**17, size - received.count(b"x")), socket.MSG_WAITALL)
            assert more
            received += more
            time.sleep(0.2 * ARRIVAL)
        assert time.monotonic() - begun > ARRIVAL
        assert received.count(b"x") == size
        assert ended(deaf)


def test_a_step_may_take_longer_than_a_request_to_arrive(server):
    with opened(server) as connection:
        session = answered(server, connection, "reset", seed=1)["session"]
        action = f"hold {2 * ARRIVAL}"
        assert "observation" in answered(server, connection, "act", session=session, action=action)


def test_pipelined_requests_are_answered_in_order(server):
    with opened(server, b"".join(head("GET", "/" if n % 2 else "/x") for n in range(99))) as many:
        many.sendall(head("GET", "/metrics", "Connection: close\r\n"))
        answers = b"".join(iter(lambda: many.recv(2**16), b""))
        statuses = re.findall(rb"HTTP/1.1 (\d+)", answers)
        assert statuses == [b"200" if n % 2 else b"404" for n in range(99)] + [b"200"]


def test_errors_of_http_have_the_body_and_are_counted(server):
    pieces = b"ffff\r\n" + b"x" * 65535 + b"\r\n"
    cases = [
        (400, b"nonsense\r\n\r\n"),
        (400, head("GET", WEBSOCKET, UPGRADE.replace("13", "9"))),
        (401, head("GET", "/", token=False)),
        (401, head("GET", WEBSOCKET, UPGRADE, token=False)),
        (404, head("GET", "/x")),
        (404, head("GET", "/x", UPGRADE)),
        (405, head("PUT", "/metrics")),
        (405, head("DELETE", "/mcp/support/Odd-v0")),
        (413, head("POST", "/mcp/support/Odd-v0", CHUNKED) + pieces * 17 + b"0\r\n\r\n"),
        (431, head("GET", "/", "a: b\r\n" * 200)),
        (431, head("GET", WEBSOCKET, f"{UPGRADE}X: {'a' * 9000}\r\n")),
    ]
    before = counts(server)
    for status, request in cases:
        with opened(server, request) as connection:
            answer = connection.recv(2**16)
            while not answer.endswith(b"}"):
                answer += connection.recv(2**16)
        top, _, body = answer.partition(b"\r\n\r\n")
        assert top.startswith(f"HTTP/1.1 {status} ".encode()), top
        assert b"application/json" in top
        assert set(json.loads(body)) == {"error", "code"}
    after = counts(server)
    for status, number in Counter(status for status, _ in cases).items():
        assert after[status] - before.get(status, 0) == number


def test_answers_to_clients_without_the_token_are_slow_and_the_others_are_not(server):
    """The tenth of a second's refusals waits; later ones wait longer."""
    time.sleep(1)
    strangers = [opened(server, head("GET", "/", token=False)) for _ in range(40)]
    begun = time.monotonic()
    assert ask(server).startswith("HTTP/1.1 200")
    assert time.monotonic() - begun < 0.5
    for stranger in strangers[:12]:
        assert stranger.recv(100).startswith(b"HTTP/1.1 401")
    assert time.monotonic() - begun > 0.1
    for stranger in strangers:
        stranger.close()


def test_a_refused_connection_ends_whatever_its_client_does(server):
    with opened(server, head("GET", "/", token=False)) as refused:
        while refused.recv(2**12):
            pass
        begun = time.monotonic()
        with suppress(ConnectionError):
            while time.monotonic() < begun + 5 * ARRIVAL:
                refused.sendall(b"x")
                time.sleep(0.1)
        assert time.monotonic() < begun + 4 * ARRIVAL


def test_nothing_is_left_of_strangers(server):
    process = psutil.Process(server.process.pid)
    kinds = [head("POST", "/x", "Content-Length: 9\r\n"), head("GET", "/", token=False), b"GE", b""]
    connections = [opened(server, kinds[number % 4]) for number in range(100)]
    for connection in connections[::3]:
        connection.shutdown(socket.SHUT_WR)
    until(lambda: process.num_fds() > server.files)
    until(lambda: process.num_fds() <= server.files)
    for connection in connections:
        connection.close()
