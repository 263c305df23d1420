"""The APIs of providers: the real SDKs against servers that speak each protocol."""

import asyncio
import json
import logging
import sys
import traceback
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raised import raises
from some import every, full
from stub_apis import StubAnthropic, StubGoogle, StubResponses, raw
from stub_model import close, half, hang, nonsense, reset, slow, status

from agentgym_envs.envs.maze.env import MazeEnv
from agentgym_envs.errors import (
    AgentGymError,
    ArgumentError,
    ContextExceeded,
    MissingExtra,
    ProviderError,
    ProviderRefused,
)
from agentgym_envs.models import anthropic, google, responses
from agentgym_envs.models.answers import MALFORMED, TokenUsage, ToolCall
from agentgym_envs.models.apis import APIS
from agentgym_envs.models.connect import connect
from agentgym_envs.models.dialect import ServerDialect
from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.wrappers.formats import FunctionCallFormat

READERS = (anthropic.read, google.read, responses.read)

pytestmark = pytest.mark.usefixtures("provider_sdks")

STUBS = {stub.api: stub for stub in (StubAnthropic, StubResponses, StubGoogle)}
MESSAGES = [{"role": "system", "content": "You walk."}, {"role": "user", "content": "Where to?"}]
KEY = "marker-0123456789abcdef"
PNG = "iVBORw0KGgo="
TOOLS = FunctionCallFormat(MazeEnv.tools).schema()
every_api = pytest.mark.parametrize("stub", STUBS.values(), ids=STUBS)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for api in APIS.values():
        monkeypatch.delenv(api.api_key_env, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


class Pauses(list):
    async def __call__(self, seconds):
        self.append(seconds)


def to(model, **options):
    return ModelEndpoint(**{"model": "stub", "api": model.api, "base_url": model.url, **options})


def use(endpoint, method="complete", *args, pauses=None, **kwargs):
    async def main():
        sleep = Pauses() if pauses is None else pauses
        async with connect(endpoint, sleep=sleep) as client:
            ask = getattr(client, method)
            return await ask(*(args or ([MESSAGES] if method == "complete" else [])), **kwargs)

    return asyncio.run(main())


def sent(stub, messages, tools=None, seed=None, **options):
    """Returns the body of a request."""
    with stub([stub.said("ok")]) as model:
        use(to(model, **options), "complete", messages, tools=tools, seed=seed)
    return model.asked[0].body


@every_api
def test_a_reply_and_its_usage(stub):
    with stub([stub.said("go north")]) as model:
        reply = use(to(model, prices=(2.0, 10.0)))
    assert (reply.text, reply.finish, reply.tool_calls) == ("go north", "stop", ())
    assert (reply.usage, reply.model) == (TokenUsage(4, 2), "stub-2026")
    assert reply.cost == pytest.approx((4 * 2 + 2 * 10) / 1_000_000)
    assert len(model.requests) == 1


CACHED = {"type": "ephemeral"}
PLAIN = {
    "anthropic": {
        "model": "stub",
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "You walk.", "cache_control": CACHED}],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Where to?", "cache_control": CACHED}],
            }
        ],
    },
    "responses": {
        "model": "stub",
        "instructions": "You walk.",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Where to?"}]}],
        "store": False,
    },
    "google": {
        "systemInstruction": {"role": "user", "parts": [{"text": "You walk."}]},
        "contents": [{"role": "user", "parts": [{"text": "Where to?"}]}],
    },
}


@every_api
def test_the_least_request(stub):
    body = sent(stub, MESSAGES)
    body.pop("generationConfig", None)
    assert body == PLAIN[stub.api]


OPTIONS = {
    "anthropic": {
        "max_tokens": 9,
        "temperature": 0.5,
        "thinking": None,
        "output_config": None,
        "top_k": 3,
    },
    "responses": {"max_output_tokens": 9, "temperature": 0.5, "reasoning": None, "top_k": 3},
    "google": {
        "generationConfig": {"maxOutputTokens": 9, "temperature": 0.5, "seed": 7, "topK": 3.0}
    },
}


