import asyncio
import email.utils
import json
import logging
import socket
import time
import traceback
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raised import raises
from some import full
from stub_model import (
    StubModel,
    close,
    dripping,
    empty,
    first_admissible,
    half,
    hang,
    nonsense,
    ok,
    policy,
    reset,
    slow,
    status,
    together,
    tool_call,
)

from agentgym_envs.envs.maze.env import MazeEnv
from agentgym_envs.errors import (
    AgentGymError,
    ArgumentError,
    ContextExceeded,
    ConversationRefused,
    ProviderError,
    ProviderRefused,
)
from agentgym_envs.models import answers
from agentgym_envs.models.answers import TokenUsage, ToolCall
from agentgym_envs.models.client import ChatClient, ModelEndpoint
from agentgym_envs.models.dialect import ServerDialect
from agentgym_envs.wrappers.formats import FunctionCallFormat

MESSAGES = [{"role": "system", "content": "You walk."}, {"role": "user", "content": "Where to?"}]
KEY = "sk-marker-0123456789abcdef"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


class Pauses(list):
    """Sleeps for no time, and keeps for how long it should have."""

    async def __call__(self, seconds):
        self.append(seconds)


def to(stub, **options):
    return ModelEndpoint(**{"model": "stub", "base_url": stub.url, **options})


def use(endpoint, method="complete", *args, sleep=None, connections=16, **kwargs):
    """Calls one method of a client."""

    async def main():
        async with ChatClient(
            endpoint, sleep=sleep if sleep is not None else Pauses(), connections=connections
        ) as client:
            return await getattr(client, method)(
                *(args or ([MESSAGES] if method == "complete" else [])), **kwargs
            )

    return asyncio.run(main())


def test_failed_tries_are_reported_with_the_pause_before_the_next_one():
    async def main(endpoint, pauses, seen):
        async with ChatClient(endpoint, sleep=pauses) as client:
            client.on_failure = lambda error, wait: seen.append((error.status, wait))
            with suppress(ProviderError):
                await client.complete(MESSAGES)

    for script, statuses in (
        ([status(500), status(503), ok("well")], [500, 503]),
        ([status(500), status(400)], [500, 400]),
        ([status(502)] * 3, [502, 502, 502]),
    ):
        pauses, seen = Pauses(), []
        with StubModel(script) as model:
            asyncio.run(main(to(model, retries=2), pauses, seen))
        assert [code for code, _ in seen] == statuses
        assert [wait for _, wait in seen][: len(pauses)] == pauses
        assert all(wait is None for _, wait in seen[len(pauses) :])


FILTERED = {"message": "The response was filtered", "code": "content_filter", "type": None}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FILTERED, ConversationRefused),
        ({"message": "no such option", "code": "invalid_value"}, ProviderRefused),
    ],
)
def test_a_filter_rejects_one_conversation_and_another_400_every_one(error, kind):
    with StubModel([status(400, body={"error": error})]) as model:
        with pytest.raises(ProviderError) as raised:
            use(to(model))
        assert type(raised.value) is kind
        assert len(model.requests) == 1


@pytest.mark.parametrize(("named", "read"), [("m-2026", "m-2026"), (None, ""), (7, "")])
def test_the_name_by_which_the_server_knows_the_model(named, read):
    body = {"choices": [{"message": {"content": "yes"}}], "model": named}
    assert answers.read_reply(body).model == read


def test_a_reply_and_the_request_for_it():
    with StubModel([ok("go north")]) as model:
        reply = use(to(model))
    assert (reply.text, reply.finish, reply.tool_calls, reply.reasoning) == (
        "go north",
        "stop",
        (),
        "",
    )
    assert (reply.usage, reply.cost) == (TokenUsage(4, 2), None)
    (request,) = model.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.body == {"model": "stub", "messages": MESSAGES}
    assert "authorization" not in request.headers


def test_what_an_endpoint_says_is_in_the_request():
    with StubModel() as model:
        reply = use(
            to(model, temperature=0.0, max_tokens=9, extra={"top_p": 0.9}, prices=(2.0, 10.0)),
            seed=7,
        )
    assert model.requests[0].body == {
        "model": "stub",
        "messages": MESSAGES,
        "temperature": 0.0,
        "max_tokens": 9,
        "seed": 7,
        "top_p": 0.9,
    }
    assert reply.cost == pytest.approx((4 * 2 + 1 * 10) / 1_000_000)


