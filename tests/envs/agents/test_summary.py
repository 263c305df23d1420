"""The agent that rewrites its memory: conversations, long episodes, and errors."""

import asyncio
from dataclasses import replace

import pytest
from evaluations import MAZE, Model, evaluate, mazes
from raised import raises
from stub_apis import StubAnthropic, StubGoogle
from stub_model import StubModel, ok, status
from typer.testing import CliRunner

from agentgym_envs.agents import EpisodeOpening, load
from agentgym_envs.cli import app
from agentgym_envs.errors import ArgumentError, ContextExceeded
from agentgym_envs.evaluate.record import episodes, read
from agentgym_envs.models.answers import TokenUsage, read_models
from agentgym_envs.models.connect import connect
from agentgym_envs.models.endpoint import ModelEndpoint

ACTION = "Thought: on.\nAction: go north"
OPENING = EpisodeOpening("task", 0, "find the lamp", "Rules.", "Form.", [])


class Counting(Model):
    """A model whose tokens are the words of its requests and replies; ``counts`` replaces them."""

    counts = ()

    async def complete(self, messages, *, tools=None, sample=""):
        reply = await super().complete(messages)
        prompt = sum(len(message["content"].split()) for message in messages)
        counted = TokenUsage(prompt, len(reply.text.split()))
        if self.counts:
            counted = self.counts[min(len(self.asked), len(self.counts)) - 1]
        return replace(reply, usage=counted)


def is_memory(messages):
    return "write a memory" in messages[-1]["content"]


def remembering(memory="<think>So.</think> The lamp is north."):
    return lambda messages: memory if is_memory(messages) else ACTION


def play(model, turns, opening=OPENING, **options):
    async def main():
        agent = load("summary", options).make(model)
        await agent.start(opening)
        return [await agent.act(f"Room {turn}.", {}) for turn in range(turns)]

    return asyncio.run(main())


def test_the_conversation_before_and_after_a_memory():
    model = Counting(remembering())
    model.counts = [TokenUsage(20, 10), TokenUsage(60, 15), TokenUsage(80, 5), TokenUsage(30, 10)]
    assert play(model, 4, context=100) == [ACTION] * 4
    first, second, memory, after, last = model.asked
    rules = {"role": "system", "content": "Rules.\n\nForm."}
    said = {"role": "assistant", "content": ACTION}
    shown = [{"role": "user", "content": f"Room {turn}."} for turn in range(4)]
    assert first == [rules, shown[0]]
    assert second == [rules, shown[0], said, shown[1]]
    assert memory[:5] == [*second, said], "75 tokens are three quarters of the context"
    assert len(memory) == 6
    assert memory[5]["content"].startswith("Room 2.\n\nBefore you act,")
    start = (
        "Goal: find the lamp\n\nYour memory of the earlier turns:\nThe lamp is north.\n\nRoom 2."
    )
    assert after == [rules, {"role": "user", "content": start}]
    assert last == [*after, said, shown[3]]


def test_a_share_below_which_no_memory_is_written():
    model = Counting(remembering())
    model.counts = [TokenUsage(60, 14)]
    play(model, 5, context=100)
    assert not any(map(is_memory, model.asked))
    play(model, 2, context=100, share=0.74)
    assert sum(map(is_memory, model.asked)) == 1


def test_episodes_at_the_same_time_share_nothing():
    models = [Counting(remembering()) for _ in range(3)]

    async def main():
        factory = load("summary", {"context": 300})
        agents = [factory.make(model) for model in models]
        for agent in agents:
            await agent.start(OPENING)
        for turn in range(60):
            for agent in agents[:2]:
                await agent.act(f"Room {turn}.", {})
        for turn in range(60):
            await agents[2].act(f"Room {turn}.", {})

    asyncio.run(main())
    first, second, later = (model.asked for model in models)
    assert first == second == later
    assert any(map(is_memory, first))


class Limited(Counting):
    """Refuses a conversation of more words than its context, as servers do."""

    async def complete(self, messages, *, tools=None, sample=""):
        reply = await super().complete(messages)
        if reply.usage.prompt_tokens + reply.usage.completion_tokens > self.max_context:
            raise ContextExceeded("too long")
        return reply


def test_an_episode_of_four_contexts_goes_to_its_end(tmp_path):
    def episode(agent):
        model = Limited(
            lambda messages: "It is north." if is_memory(messages) else f"{'so ' * 55}\n{ACTION}"
        )
        model.max_context = 500
        return evaluate(tmp_path / agent, mazes(1), agent, client=model, horizon=40).record.rows[0]

    assert episode("react")["end"] == "context"
    row = episode("summary")
    assert (row["end"], len(row["turns"])) == ("truncated", 40)
    words = sum(len(f"{turn['observation']} {turn['response']}".split()) for turn in row["turns"])
    assert words >= 4 * 500
    turns = [call["turn"] for call in row["calls"]]
    assert sorted(set(turns)) == list(range(40))
    assert len(turns) - 40 >= 4, "the requests for memories are calls like any other"


def test_without_a_known_context_no_request_is_sent():
    model = Counting(remembering())
    with raises(ArgumentError, "--option context="):
        play(model, 1)
    assert model.asked == []
    model.max_context = 300
    play(model, 60)
    assert any(map(is_memory, model.asked))


