"""OpenAI's client against the same test server.

The server follows the protocol, and both clients retry the same requests.
"""

import asyncio

import pytest
from some import every
from stub_model import StubModel, close, half, hang, ok, reset, status, tool_call

from agentgym_envs.errors import ProviderError
from agentgym_envs.models.client import ChatClient, ModelEndpoint

pytestmark = pytest.mark.usefixtures("provider_sdks")

MESSAGES = [{"role": "user", "content": "Where to?"}]
TOOL = {
    "type": "function",
    "function": {"name": "go", "parameters": {"type": "object", "properties": {}}},
}


def sdk(model, **options):
    import openai  # slow to import

    return openai.OpenAI(base_url=model.url, api_key="k", **options)


def ours(model, retries=1, timeout=10.0, **options):
    async def main():
        async with ChatClient(
            ModelEndpoint(model="stub", base_url=model.url, retries=retries, timeout=timeout)
        ) as client:
            return await client.complete(MESSAGES, **options)

    return asyncio.run(main())


def theirs(model, retries=1, timeout=10.0, **options):
    with sdk(model, max_retries=retries, timeout=timeout) as client:
        return client.chat.completions.create(model="stub", messages=MESSAGES, **options)


@pytest.mark.parametrize("behaviour", [ok("go north"), tool_call("go", {"to": "north"})])
def test_both_read_the_same_reply_and_send_the_same_request(behaviour):
    with StubModel([behaviour]) as model:
        reply, completion = ours(model, tools=[TOOL], seed=3), theirs(model, tools=[TOOL], seed=3)
    choice = completion.choices[0]
    assert (reply.text, reply.finish) == (choice.message.content or "", choice.finish_reason)
    called = [
        (c.function.name, c.function.arguments, c.id) for c in choice.message.tool_calls or ()
    ]
    assert [(c.name, c.arguments, c.id) for c in reply.tool_calls] == called
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (
        completion.usage.prompt_tokens,
        completion.usage.completion_tokens,
    )
    first, second = model.requests
    assert (first.method, first.path, first.body) == (second.method, second.path, second.body)


def test_the_models():
    with StubModel(models=["a", "b"]) as model, sdk(model) as client:
        assert [m.id for m in client.models.list()] == ["a", "b"]


def soon(code, **headers):
    return status(
        code,
        {"retry-after-ms": "1"}
        | {name.replace("_", "-"): value for name, value in headers.items()},
    )


BEHAVIOURS = {
    **{
        str(code): soon(code)
        for code in (400, 401, 402, 403, 404, 405, 408, 409, 413, 418, 422, 425, 429)
    },
    **{str(code): soon(code) for code in (500, 501, 502, 503, 504, 520, 529, 599)},
    "retry 400": soon(400, x_should_retry="true"),
    "no retry 503": soon(503, x_should_retry="false"),
    "Retry-After 0.001": status(429, {"Retry-After": "0.001"}),
    "Retry-After 121": status(429, {"Retry-After": "121"}),
    "close": close(),
    "reset": reset(),
    "half": half(),
    "hang": hang(),
}


def outcome(ask, behaviour, errors, timeout):
    with StubModel([behaviour]) as model:
        with pytest.raises(errors):
            ask(model, timeout=timeout)
        return len(model.requests)


@pytest.mark.parametrize("name", every(3, BEHAVIOURS))
def test_both_repeat_the_same(name):
    import openai

    # A shorter time ends before a busy machine has read the request.
    timeout = 1.0 if name == "hang" else 10.0
    asked = outcome(ours, BEHAVIOURS[name], ProviderError, timeout)
    assert asked == outcome(theirs, BEHAVIOURS[name], openai.APIError, timeout)
    assert asked in (1, 2)