def test_openai_itself_is_sent_the_new_name_of_the_limit(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint = ModelEndpoint(model="o", max_tokens=9)
    request = ChatClient(endpoint).request(MESSAGES, None, None, ServerDialect.first(endpoint))
    assert (request["max_completion_tokens"], "max_tokens" in request) == (9, False)


def test_what_a_server_wants_back_with_its_calls_is_sent_back():
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    signed = {**call, "extra_content": {"google": {"thought_signature": "s"}}}
    with StubModel([ok("", tool_calls=[signed], reasoning_content="why"), ok()]) as model:
        said = json.loads(json.dumps(use(to(model)).message()))
        result = {"role": "tool", "tool_call_id": "c", "content": "a wall"}
        use(to(model), "complete", [*MESSAGES, said, result])
    sent = model.requests[1].messages[2]
    expected = {"role": "assistant", "content": "", "reasoning_content": "why"}
    assert sent == {**expected, "tool_calls": [signed]}


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content", "reasoning_details"])
def test_thoughts_of_each_name_are_sent_back_with_calls(name):
    thought = [{"type": "reasoning.text", "text": "why"}] if name == "reasoning_details" else "why"
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    with StubModel([ok("", tool_calls=[call], **{name: thought}), ok()]) as model:
        said = json.loads(json.dumps(use(to(model)).message()))
        result = {"role": "tool", "tool_call_id": "c", "content": "a wall"}
        use(to(model), "complete", [*MESSAGES, said, result])
    assert model.requests[1].messages[2][name] == thought


def test_reasoning_is_read_from_the_field_that_has_it():
    with StubModel([ok("a", reasoning_content="", reasoning="why")]) as model:
        assert use(to(model)).reasoning == "why"


@pytest.mark.parametrize("text", ["", " \n", None])
def test_no_message_that_is_sent_is_empty(text):
    roles = ("system", "user", "assistant", "user")
    with StubModel() as model:
        use(to(model), "complete", [{"role": role, "content": text} for role in roles])
    sent = model.requests[0].messages
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert {m["content"] for m in sent} == {"(no text)"}


def test_calls_need_no_text():
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    for content in ({}, {"content": None}, {"content": ""}):
        message = {"role": "assistant", **content, "tool_calls": [call]}
        endpoint = ModelEndpoint(model="m", base_url="http://localhost")
        request = ChatClient(endpoint).request([message], None, None, ServerDialect.first(endpoint))
        assert request["messages"] == [message]


def test_a_reply_of_reasoning_alone_is_sent_back_as_a_placeholder():
    with StubModel([ok(None, reasoning="why"), ok()]) as model:
        said = use(to(model)).message()
        use(to(model), "complete", [*MESSAGES, said, MESSAGES[1]])
    assert model.requests[1].messages[2] == {"role": "assistant", "content": "(no text)"}


def test_thoughts_without_a_call_are_not_sent_back():
    with StubModel([ok("go", reasoning_content="why"), ok()]) as model:
        said = use(to(model)).message()
        use(to(model), "complete", [*MESSAGES, said, MESSAGES[1]])
    assert model.requests[1].messages[2] == {"role": "assistant", "content": "go"}


def test_tools_are_offered_and_called():
    tools = FunctionCallFormat(MazeEnv.tools).schema()
    with StubModel([tool_call("go", {"direction": "north"})]) as model:
        reply = use(to(model), "complete", MESSAGES, tools=tools)
    assert model.requests[0].body["tools"] == tools
    assert reply.tool_calls == (ToolCall("go", '{"direction": "north"}', "call_1"),)
    assert (reply.text, reply.finish) == ("", "tool_calls")


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (ok("a", reasoning_content="why"), {"text": "a", "reasoning": "why"}),
        (ok("a", reasoning="why", reasoning_content=None), {"text": "a", "reasoning": "why"}),
        (
            ok(None, finish="length", reasoning="why"),
            {"text": "", "reasoning": "why", "finish": "length"},
        ),
        (ok(None, refusal="I will not."), {"text": "I will not."}),
        (
            ok(
                [
                    {"type": "thinking", "thinking": []},
                    {"type": "text", "text": "a"},
                    {"type": "text", "text": "b"},
                ]
            ),
            {"text": "ab"},
        ),
        (ok("half \ud83d of it"), {"text": "half ? of it"}),
        (
            ok("", tool_calls=[{"function": {"name": "f", "arguments": {"a": 1}}}]),
            {"tool_calls": (ToolCall("f", '{"a": 1}'),)},
        ),
        (
            ok("", tool_calls=[{"id": None, "function": {"name": "f"}}]),
            {"tool_calls": (ToolCall("f", "{}"),)},
        ),
        (
            nonsense({"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": 3}}),
            {"text": "a", "usage": None},
        ),
        (
            nonsense('\n\n  {"choices": [{"message": {"content": "a"}}]}'),
            {"text": "a", "finish": ""},
        ),
    ],
)
def test_what_servers_make_of_the_protocol_is_read(behaviour, expected):
    with StubModel([behaviour]) as model:
        reply = use(to(model))
    assert {name: getattr(reply, name) for name in expected} == expected
    assert len(model.requests) == 1


