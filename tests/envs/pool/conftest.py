import pytest


@pytest.fixture(autouse=True, scope="package")
def own_workers(forked_workers):
    """The tests of the pool start its workers as users do."""
    forked_workers.uninstall()
    yield
    forked_workers.install()
