"""MCP, with the client of the official SDK."""

import asyncio
import json

import gymnasium
import pytest
from served import serving

TEXTCRAFT = "agentgym/TextCraft-v2"


@pytest.fixture(scope="module")
def server():
    with serving(TEXTCRAFT, "--workers", "1", "--sessions", "2") as served:
        yield served


def talking(server, talk, **options):
    async def go():
        from mcp.client.client import Client  # slow to import

        async with Client(f"{server.base}/mcp/{TEXTCRAFT}", **options) as client:
            return await talk(client)

    return asyncio.run(go())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_plays_an_episode(server, mode):
    env = gymnasium.make(TEXTCRAFT)
    task_id = env.unwrapped.task_ids[0]
    env.reset(seed=4, options={"task_id": task_id})

    async def talk(client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"reset", "act", "inventory", "get", "craft", "end_session"}
        assert tools["get"].input_schema["required"] == ["session", "number", "item"]
        assert "craft" in client.instructions
        begun = await client.call_tool("reset", {"task_id": task_id, "seed": 4})
        session = begun.structured_content["session"]
        assert begun.content[0].text.startswith(f"Session: {session}\n\nCrafting commands")
        for action in env.unwrapped.oracle():
            answer = await client.call_tool("act", {"session": session, "action": action})
            assert answer.structured_content["observation"] == env.step(action)[0]
        assert answer.structured_content["success"]
        assert answer.content[0].text.endswith("The episode is over.")
        late = await client.call_tool("inventory", {"session": session})
        assert late.is_error
        assert "the episode is over" in late.content[0].text
        await client.call_tool("end_session", {"session": session})

    talking(server, talk, mode=mode)
    assert server.sessions() == 0


def test_functions_take_their_arguments_and_errors_name_them(server):
    async def talk(client):
        session = (await client.call_tool("reset", {"seed": 1})).structured_content["session"]
        got = await client.call_tool("get", {"session": session, "number": "2", "item": "flint"})
        assert got.structured_content["observation"] == "Got 2 flint"
        wrong = [
            ("get", {"session": session, "number": "2"}, "number, item"),
            ("act", {"session": session, "action": 5}, "action: must be a string"),
            ("act", {"action": "inventory"}, "session: the argument is missing"),
            ("act", {"session": 1, "action": "x"}, "there is no session 1"),
            ("fly", {"session": session}, "There is no function"),
            ("reset", {"recipes": "/etc/passwd"}, "'recipes': clients cannot set this"),
            ("reset", {"task_id": "nothing"}, "unknown task 'nothing'"),
        ]
        for name, arguments, message in wrong:
            answer = await client.call_tool(name, arguments)
            assert answer.is_error
            assert message in answer.content[0].text
        text = await client.call_tool(
            "act", {"session": session, "action": json.dumps({"name": "get"}) + "</think>"}
        )
        assert text.structured_content["observation"].startswith("Could not execute")
        await client.call_tool("end_session", {"session": session})

    talking(server, talk)
    assert server.sessions() == 0


def test_a_full_server_is_an_error_of_the_tool(server):
    async def talk(client):
        begun = [await client.call_tool("reset", {}) for _ in range(3)]
        assert [answer.is_error for answer in begun] == [False, False, True]
        assert "all 2 sessions are taken" in begun[2].content[0].text
        for answer in begun[:2]:
            await client.call_tool("end_session", {"session": answer.structured_content["session"]})

    talking(server, talk)


def test_errors_of_the_transport_are_those_of_json_rpc(server):
    """MCP's specification gives them this form; a body without JSON-RPC is that of this server."""
    good = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    cases = [
        (b"nonsense", good, 400),
        (b"{}", good, 400),
        (b"{}", {**good, "Accept": "text/html"}, 406),
        (b"{}", {**good, "Accept": "text/html", "MCP-Protocol-Version": "2026-07-28"}, 406),
        (b"{}", {**good, "Content-Type": "text/plain"}, 400),
    ]
    for body, headers, status in cases:
        found, answer = server.ask(f"/mcp/{TEXTCRAFT}", body, **headers)
        error = answer["error"]
        if isinstance(error, dict):
            assert answer["jsonrpc"] == "2.0"
            assert {"code", "message"} <= error.keys()
        else:
            assert answer["code"] == {400: "bad_request", 406: "not_acceptable"}[status]
        assert found == status, answer
        assert server.metric("requests_total")[f'{{protocol="mcp",status="{status}"}}'] > 0
