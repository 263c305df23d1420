"""What a folder remembers of the commands that filled it."""

import json

import pytest
from raised import raises

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.record import LAYOUT, SETTINGS, RunRecord, read_settings
from agentgym_envs.evaluate.sessions import session, without_secrets
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.models.endpoint import ModelEndpoint

SAMPLE = RunSettings(agent="react", model="m")
SERVER = ModelEndpoint(model="m", base_url="http://127.0.0.1:1/v1", api_key_env="MY_KEY")
ROW = {
    **dict.fromkeys(("suite", "scenario", "family", "env_id", "task_id", "settings"), "x"),
    "row": "fault",
    "difficulty": 0,
    "attempt": 0,
    "usage": {},
    "fault": "agent",
    "try": 1,
    "turns": 0,
}


def one(version="1.0", **more):
    return {"date": "2026-01-01", "versions": {"agentgym-envs": version}, **more}


def play(folder, version, *, change=False):
    record = RunRecord(folder, SAMPLE)
    try:
        record.begin(one(version), change=change)
        record.add(ROW)
    finally:
        record.close()


def test_a_change_of_the_version_is_refused_unless_allowed_and_recorded(tmp_path):
    play(tmp_path, "1.0")
    play(tmp_path, "1.0")
    kept = (tmp_path / SETTINGS).read_bytes()
    with raises(ArgumentError, "1.0", "1.1", "--allow"):
        play(tmp_path, "1.1")
    assert (tmp_path / SETTINGS).read_bytes() == kept
    play(tmp_path, "1.1", change=True)
    play(tmp_path, "1.1")
    versions = [each["versions"]["agentgym-envs"] for each in read_settings(tmp_path)["sessions"]]
    assert versions == ["1.0", "1.0", "1.1", "1.1"]


def test_results_of_an_unknown_version_are_not_mixed(tmp_path):
    play(tmp_path, "1.0")
    found = read_settings(tmp_path)
    del found["sessions"]
    (tmp_path / SETTINGS).write_text(json.dumps(found))
    with raises(ArgumentError, "unknown version"):
        play(tmp_path, "1.0")


@pytest.mark.parametrize("layout", [LAYOUT + 1, "2"])
def test_a_folder_of_a_newer_version_is_left_alone(tmp_path, layout):
    (tmp_path / SETTINGS).write_text(json.dumps({"layout": layout, "new": 1}))
    kept = (tmp_path / SETTINGS).read_bytes()
    with raises(ArgumentError, "newer version"):
        RunRecord(tmp_path, SAMPLE)
    assert [path.name for path in tmp_path.iterdir()] == [SETTINGS]
    assert (tmp_path / SETTINGS).read_bytes() == kept


def test_a_session_names_the_packages_of_its_environments():
    found = session(["agentgym/BabyAI-v2", "module:own/Env-v0"], ["eval", "x y"], [SERVER])
    assert {"agentgym-envs", "minigrid", "httpx2"} <= set(found["versions"])
    assert found["command"] == "agentgym eval 'x y'"
    assert found["date"].endswith("+00:00")


def test_the_served_models_are_noted_at_once(tmp_path):
    record = RunRecord(tmp_path, SAMPLE)
    record.begin(one(), change=False)
    for name, served in (("m-1", 1), ("m-1", 1), ("", 1), ("m-2", 2)):
        record.served(name)
        assert read_settings(tmp_path)["sessions"][0]["served"] == ["m-1", "m-2"][:served]
    record.close()


@pytest.mark.parametrize(
    ("argument", "kept"),
    [
        ("password=hunter2 or more", "password=…"),
        ("NQ.api_key=abc", "NQ.api_key=…"),
        ("db_password=x", "db_password=…"),
        ("max_tokens=5", "max_tokens=5"),
        ("Bearer sk-0123456789", "Bearer …"),
    ],
)
def test_secrets_are_removed_from_the_command(monkeypatch, argument, kept):
    monkeypatch.setenv("MY_KEY", "sk-0123456789")
    assert without_secrets(["--set", argument], [SERVER]) == ["--set", kept]
