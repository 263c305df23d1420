"""A server among bad clients: limits, rights, garbage, lost connections and dead workers."""

import base64
import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import time

import psutil
import pytest
from served import FAULTY, SLOW, serving
from typer.testing import CliRunner
from websockets.sync.client import connect

from agentgym_envs.cli import app

TEXTCRAFT = "agentgym/TextCraft-v2"


@pytest.fixture(scope="module")
def server():
    with serving(TEXTCRAFT, "--workers", "1", "--sessions", "64") as served:
        yield served


def speak(server, *parts, pause=0.0):
    """Sends bytes over a new connection; returns all that comes back."""
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(2**16), b""))
        except OSError:
            return b""


def post(path, body, more=""):
    """Returns the bytes of a request."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def caller(server, env_id):
    """Returns a function that calls a tool of an environment by JSON-RPC."""
    path = f"/openenv/{env_id.rpartition(':')[2]}/mcp"

    def call(name, **arguments):
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        status, answer = server.ask(path, body)
        assert status == 200
        return answer

    return call


def until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"GET",
        b"\x00" * 5000,
        b"POST /step HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /step HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /%ff%fe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 10**6,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_garbage_ends_its_connection_alone(server, garbage):
    speak(server, garbage)
    assert server.ask("/")[0] == 200


def test_a_head_request_is_answered_without_a_body(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    for path, status in (("/", 200), ("/create", 405)):
        connection.request("HEAD", path)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (status, b"")
        assert int(answer.headers["content-length"]) > 0
    connection.close()


def test_a_body_over_the_limit_is_refused_and_the_session_goes_on(server):
    _, made = server.ask("/create", {})
    status, answer = server.ask("/step", {"id": made["id"], "action": "x" * 10**7})
    assert (status, answer["code"]) == (413, "too_large")
    assert answer["error"].startswith("body: more than 1048576 bytes")
    chunks = b"".join(b"10000\r\n" + b"x" * 0x10000 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
    head = b"POST /step HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(head + chunks)
        assert connection.recv(100).startswith(b"HTTP/1.1 413")
    status, answer = server.ask("/step", {"id": made["id"], "action": "x" * 10**6})
    assert status == 200
    assert len(answer["observation"]) < 1000
    server.ask("/close", made)


def test_a_client_that_waits_for_permission_to_send_gets_it(server):
    head = b"POST /create HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(head + b"Content-Length: 2\r\n\r\n")
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert connection.recv(2**16).startswith(b"HTTP/1.1 200")
    # the session of this client stays until it is idle


def test_sessions_opened_and_dropped_leave_nothing(server):
    def cycle(_):
        made = server.ask("/create", {})[1]
        server.ask("/step", {"id": made["id"], "action": "inventory"})
        assert server.ask("/close", {"id": made["id"]}) == (200, True)

    process, opened = psutil.Process(server.process.pid), server.sessions()
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        list(threads.map(cycle, range(50)))
        before = process.num_fds(), process.num_threads(), len(server.workers())
        list(threads.map(cycle, range(150)))
    assert server.sessions() == opened
    until(lambda: process.num_fds() <= before[0])
    assert (process.num_threads(), len(server.workers())) == before[1:]


def test_connections_that_vanish_leave_no_descriptor(server):
    process = psutil.Process(server.process.pid)
    opened = server.sessions()
    before = process.num_fds()
    for _ in range(50):
        connection = socket.create_connection(("127.0.0.1", server.port), 10)
        connection.sendall(post("/create", b"{}")[:-1])
        connection.shutdown(socket.SHUT_WR)
        connection.close()
    until(lambda: process.num_fds() <= before)
    assert server.sessions() == opened


def test_lost_clients_of_every_kind_leave_nothing():
    with limited(TEXTCRAFT, idle=1.0, sessions=400) as served:
        process = psutil.Process(served.process.pid)

        def lose(number):
            if number % 3 == 0:
                address = f"ws://127.0.0.1:{served.port}/openenv/{TEXTCRAFT}/ws"
                with connect(address, compression=None) as opened:
                    opened.send('{"type": "reset", "data": {"seed": 1}}')
                    assert '"observation"' in opened.recv(30)
                    opened.socket.shutdown(socket.SHUT_RDWR)  # without a word
                return
            made = served.ask("/create", {})[1]  # never closed
            if number % 3 == 1:
                body = json.dumps({"id": made["id"], "action": "inventory"}).encode()
                speak(served, post("/step", body))  # closes its side before the answer

        def held():
            return process.num_fds(), process.num_threads(), len(served.workers())

        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(lose, range(12)))
            until(lambda: served.sessions() == 0)
            before = held()
            list(threads.map(lose, range(300)))
        assert served.sessions() > 0
        until(lambda: served.sessions() == 0)
        until(lambda: held() <= before)
        assert sum(served.metric("sessions_expired_total").values()) == 208


def test_a_token_is_bearer_or_the_password_of_basic():
    with serving(TEXTCRAFT, "--workers", "1", AGENTGYM_SERVE_TOKEN="s3cret") as served:
        basic = base64.b64encode(b"any:s3cret").decode()
        for value in ("Bearer s3cret", f"Basic {basic}"):
            assert served.ask("/", Authorization=value)[0] == 200
        wrong = base64.b64encode(b"s3cret:").decode()
        for value in ("Bearer wrong", f"Basic {wrong}", "Basic ???", "s3cret", "Bearer"):
            status, answer = served.ask("/", Authorization=value)
            assert (status, answer["code"]) == (401, "no_token")
        assert served.ask("/metrics")[0] == 401
        upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        path = f"/openenv/{TEXTCRAFT}/ws"
        with socket.create_connection(("127.0.0.1", served.port), 10) as connection:
            head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{upgrade}{key}\r\n"
            connection.sendall(head.encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 401")


def test_pages_of_web_sites_get_no_answer(server):
    assert server.ask("/", Host="evil.example")[0] == 403
    assert server.ask("/create", {}, Origin="https://evil.example")[0] == 403
    assert server.ask("/", Host="localhost:1234", Origin="http://127.0.0.1:99")[0] == 200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([TEXTCRAFT, "--address", "0.0.0.0"], "is open to other machines: set --token"),
        ([TEXTCRAFT, "--address", "10.255.255.1", "--token", "x"], "is not available"),
        ([TEXTCRAFT, "--port", "99999"], "port 99999 is not available"),
        ([TEXTCRAFT, "--token", ""], "token='': must not be empty"),
        ([TEXTCRAFT, TEXTCRAFT, "--port", "0"], "name each id once"),
        (["agentgym/TextCaft-v2", "--port", "0"], "Did you mean 'agentgym/TextCraft-v2'?"),
        ([TEXTCRAFT, "--port", "0", "--set", "split=x"], "unknown split 'x'"),
        ([TEXTCRAFT, "--port", "0", "--set", "rooms=3"], "does not take 'rooms'"),
    ],
)
def test_wrong_options_end_the_command_with_one_line(arguments, message):
    result = CliRunner().invoke(app, ["serve", *arguments])
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())


def limited(*arguments, **limits):
    """Starts a server with limits that the command does not offer."""
    variables = {"SERVED_LIMITS": repr(limits)}
    return serving(*arguments, "--workers", "1", script="served_limits", **variables)


def test_half_requests_are_dropped_in_time_and_slow_ones_too():
    with limited(TEXTCRAFT, arrival=2.0) as served:
        process = psutil.Process(served.process.pid)
        served.ask("/")
        before = process.num_fds()
        head = b"POST /create HTTP/1.1\r\nHost: localhost\r\n"
        halves = [b"", b"POS", head, head + b"Content-Length: 5\r\n\r\n{"]
        connections = [
            socket.create_connection(("127.0.0.1", served.port), 10)
            for _ in range(10)
            for _ in halves
        ]
        for number, connection in enumerate(connections):
            connection.sendall(halves[number % len(halves)])
        until(lambda: process.num_fds() >= before + len(connections) // 2)
        until(lambda: process.num_fds() <= before, 10)
        for connection in connections:
            connection.close()
        # one byte at a time does not extend the time
        begun = time.monotonic()
        assert speak(served, b"GET / HTTP/1.1\r\nX: ", *[b"a"] * 60, pause=0.1) == b""
        assert time.monotonic() - begun < 6  # the server did not wait for the last byte
        # a complete request that runs longer than that is answered
        assert served.ask("/create", {})[0] == 200


def test_connections_above_the_limit_close_the_unused_ones():
    request = b"GET /openenv/list_environments HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with limited(SLOW, "--set", "delay=1.0", connections=20) as served:
        process = psutil.Process(served.process.pid)
        call = caller(served, SLOW)
        session = call("reset", seed=1)["result"]["structuredContent"]["session"]
        before = process.num_fds()
        with concurrent.futures.ThreadPoolExecutor(1) as threads, contextlib.ExitStack() as opened:
            running = threads.submit(call, "act", session=session, action="x")
            used = http.client.HTTPConnection("127.0.0.1", served.port, timeout=5)
            opened.callback(used.close)
            connections = []
            for number in range(100):
                connection = socket.create_connection(("127.0.0.1", served.port), 10)
                connections.append(opened.enter_context(connection))
                if number % 2:
                    assert not no_answer(connection, request)
                used.request("GET", "/openenv/list_environments")
                assert used.getresponse().read()
            until(lambda: process.num_fds() <= before + 20)
            assert "result" in running.result(10)
            assert served.ask("/")[0] == 200
            assert 80 <= sum(map(ended, connections)) <= 83
            assert not no_answer(connections[-1], request)


def no_answer(connection, request=b""):
    """Sends bytes; returns whether the server has closed the connection."""
    connection.sendall(request)
    try:
        return not connection.recv(1000)
    except ConnectionResetError:
        return True


def ended(connection):
    """Returns whether the server has closed the connection, after all that it sent before."""
    connection.settimeout(0.01)
    try:
        while not no_answer(connection):
            pass
    except TimeoutError:
        return False
    finally:
        connection.settimeout(10)
    return True


def test_a_new_connection_is_closed_if_all_others_have_requests():
    with limited(TEXTCRAFT, connections=5) as served, contextlib.ExitStack() as opened:
        for _ in range(5):
            half = socket.create_connection(("127.0.0.1", served.port), 10)
            opened.enter_context(half).sendall(b"POST /create HTTP/1.1\r\n")
        time.sleep(0.2)
        late = opened.enter_context(socket.create_connection(("127.0.0.1", served.port), 10))
        assert no_answer(late)
        half.sendall(b"Host: localhost\r\nContent-Length: 2\r\n\r\n{}")
        assert half.recv(1000).startswith(b"HTTP/1.1 200")


def test_idle_sessions_end_but_never_while_a_request_runs():
    with limited(SLOW, "--set", "delay=1.5", idle=0.6) as served:
        call = caller(served, SLOW)
        session = call("reset", seed=1)["result"]["structuredContent"]["session"]
        answer = call("act", session=session, action="x")  # 1.5 s
        assert answer["result"]["structuredContent"]["observation"] == "turn 1"
        answer = call("act", session=session, action="x")
        assert answer["result"]["structuredContent"]["observation"] == "turn 2"
        until(lambda: served.sessions() == 0)
        assert "there is no session" in call("act", session=session, action="x")["error"]["message"]
        assert sum(served.metric("sessions_expired_total").values()) == 1


def test_requests_over_the_rate_wait_and_create_is_refused():
    with serving(TEXTCRAFT, "--workers", "1", "--rate", "20") as served:
        _, made = served.ask("/create", {})
        begun = time.monotonic()
        for _ in range(30):
            assert served.ask("/step", {"id": made["id"], "action": "inventory"})[0] == 200
        assert 0.4 < time.monotonic() - begun < 5
        status, answer = served.ask("/create", {})
        assert status == 503
        assert "more than 20 requests per second" in answer["error"]


def test_a_dead_worker_is_an_error_and_a_reset_brings_the_session_back():
    with serving(TEXTCRAFT, "--workers", "1") as served:
        _, made = served.ask("/create", {})
        (worker,) = served.workers()
        os.kill(worker, signal.SIGKILL)
        step = {"id": made["id"], "action": "inventory"}
        status, answer = served.ask("/step", step)
        assert (status, answer["code"]) == (500, "environment_failed")
        assert "reward" not in answer
        assert served.ask("/step", step)[0] == 409
        assert served.ask("/reset", {"id": made["id"], "data_idx": 1})[0] == 200
        assert served.ask("/step", step)[0] == 200
        kinds = served.metric("environment_failures_total")
        assert re.search("WorkerDied", str(kinds))


def test_sigterm_answers_what_runs_and_leaves_no_process():
    with serving(SLOW, "--workers", "1", "--set", "delay=1.0") as served:
        call = caller(served, SLOW)
        session = call("reset", seed=1)["result"]["structuredContent"]["session"]
        workers = served.workers()
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            late = threads.submit(call, "act", session=session, action="x")
            time.sleep(0.3)
            served.stop()
            answer = late.result(10)
        assert answer["result"]["structuredContent"]["observation"] == "turn 1"
        assert not any(psutil.pid_exists(pid) for pid in workers)


def test_a_failing_environment_never_becomes_a_reward():
    with serving(FAULTY, "--workers", "1") as served:
        call = caller(served, FAULTY)
        session = call("reset", seed=1)["result"]["structuredContent"]["session"]
        for fault in ("raise", "die"):
            answer = call("act", session=session, action=fault)
            assert "result" not in answer
            assert "goes on with a reset" in answer["error"]["message"]
            assert "result" in call("reset", session=session, seed=1)
