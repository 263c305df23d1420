"""Requests that a server refuses in one form and accepts in another."""

import asyncio
import itertools
import re
import threading

import pytest
from raised import raises
from stub_apis import StubAnthropic, StubGoogle
from stub_model import StubModel, ok, status
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.errors import ContextExceeded, ProviderRefused
from agentgym_envs.models.connect import connect
from agentgym_envs.models.dialect import ServerDialect
from agentgym_envs.models.endpoint import ModelEndpoint

MESSAGES = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Where to?"}]
FOLDED = [{"role": "user", "content": "Rules.\n\nWhere to?"}]
SYSTEM = {  # words of servers whose models have no system role
    "Gemma 2": "System role not supported",
    "Mistral": "Conversation roles must alternate user/assistant/user/assistant/...",
    "o1": "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    "Llama 2": "Only user and assistant roles are supported!",
}
NAMES = {  # words of servers that want max_completion_tokens
    "OpenAI": "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
    " 'max_completion_tokens' instead.",
    "strict": "max_tokens: Extra inputs are not permitted",
}
LIMITS = {  # words of servers whose replies are at most 4,096 tokens long
    "OpenAI": "max_tokens is too large: 8192. This model supports at most 4096 completion tokens,"
    " whereas you provided 8192.",
    "DeepSeek": "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]",
    "Groq": "`max_tokens` must be less than or equal to `4096`, the maximum value for `max_tokens`"
    " is less than the `context_window` for this model",
}


def fault(message):
    return status(400, body={"error": {"message": message, "type": "invalid_request_error"}})


def server(*, system="", names="", limit=""):
    """Returns a script that refuses the forms for which there are words."""

    def script(request):
        body = request.body
        if names and "max_tokens" in body:
            return fault(names)
        if system and body["messages"][0]["role"] == "system":
            return fault(system)
        sent = max(body.get(name, 0) for name in ("max_tokens", "max_completion_tokens"))
        if limit and sent > 4096:
            return fault(limit)
        return ok("north")

    return script


def answers(model, count=2, **options):
    """Asks several times, one after the other; returns the texts."""

    async def main():
        endpoint = ModelEndpoint(model="stub", base_url=model.url, max_tokens=8192, **options)
        async with connect(endpoint) as client:
            return [(await client.complete(MESSAGES)).text for _ in range(count)]

    return asyncio.run(main())


ALL = [
    dict(zip(("system", "names", "limit"), words, strict=True))
    for words in itertools.product(
        ("", *SYSTEM.values()), ("", *NAMES.values()), ("", LIMITS["OpenAI"])
    )
] + [{"limit": words} for words in LIMITS.values()]


@pytest.mark.parametrize("words", ALL)
def test_another_form_is_found_and_kept(words, caplog):
    with StubModel(server(**words)) as model:
        assert answers(model) == ["north"] * 2
        *refused, first, last = model.completions
    assert first.body == last.body
    assert (last.messages == FOLDED) == bool(words.get("system"))
    limit = 4096 if words.get("limit") else 8192
    assert last.body["max_completion_tokens" if words.get("names") else "max_tokens"] == limit
    assert len(refused) <= 7
    assert (len(caplog.records) == 1) == bool(refused), "a change of the form is logged"


def test_concurrent_first_requests_all_find_it():
    async def main(model):
        endpoint = ModelEndpoint(model="stub", base_url=model.url, max_tokens=8192)
        async with connect(endpoint, connections=8) as client:
            return await asyncio.gather(*(client.complete(MESSAGES) for _ in range(8)))

    with StubModel(server(names=NAMES["OpenAI"], system=SYSTEM["o1"])) as model:
        assert [reply.text for reply in asyncio.run(main(model))] == ["north"] * 8


def test_a_request_that_is_refused_after_another_was_accepted_uses_its_form():
    """The first request is refused at once, the second only after another form was accepted."""
    accepted, refused = threading.Event(), itertools.count()

    def late(handler, request):
        accepted.wait(10)
        fault(NAMES["OpenAI"])(handler, request)

    def fine(handler, request):
        ok("north")(handler, request)
        accepted.set()

    def script(request):
        if "max_tokens" not in request.body:
            return fine
        return late if next(refused) else fault(NAMES["OpenAI"])

    async def main(model):
        endpoint = ModelEndpoint(model="stub", base_url=model.url, max_tokens=8192)
        async with connect(endpoint, connections=2) as client:
            return await asyncio.gather(*(client.complete(MESSAGES) for _ in range(2)))

    with StubModel(script) as model:
        assert [reply.text for reply in asyncio.run(main(model))] == ["north"] * 2


