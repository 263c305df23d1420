"""The client and the validator of openenv 0.10, for `tox run -e openenv`."""

import pytest
from raised import raises
from served import serving

from agentgym_envs import registry

pytestmark = pytest.mark.clients

MAZE = "agentgym/Maze-v1"


@pytest.fixture(scope="module")
def server():
    with serving(MAZE, "--workers", "1", "--sessions", "2") as served:
        yield served


@pytest.fixture
def client(server):
    from openenv.core.generic_client import GenericEnvClient

    with GenericEnvClient(base_url=f"{server.base}/openenv/{MAZE}").sync() as client:
        yield client


def test_a_session_is_that_of_the_environment(client):
    env = registry.make(MAZE, split="test")
    text, _ = env.reset(seed=7)
    result = client.reset(seed=7, split="test")
    assert (result.observation["text"], result.done) == (text, False)
    for turn, action in enumerate(env.unwrapped.oracle(), 1):
        text, reward, terminated, _, info = env.step(action)
        result = client.step({"action": action})
        assert (result.observation["text"], result.reward, result.done) == (
            text,
            reward,
            terminated,
        )
        assert client.state()["step_count"] == turn
    assert result.done
    assert result.observation["metadata"]["task_id"] == info["task_id"]


def test_a_reset_takes_a_task_of_the_task_api(server, client):
    _, answer = server.ask(f"/openenv/{MAZE}/{MAZE}/task", {"split": "test", "index": 12})
    result = client.reset(split="test", index=12)
    assert result.observation["metadata"]["task_id"] == answer["task"]["task_id"]


def test_errors_reach_the_client_with_the_field(client):
    with raises(RuntimeError, "reset", "EXECUTION_ERROR"):
        client.step({"action": "go north"})
    with raises(RuntimeError, "'rooms'", "VALIDATION_ERROR"):
        client.reset(rooms=[3])
    assert client.reset(seed=1).observation["text"]


def test_the_task_api_answers_as_openenvs_own_server(server):
    from fastapi.testclient import TestClient
    from openenv.core.env_server.http_server import create_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, Observation, State

    env = registry.make(MAZE, split="test").unwrapped
    specs = [
        {"task_id": task_id, "index": index, "difficulty": env.task_set.difficulty(task_id)}
        for index, task_id in enumerate(env.task_ids)
    ]

    class Provider(Environment):
        state = State()

        def reset(self, seed=None, episode_id=None, **kwargs):
            return Observation()

        def step(self, action, timeout_s=None, **kwargs):
            return Observation()

        def list_tasks(self, split):
            return specs

        def num_tasks(self, split):
            return len(specs)

        def get_task(self, split, index):
            return specs[index]

        def get_task_range(self, split, start=None, stop=None):
            return specs[start:stop]

    original = TestClient(create_app(Provider, Action, Observation, env_name="maze"))
    base = f"/openenv/{MAZE}"
    assert original.get("/list_environments").json() == ["maze"]
    assert server.ask(f"{base}/list_environments") == (200, [MAZE])
    for path, fields in [
        ("tasks", {}),
        ("num_tasks", {}),
        ("task", {"index": 12}),
        ("task", {"index": 400}),
        ("task_range", {}),
        ("task_range", {"start": 3, "stop": 6}),
        ("task_range", {"start": 395, "stop": 999}),
    ]:
        wanted = original.post(f"/maze/{path}", json={"split": "test", **fields})
        status, answer = server.ask(f"{base}/{MAZE}/{path}", {"split": "test", **fields})
        assert status == wanted.status_code
        if status == 200:
            names = {"env_name": MAZE} if path == "tasks" else {}
            assert answer == wanted.json() | names


def test_the_validator_passes(server):
    from openenv.cli._validation import validate_running_environment

    report = validate_running_environment(f"{server.base}/openenv/{MAZE}")
    assert report["passed"], report