@every_api
def test_sampling_options(stub):
    body = sent(stub, MESSAGES, seed=7, max_tokens=9, temperature=0.5, extra={"top_k": 3})
    assert {name: body.get(name) for name in OPTIONS[stub.api]} == OPTIONS[stub.api]


EFFORT = {
    "anthropic": {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "medium"},
        "temperature": None,
    },
    "responses": {"reasoning": {"effort": "medium"}, "temperature": 1.0},
    "google": {
        "generationConfig": {
            "temperature": 1.0,
            "thinkingConfig": {"include_thoughts": True, "thinking_level": "MEDIUM"},
        }
    },
}


@every_api
def test_effort(stub):
    body = sent(stub, MESSAGES, effort="medium", temperature=1.0)
    assert {name: body.get(name) for name in EFFORT[stub.api]} == EFFORT[stub.api]


def test_the_effort_of_a_gemini_model_that_takes_a_budget():
    client = connect(
        ModelEndpoint(
            model="gemini-2.5-flash", api="google", effort="low", base_url="http://localhost"
        )
    )
    config = client.request(MESSAGES, None, None, ServerDialect.first(client.endpoint))["config"]
    assert config["thinking_config"] == {"include_thoughts": True, "thinking_budget": 1024}


def test_effort_that_cannot_be_mapped():
    with raises(ArgumentError, "effort='low'", "temperature"):
        connect(
            ModelEndpoint(
                model="m",
                api="anthropic",
                effort="low",
                temperature=0.2,
                base_url="http://localhost",
            )
        )
    with raises(ArgumentError, "effort", "'huge'"):
        ModelEndpoint(model="m", effort="huge")


def test_an_option_that_the_gemini_api_does_not_have():
    with raises(ArgumentError, "Gemini", "top_x") as caught:
        connect(
            ModelEndpoint(model="m", api="google", extra={"top_x": 3}, base_url="http://localhost")
        )
    assert "\n" not in str(caught.value)


RESULT = {
    "anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "North.", "signature": "c2lnbmVk"},
                {
                    "type": "tool_use",
                    "id": "toolu_1",
                    "name": "go",
                    "input": {"direction": "north"},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": "A wall.",
                    "cache_control": CACHED,
                },
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                },
            ],
        },
    ],
    "responses": [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "North."}],
            "encrypted_content": "c2VhbGVk",
        },
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "go",
            "arguments": '{"direction": "north"}',
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "A wall."},
        {
            "role": "user",
            "content": [
                {
                    "type": "input_image",
                    "image_url": f"data:image/png;base64,{PNG}",
                    "detail": "auto",
                }
            ],
        },
    ],
    "google": [
        {
            "role": "model",
            "parts": [
                {"text": "North.", "thought": True},
                {
                    "functionCall": {"name": "go", "args": {"direction": "north"}},
                    "thoughtSignature": "c2lnbmVk",
                },
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "go", "response": {"output": "A wall."}}},
                {"inlineData": {"mime_type": "image/png", "data": PNG}},
            ],
        },
    ],
}
TOOL = {
    "anthropic": lambda body: (body["tools"][0]["name"], body["tools"][0]["input_schema"]),
    "responses": lambda body: (body["tools"][0]["name"], body["tools"][0]["parameters"]),
    "google": lambda body: (
        body["tools"][0]["functionDeclarations"][0]["name"],
        body["tools"][0]["functionDeclarations"][0]["parameters_json_schema"],
    ),
}


