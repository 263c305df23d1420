"""The connections of a server: half requests, and the limit of their number."""

import concurrent.futures
import http.client
import resource
import socket
import time
from contextlib import ExitStack

import psutil
import pytest
from served import SLOW, caller, limited, speak, until

from agentgym_envs.serve.limits import allow_descriptors

TEXTCRAFT = "agentgym/TextCraft-v2"


@pytest.mark.full
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


@pytest.mark.full
def test_connections_above_the_limit_close_the_unused_ones():
    request = b"GET /openenv/list_environments HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with limited(SLOW, "--set", "delay=1.0", connections=20) as served:
        process = psutil.Process(served.process.pid)
        call = caller(served, SLOW)
        session = call("reset", seed=1)["result"]["structuredContent"]["session"]
        before = process.num_fds()
        with concurrent.futures.ThreadPoolExecutor(1) as threads, ExitStack() as opened:
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


@pytest.mark.full
def test_connections_without_a_whole_request_are_closed_first():
    with limited(SLOW, "--set", "delay=1.0", connections=5) as served, ExitStack() as opened:
        call = caller(served, SLOW)
        session = call("reset", seed=1)["result"]["structuredContent"]["session"]
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            running = threads.submit(call, "act", session=session, action="x")
            used = http.client.HTTPConnection("127.0.0.1", served.port, timeout=5)
            opened.callback(used.close)
            used.request("GET", "/")
            assert used.getresponse().read()
            for _ in range(20):
                half = socket.create_connection(("127.0.0.1", served.port), 10)
                opened.enter_context(half).sendall(b"POST /create HTTP/1.1\r\n")
                time.sleep(0.01)
            assert "result" in running.result(10)
            used.request("GET", "/")
            assert used.getresponse().read()
        half.sendall(b"Host: localhost\r\nContent-Length: 2\r\n\r\n{}")
        assert half.recv(1000).startswith(b"HTTP/1.1 404")


@pytest.mark.full
def test_a_new_connection_is_closed_if_all_others_have_requests():
    with limited(SLOW, "--set", "delay=1.0", connections=2) as served, ExitStack() as opened:
        call = caller(served, SLOW)
        numbers = [call("reset", seed=1)["result"]["structuredContent"]["session"] for _ in "ab"]
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            running = [
                threads.submit(call, "act", session=number, action="x") for number in numbers
            ]
            time.sleep(0.4)
            late = opened.enter_context(socket.create_connection(("127.0.0.1", served.port), 10))
            assert no_answer(late)
            assert all("result" in one.result(10) for one in running)


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


def test_the_limit_of_open_files_is_raised_as_far_as_it_goes():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lower = soft // 2 if soft > 0 else 512
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lower, hard))
        for wanted, found in ((lower - 1, lower), (lower + 9, lower + 9), (lower, lower + 9)):
            allow_descriptors(wanted)
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (found, hard)
        if hard != resource.RLIM_INFINITY:
            allow_descriptors(hard + 1)
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
