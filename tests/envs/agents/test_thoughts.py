"""What each API's request repeats of an earlier reply's thought."""

import asyncio

import pytest
from evaluations import Model
from raised import raises
from stub_apis import StubAnthropic, StubGoogle, StubResponses
from stub_model import StubModel, ok

from agentgym_envs.agents import EpisodeOpening, load
from agentgym_envs.errors import ArgumentError
from agentgym_envs.models.answers import ModelReply, ToolCall
from agentgym_envs.models.connect import connect
from agentgym_envs.models.endpoint import ModelEndpoint

pytestmark = pytest.mark.usefixtures("provider_sdks")

TOOLS = [
    {
        "type": "function",
        "function": {"name": "look", "parameters": {"type": "object", "properties": {}}},
    }
]
OPENING = EpisodeOpening("task", 0, "", "Rules.", "", TOOLS)
KEPT = "<think>North.</think>left"
THOUGHT = {"type": "thinking", "thinking": "North.", "signature": "c2lnbmVk"}
SIGNED = {"text": "left", "thought_signature": "c2lnbmVk"}
SEALED = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "North."}],
    "encrypted_content": "c2VhbGVk",
}


def chat(body):
    return body["messages"][2]


def anthropic(body):
    return body["messages"][1]["content"]


def responses(body):
    return [item for item in body["input"] if item.get("role") != "user"]


def google(body):
    return body["contents"][1]["parts"]


def sent(text):
    return {"role": "assistant", "content": text}


# Server, its reply, what is read of the second request, and the expected text in each mode.
CASES = {
    "chat": (
        StubModel,
        ok("left", reasoning_content="North."),
        chat,
        {"template": sent("left"), "strip": sent("left"), "keep": sent(KEPT)},
    ),
    "anthropic": (
        StubAnthropic,
        StubAnthropic.said("left", blocks=[THOUGHT]),
        anthropic,
        {
            "template": [THOUGHT, {"type": "text", "text": "left"}],
            "strip": [{"type": "text", "text": "left"}],
            "keep": [{"type": "text", "text": KEPT}],
        },
    ),
    "responses": (
        StubResponses,
        StubResponses.said("left", items=[SEALED]),
        responses,
        {
            "template": [
                SEALED,
                {
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "left", "annotations": []}],
                },
            ],
            "strip": [sent("left")],
            "keep": [sent(KEPT)],
        },
    ),
    "google": (
        StubGoogle,
        StubGoogle.said(parts=[{"text": "North.", "thought": True}, SIGNED]),
        google,
        {
            "template": [
                {"text": "North.", "thought": True},
                {"text": "left", "thoughtSignature": "c2lnbmVk"},
            ],
            "strip": [{"text": "left"}],
            "keep": [{"text": KEPT}],
        },
    ),
}


@pytest.mark.parametrize("thoughts", ["template", "strip", "keep"])
@pytest.mark.parametrize("api", CASES)
def test_the_next_request_repeats_the_thought_as_the_option_says(api, thoughts):
    stub, reply, read, expected = CASES[api]

    async def play(model):
        endpoint = ModelEndpoint(model="stub", api=api, base_url=model.url, retries=0)
        async with connect(endpoint) as client:
            agent = load("chat", {"thoughts": thoughts}).make(client)
            await agent.start(OPENING)
            return [await agent.act("seen", {}) for _ in range(2)]

    with stub([reply]) as model:
        assert asyncio.run(play(model)) == [KEPT] * 2, "the environment gets the whole response"
    assert read(model.requests[1].body) == expected[thoughts]


class Policy(Model):
    """Answers as a policy in training does: the replay names its sampled tokens."""

    async def complete(self, messages, *, tools=None, sample=""):
        reply = await super().complete(messages)
        number = len(self.asked)
        calls = [ToolCall("look", "{}", "same")] if tools else []
        return ModelReply(
            text=reply.text,
            reasoning="Hm.",
            tool_calls=tuple(calls),
            replay={"api": "policy", "call": number},
        )


def conversation(agent, turns=2, **options):
    model = Policy(lambda messages: "left")

    async def play():
        player = load(agent, options).make(model)
        await player.start(OPENING)
        for turn in range(turns):
            await player.act(f"seen {turn}", {})

    asyncio.run(play())
    return model.asked


@pytest.mark.parametrize("agent", ["chat", "react"])
def test_a_policy_gets_the_handle_on_its_own_tokens_back(agent):
    assert conversation(agent)[1][2] == sent("left") | {"replay": {"api": "policy", "call": 1}}
    assert conversation(agent, thoughts="strip")[1][2] == sent("left")


def test_the_second_look_sees_the_first_response_as_the_option_says():
    asked = conversation("correct", turns=1)
    assert asked[1][2] == sent("left") | {"replay": {"api": "policy", "call": 1}}
    asked = conversation("correct", thoughts="keep")
    assert [asked[3][2], asked[3][4]] == [sent("<think>Hm.</think>left")] * 2


def test_calls_of_a_policy_get_new_ids_and_keep_its_handle():
    said = [message for message in conversation("function", turns=3)[2] if "replay" in message]
    assert [message["replay"]["call"] for message in said] == [1, 2]
    assert len({message["tool_calls"][0]["id"] for message in said}) == 2


@pytest.mark.parametrize("thoughts", ["drop", True, None, ["keep"]])
@pytest.mark.parametrize("agent", ["chat", "react", "plan", "correct", "reflect", "summary"])
def test_an_unknown_choice_is_refused_before_any_request(agent, thoughts):
    model = Model()
    with raises(ArgumentError, f"thoughts={thoughts!r}", "template, strip, keep"):
        load(agent, {"thoughts": thoughts}).make(model)
    assert model.asked == []


def test_calls_always_go_back_with_their_thought():
    with raises(ArgumentError, "'thoughts'", "'function'"):
        load("function", {"thoughts": "strip"})
    call = StubAnthropic.called("look", {})

    async def play(model):
        endpoint = ModelEndpoint(model="stub", api="anthropic", base_url=model.url, retries=0)
        async with connect(endpoint) as client:
            agent = load("function").make(client)
            await agent.start(OPENING)
            for _ in range(2):
                await agent.act("seen", {})

    with StubAnthropic([call]) as model:
        asyncio.run(play(model))
    kinds = [block["type"] for block in anthropic(model.requests[1].body)]
    assert kinds == ["thinking", "tool_use"]