NAMES = [
    "choices",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "usage",
    "prompt_tokens",
    "error",
    "detail",
    "data",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_no_answer_breaks_the_readers(answer):
    for read in (answers.read_reply, answers.read_models):
        with suppress(answers.NotOfTheProtocol):
            read(answer)
    complaint = answers.read_complaint(json.dumps(answer))
    assert len(complaint.message) <= answers.LINE
    assert complaint.message.isprintable()


PASSING = {
    **{str(code): status(code) for code in (408, 409, 429, 500, 502, 503, 504, 529)},
    "close": close(),
    "reset": reset(),
    "half": half(),
    "half JSON": nonsense('{"choices": [{"mess'),
    "HTML": nonsense(),
    "deep": nonsense("[" * 100_000),
    "null": nonsense("null"),
    "no text": status(200, {"Content-Encoding": "gzip"}, "no gzip"),
    "no choices": nonsense({}),
    "empty choices": empty(),
    "null message": nonsense({"choices": [{"message": None}]}),
    "an error with status 200": nonsense({"error": {"message": "upstream is busy", "code": 502}}),
    "a failed completion": ok("", finish="error"),
    "a broken call": ok("", tool_calls=[{}]),
}


@pytest.mark.parametrize("trouble", PASSING)
def test_what_may_pass_is_tried_again(trouble):
    pauses = Pauses()
    with StubModel([PASSING[trouble], PASSING[trouble], ok("well")]) as model:
        assert use(to(model), sleep=pauses).text == "well"
    assert len(model.requests) == 3
    assert len(pauses) == 2


@pytest.mark.parametrize("trouble", PASSING)
def test_it_is_an_error_of_one_line_when_it_does_not(trouble):
    with StubModel([PASSING[trouble]]) as model, pytest.raises(ProviderError) as caught:
        use(to(model, retries=2))
    assert len(model.requests) == 3
    assert type(caught.value) is ProviderError
    assert model.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_pauses_double_up_to_eight_seconds_and_no_two_are_alike():
    seen = []
    for _ in range(5):
        seen.append(Pauses())
        with (
            StubModel([status(500)]) as model,
            raises(ProviderError, "answered 500") as caught,
        ):
            use(to(model, retries=7), sleep=seen[-1])
        assert len(model.requests) == 8
        assert caught.value.status == 500
        for pause, longest in zip(seen[-1], [0.5, 1, 2, 4, 8, 8, 8], strict=True):
            assert 0.75 * longest <= pause <= longest
    assert len({tuple(pauses) for pauses in seen}) == 5


def test_the_default_outlasts_a_limit_per_minute():
    pauses = Pauses()
    with StubModel([status(429)]) as model, pytest.raises(ProviderError):
        use(to(model), sleep=pauses)
    assert 50 < sum(pauses) < 72


def date(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"Retry-After": "1.5"}, 1.5, 1.5),
        ({"retry-after": "120"}, 120, 120),
        ({"Retry-After": lambda: date(30)}, 27, 30),
        ({"Retry-After-Ms": "2500"}, 2.5, 2.5),
        ({"Retry-After-Ms": "2500", "Retry-After": "9"}, 2.5, 2.5),
        ({"Retry-After-Ms": "soon", "Retry-After": "9"}, 9, 9),
        ({"Retry-After": "0"}, 0.375, 0.5),
        ({"Retry-After": "-3"}, 0.375, 0.5),
        ({"Retry-After": "nan"}, 0.375, 0.5),
        ({"Retry-After": "inf"}, 0.375, 0.5),
        ({"Retry-After": "soon"}, 0.375, 0.5),
        ({"Retry-After": lambda: date(-30)}, 0.375, 0.5),
        ({"Retry-After": "Mon, 99 Foo 2020 00:00:00 GMT"}, 0.375, 0.5),
    ],
)
def test_a_server_may_say_when(headers, low, high):
    headers = {name: value() if callable(value) else value for name, value in headers.items()}
    pauses = Pauses()
    with StubModel([status(429, headers), ok()]) as model:
        use(to(model), sleep=pauses)
    assert len(pauses) == 1
    assert low <= pauses[0] <= high


