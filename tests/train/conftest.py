import json

import pytest

from agentgym_envs import pool


@pytest.fixture(autouse=True, scope="session")
def described():
    """Describes each built-in environment once per test process: a description starts a process."""
    known, ask = {}, pool.describe

    def describe(env_id, **kwargs):
        if not env_id.startswith("agentgym/"):  # a test can have written it
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
    """A run in this process would end the process, and the tests with it, with exit status 0."""

    def end(status):
        raise AssertionError(f"a run has come to its end with status {status}")

    monkeypatch.setattr("agentgym_train.cli.leave", end)
