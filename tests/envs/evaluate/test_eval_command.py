"""The commands, as a user would call them, against a server that fails in every way."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest
import stub_model
from stub_model import StubModel
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.evaluate.record import EPISODES, SETTINGS, EpisodeKey, read, write
from agentgym_envs.evaluate.settings import RunSettings

MAZE = "agentgym/Maze-v1"
RULE = "Thought: on.\nAction: go north"


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def call(*arguments, status=0):
    few = ("--workers", 1) if arguments[0] == "eval" else ()  # each costs a start
    result = CliRunner().invoke(app, [str(a) for a in (*arguments, *few)])
    assert result.exit_code == status, result.output
    return result


def ask(stub, *more, status=0, model="stub"):
    server = ("--model", model, "--base-url", stub if isinstance(stub, str) else stub.url)
    return call(
        "eval", MAZE, *server, "--out", "out", "--horizon", 3, "--episodes", 6, *more, status=status
    )


def test_the_table_the_folder_and_the_page(tmp_path):
    call("eval", MAZE, "--agent", "oracle", "--episodes", 5)
    result = call("eval", MAZE, "--agent", "random", "--episodes", 5, "--attempts", 2)
    assert "5×2" in result.output
    assert "10 of 10 episodes" in result.output
    result = call("report", *sorted((tmp_path / "results").iterdir()), "--html", "page.html")
    assert "the same tasks in both" in result.output
    assert "<script" in (tmp_path / "page.html").read_text()


@pytest.mark.full
def test_a_model_behind_a_server_that_fails_in_every_way_leaves_no_episode_out(tmp_path):
    rng, troubles = random.Random(7), []

    def script(request):
        trouble = rng.choice(
            [
                None,
                None,
                None,
                None,
                stub_model.status(429, {"Retry-After": "0"}),
                stub_model.status(500),
                stub_model.half(),
                stub_model.nonsense(),
                stub_model.empty(),
                stub_model.close(),
                stub_model.reset(),
            ]
        )
        troubles.append(trouble is not None)
        return trouble or stub_model.ok(RULE)

    with StubModel(script) as stub:
        ask(stub, "--concurrency", 6)
    rows, _ = read(tmp_path / "out")
    assert Counter(row["row"] for row in rows)["episode"] == 6
    assert sum(troubles) > 10
    assert {turn["action"] for row in rows if row["row"] == "episode" for turn in row["turns"]} == {
        "go north"
    }
    assert all(
        row["usage"]["calls"] == len(row["turns"]) for row in rows if row["row"] == "episode"
    )


def test_run_again_it_plays_only_what_is_missing(tmp_path):
    with StubModel(lambda request: stub_model.ok(RULE)) as stub:
        ask(stub)
        asked = len(stub.completions)
        assert "6 of 6 episodes" in ask(stub).output
        assert len(stub.completions) == asked
        ask(stub, "--attempts", 2)
        assert len(stub.completions) == 2 * asked
    keys = [EpisodeKey.of(row) for row in read(tmp_path / "out")[0]]
    assert len(set(keys)) == len(keys) == 12


@pytest.mark.parametrize("moments", [(6,), pytest.param((1, 6, 13), marks=pytest.mark.full)])
def test_kill_9_at_any_moment_loses_at_most_the_episodes_in_flight(tmp_path, moments):
    """At the end each episode is recorded once, and few were played twice."""
    concurrency, episodes = 8, 24
    command = [
        sys.executable,
        "-m",
        "agentgym_envs.cli",
        "eval",
        MAZE,
        "--horizon",
        "3",
        "--out",
        "out",
        "--model",
        "stub",
    ]
    command += [
        "--episodes",
        str(episodes),
        "--concurrency",
        str(concurrency),
        "--workers",
        "2",
        "--base-url",
    ]
    with StubModel(lambda request: stub_model.slow(0.1, stub_model.ok(RULE))) as stub:
        for wanted in moments:  # lines
            process = subprocess.Popen(
                [*command, stub.url],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )
            wait_for(lambda wanted=wanted: lines(tmp_path) >= wanted, process)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        before = len(stub.completions)
        assert before <= 3 * (lines(tmp_path) + len(moments) * concurrency)
        subprocess.run(
            [*command, stub.url], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    rows, cut = read(tmp_path / "out")
    assert cut == 0
    assert len({EpisodeKey.of(row) for row in rows}) == len(rows) == episodes


def lines(folder):
    path = folder / "out" / EPISODES
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(holds, process):
    end = time.monotonic() + 60
    while not holds() and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_is_whole_needs_no_server(tmp_path):
    with StubModel(lambda request: stub_model.ok(RULE)) as stub:
        ask(stub)
        assert [r.path for r in stub.requests].count("/v1/models") == 1, (
            "the server is asked once what it has"
        )
    assert "6 of 6 episodes" in ask(stub.url).output


def test_a_key_appears_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-marker")
    with StubModel(lambda request: stub_model.status(403, body="sk-marker is a fine key")) as stub:
        result = ask(stub, status=2)
        assert stub.completions[0].headers["authorization"] == "Bearer sk-marker"
    call("eval", MAZE, "--agent", "random", "--episodes", 1, "--out", "other")
    call("report", "other")
    kept = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "sk-marker" not in kept + result.output


def refused(message, *arguments):
    result = call(*arguments, status=2)
    told = " ".join(result.output.split())
    assert message in told, told
    assert "Traceback" not in told
    assert len(result.output.strip().splitlines()) == 1, result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["eval", "agentgym-lr", "--agent", "random"],
            "unknown suite or environment 'agentgym-lr'. Did you mean 'agentgym-rl'",
        ),
        (["eval", MAZE], "no agent: pass --model or --agent"),
        (["eval", MAZE, "--agent", "react"], "acts through a model: name one with --model"),
        (["eval", MAZE, "--agent", "random", "--model", "x"], "leave --model out"),
        (["eval", MAZE, "--agent", "no.such:agent"], "cannot be imported"),
        (["eval", MAZE, "--model", "x", "--format", "yaml"], "unknown format 'yaml'"),
        (["eval", MAZE, "--model", "x"], "OPENAI_API_KEY"),
        (
            ["eval", MAZE, "--model", "x", "--base-url", "http://127.0.0.1:9/v1"],
            "cannot reach http://127.0.0.1:9/v1",
        ),
        (["eval", MAZE, "--model", "x", "--base-url", "nowhere"], "base_url must be http"),
        (["eval", MAZE, "--agent", "random", "--set", "colour=1"], "does not take 'colour'"),
        (["eval", MAZE, "--agent", "random", "--task", "none-*"], "selects nothing"),
        (
            ["eval", "agentgym-rl", "--agent", "random", "--only", "babyia"],
            "unknown family or scenario 'babyia'",
        ),
        (["eval", MAZE, "--model", "x", "--budget-cost", "1"], "--budget-cost needs --prices"),
        (["eval", MAZE, "--agent", "random", "--option", "window"], "key=value"),
        (["report", "nothing-here"], "nothing-here holds no results"),
        (
            ["eval", MAZE, "--agent", "random", "--format", "react"],
            "has its own format of responses",
        ),
        (
            ["eval", MAZE, "--model", "m", "--send", "temperature=0.5"],
            "--send temperature=…: use --temperature",
        ),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_folder(tmp_path, arguments, message):
    refused(message, *arguments)
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("results",)] == []
    assert not (tmp_path / "results").exists()


def test_an_unknown_model_is_told_with_those_that_there_are(tmp_path):
    with StubModel(lambda request: stub_model.ok(RULE), models=["qwen", "smollm"]) as stub:
        refused("Did you mean 'qwen'", "eval", MAZE, "--model", "qwne", "--base-url", stub.url)


@pytest.mark.full
def test_results_of_other_settings_and_garbled_lines_are_left_alone(tmp_path):
    call("eval", MAZE, "--agent", "random", "--episodes", 2, "--out", "out")
    kept = (tmp_path / "out" / SETTINGS).read_bytes(), (tmp_path / "out" / EPISODES).read_bytes()
    refused(
        "other settings: agent is 'random' there and 'oracle' here",
        "eval",
        MAZE,
        "--agent",
        "oracle",
        "--out",
        "out",
    )
    assert kept == (
        (tmp_path / "out" / SETTINGS).read_bytes(),
        (tmp_path / "out" / EPISODES).read_bytes(),
    )
    with (tmp_path / "out" / EPISODES).open("a") as file:
        file.write("garbage\n")
    for command in (["eval", MAZE, "--agent", "random", "--out", "out"], ["report", "out"]):
        refused("line 3 of out/episodes.jsonl is no episode", *command)


@pytest.mark.full
def test_results_of_another_target_or_split_are_not_mixed():
    call("eval", MAZE, "--agent", "random", "--episodes", 2, "--out", "out")
    refused(
        "split is 'test' there and 'dev' here",
        "eval",
        MAZE,
        "--agent",
        "random",
        "--split",
        "dev",
        "--out",
        "out",
    )
    refused(
        f"target is '{MAZE}' there",
        "eval",
        "agentgym/TextCraft-v2",
        "--agent",
        "random",
        "--out",
        "out",
    )


@pytest.mark.full
def test_the_table_is_of_what_was_asked_for():
    """Plays five tasks, then three other evenly spaced ones.

    The folder holds more episodes than the second table shows.
    """
    call("eval", MAZE, "--agent", "random", "--episodes", 5, "--out", "out")
    output = call("eval", MAZE, "--agent", "random", "--episodes", 3, "--out", "out").output
    assert "3 of 3 episodes" in output
    (line,) = [
        words
        for words in map(str.split, output.splitlines())
        if words[:1] == [MAZE] and len(words) > 3
    ]
    assert line[1] == "3"


@pytest.mark.full
def test_a_slip_does_not_claim_the_folder(tmp_path):
    (tmp_path / "out").mkdir()
    with StubModel(lambda request: stub_model.ok(RULE)) as stub:
        for slip, model in (
            (("--option", "window=0"), "stub"),
            ((), "stbu"),
            (("--format", "yaml"), "stub"),
            (("--prices", "nan", "1"), "stub"),
        ):
            ask(stub, *slip, model=model, status=2)
            assert list((tmp_path / "out").iterdir()) == []
        assert "6 of 6 episodes" in ask(stub, "--option", "window=2").output


def test_the_oracle_needs_an_environment_that_has_one():
    refused(
        "support/Hash-v0 has no oracle",
        "eval",
        "hash_env:support/Hash-v0",
        "--agent",
        "oracle",
        "--episodes",
        1,
    )


def test_why_episodes_are_missing_is_told(tmp_path):
    (tmp_path / "waver.py").write_text("def wave(observation, info):\n    return 'wave'\n")
    faulty = (
        "eval",
        "faulty_envs:support/Faulty-v0",
        "--set",
        "fault=raise",
        "--set",
        "at=1",
        "--agent",
        "waver:wave",
    )
    output = " ".join(call(*faulty, "--episodes", 1, "--out", "out", status=1).output.split())
    assert "1 episode is missing: each of their tries failed, the last with:" in output
    assert "broken on purpose" in output


def test_half_a_last_line_is_told_and_its_episode_played_again(tmp_path):
    call("eval", MAZE, "--agent", "random", "--episodes", 2, "--out", "out")
    path = tmp_path / "out" / EPISODES
    path.write_bytes(path.read_bytes()[:-20])
    assert "ends in half a line" in call("report", "out").output
    again = call("eval", MAZE, "--agent", "random", "--episodes", 2, "--out", "out")
    assert "half a line, which is dropped" in again.output
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 2


def test_a_budget_ends_the_run_with_status_1(tmp_path):
    with StubModel(lambda request: stub_model.ok(RULE)) as stub:
        result = ask(stub, "--budget-tokens", 40, "--concurrency", 1, status=1)
    assert "the budget of 40 tokens is spent" in " ".join(result.output.split())
    assert "episodes are missing" in result.output


def line(task, success=True, row="episode", **changes):
    named = {
        "row": row,
        "suite": "",
        "scenario": "",
        "family": "F",
        "env_id": "e",
        "task_id": task,
        "difficulty": 1,
        "attempt": 0,
    }
    turn = {
        "observation": "here",
        "response": "go",
        "thought": "",
        "action": "go",
        "reward": 0.0,
        "invalid": False,
    }
    ended = {
        "success": success,
        "score": float(success),
        "end": "terminated",
        "last": "there",
        "turns": [turn],
    }
    failed = {"fault": "environment", "try": 1, "error": "envs:Boom: [/b] no answer", "turns": 1}
    return {
        **named,
        "settings": "x",
        "usage": {},
        **(ended if row == "episode" else failed),
        **changes,
    }


def folder(name, *rows, **settings):
    write(Path(name), settings, rows)


def told(*arguments, status=0):
    return " ".join(call(*arguments, status=status).output.split())


def test_folders_of_the_same_name_are_told_apart_by_their_paths(tmp_path, monkeypatch):
    folder("a/r", line("t"))
    folder("b/r", line("t"), line("u"))
    assert "b/r − a/r" in told("report", "a/r", "b/r")
    monkeypatch.chdir(tmp_path / "a" / "r")
    assert "r − s" not in told("report", ".", "../../b/r")
    assert call("report", ".").output.split()[0] == "r"


def test_a_run_of_the_trainer_is_reported_as_its_evaluations():
    folder("run/episodes/before", line("t", False), step=0)
    folder("run/episodes/after", line("t"), step=9)
    assert "after − before 1 +1.000" in told("report", "run")
    Path("empty/episodes").mkdir(parents=True)
    refused("empty holds no results: no evaluation is in empty/episodes yet", "report", "empty")


def test_runs_that_share_no_task_say_so():
    folder("one", line("t"))
    folder("two", line("u"))
    output = call("report", "one", "two").output
    assert "two and one have no task in common" in output.splitlines()
    assert "the same tasks in both" not in output


def test_a_folder_of_faults_alone_is_shown_with_the_commonest_errors():
    folder(
        "out", *(line(task, row="fault") for task in "abc"), line("d", row="fault", error="other")
    )
    shown = call("report", "out").output.splitlines()
    assert ["F", "0", "4"] in [text.split() for text in shown]
    assert "3 faults, environment: envs:Boom: [/b] no answer" in shown, (
        "neither markup nor an emoji"
    )
    folder("nothing")
    refused("nothing has no episodes yet", "report", "nothing")


@pytest.mark.parametrize("name", ["run[bold]", "[red]", "x:boom:y"])
def test_names_in_brackets_are_names(name):
    family = f"{name}[/b]"
    folder(name, line("t", family=family))
    folder("other", line("t", family=family), line("u", family=family))
    output = call("report", name, "other", "--html", f"{name}.html").output
    assert f"other − {name} " in output
    assert f"wrote {name}.html" in output
    assert [text.strip() for text in output.splitlines()].count(name) == 1, "the title"
    assert output.count(family) == 2


def test_a_model_in_brackets_is_a_name():
    with StubModel(lambda request: stub_model.ok(RULE), models=["m[/b]"]) as stub:
        assert f"m[/b] on {MAZE}" in told(
            "eval",
            MAZE,
            "--model",
            "m[/b]",
            "--base-url",
            stub.url,
            "--horizon",
            2,
            "--episodes",
            2,
        )


def test_an_error_is_printed_as_it_is():
    refused("error: envs:Boom: x[bold]: module", "eval", "envs:Boom: x[bold]", "--agent", "random")


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("none/page.html", "cannot write none/page.html: No such file"),
        ("out", "cannot write out: it is a folder"),
        (".", "folder"),
    ],
)
def test_a_page_that_cannot_be_written(tmp_path, page, message):
    folder("out", line("t"))
    refused(message, "report", "out", "--html", page)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "out",
        f"out/{EPISODES}",
        f"out/{SETTINGS}",
    ]


def test_a_report_replaces_reports_alone(tmp_path):
    folder("out", line("t"))
    assert "wrote report.html" in call("report", "out").output
    assert "replaced report.html" in call("report", "out").output
    Path("notes.html").write_text("<!doctype html><title>Notes</title>")
    refused("notes.html exists and is not a report", "report", "out", "--html", "notes.html")
    assert Path("notes.html").read_text().endswith("<title>Notes</title>")
    Path("empty.html").touch()
    assert "wrote empty.html" in call("report", "out", "--html", "empty.html").output


@pytest.mark.parametrize("text", ["[]", "3", "null", "[" * 100_000])
def test_settings_that_are_no_object(text):
    folder("out", line("t"))
    Path("out", SETTINGS).write_text(text)
    for command in (["report", "out"], ["eval", MAZE, "--agent", "random", "--out", "out"]):
        refused("out holds no results: settings.json", *command)


WRONG = [
    {"turns": 3},
    {"turns": [3]},
    {"turns": [{}]},
    {"usage": []},
    {"success": "yes"},
    {"score": "1"},
]


@pytest.mark.parametrize("change", [*({key: ...} for key in line("t") if key != "last"), *WRONG])
def test_lines_that_lack_what_is_needed(change):
    folder("out", line("t"))
    lacking = {key: value for key, value in {**line("u"), **change}.items() if value is not ...}
    with open(f"out/{EPISODES}", "a") as file:
        file.write(json.dumps(lacking) + "\n")
    refused("line 2 of out/episodes.jsonl is no episode", "report", "out")


def test_a_run_does_not_go_on_with_lines_that_lack_what_is_needed():
    settings = RunSettings(target=MAZE, split="test", agent="random", format=None)
    folder(
        "out",
        {key: value for key, value in line("t").items() if key != "usage"},
        **asdict(settings),
    )
    refused(
        "line 1 of out/episodes.jsonl is no episode",
        "eval",
        MAZE,
        "--agent",
        "random",
        "--out",
        "out",
    )


@pytest.mark.parametrize("key", ["fault", "try", "turns", "usage", "family"])
def test_faults_that_lack_what_is_needed(key):
    folder("out", {name: value for name, value in line("t", row="fault").items() if name != key})
    refused("line 1 of out/episodes.jsonl is no episode", "report", "out")
