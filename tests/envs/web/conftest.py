import http.server
import threading

import pytest
from pages import Outside, PagesEnv

from agentgym_envs.envs.web.chromium import process


def pytest_itemcollected(item):
    if {"make", "worlds"} & set(item.fixturenames):
        item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package", autouse=True)
def browsers():
    """Browsers stay when their last environment closes, since a start takes longer than most tests; yields how to end them."""
    kept = []

    def keep(setting):
        chromium = type(process).take(process, setting)
        if setting.executable is None and chromium not in kept:
            kept.append(chromium)
            chromium.users += 1
        return chromium

    def end():
        while kept:
            process.give_back(kept.pop(0))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "take", keep)
        yield end
        end()


@pytest.fixture
def alone(browsers, monkeypatch):
    """No browser runs before the test, and none stays for the next one."""
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
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Outside)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Outside.hits.clear()
    Outside.hang.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    Outside.hang.set()
    server.shutdown()
    server.server_close()
