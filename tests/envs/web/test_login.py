"""Saved logins, and the commands that write them."""

import http.server
import json
import socket
import stat
import threading
import time

import pytest
import stub_server
from pages import ORIGIN, PagesEnv
from raised import raises
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.envs.web.session import BrowserSession
from agentgym_envs.envs.web.webarena import login, reset
from agentgym_envs.envs.web.webarena.config import SITES, read_tasks, site_urls
from agentgym_envs.envs.web.webarena.login import SiteAccount, sites_of, write_logins
from agentgym_envs.errors import ArgumentError, EnvRaised, EnvTimeout, TaskError
from agentgym_websites.host import SITES as HOSTED
from agentgym_websites.host import Servers

pytestmark = pytest.mark.timeout(180)
OTHER = "http://other.test"
SHOW = (
    "<title>-</title><script>document.title = [localStorage.token,"
    " document.cookie].join('|')</script>"
)


class Stored(PagesEnv):
    """Begins with a saved state; two origins answer."""

    def __init__(self, state=None):
        self.state = state
        super().__init__({"/": SHOW})

    def serve(self, request):
        return super().serve(request._replace(url=request.url.replace(OTHER, ORIGIN)))

    def make_session(self):
        return BrowserSession(
            self._chromium, self.serve, self.timeout, clock=self.clock, state=self.state
        )


@pytest.fixture
def stored():
    made = []

    def build(state=None):
        made.append(Stored(state))
        return made[-1]

    yield build
    for env in made:
        env.close()


@pytest.mark.browser
def test_a_saved_login_with_local_storage_of_two_origins_is_restored(stored, tmp_path):
    env = stored()
    env.reset(seed=1)
    for origin, token in ((ORIGIN, "one"), (OTHER, "two")):
        env.step(f"goto [{origin}/]")
        env.session.tab.evaluate(
            f"localStorage.token = '{token}'; document.cookie = 'user={token}; max-age=9999'; 0"
        )
    file = tmp_path / "state.json"
    env.session.context.storage_state(path=file)
    saved = json.loads(file.read_text())
    assert {origin["origin"] for origin in saved["origins"]} == {ORIGIN, OTHER}
    for state in (file, str(file), saved):
        for _ in range(2):
            again = stored(state)
            assert "Tab 0 (current): one|user=one" in again.reset(seed=1)[0]
            assert "two|user=two" in again.step(f"goto [{OTHER}/]")[0]
            assert len(again.session.tabs) == 1
            again.close()


def accounts(servers):
    """Returns the accounts of our own sites, which stand for WebArena's."""
    found = {}
    for name, site in (("shopping", "shop"), ("reddit", "forum"), ("gitlab", "code")):
        hosted = HOSTED[site]
        row = servers.host.database(hosted.tables).execute(
            f"SELECT login, password FROM ({hosted.people}) WHERE id = ?", (hosted.user,)
        )
        found[name] = SiteAccount(*row.fetchone(), "/login")
    return found


@pytest.fixture(scope="module")
def servers():
    running = Servers()
    yield running
    running.close()


@pytest.fixture
def urls(servers, monkeypatch):
    for name in SITES:
        monkeypatch.delenv(name, raising=False)
    found = {
        "SHOPPING": servers.origins["shop"],
        "REDDIT": servers.origins["forum"],
        "GITLAB": servers.origins["code"],
    }
    for name, url in found.items():
        monkeypatch.setenv(name, url)
    return found


def task(number, state):
    check = {
        "eval_types": ["string_match"],
        "reference_answers": {"exact_match": "x"},
        "reference_url": "",
        "program_html": [],
    }
    site = sites_of(state)[0]
    return {
        "task_id": number,
        "sites": [site],
        "start_url": f"__{site.upper()}__",
        "intent": "x",
        "storage_state": state,
        "eval": check,
    }


