"""No page leaves its episode: the ways of `ways_out.toml` arrive only where they are allowed."""

import os
import shutil
import socket
import threading
import time
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import agentgym_envs.envs.web as web
from agentgym_envs.envs.web.proxy import ProxyReply

README = (Path(web.__file__).parent / "README.md").read_text()
FILE = Path(__file__).parents[2] / "support" / "ways_out.toml"
WAYS = tomllib.loads(FILE.read_text())
REDIRECTS = [f"redirect-{status}" for status in (301, 302, 303, 307, 308)]
NAMES = [
    *(name for kind in ("elements", "scripts", "programs", "refreshes") for name in WAYS[kind]),
    *REDIRECTS,
    *WAYS["headers"],
    "program-by-a-redirect",
]
pytestmark = pytest.mark.timeout(300)


def pages(host: str, udp: int, file: str) -> dict[str, str | ProxyReply]:
    """Returns path → page, with one page for each way."""

    def filled(text: str, name: str) -> str:
        return (
            text.replace("OUT", f"http://{host}/{name}")
            .replace("HOST", host)
            .replace("UDP", str(udp))
            .replace("FILE", file)
        )

    made: dict[str, str | ProxyReply] = {
        f"/{name}": filled(text, name) for name, text in WAYS["elements"].items()
    }
    made |= {f"/{name}": text for name, text in WAYS["refreshes"].items()}
    for name, text in {**WAYS["scripts"], **WAYS["programs"]}.items():
        made[f"/{name}"] = f"<body><script>try {{ {filled(text, name)} }} catch {{}}</script>"
    made["/program-by-a-redirect"] = ProxyReply(
        302, {"Location": "mailto:a@b.test?body=words"}, b""
    )
    for name in REDIRECTS:
        status = int(name.removeprefix("redirect-"))
        made[f"/{name}"] = ProxyReply(status, {"Location": filled("OUT", name)}, b"")
    for name, headers in WAYS["headers"].items():
        sent = {key: filled(value, name) for key, value in headers.items()}
        made[f"/{name}"] = ProxyReply(200, {"content-type": "text/html", **sent}, b"<img src=/x>")
    script = {"content-type": "text/javascript"}
    made["/shared.js"] = ProxyReply(200, script, b"fetch(location.search.slice(1))")
    made["/shared-socket.js"] = ProxyReply(
        200, script, b"new WebSocket('ws://' + location.search.slice(1) + '/shared-worker-socket')"
    )
    made["/service.js"] = ProxyReply(200, script, b"fetch(location.search.slice(1))")
    return made | {"/": "<title>Home</title>"}


class Outside:
    """A port for connections and one for datagrams; keeps the first message of each."""

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
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 0\r\n\r\n"
            )

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


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Programs of a desktop, first in the search path; returns the file with their calls."""
    called = tmp_path / "called"
    for name in (
        "xdg-open",
        "xdg-email",
        "xdg-settings",
        "gio",
        "kde-open",
        "sensible-browser",
        "x-www-browser",
    ):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {called}\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return called


def tried(make, outside, browser, tmp_path, reachable=(), every=1):
    """Opens a page for each way, in a secure context, where a browser offers the most functions."""
    secret = tmp_path / "secret.html"
    secret.write_text(
        "<h1>a secret of the host</h1><script>location = 'http://secret.test/'</script>"
    )
    served = pages(outside.host, outside.udp, secret.as_uri())
    env = make(served, origin="http://pages.localhost", browser=browser, outside=reachable)
    env.reset(seed=1)
    blocked = Counter()
    for name in NAMES[::every]:
        text, *_, info = env.step(f"goto [{env.origin}/{name}]")
        assert "a secret" not in text, name
        time.sleep(0.05)
        blocked |= info["blocked"]
        if len(env.session.tabs) > 5:
            env.reset(seed=1)
    time.sleep(2.0)
    env.close()
    return blocked


SHELL = pytest.mark.skipif(
    shutil.which("chromium-headless-shell") is None,
    reason="chromium-headless-shell is not installed",
)


@pytest.mark.parametrize(
    ("browser", "every"),
    [
        (None, 8),
        pytest.param(None, 1, marks=pytest.mark.full),
        pytest.param("chromium-headless-shell", 1, marks=[pytest.mark.full, SHELL]),
    ],
)
def test_no_way_leads_out(alone, make, outside, programs, tmp_path, browser, every):
    assert len(set(NAMES)) == len(NAMES) >= 160
    assert f"[{len(NAMES)} ways out]" in README
    blocked = tried(make, outside, browser, tmp_path, every=every)
    assert (outside.heard, outside.datagrams) == ([], [])
    assert not programs.exists(), programs.read_text()
    assert blocked[f"http://{outside.host}"] >= 90 // every
    if every == 1:
        assert blocked >= Counter({outside.host: 1, "mailto:": 1, "tel:": 1, "service worker": 1})


@pytest.mark.full
def test_the_ways_are_ways(alone, make, outside, programs, tmp_path):
    """If pages can reach the outside server, nearly all ways reach it."""
    tried(make, outside, None, tmp_path, reachable=(f"http://{outside.host}",))
    arrived = {
        word.split(b" ")[1].decode("latin-1").strip("/").partition("?")[0]
        for word in outside.heard
        if b" " in word
    }
    assert len(arrived & set(NAMES)) >= 130, sorted(set(NAMES) - arrived)
