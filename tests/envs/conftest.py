import pytest


def pytest_itemcollected(item):
    if "browser" in item.fixturenames:
        item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def browser():
    """A real one, for pages of ours; its host names lead nowhere."""
    from agentgym_envs.envs.web import chromium

    taken = chromium.process.take(chromium.BrowserOptions())
    yield taken.browser
    chromium.process.give_back(taken)
