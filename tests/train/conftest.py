import json

import pytest

from agentgym_envs import pool


@pytest.fixture(autouse=True, scope="session")
def described():
    """An environment of ours describes itself once for all tests in this process, because each description takes a new process."""
    known, ask = {}, pool.describe

    def describe(env_id, **kwargs):
        if not env_id.startswith("agentgym/"):  # a test may have written it
            return ask(env_id, **kwargs)
        key = json.dumps([env_id, kwargs], sort_keys=True, default=repr)
        if key not in known:
            known[key] = ask(env_id, **kwargs)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "describe", describe)
        yield


@pytest.fixture(autouse=True)
def no_end(monkeypatch):
    """A run in this process would end it, successfully, and the tests with it."""

    def end(status):
        raise AssertionError(f"a run has come to its end with status {status}")

    monkeypatch.setattr("agentgym_train.cli.leave", end)