@pytest.mark.full
@pytest.mark.browser
def test_logins_are_written_and_used(servers, urls, tmp_path, monkeypatch):
    import gymnasium

    known = accounts(servers)
    states = [
        "./.auth/shopping_state.json",
        "./.auth/gitlab.reddit_state.json",
        "./.auth/shopping_admin_state.json",
    ]
    config = tmp_path / "test.raw.json"
    config.write_text(json.dumps([task(i, state) for i, state in enumerate(states)]))
    monkeypatch.setattr(login, "ACCOUNTS", {**login.ACCOUNTS, **known})
    monkeypatch.setattr(
        "agentgym_envs.envs.web.webarena.command.ACCOUNTS", {**login.ACCOUNTS, **known}
    )
    ran = CliRunner().invoke(
        app, ["webarena", "login", "--config", str(config), "--folder", str(tmp_path)]
    )
    assert ran.exit_code == 0, ran.output
    lines = ran.output.splitlines()
    assert sum(line.endswith(": signed in") for line in lines) == 2
    assert any(
        line.endswith("shopping_admin_state.json: left out, SHOPPING_ADMIN not set")
        for line in lines
    )
    file = tmp_path / ".auth/gitlab.reddit_state.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    called = []
    keywords = {"config": config, "split": "all", "pause": 0.0, "reset": called.append}
    for logins in (tmp_path, None):
        monkeypatch.setattr(
            "agentgym_envs.envs.web.webarena.env.ACCOUNTS", {**login.ACCOUNTS, **known}
        )
        env = gymnasium.make("agentgym/WebArena-v1", logins=logins, **keywords).unwrapped
        text, _ = env.reset(options={"task_id": "gitlab-1"})
        assert "link 'Sign in'" not in text
        browser = env.session.chromium
        env.reset(options={"task_id": "shopping-0"})
        assert env.session.chromium is browser, "the browser stays from one episode to the next"
        env.close()
    assert [found["task_id"] for found in called] == [1, 0, 1, 0]


