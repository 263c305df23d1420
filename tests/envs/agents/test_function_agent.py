"""The function agent against servers of all four APIs, through the real SDKs."""

import asyncio
import json

import pytest
from raised import raises
from some import every
from stub_apis import StubAnthropic, StubGoogle, StubResponses
from stub_model import StubModel, ok

from agentgym_envs.agents import load
from agentgym_envs.agents.base import EpisodeOpening
from agentgym_envs.models.connect import connect
from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.wrappers.formats import FunctionCallFormat
from agentgym_envs.wrappers.responses import FormatError

pytestmark = pytest.mark.usefixtures("provider_sdks")

TOOLS = FunctionCallFormat({"look": "look", "go": "go {direction}"})
MISSING = object()


def held(**fields):
    return {name: value for name, value in fields.items() if value is not MISSING}


class Chat:
    stub = StubModel

    @staticmethod
    def answer(*calls):
        made = [
            held(id=i, type="function", function=held(name=n, arguments=a)) for n, a, i in calls
        ]
        return ok(None, finish="tool_calls", tool_calls=made)

    @staticmethod
    def history(body):
        """Returns the calls as (id, arguments) and the results as (id, text)."""
        calls = [
            (call["id"], json.loads(call["function"]["arguments"]))
            for message in body["messages"]
            for call in message.get("tool_calls", ())
        ]
        results = [m for m in body["messages"] if m["role"] == "tool"]
        return calls, [(m["tool_call_id"], m["content"]) for m in results]


class Anthropic:
    stub = StubAnthropic

    @staticmethod
    def answer(*calls):
        thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
        made = [held(type="tool_use", name=n, input=a, id=i) for n, a, i in calls]
        return StubAnthropic.said(blocks=[thought, *made], stop="tool_use")

    @staticmethod
    def history(body):
        blocks = [b for message in body["messages"] for b in message["content"]]
        calls = [(b["id"], b["input"]) for b in blocks if b["type"] == "tool_use"]
        results = [b for b in blocks if b["type"] == "tool_result"]
        return calls, [(b["tool_use_id"], b["content"]) for b in results]


class Responses:
    stub = StubResponses

    @staticmethod
    def answer(*calls):
        made = [held(type="function_call", name=n, arguments=a, call_id=i) for n, a, i in calls]
        return StubResponses.said(items=made)

    @staticmethod
    def history(body):
        calls = [i for i in body["input"] if i.get("type") == "function_call"]
        results = [i for i in body["input"] if i.get("type") == "function_call_output"]
        return (
            [(call["call_id"], json.loads(call["arguments"])) for call in calls],
            [(result["call_id"], result["output"]) for result in results],
        )


class Google:
    stub = StubGoogle

    @staticmethod
    def answer(*calls):
        made = [{"functionCall": held(name=n, args=a, id=i)} for n, a, i in calls]
        return StubGoogle.said(parts=made)

    @staticmethod
    def history(body):
        parts = [part for content in body["contents"] for part in content["parts"]]
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return (
            [(call.get("id"), call.get("args") or {}) for call in calls],
            [(result.get("id"), result["response"]["output"]) for result in results],
        )


APIS = {kind.__name__: kind for kind in (Chat, Anthropic, Responses, Google)}
every_api = pytest.mark.parametrize("api", APIS.values(), ids=APIS)


def play(api, answers, turns):
    """Returns the agent's responses, and the bodies of the requests."""

    async def main(model):
        name = getattr(model, "api", "chat")
        endpoint = ModelEndpoint(model="stub", api=name, base_url=model.url, retries=0)
        async with connect(endpoint) as client:
            player = load("function").make(client)
            await player.start(EpisodeOpening("task", 0, "", "Rules.", "", TOOLS.schema()))
            return [await player.act(f"seen {turn}", {}) for turn in range(turns)]

    with api.stub(answers) as model:
        said = asyncio.run(main(model))
    return said, [request.body for request in model.requests]


WRITTEN = ["", " \n", "null", None, MISSING, {}, "{}", '"{}"', '""', []]
EMPTY = [
    (api, written)
    for api in APIS.values()
    for written in WRITTEN
    if api is not Google or not isinstance(written, str | list)  # its SDK takes objects alone
]


@pytest.mark.parametrize(("api", "written"), every(3, EMPTY))
def test_a_call_without_arguments(api, written):
    (response, _), bodies = play(api, [api.answer(("look", written, "call_1"))], 2)
    assert TOOLS.parse(response) == "look"
    calls, results = api.history(bodies[1])
    assert calls == [("call_1", {})]
    assert results == [("call_1", "seen 1")]


@every_api
def test_a_function_with_parameters_needs_them(api):
    (response,), _ = play(api, [api.answer(("go", MISSING, "call_1"))], 1)
    with raises(FormatError, "'go'", "direction"):
        TOOLS.parse(response)


@pytest.mark.parametrize("api", [Chat, Responses])
@pytest.mark.parametrize("encode", [lambda a: a, json.dumps, lambda a: json.dumps(json.dumps(a))])
def test_arguments_in_any_form(api, encode):
    arguments = {"direction": "north"}
    (response, _), bodies = play(api, [api.answer(("go", encode(arguments), "c"))], 2)
    assert TOOLS.parse(response) == "go north"
    assert api.history(bodies[1])[0] == [("c", arguments)]


@every_api
@pytest.mark.parametrize("ids", [(MISSING, MISSING), ("", ""), ("a", "a"), ("a", "b")])
def test_the_first_of_two_calls_is_executed_and_each_call_has_its_result(api, ids):
    calls = [("look", {}, ids[0]), ("go", {"direction": "north"}, ids[1])]
    written = json.dumps if api in (Chat, Responses) else lambda arguments: arguments
    answer = api.answer(*[(name, written(arguments), i) for name, arguments, i in calls])
    responses, bodies = play(api, [answer], 3)
    assert [TOOLS.parse(response) for response in responses] == ["look"] * 3
    made, results = api.history(bodies[2])
    assert [arguments for _, arguments in made] == [{}, {"direction": "north"}] * 2
    names = [name for name, _ in made]
    assert names == [name for name, _ in results]
    if not (api is Google and ids[0] in ("", MISSING)):  # which knows them by their order
        assert len(set(names)) == 4
        assert all(names)
    assert [text for _, text in results][::2] == ["seen 1", "seen 2"]
    assert all(text.startswith("Not executed") for _, text in results[1::2])


def test_tags_in_arguments_do_not_end_the_call():
    for text in ("</think>", "<tool_call>", "</tool_call>", "<think>"):
        call = ("go", json.dumps({"direction": text}), "c")
        (response,), _ = play(Chat, [Chat.answer(call)], 1)
        assert TOOLS.parse(response) == f"go {text}"
