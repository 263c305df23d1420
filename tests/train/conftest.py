import pytest
from warm import Warm


@pytest.fixture(scope="session")
def warm():
    """For runs that need no start of their own."""
    with Warm() as process:
        yield process


@pytest.fixture(autouse=True)
def no_end(monkeypatch):
    """A run in this process would end it, successfully, and the tests with it."""

    def end(status):
        raise AssertionError(f"a run has come to its end with status {status}")

    monkeypatch.setattr("agentgym_train.cli.leave", end)
