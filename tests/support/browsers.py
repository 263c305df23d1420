"""Browsers of the tests of web pages: they keep running from test to test."""

import os
from functools import lru_cache

import pytest

from agentgym_envs.envs.web import install
from agentgym_envs.envs.web.chromium import process
from agentgym_envs.errors import MissingBrowser


@lru_cache
def missing_browser():
    """Returns the reason why no browser starts; empty if one does."""
    try:
        install.usable(install.own_executable())
    except MissingBrowser as error:
        return str(error)
    return ""


def need_browser():
    """Skips a test where no browser starts; fails it where one is required."""
    if reason := missing_browser():
        required = os.environ.get("AGENTGYM_REQUIRE_BROWSER", "0") not in ("", "0")
        (pytest.fail if required else pytest.skip)(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Ends the browsers after the last test of a folder.

    A test elsewhere can need a thread without Playwright's event loop.
    """
    yield
    if nextitem is None or nextitem.path.parent != item.path.parent:
        end()


KEPT = []


def end():
    """Ends the browsers that are kept."""
    while KEPT:
        process.give_back(KEPT.pop(0))


@pytest.fixture(autouse=True)
def browsers(monkeypatch):
    """Keeps browsers running when their last environment closes; returns a function that ends them.

    A start takes longer than most tests.
    """

    def keep(setting):
        chromium = type(process).take(process, setting)
        if setting.executable is None and chromium not in KEPT:
            KEPT.append(chromium)
            chromium.users += 1
        return chromium

    monkeypatch.setattr(process, "take", keep)
    return end


@pytest.fixture
def alone(browsers, monkeypatch):
    """Runs a test without browsers of other tests, and ends its browsers afterwards."""
    browsers()
    monkeypatch.setattr(process, "take", type(process).take.__get__(process))