@pytest.mark.parametrize(
    "headers",
    [{"Retry-After": "121"}, {"Retry-After-Ms": "3600000"}, {"Retry-After": lambda: date(4000)}],
)
def test_a_server_that_asks_for_more_than_two_minutes_is_given_up(headers):
    headers = {name: value() if callable(value) else value for name, value in headers.items()}
    with (
        StubModel([status(429, headers)]) as model,
        pytest.raises(ProviderError, match=r"asks to wait \d+ s") as caught,
    ):
        use(to(model))
    assert len(model.requests) == 1
    assert type(caught.value) is ProviderError


@pytest.mark.parametrize(
    ("behaviour", "requests"),
    [(status(500, {"x-should-retry": "false"}), 1), (status(400, {"x-should-retry": "true"}), 3)],
)
def test_a_server_may_say_whether(behaviour, requests):
    with StubModel([behaviour]) as model, pytest.raises(ProviderError):
        use(to(model, retries=2))
    assert len(model.requests) == requests


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (
            status(400, body={"error": {"message": "top_p must\nbe a number"}}),
            "answered 400: top_p must be a number$",
        ),
        (status(400, body={"object": "error", "message": "bad", "code": 40}), "answered 400: bad$"),
        (status(400, body={"error": "bad"}), "answered 400: bad$"),
        (
            status(422, body={"detail": [{"msg": "field required", "input": "context length"}]}),
            "answered 422: field required$",
        ),
        (status(400, body="plain \x1b[31mtext"), r"answered 400: plain \[31mtext$"),
        (status(400, body={"error": {"message": "x" * 5000}}), "answered 400: x{299}…$"),
        (status(401), r"answered 401: it wants a key in \$OPENAI_API_KEY$"),
        (
            status(403),
            r"answered 403: the key in \$OPENAI_API_KEY does not allow this: stub answers 403$",
        ),
        (
            status(404),
            (
                r"answered 404: no model 'stub', or a base_url that ends in the wrong place \(most"
                r" end in /v1\): stub"
            ),
        ),
        (status(402), "answered 402"),
        (
            status(307, {"Location": "http://127.0.0.1:9/"}),
            "answered 307: a redirection; is base_url right",
        ),
        (
            status(429, body={"error": {"message": "No money.", "code": "insufficient_quota"}}),
            "answered 429: No money.$",
        ),
    ],
)
def test_a_refusal_is_final(behaviour, message):
    with StubModel([behaviour]) as model, pytest.raises(ProviderRefused, match=message) as caught:
        use(to(model))
    assert len(model.requests) == 1
    assert caught.value.status >= 300


