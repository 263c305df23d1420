"""Nothing of an episode outlives it.

A page leaves something, and a page of the next episode looks for it.
"""

import base64
import hashlib
import http.server
import shutil
import socket
import ssl
import subprocess
import threading

import pytest
import stub_server
from pages import ORIGIN, click

from agentgym_envs.envs.web.proxy import ProxyReply, ProxyRequest

LOCAL = "http://pages.localhost"  # a secure origin, where a browser offers the most functions
SHELL = pytest.mark.skipif(
    shutil.which("chromium-headless-shell") is None,
    reason="chromium-headless-shell is not installed",
)
BROWSERS = [None, pytest.param("chromium-headless-shell", marks=[pytest.mark.full, SHELL])]

DATABASE = (
    "new Promise(done => {{ const r = indexedDB.open('x', 1); r.onupgradeneeded = () =>"
    " r.result.createObjectStore('x');r.onsuccess = () => {{ const t = r.result.transaction('x',"
    " '{mode}').objectStore('x').{action};t.onsuccess = () => {{ r.result.close(); done(t.result ??"
    " 'nothing') }} }} }})"
)
FILE = (
    "navigator.storage.getDirectory().then(d => d.getFileHandle('x', {{create: {create}}})).then(()"
    " => 'there', () => 'nothing')"
)
KINDS = {
    "cookie": ("document.cookie = 'x=1; max-age=9999'", "document.cookie"),
    "cookie store": ("cookieStore.set('x', '1')", "cookieStore.getAll().then(c => c.length)"),
    "local storage": ("localStorage.x = 1", "localStorage.x"),
    "session storage": ("sessionStorage.x = 1", "sessionStorage.x"),
    "database": (
        DATABASE.format(mode="readwrite", action="put(1, 'x')"),
        DATABASE.format(mode="readonly", action="get('x')").replace("'nothing'", "''"),
    ),
    "cache storage": (
        "caches.open('x').then(c => c.put('/x', new Response('x')))",
        "caches.keys().then(k => k.length)",
    ),
    "file": (FILE.format(create="true"), FILE.format(create="false").replace("'nothing'", "''")),
    "window name": ("window.name = 'x'", "window.name"),
    "locked window name": (
        "window.name = 'x'; Object.defineProperty(window, 'name', {set() {}, get() { return '' }})",
        "window.name",
    ),
    "history": ("history.pushState(0, '', '/?x')", "history.length - 1"),
    "history state": ("history.replaceState('x', '')", "history.state"),
    "bucket": (
        "navigator.storageBuckets?.open('x')",
        "navigator.storageBuckets?.keys().then(k => k.length)",
    ),
    "zoom": (
        "document.documentElement.style.zoom = 2",
        "devicePixelRatio - 1 || visualViewport.scale - 1",
    ),
    "lock": (
        "void navigator.locks.request('x', () => new Promise(() => 0))",
        "navigator.locks.query().then(q => q.held.length)",
    ),
}
"""Kind → a script that leaves something, and one that finds it or returns a false value."""


@pytest.mark.parametrize("browser", BROWSERS)
def test_no_storage_outlives_an_episode(make, browser):
    env = make({"/": "<h1>home</h1>"}, origin=LOCAL, browser=browser)
    other = make({"/": "<h1>home</h1>"}, origin=LOCAL, browser=browser)
    left = {}
    for kind, (leave, look) in KINDS.items():
        env.reset(seed=1)
        assert env.session.tab.evaluate(f"Promise.resolve({look})") in (
            None,
            "",
            0,
            False,
        ), f"{kind}: there before"
        env.session.tab.evaluate(
            f"(async () => {{ const left = (() => {{ {leave if ';' in leave else 'return ' + leave}"
            " })(); await left })()"
        )
        if kind not in ("locked window name", "zoom"):
            assert env.session.tab.evaluate(f"Promise.resolve({look})") not in (
                None,
                "",
                0,
                False,
            ), f"{kind}: nothing was left"
        for world in (env, other):
            world.reset(seed=2)
            left[kind] = left.get(kind) or world.session.tab.evaluate(f"Promise.resolve({look})")
    assert {kind: value for kind, value in left.items() if value} == {}


