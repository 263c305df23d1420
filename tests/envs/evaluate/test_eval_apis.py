"""``agentgym eval`` with other APIs, and its response cache."""

import json

import pytest
from evaluations import MAZE
from stub_apis import StubAnthropic
from stub_model import StubModel, ok
from typer.testing import CliRunner

from agentgym_envs.cli import app


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def ask(*arguments, status=0):
    few = ["--workers", "1", "--horizon", "2", "--agent", "chat"]
    given = [str(argument) for argument in arguments]
    extra = [] if "--agent" in given else few
    result = CliRunner().invoke(app, ["eval", MAZE, *given, *extra])
    assert result.exit_code == status, result.output
    return result.output


def rows(folder):
    with open(f"{folder}/episodes.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_a_run_through_anthropics_api():
    pytest.importorskip("anthropic", reason="an extra of agentgym-envs")
    with StubAnthropic([StubAnthropic.said("go north", cache_read_input_tokens=6)]) as model:
        server = ("--api", "anthropic", "--model", "stub", "--base-url", model.url)
        output = ask(*server, "--episodes", 2, "--effort", "low", "--out", "out")
    assert "24 of 40 prompt tokens came from the server's cache" in " ".join(output.split())
    assert {request.path for request in model.asked} == {"/v1/messages"}
    assert len(model.asked) == 4
    with open("out/settings.json", encoding="utf-8") as file:
        settings = json.load(file)
    sampling = settings["sampling"]
    assert (sampling["api"], sampling["effort"]) == ("anthropic", "low")
    assert "anthropic" in settings["sessions"][0]["versions"]
    for row in rows("out"):
        usage = row["usage"]
        assert (usage["prompt_tokens"], usage["cached_tokens"], usage["calls"]) == (20, 12, 2)


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        (("--prices", 2, 10, "--cached-price", 0.5), 4 * (4 * 2 + 6 * 0.5 + 2 * 10)),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in [
                (("--prices", 2, 10), 4 * (10 * 2 + 2 * 10)),
                (("--prices", 2, 10, "--cached-price", 0), 4 * (4 * 2 + 2 * 10)),
            ]
        ),
    ],
)
def test_prompt_tokens_from_the_servers_cache_can_have_a_price(prices, cost):
    """Four calls of 10 prompt tokens, of which the server has 6, and 2 completion tokens."""
    pytest.importorskip("anthropic", reason="an extra of agentgym-envs")
    with StubAnthropic([StubAnthropic.said("go north", cache_read_input_tokens=6)]) as model:
        server = ("--api", "anthropic", "--model", "stub", "--base-url", model.url)
        output = ask(*server, "--episodes", 2, *prices, "--out", "out")
    assert f"2 of 2 episodes, 48 tokens, cost {cost / 1e6:.4f}" in " ".join(output.split())
    assert sum(row["usage"]["cost"] for row in rows("out")) == pytest.approx(cost / 1e6)


def test_a_server_without_the_responses_api_is_named_as_the_cause():
    pytest.importorskip("openai", reason="an extra of agentgym-envs")
    with StubModel([ok("go north")]) as model:
        server = ("--api", "responses", "--model", "stub", "--base-url", model.url)
        output = " ".join(ask(*server, "--episodes", 1, "--out", "out", status=2).split())
    assert "the server may have no Responses API (most have only --api chat)" in output


def test_settings_hold_no_default_of_a_later_option():
    with StubModel([ok("go north")]) as model:
        ask("--model", "stub", "--base-url", model.url, "--episodes", 1, "--out", "out")
    with open("out/settings.json", encoding="utf-8") as file:
        sampling = json.load(file)["sampling"]
    assert sampling == {"temperature": 1.0, "max_tokens": 8192, "extra": {}}


def test_a_second_run_takes_its_replies_from_the_cache():
    said = iter(range(100))
    with StubModel(lambda request: ok(f"go north {next(said)}")) as model:
        server = ("--model", "stub", "--base-url", model.url, "--cache", "cache")
        prices = ("--prices", 1, 1, "--episodes", 2, "--attempts", 2)
        ask(*server, *prices, "--out", "first")
        assert len(model.completions) == 8  # attempts share nothing
        output = ask(*server, *prices, "--out", "second")
        assert len(model.completions) == 8
    assert "8 of 8 replies came from --cache" in output
    first, second = (
        {(r["task_id"], r["attempt"]): r for r in rows(n)} for n in ("first", "second")
    )
    for key, row in second.items():
        assert row["turns"] == first[key]["turns"]
        counts = {"prompt_tokens": 0, "completion_tokens": 0, "cost": 0.0, "cached_tokens": 0}
        assert row["usage"] == {**counts, "calls": 2, "cached_calls": 2}
        assert all(call["cached"] for call in row["calls"])
        assert first[key]["usage"]["cost"] > 0
    assert len({row["turns"][0]["response"] for row in second.values()}) == 4


def test_turns_that_a_model_invents_are_not_played():
    said = "Thought: a\nAction: go north\nObservation: A wall.\nThought: b\nAction: go south"
    with StubModel([ok(said)]) as model:
        server = ("--model", "stub", "--base-url", model.url, "--episodes", 1, "--horizon", 2)
        stop = r'stop=["\nObservation:"]'  # of the guide
        ask(*server, "--agent", "react", "--workers", 1, "--send", stop, "--out", "out")
    assert {tuple(request.body["stop"]) for request in model.completions} == {("\nObservation:",)}
    (row,) = rows("out")
    assert [(turn["action"], turn["invalid"]) for turn in row["turns"]] == [("go north", False)] * 2


def test_the_temperature_can_be_left_out():
    with StubModel([ok("go north")]) as model:
        server = ("--model", "stub", "--base-url", model.url, "--episodes", 1)
        ask(*server, "--temperature", "none", "--effort", "high", "--out", "out")
    (body, *_) = (request.body for request in model.completions)
    assert "temperature" not in body
    assert body["reasoning_effort"] == "high"


def test_a_base_url_without_its_path():
    with StubModel([ok("go north")]) as model:
        bare = model.url.removesuffix("/v1")
        output = ask("--model", "stub", "--base-url", bare, status=2)
    assert f"most end in /v1: try {bare}/v1" in " ".join(output.split())
    assert not model.completions


LOCAL = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "m", "--api", "antropic"), "Did you mean 'anthropic'"),
        ((*LOCAL, "--effort", "huge"), "effort must be low, medium or high, not 'huge'"),
        ((*LOCAL, "--temperature", "warm"), "'warm' is neither a number from 0 up nor 'none'"),
        ((*LOCAL, "--temperature", "-1"), "'-1' is neither a number from 0 up nor 'none'"),
        ((*LOCAL, "--cache", "file"), "the cache file is a file: pass a folder"),
        ((*LOCAL, "--cache", "."), "is not a cache of replies: pass an empty folder"),
        ((*LOCAL, "--cached-price", "1"), "--cached-price needs --prices"),
        (("--agent", "random", "--effort", "low"), "leave --effort out"),
        (("--agent", "random", "--cache", "c"), "leave --cache out"),
        (
            ("--model", "m"),
            "the key in $OPENAI_API_KEY starts with sk-ant-, as Anthropic's keys do",
        ),
    ],
)
def test_what_is_wrong_is_said_before_any_request(arguments, message, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ant-not-a-real-key")
    monkeypatch.setenv("COLUMNS", "300")
    output = ask(*arguments, status=2)
    assert message in " ".join(output.replace("│", " ").split())
    assert "Traceback" not in output
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
