"""The OpenEnv protocol, with plain WebSockets; tox -e openenv runs the real client."""

import json
from socket import SHUT_RDWR

import gymnasium
import pytest
from raised import raises
from served import FAULTY, serving, until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

MAZE = "agentgym/Maze-v1"


@pytest.fixture(scope="module")
def server():
    with serving(MAZE, FAULTY, "--workers", "1", "--sessions", "4") as served:
        yield served


@pytest.fixture
def ask(server):
    """A connection to the maze: sends a message and returns the answer."""
    with connecting(server) as ask:
        yield ask


class connecting:  # noqa: N801
    def __init__(self, server, env_id=MAZE):
        self._opened = connect(f"ws://127.0.0.1:{server.port}/openenv/{env_id}/ws")
        self.socket = self._opened.__enter__()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.socket.close()

    def __call__(self, kind, **data):
        return self.send(json.dumps({"type": kind, "data": data}))

    def send(self, text):
        self.socket.send(text)
        answer = json.loads(self.socket.recv(30))
        return answer["type"], answer["data"]


def test_an_episode_is_that_of_the_environment(ask):
    env = gymnasium.make(MAZE, split="test", admissible=True)
    text, info = env.reset(seed=7)
    kind, data = ask("reset", seed=7, split="test", admissible=True, episode_id="mine")
    assert kind == "observation"
    assert data["observation"]["text"] == text
    assert data["metadata"] == {**info, "truncated": False} == data["observation"]["metadata"]
    assert (data["reward"], data["done"]) == (0.0, False)
    for turn, action in enumerate(env.unwrapped.oracle(), 1):
        text, reward, terminated, _, info = env.step(action)
        _, data = ask("step", action=action)
        assert data["observation"]["text"] == text
        assert (data["reward"], data["done"]) == (reward, terminated)
        assert ask("state") == (
            "state",
            {"episode_id": "mine", "step_count": turn, "task_id": info["task_id"]},
        )
    assert data["done"]
    kind, data = ask("step", action="go north")
    assert (kind, data["code"]) == ("error", "EXECUTION_ERROR")
    assert "the episode is over" in data["message"]


def test_a_step_before_a_reset_is_an_error_also_on_a_new_connection(server, ask):
    ask("reset", seed=1)
    with connecting(server) as again:
        kind, data = again("step", action="go north")
        assert (kind, data["code"]) == ("error", "EXECUTION_ERROR")
        assert "call reset first" in data["message"]
        assert again("reset", seed=1)[0] == "observation"


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("{", "INVALID_JSON", "message: must be JSON"),
        ("[]", "INVALID_JSON", "message: must be a JSON object"),
        ('{"type": "render"}', "UNKNOWN_TYPE", "type: must be reset, step, state or close"),
        ('{"type": "step", "data": []}', "VALIDATION_ERROR", "data: must be an object"),
        ('{"type": "step", "data": {"x": 1}}', "VALIDATION_ERROR", "'x': an action has no"),
        ('{"type": "step", "data": {}}', "VALIDATION_ERROR", "action: must be a string"),
        ('{"type": "reset", "data": {"seed": -1}}', "VALIDATION_ERROR", "seed: must be a whole"),
        ('{"type": "reset", "data": {"task_id": 5}}', "VALIDATION_ERROR", "task_id: must be a"),
        ('{"type": "reset", "data": {"task_id": "x"}}', "VALIDATION_ERROR", "unknown task 'x'"),
        ('{"type": "reset", "data": {"rooms": [4]}}', "VALIDATION_ERROR", "'rooms': clients"),
        ('{"type": "reset", "data": {"split": 5}}', "VALIDATION_ERROR", "split: must be a string"),
        ('{"type": "reset", "data": {"split": "x"}}', "VALIDATION_ERROR", "unknown split 'x'"),
    ],
)
def test_wrong_messages_name_the_field_and_the_session_goes_on(ask, text, code, message):
    ask("reset", seed=3)
    kind, data = ask.send(text)
    assert (kind, data["code"]) == ("error", code)
    assert message in data["message"]
    assert ask("reset", seed=3)[0] == "observation"


def test_a_failed_environment_is_an_error_and_comes_back_with_a_reset(server):
    with connecting(server, FAULTY.rpartition(":")[2]) as ask:
        ask("reset", seed=0)
        kind, data = ask("step", action="raise")
        assert (kind, data["code"]) == ("error", "EXECUTION_ERROR")
        assert "goes on with a reset" in data["message"]
        assert "call reset" in ask("step", action="x")[1]["message"]
        assert ask("reset", seed=5)[1]["observation"]["text"] == "seed 5"


def test_a_full_server_says_so_and_a_closed_connection_frees_its_place(server):
    until(lambda: server.sessions() == 0)
    sockets = [connecting(server) for _ in range(4)]
    with connecting(server) as late:
        answer = json.loads(late.socket.recv(10))
        assert answer["data"]["code"] == "CAPACITY_REACHED"
        with pytest.raises(ConnectionClosed):
            late.socket.recv(10)
    sockets[0].socket.send('{"type": "close"}')
    sockets[1].socket.socket.shutdown(SHUT_RDWR)  # without a word
    until(lambda: server.sessions() == 2)
    for one in sockets:
        one.socket.close()
    until(lambda: server.sessions() == 0)