def test_the_stub_refuses_as_openai_does():
    with StubModel(key="right-key") as model:
        with raises(ProviderRefused, "wants a key"):
            use(to(model))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MY_KEY", " wrong-key\n")
            with raises(ProviderRefused, "401", "$MY_KEY"):
                use(to(model, api_key_env="MY_KEY"))
            patch.setenv("MY_KEY", " right-key\n")
            assert use(to(model, api_key_env="MY_KEY")).text == "ok"
            with raises(ProviderRefused, "404", "'other'"):
                use(to(model, api_key_env="MY_KEY", model="other"))


# Messages of servers, as their issue trackers and sources show them.
TOO_LONG = {
    "OpenAI": (
        400,
        {
            "error": {
                "message": "Please shorten it.",
                "type": "x",
                "code": "context_length_exceeded",
            }
        },
    ),
    "vLLM": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you",
        },
    ),
    "vLLM 0.16": (
        400,
        {"error": {"message": "However, the model's context length is only 1024 tokens"}},
    ),
    "old vLLM": (
        400,
        {"message": "The prompt (length 5000) is longer than the maximum model length of 4096"},
    ),
    "llama.cpp": (
        400,
        {
            "error": {
                "message": "request exceeds the available context size",
                "type": "exceed_context_size_error",
            }
        },
    ),
    "llama.cpp while it writes": (
        500,
        {"error": {"code": 500, "message": "Context size has been exceeded."}},
    ),
    "SGLang": (
        400,
        {
            "message": (
                "The input (12345 tokens) is longer than the model's context length (8192 tokens)."
            )
        },
    ),
    "SGLang's cache": (
        400,
        {"message": "Input length (7001 tokens) exceeds the maximum allowed length (5368 tokens)."},
    ),
    "Anthropic": (
        400,
        {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}},
    ),
    "Gemini": (
        400,
        {
            "error": {
                "message": (
                    "The input token count (9000) exceeds the maximum number of tokens allowed"
                    " (8000)."
                )
            }
        },
    ),
    "Groq": (
        400,
        {"error": {"message": "Please reduce the length of the messages or completion."}},
    ),
    "xAI": (
        400,
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    ),
    "TGI": (
        422,
        {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."},
    ),
    "a gateway": (
        503,
        {"error": {"message": "token count exceeds the model's maximum context length of 131072"}},
    ),
    "413": (413, {"error": {"message": "Payload Too Large"}}),
    "a router": (200, {"error": {"message": "maximum context length is 8192", "code": 400}}),
}


@pytest.mark.parametrize("text", ["exceed", "prompt ", "violating our ", "x", "9"])
def test_a_huge_error_takes_no_time(text):
    """One search for the cause of 3 MB of "exceed" took minutes."""
    endpoint = ModelEndpoint(model="m", base_url="http://localhost", max_tokens=8192)
    body = text * 300_000
    for error in (body, json.dumps({"error": {"message": "max_tokens too large: " + body}})):
        began = time.process_time()
        said = answers.read_complaint(error)
        assert (said.too_long, said.filtered) == (False, False)
        list(ServerDialect.first(endpoint).others(said.whole, endpoint))
        assert time.process_time() - began < 1
        assert len(said.message) <= answers.LINE


@pytest.mark.parametrize("server", TOO_LONG)
def test_a_conversation_that_is_too_long_is_no_failure_of_the_server(server):
    code, body = TOO_LONG[server]
    with StubModel([status(code, body=body)]) as model, pytest.raises(ContextExceeded) as caught:
        use(to(model))
    assert len(model.requests) == 1
    assert not isinstance(caught.value, ProviderRefused)


@pytest.mark.parametrize(
    "behaviour",
    [
        nonsense('{"choices": [{"message": {"content": "the context window is'),
        status(
            429, body={"error": {"message": "too many tokens for this context window per minute"}}
        ),
        status(
            422,
            body={
                "detail": [
                    {"msg": "field required", "input": {"messages": "context length exceeded"}}
                ]
            },
        ),
        status(404, body={"error": {"message": "no model with that context size"}}),
    ],
)
def test_not_all_that_mentions_a_context_is_too_long(behaviour):
    with StubModel([behaviour]) as model, pytest.raises(ProviderError) as caught:
        use(to(model, retries=0))
    assert not isinstance(caught.value, ContextExceeded)