@every_api
def test_a_call_its_result_and_the_thoughts_that_the_api_wants_back(stub):
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    with stub([stub.called("go", {"direction": "north"}), stub.said("ok")]) as model:
        reply = use(to(model), "complete", MESSAGES, tools=TOOLS)
        (call,) = reply.tool_calls
        kept = json.loads(json.dumps(reply.message()))  # agents may write it to a file
        result = {"role": "tool", "tool_call_id": call.id, "content": "A wall."}
        seen = {"role": "user", "content": [picture]}
        use(to(model), "complete", [*MESSAGES, kept, result, seen], tools=TOOLS)
    assert (call.name, json.loads(call.arguments)) == ("go", {"direction": "north"})
    assert (reply.text, reply.reasoning, reply.finish) == ("", "North.", "tool_calls")
    first, second = (request.body for request in model.asked)
    function = TOOLS[0]["function"]
    assert TOOL[stub.api](first) == (function["name"], function["parameters"])
    name = {"anthropic": "messages", "responses": "input", "google": "contents"}[stub.api]
    assert second[name][1:] == RESULT[stub.api]


FOREIGN = {
    "anthropic": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I go."},
            {"type": "tool_use", "id": "c", "name": "go", "input": {"direction": "up"}},
        ],
    },
    "responses": {
        "type": "function_call",
        "call_id": "c",
        "name": "go",
        "arguments": '{"direction": "up"}',
    },
    "google": {
        "role": "model",
        "parts": [
            {"text": "I go."},
            {"functionCall": {"name": "go", "args": {"direction": "up"}}},
        ],
    },
}


@every_api
def test_a_conversation_that_began_with_another_api(stub):
    call = {"id": "c", "type": "function", "function": {"name": "go", "arguments": ""}}
    call["function"]["arguments"] = '{"direction": "up"}'
    said = {
        "role": "assistant",
        "content": "I go.",
        "tool_calls": [call],
        "replay": {"api": "another", "parts": [{"no": "sense"}]},
    }
    result = {"role": "tool", "tool_call_id": "c", "content": "No."}
    body = sent(stub, [*MESSAGES, said, result], tools=TOOLS)
    name = {"anthropic": "messages", "responses": "input", "google": "contents"}[stub.api]
    assert FOREIGN[stub.api] in body[name]


@every_api
def test_empty_texts_are_not_sent(stub):
    said = {"role": "assistant", "content": ""}
    body = sent(stub, [*MESSAGES, said, {"role": "user", "content": " "}])
    assert '"text": ""' not in json.dumps(body)
    assert '"content": ""' not in json.dumps(body)
    assert "(no text)" in json.dumps(body)


def turns_of(body):
    """Returns the roles and texts of a request, in order; a thought is no text."""
    if "input" in body:
        return [
            (i["role"], i["content"] if isinstance(i["content"], str) else i["content"][0]["text"])
            for i in body["input"]
        ]
    if "messages" in body:
        return [
            (m["role"], "".join(b.get("text", "") for b in m["content"])) for m in body["messages"]
        ]
    return [
        (c["role"], "".join(p["text"] for p in c["parts"] if not p.get("thought")))
        for c in body["contents"]
    ]


