import asyncio
import json
from dataclasses import replace

import pytest
from raised import raises
from stub_model import StubModel, ok, tool_call

from agentgym_envs.errors import ArgumentError
from agentgym_envs.models.answers import ModelReply, TokenUsage, ToolCall
from agentgym_envs.models.cache import MARK, ReplyCache
from agentgym_envs.models.client import ChatClient, ModelEndpoint

MESSAGES = [{"role": "user", "content": "Where to?"}]


def ask(model, folder, *, sample="", seed=None, messages=MESSAGES, **options):
    async def main():
        endpoint = ModelEndpoint(model="stub", base_url=model.url, prices=(1.0, 1.0), **options)
        async with ChatClient(endpoint, cache=ReplyCache(folder)) as client:
            return await client.complete(messages, sample=sample, seed=seed)

    return asyncio.run(main())


def test_a_reply_is_kept_and_costs_nothing(tmp_path):
    with StubModel([tool_call("go", {"to": "north"}), ok("another")]) as model:
        first, second = ask(model, tmp_path), ask(model, tmp_path)
    assert len(model.requests) == 1
    assert (first.cached, first.cost > 0) == (False, True)
    assert second == replace(first, cached=True, cost=0.0)


@pytest.mark.parametrize(
    "change",
    [
        {"sample": "another attempt"},
        {"seed": 3},
        {"temperature": 0.5},
        {"extra": {"top_p": 0.5}},
        {"messages": [{"role": "user", "content": "Where?"}]},
    ],
)
def test_another_request_or_sample_never_hits(change, tmp_path):
    with StubModel() as model:
        ask(model, tmp_path)
        assert not ask(model, tmp_path, **change).cached
        assert len(model.requests) == 2


def test_another_model_never_hits(tmp_path):
    place, request = ["chat", "http://a/v1", ""], {"model": "a"}
    cache = ReplyCache(tmp_path)
    cache.put(place, request, ModelReply(text="a"))
    assert cache.get(place, request) == ModelReply(text="a")
    assert cache.get(place, {"model": "b"}) is None
    assert cache.get(["chat", "http://b/v1", ""], request) is None
    assert cache.get(["google", "http://a/v1", ""], request) is None


def test_everything_in_a_reply_comes_back(tmp_path):
    reply = ModelReply(
        text="é",
        tool_calls=(ToolCall("go", "{}", "c"),),
        reasoning="why",
        usage=TokenUsage(3, 2, 1),
        finish="stop",
        model="m",
        replay={"api": "google", "parts": [{"text": "é"}]},
        cost=0.5,
    )
    ReplyCache(tmp_path).put(["chat"], {}, reply)
    assert ReplyCache(tmp_path).get(["chat"], {}) == reply


def test_what_is_not_a_cache_is_refused_and_left_alone(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with raises(ArgumentError, "is a file"):
        ReplyCache(file)
    with raises(ArgumentError, "not a cache"):
        ReplyCache(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "mine"


def test_a_cache_of_another_format_is_refused(tmp_path):
    ReplyCache(tmp_path)
    (mark,) = tmp_path.iterdir()
    mark.write_text(json.dumps({"format": 99}))
    with raises(ArgumentError, "not a cache"):
        ReplyCache(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"text": 1}', '{"usage": null}'])
def test_a_damaged_file_is_named(content, tmp_path):
    cache = ReplyCache(tmp_path)
    cache.put(["chat"], {}, ModelReply(text="a"))
    (path,) = tmp_path.glob("*/*.json")
    path.write_text(content)
    with raises(ArgumentError, ".json"):
        cache.get(["chat"], {})


def test_a_folder_in_which_another_process_writes_the_mark_is_a_cache(tmp_path):
    (tmp_path / f".{MARK}.0123").write_text("{")
    assert ReplyCache(tmp_path).get(["chat", "url", ""], {"model": "m"}) is None