@pytest.mark.parametrize("behaviour", [hang(), dripping(), *full(slow(60))])
def test_a_try_ends_in_time_and_few_follow(behaviour):
    start = time.monotonic()
    with (
        StubModel([behaviour]) as model,
        raises(ProviderError, "0.6 s"),
    ):
        use(to(model, timeout=0.6))
    assert len(model.requests) == 3
    assert 1.8 <= time.monotonic() - start < 6


def test_one_that_was_late_is_asked_again():
    with StubModel([hang(), ok("late")]) as model:
        assert use(to(model, timeout=0.3)).text == "late"


def many(endpoint, count, **options):
    async def main():
        async with ChatClient(endpoint, sleep=Pauses(), **options) as client:
            return await asyncio.gather(*(client.complete(MESSAGES) for _ in range(count)))

    return asyncio.run(main())


def test_as_many_calls_as_connections_are_in_flight():
    with StubModel([together(24)]) as model:
        assert len(many(to(model, retries=0), 24, connections=24)) == 24
    assert model.most == 24


def test_further_calls_wait_and_their_time_does_not_run():
    with StubModel([slow(0.2)]) as model:
        assert len(many(to(model, retries=0, timeout=0.7), 12, connections=2)) == 12
    assert model.most == 2
    assert len({request.port for request in model.requests}) == 2


def test_a_pause_holds_no_connection():
    """While one call waits to be repeated, the only connection serves another."""

    async def main():
        paused, go_on = asyncio.Event(), asyncio.Event()

        async def sleep(seconds):
            paused.set()
            await go_on.wait()

        with StubModel([status(500), ok("second"), ok("first")]) as model:
            async with ChatClient(to(model), connections=1, sleep=sleep) as client:
                first = asyncio.create_task(client.complete(MESSAGES))
                await paused.wait()
                assert (await asyncio.wait_for(client.complete(MESSAGES), 5)).text == "second"
                go_on.set()
                assert (await first).text == "first"

    asyncio.run(main())


def test_a_connection_is_kept_after_errors():
    async def main(model):
        async with ChatClient(to(model), connections=1, sleep=Pauses()) as client:
            await client.complete(MESSAGES)
            with pytest.raises(ProviderRefused):
                await client.complete(MESSAGES)
            await client.complete(MESSAGES)

    with StubModel([ok(), status(400), status(500), nonsense(), ok()]) as model:
        asyncio.run(main(model))
        assert len({request.port for request in model.requests}) == 1
        assert len(model.requests) == 5
        assert model.settled(lambda: model.open_connections == 0)


def test_cancelled_calls_leave_nothing():
    async def main(model):
        async with ChatClient(to(model), connections=4, sleep=Pauses()) as client:
            # Two of them wait for a connection.
            calls = [asyncio.create_task(client.complete(MESSAGES)) for _ in range(6)]
            while len(model.requests) < 4:
                await asyncio.sleep(0.01)
            for call in calls:
                call.cancel()
            assert all(
                isinstance(r, asyncio.CancelledError)
                for r in await asyncio.gather(*calls, return_exceptions=True)
            )
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert len(await asyncio.gather(*(client.complete(MESSAGES) for _ in range(4)))) == 4

    with StubModel([hang(30)] * 4 + [together(4)]) as model:
        asyncio.run(main(model))
        assert len(model.requests) == 8


def test_a_call_that_is_cancelled_in_a_pause_asks_no_more():
    async def main(model):
        async with ChatClient(to(model)) as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.complete(MESSAGES), 1)

    with StubModel([status(429, {"Retry-After": "60"})]) as model:
        asyncio.run(main(model))
        assert len(model.requests) == 1


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_a_server_on_this_machine_is_asked_past_a_proxy(monkeypatch, name):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with StubModel() as model:
        assert use(to(model, base_url=model.url.replace("127.0.0.1", name), retries=0)).text == "ok"


def test_another_machine_is_asked_through_the_proxy(monkeypatch):
    with StubModel() as model:
        monkeypatch.setenv("HTTP_PROXY", model.url.removesuffix("/v1"))
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        with raises(ProviderRefused, "http://models.invalid/v1 answered 404"):
            use(to(model, base_url="http://models.invalid/v1"))
    assert model.requests[0].path == "http://models.invalid/v1/chat/completions"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@pytest.mark.parametrize("method", ["complete", "check"])
