"""The browser's sandbox is on for each user except root."""

import os
import shutil

import psutil
import pytest

NOBODY = """#!/bin/sh
for word in "$@"; do
  case "$word" in --user-data-dir=*) chown -R nobody "${word#--user-data-dir=}";; esac
done
chown nobody "$TMPDIR"
exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp "$BROWSER" "$@"
"""


def command_line(env):
    return psutil.Process(env.session.chromium.pid).cmdline()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_another_user_than_root_has_a_sandbox(alone, make, tmp_path, monkeypatch):
    program = tmp_path / "browser"
    program.write_text(NOBODY)
    program.chmod(0o755)
    monkeypatch.setenv(
        "BROWSER", shutil.which("chromium-headless-shell") or shutil.which("chromium")
    )
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    env = make("<h1>home</h1>", browser=str(program))
    assert "home" in env.reset(seed=1)[0]
    assert psutil.Process(env.session.chromium.pid).uids().real == 65534
    assert "--no-sandbox" not in command_line(env)
    if "headless-shell" not in os.environ["BROWSER"]:
        env.session.open("chrome://sandbox")
        assert "You are adequately sandboxed" in env.step("scroll [down]")[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="as root the browser itself refuses its sandbox")
def test_a_browser_without_a_sandbox_says_so(alone, make, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    env = make("<h1>home</h1>")
    with pytest.warns(
        RuntimeWarning, match="runs without its sandbox: .*root without --no-sandbox"
    ):
        assert "home" in env.reset(seed=1)[0]
    assert "--no-sandbox" in command_line(env)


def test_root_has_none(alone, make):
    env = make("<h1>home</h1>")
    env.reset(seed=1)
    assert ("--no-sandbox" in command_line(env)) == (os.geteuid() == 0)
