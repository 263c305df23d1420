"""Effects that no page shows: the next observation reports them."""

import os
import socket
from pathlib import Path

import pytest
from pages import ORIGIN, click
from some import full

from agentgym_envs.envs.web import effects
from agentgym_envs.envs.web.effects import EpisodeEffects
from agentgym_envs.envs.web.proxy import ProxyReply


def notes(text):
    return [
        line
        for line in text.splitlines()
        if line.startswith(("BLOCKED", "DOWNLOAD", "DIALOG", "ERROR", "FAILED"))
    ]


SCHEMES = ("mailto:a@b.test?body=words", "tel:123", "vscode://file/x")
EXTERNAL = {
    "click": "<a href='{}'>go</a>",
    "new tab": "<a href='{}' target=_blank>go</a>",
    "script": "<button onclick=\"location = '{}'\">go</button>",
    "frame": (
        "<button onclick=\"document.body.append(Object.assign(document.createElement('iframe'),"
        " {{src: '{}'}}))\">go</button>"
    ),
    "form": "<form action='{}' method=post><button>go</button></form>",
    "window": "<button onclick=\"window.open('{}')\">go</button>",
    "redirect": "<a href=/away>go</a>",
    "frame's redirect": (
        "<button onclick=\"document.body.innerHTML += '<iframe src=/away></iframe>'\">go</button>"
    ),
    "refresh": "<a href=/refresh>go</a>",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder with programs of a desktop that log their calls."""
    folder = tmp_path_factory.mktemp("programs")
    for name in (
        "xdg-open",
        "xdg-email",
        "xdg-settings",
        "gio",
        "kde-open",
        "exo-open",
        "sensible-browser",
        "x-www-browser",
    ):
        (folder / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {folder}/called\n')
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("count", [1, pytest.param(len(SCHEMES), marks=pytest.mark.full)])
def test_no_scheme_starts_a_program(alone, make, monkeypatch, programs, count):
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    env = make({"/": "<h1>home</h1>"})
    env.reset(seed=1)
    for scheme in SCHEMES[:count]:
        kind = scheme.partition(":")[0] + ":"
        away = {"/away": ProxyReply(302, {"Location": scheme}, b"")}
        refresh = {
            "/refresh": f"<button>kept</button><meta http-equiv=refresh content='0; url={scheme}'>"
        }
        for way, page in EXTERNAL.items():
            env.pages = {"/": page.format(scheme), **away, **refresh}
            env.reset(seed=1)
            text, *_, info = click(env, "go")
            assert info["blocked"] == {kind: 1}, (way, scheme)
            expected = f"BLOCKED: {scheme}{'?' if way == 'form' else ''}"
            assert notes(text)[0].startswith(expected.removesuffix("?")), (way, scheme)
            assert "would start a program outside of the browser" in notes(text)[0]
    env.pages = {"/": "<button onclick=\"document.title = 'heard'\">press</button>"}
    env.reset(seed=1)
    assert "heard" in click(env, "press")[0], "no hidden question holds the page up"
    assert not (programs / "called").exists()


def test_a_blocked_link_says_so(make, outside):
    env = make(
        {
            "/": (
                f"<a href={outside}/link>leave</a><a href={outside}/new target=_blank>open</a><a"
                " href=/away>away</a><a href=https://safe.test/x>safe</a><img"
                f" src={outside}/image.png>"
            ),
            "/away": ProxyReply(302, {"Location": f"{outside}/redirected"}, b""),
        }
    )
    assert notes(env.reset(seed=1)[0]) == [], "a picture is no action's effect"
    assert notes(click(env, "leave")[0]) == [f"BLOCKED: {outside}/link is not part of this task"]
    assert notes(click(env, "away")[0]) == [
        f"BLOCKED: {outside}/redirected is not part of this task"
    ]
    assert notes(env.step("scroll [down]")[0]) == []
    assert notes(click(env, "open")[0]) == [f"BLOCKED: {outside}/new is not part of this task"]
    env.reset(seed=1)
    assert notes(click(env, "safe")[0]) == ["BLOCKED: https://safe.test/x is not part of this task"]
    text = env.step(f"goto [{outside}/there]")[0]
    assert f"ERROR: {outside}/there cannot be opened: it is not part of this task" in notes(text)


def test_all_windows_of_an_action_have_a_line(make, outside):
    script = f"window.open('{outside}/one'); window.open('{outside}/two')"
    env = make(f'<button onclick="{script}">go</button>')
    env.reset(seed=1)
    lines = [f"BLOCKED: {outside}/{name} is not part of this task" for name in ("one", "two")]
    assert notes(click(env, "go")[0]) == lines


def test_the_count_is_of_different_addresses(make, outside):
    """A browser repeats and opens connections at will."""
    ask = (
        f"for (let i = 0; i < 5; i++) {{ fetch('{outside}/one').catch(() => 0);"
        " fetch('https://safe.test/').catch(() => 0) }"
    )
    env = make(f"<h1>x</h1><script>{ask}; fetch('{outside}/two').catch(() => 0)</script>")
    env.reset(seed=1)
    *_, info = env.step("scroll [down]")
    assert info["blocked"] == {outside: 2, "safe.test:443": 1}


def test_downloads_are_kept_and_listed(make):
    csv = {"content-type": "text/csv", "content-disposition": "attachment; filename=report.csv"}
    env = make(
        {
            "/": (
                "<a href=/report>report</a><a href='data:text/plain,hello'"
                " download='../../note.txt'>note</a>"
            ),
            "/report": ProxyReply(200, csv, b"a,b\n1,2\n"),
        }
    )
    env.reset(seed=1)
    text, *_, info = click(env, "report")
    assert notes(text) == ["DOWNLOAD: report.csv (8 bytes)"]
    assert info["url"] == f"{ORIGIN}/"
    click(env, "report")
    text, *_, info = click(env, "note")
    files = [Path(file) for file in info["downloads"]]
    assert [file.name for file in files][:2] == ["report.csv", "report (2).csv"]
    assert files[0].read_text() == "a,b\n1,2\n"
    assert files[2].read_text() == "hello"
    assert len({file.parent for file in files}) == 1, "no name leads out of the folder"
    assert notes(env.step(f"goto [{ORIGIN}/report]")[0]) == ["DOWNLOAD: report (3).csv (8 bytes)"]
    env.reset(seed=2)
    assert not files[0].exists()
    assert "downloads" not in env.step("scroll [down]")[4]
    folder = files[0].parent
    env.close()
    assert not folder.exists()


def test_downloads_are_limited(make, monkeypatch):
    monkeypatch.setattr(effects, "DOWNLOADS", 2)
    monkeypatch.setattr(effects, "DOWNLOAD_BYTES", 1000)
    env = make("<a href='data:text/plain,x' download=x.txt>small</a><a href=/large>large</a>")
    env.pages["/large"] = ProxyReply(200, {"content-type": "application/zip"}, b"x" * 2000)
    env.reset(seed=1)
    click(env, "small")
    text, *_, info = click(env, "large")
    assert notes(text) == ["DOWNLOAD: large.zip was stopped: a download may have 1,000 bytes"]
    text, *_, info = click(env, "small")
    assert notes(text) == ["DOWNLOAD: x.txt was stopped: an episode may download 2 files"]
    assert [Path(file).name for file in info["downloads"]] == ["x.txt"]
    assert info["blocked"] == {"download": 2}


def test_a_dialog_between_two_actions_is_shown(make):
    env = make("<h1>x</h1>")
    env.reset(seed=1)
    env.session.tab.post("Runtime.evaluate", expression="setTimeout(() => alert('late'))")
    for _ in range(20):
        env.session.chromium.connection.wait(0.1)
        if env.session.effects.notes:
            break
    assert notes(env.step("scroll [down]")[0]) == ["DIALOG: alert: late (accepted)"]
    assert notes(env.step("scroll [down]")[0]) == []


@pytest.mark.parametrize(
    ("name", "kept"),
    [("a/b.txt", "b.txt"), ("..", "download"), ("c:\\d\\e.txt", "e.txt"), ("", "download")],
)
def test_a_download_gets_a_name_within_the_folder(tmp_path, name, kept):
    found = EpisodeEffects(tmp_path)
    (tmp_path / "1").write_text("x")
    found.begin_download("1", name)
    found.downloaded("1", "completed", 1)
    assert [file.name for file in found.files] == [kept]
    assert found.files[0].parent == tmp_path


@pytest.mark.parametrize("url", ["file:///etc/passwd", *full("data:text/html,hello")])
def test_a_link_that_the_browser_refuses_has_a_line(make, url):
    env = make({"/": f"<title>home</title><a href='{url}'>go</a>"})
    env.reset(seed=1)
    text, *_, info = click(env, "go")
    assert notes(text) == [f"BLOCKED: {url} cannot be opened by a page"]
    assert (info["blocked"], env.session.tab.title) == ({url.partition(":")[0] + ":": 1}, "home")


def test_a_document_that_does_not_open_has_a_line(make):
    with socket.create_server(("127.0.0.1", 0)) as server:
        dead = f"http://127.0.0.1:{server.getsockname()[1]}"
    unsafe = f"{ORIGIN}:6000/x"
    links = {"unsafe": unsafe, "dead": f"{dead}/y", "empty": "/empty"}
    pages = {"/": "".join(f"<a href={url}>{name}</a> " for name, url in links.items())}
    env = make({**pages, "/empty": ProxyReply(204, {}, b"")}, outside=[dead])
    reasons = {
        unsafe: "net::ERR_UNSAFE_PORT",
        f"{dead}/y": f"the server at {dead[7:]} does not answer (Connection refused)",
    }
    for name in ("unsafe", "dead"):
        env.reset(seed=1)
        url = links[name]
        assert notes(click(env, name)[0]) == [f"FAILED: {url} did not open: {reasons[url]}"]
        expected = f"ERROR: {url} cannot be opened: {reasons[url]}"
        assert notes(env.step(f"goto [{url}]")[0]) == [expected]
    env.reset(seed=1)
    assert notes(click(env, "empty")[0]) == []