def test_a_server_that_is_not_there(method):
    url = f"http://localhost:{free_port()}/v1"
    pauses = Pauses()
    with pytest.raises(ProviderError) as caught:
        use(ModelEndpoint(model="stub", base_url=url), method, sleep=pauses)
    assert str(caught.value) == f"cannot reach {url}: connection refused. Is the server running?"
    assert caught.value.status is None
    assert len(pauses) == {"complete": 12, "check": 2}[method]


def test_a_name_that_is_nobodys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with raises(ProviderError, "http://models.invalid/v1"):
        use(ModelEndpoint(model="stub", base_url="http://models.invalid/v1", retries=0))


def test_the_reason_is_not_taken_from_what_the_caller_was_handling():
    async def main(model):
        async with ChatClient(to(model, retries=0)) as client:
            try:
                open("/nowhere/at/all")  # noqa: SIM115
            except OSError:
                await client.complete(MESSAGES)

    with (
        StubModel([close()]) as model,
        raises(ProviderError, "RemoteProtocolError"),
    ):
        asyncio.run(main(model))


@pytest.mark.parametrize(
    ("models", "name"),
    [
        (["stub", "other"], "stub"),
        (["models/gemini"], "gemini"),
        (["llama:latest"], "llama"),
        (["lab/model"], "lab/model:free"),
        (nonsense([{"id": "stub"}]), "stub"),
    ],
)
def test_a_check_that_finds_the_model(models, name):
    with StubModel(models=models) as model:
        use(to(model, model=name), "check")
    assert [(r.method, r.path) for r in model.requests] == [("GET", "/v1/models")]


@pytest.mark.parametrize(
    "models", [None, status(405), status(500), nonsense(), nonsense({"data": [{"id": "cached"}]})]
)
def test_a_check_of_a_server_whose_list_says_nothing_asks_the_model(models):
    with StubModel([ok("Hello.")], models=models) as model:
        use(to(model), "check")
    assert len(model.completions) == 1


def test_a_model_that_answers_but_is_not_listed_is_used_with_a_warning(caplog):
    with StubModel([ok("Hello.")], models=nonsense([{"id": "stub-2"}])) as model:
        use(to(model), "check")
    assert "does not list the model: unknown model 'stub'. Did you mean 'stub-2'?" in caplog.text


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (
            ["qwen-7b", "stub-2"],
            r" 404: .* unknown model 'stub'\. Did you mean 'stub-2'\? Known: qwen-7b, stub-2\.$",
        ),
        ([], r" 404: no model 'stub', or a base_url that ends in the wrong place"),
        (["stub:1b"], r"unknown model 'stub'\. Did you mean 'stub:1b'"),
    ],
)
def test_a_check_that_does_not(models, message):
    with StubModel(models=models) as model, pytest.raises(ProviderRefused, match=message):
        use(to(model), "check")
    assert len(model.requests) == 2


@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_key_that_may_not_list_models_is_used(code):
    with StubModel([ok("Hello.")], models=status(code)) as model:
        use(to(model), "check")
    with StubModel([status(401)], models=status(code)) as model:
        with raises(ProviderRefused, "wants a key"):
            use(to(model), "check")
        assert len(model.completions) == 1


def test_a_check_of_a_server_in_trouble():
    with (
        StubModel(lambda request: status(503), models=status(503)) as model,
        pytest.raises(ProviderError) as caught,
    ):
        use(to(model), "check")
    assert type(caught.value) is ProviderError
    assert len(model.requests) == 6


