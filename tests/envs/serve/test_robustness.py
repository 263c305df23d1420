"""A server among bad clients: limits, rights, garbage, lost connections and dead workers."""

import base64
import concurrent.futures
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, suppress

import psutil
import pytest
from raised import raises
from served import FAULTY, SLOW, caller, limited, post, serving, speak, until
from typer.testing import CliRunner
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from agentgym_envs.cli import app

TEXTCRAFT = "agentgym/TextCraft-v2"


@pytest.fixture(scope="module")
def server():
    with serving(TEXTCRAFT, "--workers", "1", "--sessions", "64") as served:
        yield served


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


@pytest.mark.full
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
    assert result.stdout == "", "no address of a server that does not start"


@pytest.mark.full
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


@pytest.mark.full
def test_requests_over_the_rate_wait_and_create_is_refused():
    with serving(TEXTCRAFT, "--workers", "1", "--rate", "20") as served:
        _, made = served.ask("/create", {})
        begun = time.monotonic()
        for _ in range(30):
            assert served.ask("/step", {"id": made["id"], "action": "inventory"})[0] == 200
        assert 0.4 < time.monotonic() - begun < 5
        # On a busy machine one request can come late enough to be within the rate.
        with concurrent.futures.ThreadPoolExecutor(20) as threads:
            answers = list(threads.map(lambda _: served.ask("/create", {}), range(20)))
        refused = [answer["error"] for status, answer in answers if status == 503]
        assert refused
        assert all("more than 20 requests per second" in error for error in refused)


@pytest.mark.full
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
            assert served.stop() == 143
            answer = late.result(10)
        assert answer["result"]["structuredContent"]["observation"] == "turn 1"
        assert not any(psutil.pid_exists(pid) for pid in workers)


def test_sigterm_waits_for_no_half_request_and_not_for_long_for_an_unread_answer():
    with limited(TEXTCRAFT, last_answer=1.0) as served, ExitStack() as opened:
        address = ("127.0.0.1", served.port)
        assert served.ask("/")[0] == 200
        for half in (b"POS", post("/create", b"{}")[:-1], post("/create", b"")[:-2]):
            opened.enter_context(socket.create_connection(address, 10)).sendall(half)
        begun = time.monotonic()
        unread = opened.enter_context(socket.create_connection(address, 10))
        unread.setblocking(False)
        with suppress(BlockingIOError):
            while time.monotonic() < begun + 2:  # answers fill the buffers
                unread.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
        begun = time.monotonic()
        assert served.stop() == 128 + signal.SIGTERM
        assert time.monotonic() - begun < 4


def test_sigterm_says_that_it_waits_and_answers_a_websocket():
    path = f"/openenv/{SLOW.partition(':')[2]}/ws"
    with serving(SLOW, "--workers", "1", "--set", "delay=1.5", stderr=subprocess.PIPE) as served:
        with connect(f"ws://127.0.0.1:{served.port}{path}", compression=None) as running:
            running.send('{"type": "reset", "data": {"seed": 1}}')
            assert "seed" in running.recv(30)
            running.send('{"type": "step", "data": {"action": "x"}}')
            time.sleep(0.2)
            served.process.terminate()
            assert "turn 1" in running.recv(30)
            with raises(ConnectionClosed, "1012"):
                running.recv(30)
        with served.process.stderr as lines:
            assert "waiting at most 30 s for the requests of 1 connections" in lines.read()


def test_a_failing_environment_never_becomes_a_reward():
    with serving(FAULTY, "--workers", "1") as served:
        call = caller(served, FAULTY)
        session = call("reset", seed=1)["result"]["structuredContent"]["session"]
        for fault in ("raise", "die"):
            answer = call("act", session=session, action=fault)
            assert "result" not in answer
            assert "goes on with a reset" in answer["error"]["message"]
            assert "result" in call("reset", session=session, seed=1)