@pytest.mark.parametrize("browser", BROWSERS)
def test_no_cache_outlives_an_episode(make, browser):
    asked = []
    kept = {"cache-control": "max-age=9999"}

    class Counting(dict):
        def get(self, path, default=None):
            asked.append(path)
            return super().get(path, default)

    env = make("", browser=browser)
    picture = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'></svg>"
    env.pages = Counting(
        {
            "/": "<img src=/picture><script src=/script></script><script>fetch('/data')</script>",
            "/picture": ProxyReply(200, kept | {"content-type": "image/svg+xml"}, picture),
            "/script": ProxyReply(
                200, kept | {"content-type": "text/javascript"}, b"document.title = 'ran'"
            ),
            "/data": ProxyReply(200, kept | {"content-type": "text/plain"}, b"x"),
        }
    )
    for _ in range(3):
        asked.clear()
        assert "ran" in env.reset(seed=1)[0]
        assert {"/picture", "/script", "/data"} <= set(asked)
        asked.clear()
        env.step("goto [http://pages.test/]")
        assert "/script" not in asked, "within an episode the cache is used"


@pytest.mark.parametrize("browser", BROWSERS)
def test_each_environment_has_a_clipboard(make, browser):
    field = "<input aria-label=A value='secret of {}'><input aria-label=B>"
    one, two = (
        make(field.format("one"), browser=browser),
        make(field.format("two"), browser=browser),
    )

    def copy(env):
        click(env, "A")
        env.step("press [ctrl+a]")
        env.step("press [ctrl+c]")

    def paste(env):
        click(env, "B")
        env.step("press [ctrl+a]")
        env.step("press [Delete]")
        env.step("press [ctrl+v]")
        return env.session.tab.evaluate("document.querySelectorAll('input')[1].value")

    one.reset(seed=1)
    copy(one)
    two.reset(seed=1)
    assert paste(two) == ""
    copy(two)
    assert (paste(one), paste(two)) == ("secret of one", "secret of two"), "each keeps its own"
    one.reset(seed=2)
    assert paste(one) == ""
    assert paste(two) == "secret of two"
    two.close()
    assert paste(one) == ""


@pytest.mark.parametrize("browser", BROWSERS)
def test_no_permission_outlives_an_episode(make, browser):
    env = make({"/": "<h1>home</h1>"}, origin=LOCAL, browser=browser)
    env.reset(seed=1)
    env.session.context.grant_permissions(["geolocation"])
    look = "navigator.permissions.query({name: 'geolocation'}).then(p => p.state)"
    assert env.session.tab.evaluate(look) == "granted"
    env.reset(seed=2)
    assert env.session.tab.evaluate(look) != "granted"


@pytest.mark.parametrize("browser", BROWSERS)
def test_keys_that_zoom_leave_nothing(make, browser):
    env = make({"/": "<h1>home</h1>"}, browser=browser)
    env.reset(seed=1)
    width = env.session.tab.evaluate("innerWidth")
    for _ in range(3):
        env.step("press [ctrl+Equal]")
    env.reset(seed=2)
    assert (
        env.session.tab.evaluate("innerWidth"),
        env.session.tab.evaluate("devicePixelRatio"),
    ) == (width, 1)


def test_an_episode_that_reached_a_server_gets_a_new_context(make, outside):
    """Everything that a foreign server stored, such as its rule to use https only, is removed."""
    env = make(f"<a href={outside}/x>go</a>", outside=(outside,))
    env.reset(seed=1)
    before = env.session.context
    env.reset(seed=2)
    assert env.session.context is before
    click(env, "go")
    env.reset(seed=3)
    assert env.session.context is not before
    assert click(env, "go")[4]["url"].startswith(outside)
    env.reset(seed=4)
    assert len(env.session.tabs) == 1


REGISTER = (
    "navigator.serviceWorker.register('/w.js')",
    "ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, '/w.js')",
    (
        "Object.getPrototypeOf(navigator.serviceWorker).register.call(navigator.serviceWorker,"
        " '/w.js')"
    ),
    "(delete ServiceWorkerContainer.prototype.register, navigator.serviceWorker.register('/w.js'))",
    (
        "frame.contentWindow.ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker,"
        " '/w.js')"
    ),
    "frame.contentWindow.navigator.serviceWorker.register('/w.js')",
    (
        "srcdoc.contentWindow.ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker,"
        " '/w.js')"
    ),
    (
        "Reflect.apply(Object.getOwnPropertyDescriptor(ServiceWorkerContainer.prototype,"
        " 'register').value, navigator.serviceWorker, ['/w.js'])"
    ),
)


