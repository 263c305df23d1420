"""A browser is installed from the first working source: this machine, Playwright, the system."""

import sys

import pytest

from agentgym_envs.envs.web import install
from agentgym_envs.errors import MissingBrowser

DOWNLOAD = [sys.executable, "-m", "playwright", "install", "chromium"]
LIBRARIES = [sys.executable, "-m", "playwright", "install-deps", "chromium"]
APT = [
    ["apt-get", "update"],
    ["apt-get", "install", "--yes", "--no-install-recommends", "chromium-headless-shell"],
    ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"],
]


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine where a browser starts once certain commands have run.

    Returns a function that returns the commands of an installation and its result.
    """

    def build(*needed, user, downloads=False, tools=("apt-get",)):
        run = []

        def usable(own):
            if all(command in run for command in needed):
                return "/there/chromium"
            raise MissingBrowser("a library is missing" if (tmp_path / "own").exists() else "none")

        def call(command):
            run.append(command)
            if command == DOWNLOAD and downloads:
                (tmp_path / "own").touch()
            return 0 if command in needed else 1

        monkeypatch.setattr(install, "usable", usable)
        monkeypatch.setattr(install, "own_executable", lambda: str(tmp_path / "own"))
        monkeypatch.setattr(install.os, "geteuid", lambda: user)
        monkeypatch.setattr(install.shutil, "which", lambda name: name if name in tools else None)
        try:
            return run, install.install_browser(call)
        except MissingBrowser as error:
            return run, str(error)

    return build


def test_a_browser_that_starts_is_left_as_it_is(machine):
    assert machine(user=0) == ([], "/there/chromium")


@pytest.mark.parametrize("user", [0, 1000])
def test_playwrights_download_comes_first(machine, user):
    assert machine(DOWNLOAD, user=user, downloads=True) == ([DOWNLOAD], "/there/chromium")


def test_root_installs_the_libraries_of_a_download(machine):
    assert machine(LIBRARIES, user=0, downloads=True) == ([DOWNLOAD, LIBRARIES], "/there/chromium")


def test_root_installs_the_systems_package_where_the_download_fails(machine):
    """The faster package comes first; some systems have only the other one."""
    assert machine(APT[1], user=0) == ([DOWNLOAD, *APT[:2]], "/there/chromium")
    assert machine(APT[2], user=0) == ([DOWNLOAD, *APT], "/there/chromium")


def test_other_users_get_the_systems_command(machine):
    run, error = machine(APT[2], user=1000)
    assert run == [DOWNLOAD]
    assert "Use the system's: sudo apt-get install --yes chromium-headless-shell || sudo" in error
    run, error = machine(LIBRARIES, user=1000, downloads=True)
    assert (run, error) == ([DOWNLOAD], "Playwright's browser does not start: a library is missing")


def test_a_system_without_a_known_package_manager_names_the_browsers(machine):
    run, error = machine(APT[2], user=0, tools=())
    assert run == [DOWNLOAD]
    assert error.endswith("Use the system's: install Chromium or Chrome by hand")


@pytest.mark.browser
def test_a_browser_is_usable_only_if_it_starts(tmp_path):
    own = tmp_path / "own"
    own.write_text("#!/bin/sh\nexit 127\n")
    own.chmod(0o755)
    with pytest.raises(MissingBrowser, match="does not start"):
        install.usable(str(own))
    found = install.find(None, install.own_executable())
    own.write_text(f'#!/bin/sh\nexec "{found}" "$@"\n')
    assert install.usable(str(own)) == str(own)
