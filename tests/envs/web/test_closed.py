"""No page leaves its episode: what is tried in `ways_out` arrives where it may, and nowhere else."""

import shutil
import socket
import threading
import time
from pathlib import Path

import pytest
import ways_out

import agentgym_envs.envs.web as web

README = (Path(web.__file__).parent / "README.md").read_text()
pytestmark = pytest.mark.timeout(300)


class Outside:
    """A port for connections and one for datagrams; keeps what came first over each."""

    def __init__(self):
        self.heard, self.datagrams = [], []
        self._server = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._server.getsockname()[1]}"
        self.udp = self._udp.getsockname()[1]
        for target in (self._accept, self._receive):
            threading.Thread(target=target, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        with connection:
            self.heard.append(connection.recv(2000))
            connection.sendall(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 0\r\n\r\n")

    def _receive(self):
        while data := self._udp.recv(2000):
            self.datagrams.append(data)

    def close(self):
        self._server.close()
        self._udp.close()


@pytest.fixture
def outside():
    server = Outside()
    yield server
    server.close()


def tried(make, outside, browser, reachable=()):
    """Opens a page for each way, in a secure context, where a browser offers most."""
    env = make(ways_out.pages(outside.host, outside.udp), origin="http://pages.localhost", browser=browser, outside=reachable)
    env.reset(seed=1)
    blocked = set()
    for name in ways_out.NAMES:
        *_, info = env.step(f"goto [{env.origin}/{name}]")
        time.sleep(0.1)
        blocked |= set(info["blocked"])
        if len(env.session.tabs) > 5:
            env.reset(seed=1)
    time.sleep(2.0)
    env.close()
    return blocked


SHELL = pytest.mark.skipif(shutil.which("chromium-headless-shell") is None, reason="chromium-headless-shell is not installed")


@pytest.mark.parametrize("browser", [None, pytest.param("chromium-headless-shell", marks=[pytest.mark.full, SHELL])])
def test_no_way_leads_out(make, outside, browser):
    assert len(set(ways_out.NAMES)) >= 77
    assert f"[{len(ways_out.NAMES)} ways out]" in README
    blocked = tried(make, outside, browser)
    assert (outside.heard, outside.datagrams) == ([], [])
    assert blocked >= {f"http://{outside.host}", outside.host}


@pytest.mark.full
def test_the_ways_are_ways(make, outside):
    """Where the server outside may be reached, nearly all of them reach it."""
    tried(make, outside, None, reachable=(f"http://{outside.host}",))
    arrived = {word.split(b" ")[1].decode("latin-1").strip("/") for word in outside.heard if b" " in word}
    assert len(arrived & set(ways_out.NAMES)) >= 77
