"""``agentgym eval`` when a server, an agent or a disk fails: nothing is silent, nothing is lost."""

import asyncio
import json
import re
import resource
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import pytest
import stub_model
from evaluations import Model
from stub_model import StubModel
from typer.testing import CliRunner

from agentgym_envs import plugins
from agentgym_envs.agents.base import EpisodeEnding, EpisodeOpening, load
from agentgym_envs.cli import app
from agentgym_envs.evaluate.estimate import METHODS, FamilyEstimate, RequestShape
from agentgym_envs.evaluate.record import EPISODES, LAYOUT, SETTINGS, read, read_settings

MAZE, CRAFT = "agentgym/Maze-v1", "agentgym/TextCraft-v2"
RULE = "Thought: on.\nAction: go north"
COMMAND = [sys.executable, "-m", "agentgym_envs.cli", "eval", MAZE, "--workers", "1"]
FEW = ["--horizon", "2", "--episodes", "2", "--out", "out"]


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def call(*arguments, status=0):
    result = CliRunner().invoke(app, ["eval", *map(str, arguments), "--workers", "1"])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def model(stub, *names):
    named = [part for name in names or ["stub"] for part in ("--model", name)]
    return [*named, "--base-url", stub.url]


def test_a_server_that_fails_is_named_soon_after_its_first_failure():
    with StubModel([stub_model.status(500)]) as stub:
        run = subprocess.Popen(
            [*COMMAND, *FEW, *model(stub)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        try:
            assert stub.settled(lambda: stub.completions, 60)
            failed = time.monotonic()
            line = run.stderr.readline().decode()
            assert time.monotonic() - failed < 2
        finally:
            run.kill()
            run.communicate()
    assert "answered 500: stub answers 500; the next try follows in" in line


@pytest.mark.parametrize("behaviour", [stub_model.nonsense("data: {}\n\n"), stub_model.half()])
def test_an_answer_that_cannot_be_read_is_named(behaviour):
    with StubModel([behaviour, stub_model.ok(RULE)]) as stub:
        assert "; the next try follows in" in call(MAZE, *FEW, *model(stub))


@pytest.mark.parametrize("code", [400, 422])
def test_a_bad_request_ends_the_run_at_once_with_advice(code):
    with StubModel([stub_model.status(code)]) as stub:
        output = call(MAZE, *FEW, *model(stub), "--concurrency", 1, status=2)
        assert len(stub.completions) == 2, "the second is the greeting"
    assert output.count(f"answered {code}: stub answers {code}") == 1
    assert "change the request's options (--temperature, --max-tokens, --send" in output
    assert "The same command plays them" not in output


def test_the_time_and_the_number_of_tries_can_be_limited():
    script = [stub_model.hang(), *[stub_model.status(500)] * 2, stub_model.ok(RULE)]
    with StubModel(script) as stub:
        few = ("--request-timeout", 0.3, "--retries", 1, "--concurrency", 1)
        output = call(MAZE, *FEW, *model(stub), *few)
    assert "did not answer within 0.3 s" in output
    faults = [row for row in read_folder() if row["row"] == "fault"]
    assert [(row["fault"], row["try"]) for row in faults] == [("provider", 1)]


def read_folder():
    return read(Path("out"))[0]


AGENTS = """
import time
def slow(observation, info):
    time.sleep(60)
def bad(observation, info):
    return {}["bug"]
"""


@pytest.mark.parametrize(
    ("agent", "error"),
    [("slow", "did not return within 0.2 s (--agent-timeout)"), ("bad", "raised KeyError at mine")],
)
def test_an_agents_fault_is_a_row_and_bounded(tmp_path, agent, error):
    (tmp_path / "mine.py").write_text(AGENTS)
    options = ("--agent", f"mine:{agent}", "--agent-timeout", 0.2)
    output = call(MAZE, *FEW, *options, status=1)
    assert error in output
    assert "2 episodes are missing" in output
    rows = read_folder()
    assert [row["fault"] for row in rows] == ["agent"] * 6
    assert all(len(row["traceback"].splitlines()) <= 5 for row in rows)


def test_a_session_is_recorded_with_the_servers_own_name_of_the_model(tmp_path):
    reply = stub_model.ok(RULE)
    with StubModel([reply]) as stub:
        call(MAZE, *FEW, *model(stub))
        call(MAZE, *FEW, *model(stub))
        (only,) = read_settings(tmp_path / "out")["sessions"]
        assert (only["base_url"], only["served"]) == (stub.url, ["stub"])
    assert only["versions"].keys() >= {"agentgym-envs", "httpx2"}


@pytest.mark.full
def test_results_of_another_or_a_newer_version(tmp_path):
    call(MAZE, *FEW, "--agent", "random")
    found = read_settings(tmp_path / "out")
    found["sessions"][0]["versions"]["agentgym-envs"] = "0.0.1"
    (tmp_path / "out" / SETTINGS).write_text(json.dumps(found))
    assert "2 of 2 episodes" in call(MAZE, *FEW, "--agent", "random")
    more = (MAZE, "--horizon", 2, "--episodes", 3, "--out", "out", "--agent", "random")
    assert "of agentgym-envs 0.0.1, and this is" in call(*more, status=2)
    assert "3 of 3 episodes" in call(*more, "--allow-version-change")
    (tmp_path / "out" / SETTINGS).write_text(json.dumps({**found, "layout": LAYOUT + 1}))
    before = (tmp_path / "out" / EPISODES).read_bytes()
    assert "written by a newer version" in call(*more, status=2)
    assert (tmp_path / "out" / EPISODES).read_bytes() == before


@pytest.mark.full
def test_each_pair_of_models_and_targets_has_a_folder_and_a_cell(tmp_path):
    targets = (MAZE, CRAFT, "--horizon", 2, "--episodes", 2, "--out", "all")
    with StubModel(lambda request: stub_model.ok(RULE), models=["a", "b"]) as stub:
        output = call(*targets, *model(stub, "a", "b"))
        asked = len(stub.completions)
        assert output == call(*targets, *model(stub, "a", "b"))
        assert len(stub.completions) == asked
    names = [f"agentgym-{t}-{m}-react" for t in ("Maze-v1", "TextCraft-v2") for m in "ab"]
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == names
    cell = r"0\.000 \(0\.00–0\.\d\d\)"
    table = rf"{MAZE} {CRAFT} ─+ a {cell} {cell} b {cell} {cell} success and score: "
    assert re.search(table, output)
    assert output.count("success and score: ") == 1, "one legend for all tables"


def test_a_pair_that_fails_does_not_stop_the_others(tmp_path):
    with StubModel(lambda request: stub_model.ok(RULE), models=["b"]) as stub:
        few = ("--horizon", 2, "--episodes", 2, "--out", "all")
        output = call(MAZE, *few, *model(stub, "a", "b"), status=1)
    assert f"error: a on {MAZE}: " in output
    assert "no model 'a'" in output
    assert "a failed b 0.000" in output
    assert [path.name for path in (tmp_path / "all").iterdir()] == ["agentgym-Maze-v1-b-react"]


def test_a_dry_run_asks_no_server_and_writes_nothing(tmp_path):
    few = ("--episodes", 10, "--max-tokens", 100, "--horizon", 4, "--concurrency", 5)
    output = call(MAZE, *few, "--model", "m", "--dry-run", "--prices", 1, 2)
    assert list(tmp_path.iterdir()) == []
    assert f"m on {MAZE}: 10 episodes" in output
    assert re.search(rf"{MAZE} 10 \d 4 ", output), "episodes, turns, the horizon"
    names = ("estimate", "whole horizon")
    estimate, whole = (output.partition(f"{name}: ")[2].split() for name in names)
    assert whole[3] == f"{10 * 4 * 100:,}"
    tokens = [int(whole[n].replace(",", "")) for n in (0, 3)]
    cost = (tokens[0] + 2 * tokens[1]) / 1e6
    assert abs(float(whole[whole.index("cost") + 1].strip(",")) - cost) < 0.01
    assert int(estimate[0].replace(",", "")) < tokens[0]
    assert f"about {10 * 4 * 100 / 30 / 5 / 60:.1f} minutes at 5 episodes at a time" in output


def test_a_dry_run_without_oracle_plays_at_random():
    """Random play uses all of the three turns."""
    env_id = "support/Oracleless-v0"
    output = call(f"faulty_envs:{env_id}", "--horizon", 3, "--model", "m", "--dry-run")
    assert re.search(rf"{env_id} 3 3 3 ", output), "episodes, turns, the horizon"


@pytest.mark.parametrize(
    ("agent", "attempts", "window"),
    [*product(["react", "correct", "plan", "reflect"], [1, 3], [None, 2])],
)
def test_an_estimate_has_the_requests_that_an_agent_makes(tmp_path, agent, attempts, window):
    """A scripted model counts: 10 tokens for the rules, 1 for an observation or a reply."""
    sent = []

    def answer(messages):
        texts = [message["content"] for message in messages]
        sent.append(10 * texts[0].count("X") + sum("room" in t for t in texts))
        sent[-1] += "".join(texts).count("reply")
        return "Thought: reply"

    options = {"window": window} if window else {}
    episode(load(agent, options), Model(answer), attempts=attempts, turns=4)
    family = FamilyEstimate(
        name="", episodes=attempts, horizon=4, turns=4, system=10, observation=1
    )
    tokens = family.tokens(4, 1, window, METHODS.get(agent, RequestShape()), attempts)
    assert tokens.completion == len(sent)
    assert tokens.prompt == pytest.approx(sum(sent))


def episode(factory, client, *, attempts, turns):
    """Plays attempts that all fail."""

    async def play():
        memory = []
        for number in range(attempts):
            agent = factory.make(client)
            await agent.start(EpisodeOpening("t", number, "goal", "X", "", (), memory))
            for _ in range(turns):
                await agent.act("room", {})
            if factory.learns:
                memory.append(await agent.end(EpisodeEnding("room", False, 0.0, True)))

    asyncio.run(play())


@pytest.mark.full
def test_a_target_without_its_extra_does_not_stop_the_others(tmp_path, monkeypatch):
    """Every other part of a pair is checked before anything is played."""
    lacks = "agentgym/TextWorld-v0"
    lacking = {lacks: "textworld"}
    monkeypatch.setattr("agentgym_envs.registry.missing_extra", lambda p: lacking.get(p.name))
    few = ("--agent", "random", "--episodes", 2, "--horizon", 2)
    output = call(lacks, MAZE, *few, "--out", "all", status=1)
    command = 'python -m pip install "agentgym-envs[textworld]"'
    assert output.count(command) == 1
    assert f"error: random on {lacks}: {lacks} needs an extra that is not installed" in output
    assert "2 of 2 episodes" in output
    assert "random failed 0." in output
    assert [path.name for path in (tmp_path / "all").iterdir()] == ["agentgym-Maze-v1-random"]
    assert command in call(lacks, MAZE, *few, "--dry-run", status=1)
    lacking.update(dict.fromkeys(plugins.discover(plugins.ENVIRONMENTS), "web"))
    del lacking[MAZE]
    output = call("agentgym-rl", MAZE, *few, "--out", "suite", status=1)
    assert "error: random on agentgym-rl: nothing of agentgym-rl can be played here; " in output
    assert "2 of 2 episodes" in output
    assert call(lacks, *few, status=2).startswith(f"error: {lacks} needs an extra")
    assert call(lacks, MAZE, *few, "--split", "tset", "--out", "no", status=2).count("error: ") == 1
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("option", [("--budget-tokens", 5), ("--budget-cost", 1)])
def test_a_budget_of_an_agent_without_a_model_is_refused(option):
    output = call(MAZE, "--agent", "random", *option, status=2)
    assert output.endswith(f"uses no tokens: leave {option[0]} out")


@pytest.mark.full
@pytest.mark.parametrize("size", [100, 3000])
def test_a_full_disk_is_one_line_and_the_episodes_so_far_stay(tmp_path, size):
    """A limit on the size of files stands for a disk without room."""

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    options = ["--agent", "random", "--episodes", "20", "--out", "out"]
    run = subprocess.run([*COMMAND, *options], capture_output=True, text=True, preexec_fn=limited)
    assert run.returncode == 2
    assert run.stderr.startswith("error: cannot write out/")
    assert len(run.stderr.splitlines()) == 1
    assert "20 of 20 episodes" in call(MAZE, *options)
    assert read(tmp_path / "out")[1] == 0