@pytest.mark.parametrize("browser", BROWSERS)
def test_no_service_worker_registers(make, browser):
    env = make({"/": "<h1>home</h1>"}, origin=LOCAL, browser=browser)
    env.pages["/w.js"] = ProxyReply(
        200,
        {"content-type": "text/javascript"},
        b"onfetch = e => e.respondWith(new Response('owned'))",
    )
    env.reset(seed=1)
    frames = (
        "globalThis.frame ="
        " document.body.appendChild(document.createElement('iframe'));globalThis.srcdoc ="
        " document.body.appendChild(Object.assign(document.createElement('iframe'), {srcdoc:"
        " 'x'}));new Promise(done => srcdoc.onload = done)"
    )
    env.session.tab.evaluate(frames)
    for way in REGISTER:
        done = env.session.tab.evaluate(
            f"(async () => {way})().then(() => 'registered', error => error.name)"
        )
        assert done != "registered", way
        found = "navigator.serviceWorker.getRegistrations().then(found => found.length)"
        assert env.session.tab.evaluate(found) == 0, way
    assert env.step("scroll [down]")[4]["blocked"]["service worker"] >= len(REGISTER) - 1


def test_the_script_of_a_service_worker_is_not_served(make):
    """The proxy refuses it, by whatever means a page requests it."""
    env = make("<h1>home</h1>")
    env.pages["/w.js"] = "script"
    env.reset(seed=1)
    request = ProxyRequest("GET", f"{ORIGIN}/w.js", {}, b"")
    assert env.session.proxy.decide(request)
    assert env.session.proxy.decide(request._replace(headers={"service-worker": "script"})) is False


class Strict(http.server.BaseHTTPRequestHandler):
    """Demands https for all later requests."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("strict-transport-security", "max-age=99999")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


@pytest.fixture
def strict(tmp_path):
    """A server with a self-signed certificate.

    Returns its port, and a program that starts a browser which trusts the certificate.
    """

    def openssl(*words, given=None):
        return subprocess.run(
            ["openssl", *map(str, words)], input=given, capture_output=True, check=True
        ).stdout

    key, certificate = tmp_path / "key", tmp_path / "certificate"
    about = ("-subj", "/CN=hsts.test", "-addext", "subjectAltName=DNS:hsts.test", "-days", "2")
    openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, *about
    )
    public = openssl(
        "pkey",
        "-pubin",
        "-outform",
        "der",
        given=openssl("x509", "-in", certificate, "-pubkey", "-noout"),
    )
    trusted = base64.b64encode(hashlib.sha256(public).digest()).decode()
    program = tmp_path / "browser"
    program.write_text(
        f"#!/bin/sh\nexec {shutil.which('chromium')}"
        f' --ignore-certificate-errors-spki-list={trusted} "$@"\n'
    )
    program.chmod(0o755)
    server = stub_server.StubServer(("127.0.0.1", 0), Strict)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, str(program)
    server.shutdown()
    server.server_close()


def test_no_demand_for_https_outlives_an_episode(make, strict, monkeypatch):
    port, program = strict
    connect = socket.create_connection
    monkeypatch.setattr(
        socket, "create_connection", lambda place, **how: connect(("127.0.0.1", place[1]), **how)
    )
    env = make(
        {"/": "<h1>plain</h1>"},
        origin="http://hsts.test",
        browser=program,
        outside=(f"http://hsts.test:{port}",),
    )
    env.reset(seed=1)
    assert "ok" in env.step(f"goto [https://hsts.test:{port}/]")[0]
    assert env.step("goto [http://hsts.test/]")[4]["invalid"], (
        "the browser now asks for https, which nobody answers"
    )
    assert "plain" in env.reset(seed=2)[0]
    assert "plain" in env.step("goto [http://hsts.test/]")[0]
