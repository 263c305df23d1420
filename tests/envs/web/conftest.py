import threading

import pytest
import stub_server
from browsers import alone, browsers, pytest_runtest_teardown  # noqa: F401
from pages import Outside, PagesEnv


def pytest_itemcollected(item):
    if {"make", "worlds"} & set(item.fixturenames):
        item.add_marker(pytest.mark.browser)


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