BLANK = [
    (StubAnthropic, StubAnthropic.said(blocks=[{"type": "text", "text": " \n"}])),
    (
        StubAnthropic,
        StubAnthropic.said(blocks=[{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]),
    ),
    (StubAnthropic, StubAnthropic.said()),
    (StubResponses, StubResponses.said(" \n")),
    (
        StubResponses,
        StubResponses.said(
            items=[{"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "c2ln"}]
        ),
    ),
    (StubResponses, StubResponses.said()),
    (StubGoogle, StubGoogle.said(" \n")),
    (StubGoogle, StubGoogle.said(parts=[{"text": "Hm.", "thought": True}])),
    (StubGoogle, StubGoogle.said(parts=[{"text": "", "thoughtSignature": "c2ln"}])),
    (StubGoogle, StubGoogle.said(parts=[{}])),
    (StubGoogle, StubGoogle.said()),
]


@pytest.mark.parametrize(("stub", "behaviour"), BLANK)
def test_a_reply_without_a_text_breaks_no_later_request(stub, behaviour):
    with stub([behaviour, stub.said("ok")]) as model:
        said = use(to(model)).message()
        use(to(model), "complete", [*MESSAGES, said, {"role": "user", "content": "Go on."}])
    turns = turns_of(model.asked[1].body)
    assert all(text.strip() for _, text in turns)
    roles = [role for role, _ in turns]
    assert all(a != b for a, b in pairwise(roles))


def test_a_part_that_no_api_takes():
    sound = [{"role": "user", "content": [{"type": "input_audio"}]}]
    with raises(ArgumentError, "data:"):
        sent(StubAnthropic, sound)


@pytest.mark.parametrize(
    ("behaviour", "stub"),
    [
        (StubAnthropic.said("a", cache_read_input_tokens=6), StubAnthropic),
        (StubResponses.said("a", cached=6), StubResponses),
        (StubGoogle.said("a", cachedContentTokenCount=6), StubGoogle),
    ],
)
def test_tokens_of_the_prompt_cache(behaviour, stub):
    with stub([behaviour]) as model:
        usage = use(to(model)).usage
    assert usage == TokenUsage(10 if stub is StubAnthropic else 4, 2, 6)


def test_thoughts_of_gemini_are_completion_tokens():
    with StubGoogle([StubGoogle.said("a", thoughtsTokenCount=5)]) as model:
        assert use(to(model)).usage == TokenUsage(4, 7)


@pytest.mark.parametrize(
    ("stub", "behaviour", "expected"),
    [
        (StubAnthropic, StubAnthropic.said("no", stop="refusal"), ("no", "refusal")),
        (StubAnthropic, StubAnthropic.said(stop="refusal"), ("", "refusal")),
        (StubAnthropic, StubAnthropic.said("a", stop="max_tokens"), ("a", "length")),
        (
            StubResponses,
            StubResponses.said(type="refusal", refusal="I will not."),
            ("I will not.", "refusal"),
        ),
        (
            StubResponses,
            StubResponses.said("a", state="incomplete", why="max_output_tokens"),
            ("a", "length"),
        ),
        (
            StubResponses,
            StubResponses.said(state="incomplete", why="content_filter"),
            ("", "refusal"),
        ),
        (StubGoogle, StubGoogle.said(stop="SAFETY"), ("", "refusal")),
        (StubGoogle, StubGoogle.said("a", stop="MAX_TOKENS"), ("a", "length")),
        (
            StubGoogle,
            StubGoogle.said(stop="MALFORMED_FUNCTION_CALL"),
            ("", "malformed_function_call"),
        ),
        (StubGoogle, nonsense({"promptFeedback": {"blockReason": "SAFETY"}}), ("", "refusal")),
    ],
)
def test_why_a_model_stops(stub, behaviour, expected):
    with stub([behaviour]) as model:
        reply = use(to(model))
    assert (reply.text, reply.finish) == expected
    assert len(model.requests) == 1


def test_half_a_thought_and_blank_texts_are_not_sent_back():
    blank = {"type": "text", "text": " "}
    with StubAnthropic([StubAnthropic.said("a", blocks=[blank])]) as model:
        assert use(to(model)).replay["parts"] == [{"type": "text", "text": "a"}]
    thought = {"type": "thinking", "thinking": "Hm", "signature": ""}
    with StubAnthropic([StubAnthropic.said(blocks=[thought], stop="max_tokens")]) as model:
        assert use(to(model)).replay is None
    sealed = {"type": "reasoning", "id": "rs_1", "summary": []}
    with StubResponses([StubResponses.said("a", items=[sealed])]) as model:
        assert [part["type"] for part in use(to(model)).replay["parts"]] == ["message"]


PASSING = {
    **{str(code): status(code) for code in (408, 409, 429, 500, 502, 503, 529)},
    "close": close(),
    "reset": reset(),
    "half": half(),
    "half JSON": nonsense('{"content": [{"type'),
    "half JSON of that type": raw(b'{"content": [{"type'),
    "HTML": nonsense(),
    "not UTF-8": raw(b'{"content": "\xff\xfe"}'),
    "null": raw(b"null"),
    "a number": raw(b"3"),
    "a list": raw(b"[]"),
    "no text": status(200, {"Content-Encoding": "gzip"}, "no gzip"),
    "no field": nonsense({}),
    "fields of other types": nonsense(
        {"type": "message", "content": 3, "candidates": 3, "output": 3, "status": "completed"}
    ),
    "nothing": "nothing",
}


@pytest.mark.parametrize(
    ("stub", "trouble"),
    every(4, [(stub, trouble) for trouble in PASSING for stub in STUBS.values()]),
)
def test_what_may_pass_is_tried_again_by_us_and_not_by_the_sdk(stub, trouble):
    behaviour = stub.nothing() if trouble == "nothing" else PASSING[trouble]
    pauses = Pauses()
    with stub([behaviour, behaviour, stub.said("well")]) as model:
        assert use(to(model), pauses=pauses).text == "well"
    assert (len(model.requests), len(pauses)) == (3, 2)


@every_api
@pytest.mark.parametrize("trouble", ["500", "close", "half JSON", "not UTF-8", "nothing"])
def test_it_is_an_error_of_one_line_when_it_does_not(stub, trouble):
    behaviour = stub.nothing() if trouble == "nothing" else PASSING[trouble]
    with stub([behaviour]) as model, pytest.raises(ProviderError) as caught:
        use(to(model, retries=1))
    assert type(caught.value) is ProviderError
    assert len(model.requests) == 2
    assert str(caught.value).startswith(model.url)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


@every_api
def test_a_server_says_when(stub):
    pauses = Pauses()
    with stub([status(429, {"Retry-After": "7"}), stub.said("ok")]) as model:
        use(to(model), pauses=pauses)
    assert pauses == [7.0]


def test_google_says_when_in_the_body():
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    busy = StubGoogle.fault(429, "Quota.", "RESOURCE_EXHAUSTED", [delay])
    pauses = Pauses()
    with StubGoogle([busy, StubGoogle.said("ok")]) as model:
        use(to(model), pauses=pauses)
    assert pauses == [34.5]


@every_api
@pytest.mark.parametrize("behaviour", [hang(), *full(slow(60))])
def test_a_try_ends_in_time_and_few_follow(stub, behaviour):
    with (
        stub([behaviour]) as model,
        raises(ProviderError, "0.9 s"),
    ):
        use(to(model, timeout=0.9))
    assert len(model.requests) == 3


@every_api
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, "answered 400: Bad thing.$"),
        (403, "answered 403: the key in .* does not allow this: Bad thing.$"),
        (404, "answered 404: .*no model 'stub', or a base_url that ends in the wrong place"),
    ],
)
def test_a_refusal_is_final(stub, code, message):
    with (
        stub([stub.fault(code, "Bad thing.")]) as model,
        pytest.raises(ProviderRefused, match=message) as caught,
    ):
        use(to(model))
    assert (len(model.requests), caught.value.status) == (1, code)


