"""The client and the validator of openenv 0.10, for `tox run -e openenv`."""

import pytest
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


def test_errors_reach_the_client_with_the_field(client):
    with pytest.raises(RuntimeError, match=r"call reset first.*EXECUTION_ERROR"):
        client.step({"action": "go north"})
    with pytest.raises(RuntimeError, match=r"'rooms': clients cannot set this.*VALIDATION_ERROR"):
        client.reset(rooms=[3])
    assert client.reset(seed=1).observation["text"]


def test_the_validator_passes(server):
    from openenv.cli._validation import validate_running_environment

    report = validate_running_environment(f"{server.base}/openenv/{MAZE}")
    assert report["passed"], report