def test_a_name_that_the_user_chose_stays():
    with StubModel(server(names=NAMES["OpenAI"])) as model:
        with raises(ProviderRefused, "'max_completion_tokens'"):
            answers(model, max_tokens_name="max_tokens")
        assert len(model.completions) == 1
        assert answers(model, 1, max_tokens_name="max_completion_tokens") == ["north"]
        assert answers(model, 1, extra={"max_completion_tokens": 5}) == ["north"]
        assert "max_tokens" not in model.completions[-1].body


def test_an_accepted_form_is_not_changed_by_a_later_refusal():
    with StubModel([ok("north"), fault(SYSTEM["Gemma 2"]), ok("south")]) as model:
        with pytest.raises(ProviderRefused):
            answers(model)
        assert len(model.completions) == 2


ROOM = {  # a context of 4,096 tokens and a prompt of 1,000
    "OpenAI": "This model's maximum context length is 4096 tokens. However, you requested 9192"
    " tokens (1000 in the messages, 8192 in the completion).",
    "vLLM": "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum"
    " context length is 4096 tokens and your request has 1000 input tokens (8192 > 4096 - 1000).",
    "Anthropic": "input length and `max_tokens` exceed context limit: 1000 + 8192 > 4096, decrease"
    " input length or `max_tokens` and try again",
    "TGI": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 1000"
    " `inputs` tokens and 8192 `max_new_tokens`",
}


@pytest.mark.parametrize("words", ROOM.values(), ids=ROOM)
def test_a_conversation_that_leaves_less_room_is_answered_with_less(words):
    with StubModel([ok("north"), fault(words), ok("south"), ok("east")]) as model:
        assert answers(model, 3) == ["north", "south", "east"]
    assert [r.body["max_tokens"] for r in model.completions] == [8192, 8192, 3096, 8192]


@pytest.mark.parametrize("words", ROOM.values(), ids=ROOM)
def test_one_that_leaves_no_room_is_too_long(words):
    full = re.sub(r"\b1000\b", "4096", words)
    with StubModel([ok("north"), fault(full)]) as model:
        with pytest.raises(ContextExceeded):
            answers(model)
        assert len(model.completions) == 2


def test_other_apis(monkeypatch):
    """Gemma models of the Gemini API take no instructions; old Claude models write less."""
    for name in ("GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "any")

    def gemma(request):
        refused = "systemInstruction" in request.body
        words = "Developer instruction is not enabled for models/gemma-3-27b-it"
        return StubGoogle.fault(400, words) if refused else StubGoogle.said("north")

    def claude(request):
        words = "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens"
        high = request.body["max_tokens"] > 4096
        return StubAnthropic.fault(400, words) if high else StubAnthropic.said("north")

    for stub, script in ((StubGoogle, gemma), (StubAnthropic, claude)):
        with stub(script) as model:
            assert answers(model, api=model.api) == ["north"] * 2
            assert len(model.asked) == 3


def test_a_text_of_parts_gets_the_rules_as_its_first_part():
    dialect = ServerDialect("max_tokens", None, has_system=False)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    (message,) = dialect.written([MESSAGES[0], {"role": "user", "content": [picture]}])
    assert message["content"] == [{"type": "text", "text": "Rules."}, picture]
    assert dialect.written([MESSAGES[0]]) == [{"role": "user", "content": "Rules."}]


def probe(model, *more):
    arguments = ("eval", "agentgym/Maze-v1", "--model", "stub", "--base-url", model.url, "--probe")
    return CliRunner().invoke(app, [*arguments, *more])


def test_a_probe_says_what_the_server_accepts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def script(request):
        if "tools" in request.body:
            return fault("no tools here")
        return server(system=SYSTEM["Gemma 2"])(request)

    with StubModel(script) as model:
        found = probe(model)
        assert found.exit_code == 0
        assert re.search(
            r"a system message: in another form \(the rules are in the first", found.output
        )
        assert re.search(
            r"functions: no, and the run needs none \(.* no tools here\)", found.output
        )
        assert "temperature 1: yes" in found.output
        assert re.search(r"These requests took \d+ tokens", found.output)
        assert probe(model, "--agent", "function").exit_code == 1
    assert list(tmp_path.iterdir()) == []