@pytest.mark.browser
@pytest.mark.browser
def test_a_site_that_does_not_answer_is_named_at_once_and_the_others_are_signed_in_at(
    servers, urls, tmp_path, monkeypatch
):
    config = tmp_path / "test.raw.json"
    config.write_text(json.dumps([task(0, "shopping_state.json"), task(1, "gitlab_state.json")]))
    monkeypatch.setattr(
        "agentgym_envs.envs.web.webarena.command.ACCOUNTS", {**login.ACCOUNTS, **accounts(servers)}
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        monkeypatch.setenv("SHOPPING", f"http://127.0.0.1:{free.getsockname()[1]}")
    began = time.monotonic()
    ran = CliRunner().invoke(
        app, ["webarena", "login", "--config", str(config), "--folder", str(tmp_path)]
    )
    assert ran.exit_code == 2
    assert "does not answer (Connection refused)" in ran.output
    assert "gitlab_state.json: signed in" in ran.output
    assert time.monotonic() - began < login.SECONDS / 2


def test_a_wrong_password_is_said(servers, urls, tmp_path, monkeypatch):
    monkeypatch.setattr(login, "SECONDS", 10)
    wrong = {"shopping": SiteAccount("nobody", "wrong", "/login")}
    with raises(EnvRaised, "'nobody'", "http://127"):
        write_logins(tmp_path, ["shopping_state.json"], urls, wrong)
    assert not (tmp_path / "shopping_state.json").exists()


@pytest.mark.browser
def test_a_start_page_that_does_not_open_says_why(urls, tmp_path):
    import gymnasium

    config = tmp_path / "test.raw.json"
    dead, elsewhere = task(0, "shopping_state.json"), task(1, "shopping_state.json")
    dead |= {"start_url": "__MAP__/x", "storage_state": None}
    elsewhere |= {"start_url": "http://elsewhere.test/", "storage_state": None}
    config.write_text(json.dumps([dead, elsewhere]))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    places = {"map": f"http://127.0.0.1:{port}", "shopping": urls["SHOPPING"]}
    env = gymnasium.make(
        "agentgym/WebArena-v1", config=config, split="all", pause=0.0, urls=places
    ).unwrapped
    with raises(EnvRaised, f"127.0.0.1:{port}", "Connection refused"):
        env.reset(options={"task_id": "shopping-0"})
    with raises(
        EnvRaised, "http://elsewhere.test/", "GITLAB, MAP, REDDIT, SHOPPING", "more_hosts="
    ):
        env.reset(options={"task_id": "shopping-1"})
    env.close()


def test_addresses_come_by_name():
    environ = {"SHOPPING": "http://a", "WA_REDDIT": "http://b/", "WA_SHOPPING": "http://c"}
    assert site_urls(None, environ) == {"SHOPPING": "http://a", "REDDIT": "http://b"}
    assert (
        site_urls({"shopping": "http://d/", "Map": "https://e"}, environ)["SHOPPING"] == "http://d"
    )
    with raises(ArgumentError, "'shop'"):
        site_urls({"shop": "http://d"}, environ)
    with raises(ArgumentError, "map", "'e.example'"):
        site_urls({"map": "e.example"}, environ)


def test_the_tasks_of_the_installed_package(tmp_path, monkeypatch):
    with raises(TaskError, "libwebarena"):
        read_tasks("libwebarena", {})
    (tmp_path / "webarena").mkdir()
    (tmp_path / "webarena/__init__.py").write_text("raise ImportError('has many dependencies')")
    (tmp_path / "webarena/test.raw.json").write_text(json.dumps([task(0, "shopping_state.json")]))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [found["task_id"] for found in read_tasks("libwebarena", {})] == [0]


@pytest.mark.parametrize("name", ["shopping.json", "shop_state.json", "gitlab.shop_state.json"])
def test_a_login_file_is_named_after_its_sites(name):
    assert sites_of("./.auth/gitlab.reddit_state.json") == ["gitlab", "reddit"]
    with pytest.raises(ArgumentError, match="must be named after its sites"):
        sites_of(name)


@pytest.mark.parametrize("text", ["shopping", "shop=a:b", "shopping=a", "shopping=:b"])
def test_an_account_that_cannot_be_is_refused(text):
    ran = CliRunner().invoke(app, ["webarena", "login", "--account", text])
    assert ran.exit_code == 2
    assert "must be site=user:password" in ran.output


class ResetServer(http.server.BaseHTTPRequestHandler):
    log: list = []
    ready_after = 2
    running = False

    def do_GET(self):
        self.log.append(self.path)
        known = self.path in ("/reset", "/status")
        self.send_response(418 if self.running and self.path == "/reset" else 200 if known else 404)
        self.end_headers()
        done = self.log.count("/status") > self.ready_after
        self.wfile.write(b"Ready for duty!" if self.path == "/status" and done else b"Working")

    def log_message(self, *_):
        pass


@pytest.fixture
def reset_server():
    ResetServer.log, ResetServer.ready_after, ResetServer.running = [], 2, False
    server = stub_server.StubServer(("127.0.0.1", 0), ResetServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("running", [False, True])
def test_a_reset_is_waited_for(reset_server, running):
    ResetServer.running = running
    reset.full_reset(f"{reset_server}/", pause=0.0)
    assert ResetServer.log == ["/reset", "/status", "/status", "/status"]


def test_a_reset_that_fails_says_why(reset_server):
    with raises(EnvRaised, "404"):
        reset.full_reset(f"{reset_server}/else", pause=0.0)
    ResetServer.ready_after = 10**9
    with raises(EnvTimeout, "0.1 s", "'Working'"):
        reset.full_reset(reset_server, wait=0.1, pause=0.0)
    with raises(EnvRaised, "http://127"):
        reset.full_reset("http://127.0.0.1:9")