def test_a_message_that_is_too_long_closes_the_connection_and_no_other(server, ask):
    ask("reset", seed=1)
    with connecting(server) as other:
        other("reset", seed=1)
        with raises(ConnectionClosed, "1009"):
            other("step", action="x" * 2**21)
    assert ask("step", action="x" * 10**6)[0] == "observation"


def test_the_pages_that_openenv_reads(server):
    base = f"/openenv/{MAZE}"
    assert server.ask(f"{base}/health") == (200, {"status": "healthy"})
    status, page = server.ask(f"{base}/metadata")
    assert (status, page["name"]) == (200, MAZE)
    assert "maze of rooms" in page["description"]
    assert set(server.ask(f"{base}/schema")[1]) == {"action", "observation", "state"}
    assert "/health" in server.ask(f"{base}/openapi.json")[1]["paths"]


@pytest.mark.parametrize("base", ["/openenv", f"/openenv/{MAZE}"])
def test_the_task_api_lists_the_tasks_of_the_splits(server, base):
    status, names = server.ask(f"{base}/list_environments")
    assert (status, names[0]) == (200, MAZE)
    base = f"{base}/{MAZE}"
    assert server.ask(f"{base}/splits") == (
        200,
        [
            {"name": "train", "type": "train"},
            {"name": "dev", "type": "validation"},
            {"name": "test", "type": "test"},
        ],
    )
    env = gymnasium.make(MAZE, split="test").unwrapped
    listed = [
        {"task_id": task_id, "index": index, "difficulty": env.task_set.difficulty(task_id)}
        for index, task_id in enumerate(env.task_ids)
    ]
    test = {"split": "test"}
    assert server.ask(f"{base}/num_tasks", test) == (200, {"num_tasks": len(listed)})
    assert server.ask(f"{base}/tasks", test) == (200, {"tasks": listed, "env_name": MAZE})
    assert server.ask(f"{base}/task", {**test, "index": 12}) == (200, {"task": listed[12]})
    for start, stop in ((3, 6), (None, 2), (390, 9999), (None, None)):
        fields = {**test, "start": start, "stop": stop}
        assert server.ask(f"{base}/task_range", fields) == (200, {"tasks": listed[start:stop]})
    assert server.ask(f"{base}/num_tasks", {"split": "train"})[1] != {"num_tasks": len(listed)}


@pytest.mark.parametrize(
    ("env_id", "path", "fields", "status", "message"),
    [
        (MAZE, "tasks", {}, 400, "split: must be train, dev or test, not None"),
        (MAZE, "tasks", {"split": "all"}, 400, "split: must be train, dev or test, not 'all'"),
        (MAZE, "task", {"split": "test"}, 400, "index: must be a whole number"),
        (MAZE, "task", {"split": "test", "index": -1}, 400, "index: must be a whole number"),
        (MAZE, "task", {"split": "test", "index": 400}, 400, "there is no task 400, only 0 to 399"),
        (MAZE, "task_range", {"split": "test", "stop": "9"}, 400, "stop: must be a whole number"),
        (FAULTY, "num_tasks", {"split": "test"}, 501, "has no list of tasks"),
    ],
)
def test_wrong_requests_for_tasks_name_the_field(server, env_id, path, fields, status, message):
    env_id = env_id.rpartition(":")[2]
    answer = server.ask(f"/openenv/{env_id}/{env_id}/{path}", fields)
    assert answer[0] == status
    assert message in answer[1]["error"]


def test_a_reset_takes_the_place_of_a_task_in_its_split(ask):
    env = gymnasium.make(MAZE, split="test").unwrapped
    for index in (5, 12):
        data = ask("reset", split="test", index=index)[1]
        assert data["metadata"]["task_id"] == env.task_ids[index]
    data = ask("reset", index=5)[1]
    assert data["metadata"]["task_id"] == gymnasium.make(MAZE).unwrapped.task_ids[5]
    assert "no task 400" in ask("reset", split="test", index=400)[1]["message"]
    assert "index: leave it out" in ask("reset", index=5, task_id="x")[1]["message"]


def test_tools_over_plain_json_rpc(server):
    def call(method, **params):
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        status, answer = server.ask(f"/openenv/{MAZE}/mcp", body)
        assert (status, answer["id"]) == (200, 7)
        return answer

    names = [tool["name"] for tool in call("tools/list")["result"]["tools"]]
    assert names == ["reset", "act", "go", "take", "end_session"]
    begun = call("tools/call", name="reset", arguments={"seed": 7})["result"]["structuredContent"]
    gone = call("tools/call", name="go", arguments={"session": begun["session"], "direction": "up"})
    assert gone["result"]["structuredContent"]["observation"].startswith("Not an action: go up")
    assert call("tools/call", name="go", arguments={})["error"]["code"] == -32602
    assert call("render")["error"]["code"] == -32601
    end = {"session": begun["session"]}
    assert (
        "has ended"
        in call("tools/call", name="end_session", arguments=end)["result"]["content"][0]["text"]
    )
    assert server.ask(f"/openenv/{MAZE}/mcp", {})[1]["error"]["code"] == -32600
