import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # machines are busy, and a first call loads what it needs
settings.load_profile("untimed")
os.environ["COLUMNS"] = "200"  # tables are printed whole, whatever the terminal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would what tests interrupt


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Games and indices are kept where the tox environment says, else for one session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTGYM_CACHE", os.environ.get("AGENTGYM_TEST_CACHE") or str(tmp_path_factory.mktemp("cache")))
        yield