@every_api
def test_a_stream_is_refused(stub):
    stream = raw(b'event: message_start\ndata: {"type": "x"}\n\n', "text/event-stream")
    with stub([stream]) as model, pytest.raises(ProviderError, match="answered") as caught:
        use(to(model, retries=1))
    assert "\n" not in str(caught.value)
    if stub is not StubGoogle:  # its SDK keeps no answer that it cannot read
        assert isinstance(caught.value, ProviderRefused)
        assert "answered with a stream, which was not requested" in str(caught.value)
        assert len(model.requests) == 1


@every_api
@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (9000) exceeds the maximum number of tokens allowed (8000).",
        "Your input exceeds the context window of this model.",
    ],
)
def test_a_conversation_that_is_too_long(stub, message):
    with stub([stub.fault(400, message)]) as model, pytest.raises(ContextExceeded):
        use(to(model))
    assert len(model.requests) == 1


@every_api
def test_keys(stub, monkeypatch):
    with stub([stub.said("ok")], key=KEY) as model:
        variable = to(model).api_key_env
        with raises(ProviderRefused, "401: it wants", f"${variable}"):
            use(to(model))
        monkeypatch.setenv(variable, "another-key-of-mine")
        with raises(ProviderRefused, "refused", f"${variable}"):
            use(to(model))
        monkeypatch.setenv(variable, KEY)
        assert use(to(model)).text == "ok"


