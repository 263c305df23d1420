"""Halves of surrogate pairs in answers of servers: nothing that goes on holds one."""

import asyncio
import json
from dataclasses import asdict

import pytest
from raised import raises
from stub_apis import StubAnthropic, StubGoogle, StubResponses, raw
from stub_model import StubModel, ok, status

from agentgym_envs.errors import ProviderError
from agentgym_envs.models.answers import ToolCall
from agentgym_envs.models.connect import connect
from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.surrogates import whole, whole_json
from agentgym_envs.wrappers.formats import FunctionCallFormat

pytestmark = pytest.mark.usefixtures("provider_sdks")

HALF, BOTH = "\ud83d", "\U0001f600"
ODD, CLEAN = f"a {HALF} b {BOTH}", f"a ? b {BOTH}"
ASKED = [{"role": "user", "content": f"Where {HALF}?"}]
INSIDE = json.dumps({"to": ODD})  # the half is an escape in a text, which a second decoding makes


def chat(text):
    call = {"id": "c", "type": "function", "function": {"name": text, "arguments": INSIDE}}
    return ok(text, tool_calls=[call], reasoning_content=text, reasoning_details=[{"text": text}])


def anthropic(text):
    thought = {"type": "thinking", "thinking": text, "signature": "s"}
    call = {"type": "tool_use", "id": "c", "name": text, "input": {"to": text}}
    return StubAnthropic.said(blocks=[thought, {"type": "text", "text": text}, call])


def responses(text):
    thought = {"type": "reasoning", "id": "r", "encrypted_content": "s"}
    thought["summary"] = [{"type": "summary_text", "text": text}]
    call = {"type": "function_call", "call_id": "c", "name": text, "arguments": INSIDE}
    return StubResponses.said(text, items=[thought, call])


def google(text):
    parts = [
        {"text": text, "thought": True},
        {"functionCall": {"name": text, "args": {"to": text}}},
    ]
    return StubGoogle.said(text, parts=parts)


STUBS = {
    "chat": (StubModel, chat),
    "anthropic": (StubAnthropic, anthropic),
    "responses": (StubResponses, responses),
    "google": (StubGoogle, google),
}
every_api = pytest.mark.parametrize("api", STUBS)


def use(model, api, *conversations):
    async def main():
        endpoint = ModelEndpoint(model="stub", api=api, base_url=model.url, retries=0)
        async with connect(endpoint) as client:
            return [await client.complete(messages) for messages in conversations]

    return asyncio.run(main())


@every_api
def test_a_reply_and_the_next_request(api):
    stub, answer = STUBS[api]
    with stub([answer(ODD)]) as model:
        (reply,) = use(model, api, ASKED)
        (call,) = reply.tool_calls
        result = {"role": "tool", "tool_call_id": call.id, "content": ODD}
        use(model, api, [*ASKED, reply.message(), result])
    assert (reply.text, reply.reasoning, call.name) == (CLEAN, CLEAN, CLEAN)
    assert call.values() == {"to": CLEAN}
    json.dumps(asdict(reply), ensure_ascii=False).encode()
    bodies = [r.body for r in model.requests if r.method == "POST"]
    for body in bodies:
        sent = json.dumps(body, ensure_ascii=False).replace("\\\\", "\\")
        sent.encode()
        assert "\\ud83d" not in sent.replace("\\ud83d\\ude00", ""), "an escape in the arguments"
    assert sent.count(BOTH) + sent.count("\\ud83d\\ude00") >= 4, "whole pairs stay"


@every_api
def test_bytes_that_utf8_forbids(api):
    """Some servers write each half with the bytes of its code point."""
    stub, answer = STUBS[api]
    taken = {}

    def behave(handler, request):
        handler.answer = lambda code, body, headers=None: taken.update(body=body)
        answer(ODD)(handler, request)
        del handler.answer
        data = json.dumps(taken["body"], ensure_ascii=False).encode("utf-8", "surrogatepass")
        raw(data)(handler, request)

    with stub(lambda request: behave) as model:
        (reply,) = use(model, api, ASKED)
    assert (reply.text, reply.tool_calls[0].name) == (CLEAN, CLEAN)


@every_api
def test_an_error_message_and_the_name_of_the_model(api):
    stub, _ = STUBS[api]
    said = {"message": f"bad {HALF}", "type": HALF, "code": HALF, "status": HALF}
    with stub([status(400, body={"type": "error", "error": said})]) as model:
        with raises(ProviderError, "400: bad") as caught:
            use(model, api, ASKED)
        str(caught.value).encode()


def test_the_name_of_a_served_model():
    body = {"model": ODD, "choices": [{"message": {"content": "a"}}]}
    with StubModel([status(200, body=body)]) as model:
        (reply,) = use(model, "chat", ASKED)
    assert reply.model == CLEAN


def test_arguments_are_decoded_again():
    calls = FunctionCallFormat({"say": "say {to}"})
    for arguments in (INSIDE, json.dumps(INSIDE), {"to": ODD}):
        response = json.dumps({"name": "say", "arguments": arguments})
        assert calls.parse(response) == f"say {CLEAN}"
    assert ToolCall("say", INSIDE).values() == {"to": CLEAN}


def test_an_answer_of_the_server_that_holds_no_half_stays_as_it_is():
    data = {"a": [BOTH, 1.5, None, {"b": "\\ud83d"}]}
    assert whole_json(data) is data
    assert whole(BOTH) is BOTH
    assert whole("\ude00\ud83d") == "??"
    assert whole_json({HALF: ["\ud83d" + "\ude00"]}) == {"?": [BOTH]}
