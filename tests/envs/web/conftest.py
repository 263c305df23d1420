import http.server
import threading

import pytest
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
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Outside)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Outside.hits.clear()
    Outside.hang.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    Outside.hang.set()
    server.shutdown()
    server.server_close()