@every_api
@pytest.mark.parametrize(
    "behaviour", [status(400, body={"error": {"message": KEY}}), nonsense(KEY), hang(), close()]
)
def test_the_key_is_nowhere(stub, behaviour, monkeypatch, caplog, capfd):
    shown = []
    with caplog.at_level(logging.DEBUG), stub([behaviour]) as model:
        monkeypatch.setenv(to(model).api_key_env, KEY)
        try:
            use(to(model, timeout=0.5, retries=1))
        except AgentGymError as error:
            found = traceback.TracebackException.from_exception(error, capture_locals=True)
            shown += [str(error), *found.format()]
    shown += [record.getMessage() for record in caplog.records]
    shown += [caplog.text, *capfd.readouterr()]
    assert KEY not in "\n".join(shown)


@every_api
def test_a_check(stub):
    with stub([stub.said("hello")], models=("stub", "other")) as model:
        use(to(model), "check")
        assert [request.method for request in model.requests] == ["GET"]
    with stub([stub.said("hello")], models=("other",)) as model:
        use(to(model), "check")
        assert len(model.asked) == 1
    with stub([stub.said("hello")], models=status(500)) as model:
        use(to(model), "check")
        assert len(model.asked) == 1


@every_api
def test_a_check_of_a_model_that_is_not_served(stub):
    with (
        stub([stub.fault(404, "There is none.")], models=("stub-2",)) as model,
        raises(ProviderRefused, "'stub'", "stub-2'"),
    ):
        use(to(model), "check")


@every_api
def test_a_server_that_is_not_there(stub):
    endpoint = ModelEndpoint(model="m", api=stub.api, base_url="http://localhost:9", retries=0)
    with pytest.raises(ProviderError) as caught:
        use(endpoint)
    assert str(caught.value) == (
        "cannot reach http://localhost:9: connection refused. Is the server running?"
    )


@pytest.mark.parametrize(
    ("api", "module", "extra"),
    [
        ("anthropic", "anthropic", "anthropic"),
        ("responses", "openai", "openai"),
        ("google", "google.genai", "google"),
    ],
)
def test_without_the_extra(api, module, extra, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == module.split(".")[0]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with raises(MissingExtra, f"--api {api}", f"agentgym-envs[{extra}]"):
        connect(ModelEndpoint(model="m", api=api, base_url="http://localhost"))


def test_names_of_calls_without_an_id_are_told_apart():
    parts = [{"functionCall": {"name": name, "args": {}}} for name in ("go", "look")]
    with StubGoogle([StubGoogle.said(parts=parts), StubGoogle.said("ok")]) as model:
        reply = use(to(model))
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": call.name}
            for call in reply.tool_calls
        ]
        use(to(model), "complete", [*MESSAGES, reply.message(), *results])
    assert reply.tool_calls == (ToolCall("go", "{}", "call_0"), ToolCall("look", "{}", "call_1"))
    answers = [part["functionResponse"] for part in model.asked[1].body["contents"][-1]["parts"]]
    assert [(a["name"], a["response"]["output"]) for a in answers] == [("go",) * 2, ("look",) * 2]


NAMES = ["type", "content", "text", "output", "candidates", "parts", "usage", "function_call"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["message"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_no_answer_breaks_the_readers(answer):
    for read in READERS:
        with suppress(*MALFORMED):
            read(answer)
