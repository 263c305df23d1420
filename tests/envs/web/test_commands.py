"""The commands ``agentgym install`` and ``agentgym sites``."""

import signal
import subprocess
import sys
import urllib.request
from importlib.metadata import distribution
from pathlib import Path

import pytest
from raised import raises
from typer.testing import CliRunner

from agentgym_envs import plugins, registry
from agentgym_envs.cli import app
from agentgym_envs.envs.web import install
from agentgym_envs.errors import MissingBrowser, MissingExtra

pytestmark = pytest.mark.timeout(120)


@pytest.mark.browser
def test_install_names_the_browser_that_is_there():
    done = CliRunner().invoke(app, ["install", "web"])
    assert done.exit_code == 0, done.output
    assert Path(done.output.partition("browser: ")[2].strip()).exists()


def test_install_says_what_is_wrong(monkeypatch):
    def fail():
        raise MissingBrowser("Use the system's: sudo apt-get install --yes chromium")

    monkeypatch.setattr(install, "install_browser", fail)
    done = CliRunner().invoke(app, ["install", "web"])
    assert done.exit_code == 2
    assert done.output.strip() == "error: Use the system's: sudo apt-get install --yes chromium"
    assert "nothing to install for 'games'" in CliRunner().invoke(app, ["install", "games"]).output


def test_sites_need_their_extra(monkeypatch):
    monkeypatch.setattr(registry, "_installed", lambda name: False)
    done = CliRunner().invoke(app, ["sites"])
    assert done.exit_code == 2
    assert 'pip install "agentgym-envs[web]"' in done.output


def test_without_their_distribution_the_sites_name_the_extra(monkeypatch):
    """As in an installation without agentgym-websites, whose entry point replaces another."""
    points = plugins.discover(plugins.ENVIRONMENTS)["agentgym/WebSites-v1"].points
    assert [point.dist.name for point in points] == ["agentgym-websites"]
    (placeholder,) = distribution("agentgym-envs").entry_points.select(name="agentgym/WebSites-v1")
    left = plugins._preferred((placeholder,))
    assert left == (placeholder,)
    assert plugins._preferred((placeholder, *points)) == points
    monkeypatch.setattr(registry, "_installed", lambda name: name != "agentgym-websites")
    command = registry.install_command(plugins.Plugin("agentgym/WebSites-v1", left))
    assert command == 'python -m pip install "agentgym-envs[web]"'
    with raises(MissingExtra, command):
        plugins.Plugin("agentgym/WebSites-v1", left).load()()


def test_the_old_modules_of_the_sites_name_the_new_ones():
    done = CliRunner().invoke(app, ["show", "agentgym_envs.envs.web.sites.env:WebSitesEnv"])
    assert done.exit_code == 2
    assert "agentgym_websites.env:WebSitesEnv" in done.output


@pytest.mark.full
def test_sites_are_served_until_they_are_interrupted():
    program = Path(sys.executable).parent / "agentgym"
    # A background job would ignore it.
    served = subprocess.Popen(
        [program, "sites", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    rows = []
    for line in served.stdout:
        cells = [cell.strip() for cell in line.split("│")[1:-1]]
        rows += [cells] if len(cells) == 4 else []
        if line.startswith("└"):
            break
    assert [row[0] for row in rows] == [
        "Harbor Supply",
        "Harbor Supply Admin",
        "Commonplace",
        "Forgeline",
        "Wayfinder",
    ]
    for title, address, user, password in rows:
        assert title in urllib.request.urlopen(address).read().decode()
        assert user
        assert password
    served.send_signal(signal.SIGINT)
    rest, _ = served.communicate(timeout=20)
    assert served.returncode == 0
    assert rest.strip() == "bye"