def test_a_server_that_does_not_count_tokens():
    model = Counting(remembering())
    model.counts = [None]
    with raises(ArgumentError, "does not count tokens", "'summary'"):
        play(model, 1, context=100)


@pytest.mark.parametrize("memory", ["", "  ", "<think>I was", "<think>So.</think>\n"])
def test_an_empty_memory_ends_the_episode(memory):
    model = Counting(remembering(memory))
    model.counts = [TokenUsage(1000, 500)]
    with raises(ContextExceeded, "1,500 of the context's 2,000 tokens", "empty"):
        play(model, 2, context=2000)


def test_a_request_for_a_memory_that_does_not_fit_says_what_to_change():
    model = Counting(lambda m: ContextExceeded("too long", 400) if is_memory(m) else ACTION)
    model.counts = [TokenUsage(1000, 500)]
    with raises(ContextExceeded, "1,500 of", "lower share=0.75", "too long") as error:
        play(model, 2, context=2000)
    assert error.value.status == 400


def test_a_memory_that_does_not_fit_ends_the_episode():
    model = Counting(remembering("north " * 500))
    model.counts = [TokenUsage(1000, 500), TokenUsage(1600, 400), TokenUsage(2001, 4)]
    with raises(
        ContextExceeded, "memory of 2,999 characters", "2,000 tokens", "rules of 13", "has 2,001"
    ):
        play(model, 2, context=2000)

    def refuse(messages):
        if "Your memory" in messages[1]["content"]:
            return ContextExceeded("too long", 400, "whole")
        return "The lamp." if is_memory(messages) else ACTION

    model = Counting(refuse)
    model.counts = [TokenUsage(1000, 500)]
    with raises(ContextExceeded, "memory of 9 characters", "observation of 7", "too long") as error:
        play(model, 2, context=2000)
    assert (error.value.status, error.value.answer) == (400, "whole")


@pytest.mark.parametrize(
    "options",
    [
        *({"share": share} for share in (0, 1, -0.5, 1.5, float("nan"), "half", None, True)),
        *({"context": context} for context in (0, -1, 2.5, "long", True)),
    ],
)
def test_options_out_of_range(options):
    (name,) = options
    with raises(ArgumentError, f"{name}={options[name]!r}"):
        load("summary", options).make(Counting())


@pytest.mark.parametrize(
    ("row", "context"),
    [
        ({"max_model_len": 4096}, 4096),
        ({"context_length": 8192, "top_provider": {}}, 8192),
        ({"context_window": 131072}, 131072),
        ({"max_context_length": 32768}, 32768),
        ({"meta": {"n_ctx": 2048, "n_ctx_train": 40960}}, 2048),
        ({"meta": None, "max_model_len": None}, None),
        ({"max_model_len": "4096"}, None),
        ({"max_model_len": 0}, None),
        ({}, None),
    ],
)
def test_the_context_in_a_list_of_models(row, context):
    assert read_models({"data": [{"id": "stub", **row}]}) == {"stub": context}


@pytest.mark.parametrize(
    ("stub", "listed"),
    [
        (StubModel, {"data": [{"id": "stub", "max_model_len": 4096}, {"id": "other"}]}),
        (StubAnthropic, StubAnthropic.listed(["stub"])),
        (StubGoogle, {"models": [{"name": "models/stub", "inputTokenLimit": 4096}]}),
    ],
)
def test_a_check_reads_the_context(stub, listed, provider_sdks):
    if stub is StubAnthropic:
        listed["data"][0]["max_input_tokens"] = 4096

    async def main(model):
        api = getattr(model, "api", "chat")
        async with connect(ModelEndpoint(model="stub", api=api, base_url=model.url)) as client:
            before = client.max_context
            await client.check()
            return before, client.max_context

    with stub([ok()], models=status(200, body=listed)) as model:
        assert asyncio.run(main(model)) == (None, 4096)


@pytest.mark.parametrize("context", [None, 400])
def test_the_command_takes_the_context_from_the_server(tmp_path, monkeypatch, context):
    """Also when it resumes an evaluation, where the client is another one."""
    monkeypatch.chdir(tmp_path)
    row = {"id": "stub", "max_model_len": context}

    def answer(request):
        return ok("The lamp." if is_memory(request.messages) else f"{'so ' * 20}\n{ACTION}")

    with StubModel(answer, models=status(200, body={"data": [row]})) as model:
        server = ["--model", "stub", "--base-url", model.url, "--agent", "summary"]
        more = ["--horizon", "14", "--workers", "1", "--out", "out", "--task", mazes(1)[0].task_id]
        for attempts in ("1", "2"):
            command = ["eval", MAZE, *server, *more, "--attempts", attempts]
            result = CliRunner().invoke(app, command)
            if context is None:
                assert result.exit_code == 2
                assert "--option context=" in result.output
                assert model.completions == []
                return
            assert result.exit_code == 0, result.output
    assert [len(row["turns"]) for row in episodes(read(tmp_path / "out")[0])] == [14, 14]
    assert sum(is_memory(request.messages) for request in model.completions) >= 2