def test_a_key_is_wanted_for_other_machines_only(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    with raises(ArgumentError, "OPENAI_API_KEY", "api.openai.com"):
        ChatClient(ModelEndpoint(model="m"))
    with raises(ArgumentError, "OTHER", "10.0.0.1"):
        ChatClient(
            ModelEndpoint(model="m", base_url="http://10.0.0.1:8000/v1", api_key_env="OTHER")
        )
    for host in ("localhost", "127.0.0.1", "[::1]", "0.0.0.0"):
        ChatClient(ModelEndpoint(model="m", base_url=f"http://{host}:8000/v1"))


@pytest.mark.parametrize("key", [f"{KEY}\nsecond", f"{KEY}é", f"{KEY}\x07"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_repeated(monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with raises(ArgumentError, "OPENAI_API_KEY") as caught:
        ChatClient(ModelEndpoint(model="m"))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "behaviour",
    [
        *PASSING.values(),
        ok(),
        status(401, body={"error": {"message": f"Incorrect API key provided: {KEY}"}}),
        *(
            status(code, body={"error": {"message": f"no: {KEY}", "code": KEY}})
            for code in (400, 403, 404, 500)
        ),
        status(400, body="x" * (answers.LINE - 20) + KEY),
        status(429, {"Retry-After": "999"}, KEY),
        nonsense(f"<html>{KEY}"),
        hang(),
    ],
)
def test_the_key_is_nowhere(behaviour, monkeypatch, caplog, capfd):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    shown = []
    with caplog.at_level(logging.DEBUG), StubModel([behaviour]) as model:
        endpoint = to(model, timeout=0.5, retries=1)
        client = ChatClient(endpoint, sleep=Pauses())

        async def main():
            async with client:
                return await client.complete(MESSAGES)

        try:
            shown.append(repr(asyncio.run(main(), debug=True)))
        except AgentGymError as error:
            shown += [
                str(error),
                repr(error),
                *traceback.TracebackException.from_exception(error, capture_locals=True).format(),
            ]
    assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert any(record.name.startswith("httpcore2") for record in caplog.records)
    shown += [record.getMessage() for record in caplog.records]
    shown += [
        caplog.text,
        *capfd.readouterr(),
        repr(client),
        str(client),
        repr(endpoint),
        str(vars(endpoint)),
    ]
    text = "\n".join(shown)
    assert KEY not in text
    assert KEY[:16] not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": f"http://user:{KEY}@host/v1"}, "base_url must be"),
        ({"base_url": f"http://host/v1?key={KEY}"}, "base_url must be"),
        ({"base_url": "localhost:8000"}, "base_url must be"),
        ({"base_url": "ftp://host/v1"}, "base_url must be"),
        ({"base_url": "http://"}, "base_url must be"),
        ({"base_url": "http://[::1"}, "base_url must be"),
        ({"model": ""}, "model must not be empty"),
        ({"timeout": 0}, "timeout must be above 0"),
        ({"timeout": float("nan")}, "timeout must be above 0"),
        ({"retries": -1}, "retries must be at least 0"),
        ({"max_tokens": 0}, "max_tokens must be at least 1"),
        ({"extra": {"stream": True, "model": "x"}}, "extra must not set model, stream"),
        ({"extra": {"a": float("nan")}}, "extra must be JSON"),
        ({"extra": {"a": object()}}, "extra must be JSON"),
    ],
)
def test_an_endpoint_that_cannot_be(options, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        ModelEndpoint(**{"model": "m", **options})
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_client_without_connections():
    with raises(ArgumentError, "connections"):
        ChatClient(ModelEndpoint(model="m", base_url="http://localhost/v1"), connections=0)


def test_a_slash_at_the_end_of_the_url():
    with StubModel() as model:
        assert use(to(model, base_url=model.url + "/")).text == "ok"


def test_half_a_surrogate_pair_can_be_asked_about():
    with StubModel() as model:
        assert use(to(model), "complete", [{"role": "user", "content": "\ud83d"}]).text == "ok"
    assert model.requests[0].messages[0]["content"] == "?", "many servers fail at half a pair"


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("A room.\nAdmissible actions:\n- go north\n- look", "go north"),
        ('A room.\nAdmissible actions: ["go south", "look"]', "go south"),
        ("A room.", "look"),
    ],
)
def test_a_function_from_messages_to_a_text_may_be_the_model(text, action):
    with StubModel(policy(first_admissible)) as model:
        assert use(to(model), "complete", [{"role": "user", "content": text}]).text == action


def test_the_stub_has_a_context():
    with (
        StubModel(context=3) as model,
        raises(ContextExceeded, "4 words", "3"),
    ):
        use(to(model))
