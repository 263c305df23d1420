"""A server of ``agentgym serve`` in a process, for the tests of a file."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

FAULTY = "faulty_envs:support/Faulty-v0"
SLOW = "faulty_envs:support/Slow-v0"


class Served:
    """A running server."""

    def __init__(self, process, base):
        self.process = process
        self.base = base
        self.port = int(base.rpartition(":")[2])

    def ask(self, path, body=None, *, method=None, **headers):
        """Returns the status and the JSON value of an answer; bytes are sent as they are."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        method = method or ("GET" if data is None else "POST")
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def metric(self, name):
        """Returns the values of a metric by labels."""
        with urllib.request.urlopen(f"{self.base}/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        found = {}
        for line in lines:
            if line.startswith(f"agentgym_{name}"):
                key, _, value = line.rpartition(" ")
                found[key.removeprefix(f"agentgym_{name}")] = float(value)
        return found

    def sessions(self):
        """Returns the number of open sessions."""
        return sum(v for k, v in self.metric("sessions").items() if k.startswith("{"))

    def stop(self, signum=signal.SIGTERM):
        """Ends the server; returns its exit status."""
        self.process.send_signal(signum)
        return self.process.wait(60)

    def workers(self):
        """Returns the process ids of the server's workers."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as children:
            own = children.read().split()
        for thread in os.listdir(f"/proc/{pid}/task"):
            if thread != str(pid):
                with open(f"/proc/{pid}/task/{thread}/children") as children:
                    own += children.read().split()
        return [int(one) for one in own]


def _environment():
    """Returns variables with which the server can import the modules of this folder."""
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


@contextmanager
def serving(*arguments, script="agentgym_envs.cli", stderr=None, **variables):
    """Starts ``agentgym serve`` on a free port and ends it afterwards."""
    python = os.environ.get("SERVED_PYTHON", sys.executable)  # of another environment
    command = [python, "-m", script, "serve", *arguments, "--port", "0"]
    process = subprocess.Popen(
        command,
        env=_environment() | variables,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("the server: "), line
        yield Served(process, line.split()[-1])
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def limited(*arguments, stderr=None, **limits):
    """Starts a server with limits that the command does not offer."""
    variables = {"SERVED_LIMITS": repr(limits)}
    options = {"script": "served_limits", "stderr": stderr}
    return serving(*arguments, "--workers", "1", **options, **variables)


def until(condition, seconds=10):
    """Waits for a condition."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


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


def post(path, body, more=""):
    """Returns the bytes of a request."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


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
