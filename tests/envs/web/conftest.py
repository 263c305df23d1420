import threading
from pathlib import Path

import pytest
import stub_server
from pages import Outside, PagesEnv

from agentgym_envs.envs.web.chromium import process


def pytest_itemcollected(item):
    if {"make", "worlds"} & set(item.fixturenames):
        item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Ends the browsers after the last test of this folder.

    A test elsewhere can need a thread without Playwright's event loop.
    """
    yield
    if nextitem is None or nextitem.path.parent != Path(__file__).parent:
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


@pytest.fixture
def make():
    made = []

    def build(pages, **kwargs):
        made.append(PagesEnv({"/": pages} if isinstance(pages, str) else pages, **kwargs))
        return made[-1]

    yield build
    for env in made:
        env.close()


@pytest.fixture
def outside():
    server = stub_server.StubServer(("127.0.0.1", 0), Outside)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Outside.hits.clear()
    Outside.hang.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    Outside.hang.set()
    server.shutdown()
    server.server_close()
