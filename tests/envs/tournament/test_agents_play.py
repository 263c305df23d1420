"""Tournaments between agents, each with its own model, server, budget and format."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import stub_model
from stub_apis import StubAnthropic
from stub_model import StubModel, policy
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.evaluate.record import episodes, prompts, read
from agentgym_envs.evaluate.transcript import conversation

NIM, NEGOTIATION = "foreign/Nim-v0", "agentgym/Negotiation-v1"
AGENTS = """
import asyncio, time
from agentgym_envs.agents import ASK_ORACLE, Agent

class Greedy(Agent):
    def __init__(self, *, take="3"):
        self.take = take
    def start(self, opening):
        assert opening.attempt == 0 and opening.seat in ("player_0", "player_1")
        assert "stones" in opening.system_prompt and opening.goal == "take the last stone"
    async def act(self, observation, info):
        return self.take

class Best(Agent):
    format = None
    def act(self, observation, info):
        return ASK_ORACLE

class Lister(Agent):
    format, lists_actions = None, True
    def act(self, observation, info):
        assert info["goal"] == "take the last stone" and set(info) == {
            "seat", "goal", "turn", "admissible_actions"}
        return info["admissible_actions"][0]

class Raises(Agent):
    def act(self, observation, info):
        raise ValueError("a fault\\nof mine")

class Red(Agent):
    def act(self, observation, info):
        raise ValueError("\x1b[31mred\x07")

class Hangs(Agent):
    def act(self, observation, info):
        time.sleep(60)

class Mute(Agent):
    def act(self, observation, info):
        return None

class Unmade(Agent):
    def __init__(self):
        raise ZeroDivisionError("at once")
"""
FAULT = 1 + AGENTS.splitlines().index('        raise ValueError("a fault\\nof mine")')


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "rivals.py").write_text(AGENTS)
    yield
    sys.modules.pop("rivals", None)


def call(*arguments, status=0):
    result = CliRunner().invoke(app, ["tournament", *map(str, arguments)])
    assert result.exit_code == status, result.output
    return result.output


def write(text):
    Path("players.toml").write_text(text)
    return "players.toml"


def rows(kind="episode"):
    every = read(Path("out"))[0]
    return episodes(every) if kind == "episode" else [row for row in every if row["row"] == kind]


def results(player):
    """The results of a player's games."""
    return [r for row in rows() for r in row["seats"].values() if r["player"] == player]


def turns(player):
    return [turn for row in rows() for turn in row["turns"] if turn["player"] == player]


NIM_OUT = (NIM, "--task", "pile-7", "--out", "out", "--concurrency", 1)


def test_two_models_at_two_servers_with_their_own_settings(monkeypatch):
    """Each server sees only its own player's requests: model, key, sampling, rules, window."""
    monkeypatch.setenv("FIRST_KEY", "first-secret")
    monkeypatch.setenv("SECOND_KEY", "second-secret")
    one = StubModel(policy(lambda messages: "<action>1</action>"), key="first-secret")
    two = StubModel(policy(lambda messages: "Thought: hm\nAction: 2"), models=("big",))
    with one, two:
        file = write(
            f"""
            [[player]]
            name = "tags"
            agent = "chat"
            format = "tags"
            options = {{ window = 1 }}
            model = "stub"
            base_url = "{one.url}"
            api_key_env = "FIRST_KEY"
            temperature = 0.25
            max_tokens = 7
            extra = {{ top_p = 0.5 }}
            prices = [1.0, 2.0]

            [[player]]
            name = "thinker"
            model = "big"
            base_url = "{two.url}"
            api_key_env = "SECOND_KEY"
            temperature = "none"
            """
        )
        monkeypatch.setattr(sys, "argv", ["agentgym", "tournament", "second-secret"])
        output = call(NIM, file, *NIM_OUT[1:])
    assert "2 of 2 games" in output
    (session,) = json.loads(Path("out/settings.json").read_text())["sessions"]
    assert "httpx2" in session["versions"], "the package that sends the requests"
    assert session["command"] == "agentgym tournament '…'", "a player's key is removed"
    assert {turn["action"] for turn in turns("tags")} == {"1"}
    assert {turn["action"] for turn in turns("thinker")} == {"2"}
    assert {turn["thought"] for turn in turns("thinker")} == {"hm"}
    first, second = one.completions, two.completions
    assert {r.headers["authorization"] for r in first} == {"Bearer first-secret"}
    assert {r.headers["authorization"] for r in second} == {"Bearer second-secret"}
    assert {(r.body["temperature"], r.body["max_tokens"], r.body["top_p"]) for r in first} == {
        (0.25, 7, 0.5)
    }
    assert all("temperature" not in r.body and r.body["max_tokens"] == 8192 for r in second)
    assert max(len(r.messages) for r in first) == 2, "the rules and the latest turn"
    assert max(len(r.messages) for r in second) > 3
    assert "<action>" in first[0].messages[0]["content"]
    recorded = results("tags")[0]["settings"]
    assert recorded == {
        **recorded,
        **{"agent": "chat", "options": {"window": 1}, "format": "tags", "model": "stub"},
        **{"base_url": one.url, "api_key_env": "FIRST_KEY", "temperature": 0.25, "max_tokens": 7},
        **{"extra": {"top_p": 0.5}, "prices": [1.0, 2.0], "budget_tokens": None},
        "served": ["stub"],
    }
    assert "secret" not in "".join(p.read_text() for p in Path("out").iterdir())
    usage = {name: [row["usages"][name] for row in rows()] for name in ("tags", "thinker")}
    assert sum(u["calls"] for u in usage["tags"]) == len(first)
    assert sum(u["calls"] for u in usage["thinker"]) == len(second)
    spent = usage["tags"][0]
    assert spent["cost"] == pytest.approx(
        (spent["prompt_tokens"] + 2 * spent["completion_tokens"]) / 1e6
    )
    assert rows()[0]["usage"]["calls"] == usage["tags"][0]["calls"] + usage["thinker"][0]["calls"]


def test_a_player_behind_another_api():
    pytest.importorskip("anthropic", reason="an extra of agentgym-envs")
    with StubAnthropic([StubAnthropic.said("1")]) as stub:
        player = f'agent = "chat"\nmodel = "stub"\napi = "anthropic"\nbase_url = "{stub.url}"'
        call(NIM, write(f'[[player]]\nname = "claude"\n{player}'), "greedy", *NIM_OUT[1:])
    assert {turn["action"] for turn in turns("claude")} == {"1"}
    assert {request.path for request in stub.asked} == {"/v1/messages"}


def test_agents_without_a_model_play_by_the_rules_of_an_evaluation():
    call(NIM, "rivals:Greedy", "rivals:Best", "rivals:Lister", "greedy", *NIM_OUT[1:])
    assert len(rows()) == 12
    oracle = [
        row["seats"]["player_0"]["success"]
        for row in rows()
        if row["seats"]["player_0"]["player"] == "rivals:Best"
    ]
    assert oracle == [True] * 3, "7 stones are won by whoever moves first and best"
    assert {turn["action"] for turn in turns("rivals:Lister")} == {"1"}
    assert results("rivals:Greedy")[0]["settings"] == {
        "agent": "rivals:Greedy",
        "options": {},
        "format": "plain",
    }
    assert results("greedy")[0]["settings"] == {"agent": "greedy"}


def test_a_response_without_an_action_is_answered_with_the_reason():
    with StubModel(policy(lambda messages: "no action")) as stub:
        call(NIM, f"react:stub@{stub.url}", "greedy", *NIM_OUT[1:])
    assert [r["forfeit"] for r in results("react:stub")] == [True, True]
    own = turns("react:stub")
    assert [turn["invalid"] for turn in own] == [True] * 6
    assert own[0]["observation"].startswith("You are player_")
    assert own[1]["observation"].startswith("The response is not in the form 'Thought: ...'")
    said = stub.completions[1].messages[-1]["content"]
    assert said == own[1]["observation"]


def test_a_spent_budget_ends_a_players_games_and_no_other_ones():
    """The stub counts the words: one game costs more than ten tokens."""
    with StubModel(policy(lambda messages: "1")) as stub:
        file = write(
            f'[[player]]\nname = "poor"\nagent = "chat"\nmodel = "stub"\nbudget_tokens = 10\n'
            f'base_url = "{stub.url}"\n'
        )
        arguments = (file, "greedy", "oracle", *NIM_OUT[1:])
        output = call(NIM, *arguments, status=1)
        assert "3 games are missing: poor dropped out: the budget of 10 tokens is spent (" in output
        assert "were used): raise budget_tokens to go on" in output
        assert len(results("poor")) == 1, "the game under way was finished"
        assert len(results("greedy")) == 1 + 2
        assert rows("fault") == []
        asked = len(stub.completions)
        call(NIM, *arguments, status=1)
        assert len(stub.completions) == asked, "what an earlier run used counts"
        write(Path(file).read_text().replace("= 10\n", "= 100_000\n"))
        assert "6 of 6 games" in call(NIM, *arguments)


def test_a_server_that_fails_takes_its_player_out_and_no_other_one():
    with StubModel([stub_model.status(400)]) as bad, StubModel(policy(lambda _: "1")) as good:
        file = write(
            f'[[player]]\nname = "bad"\nmodel = "stub"\nbase_url = "{bad.url}"\n'
            f'[[player]]\nname = "good"\nagent = "chat"\nmodel = "stub"\nbase_url = "{good.url}"\n'
        )
        output = call(
            NIM, file, "greedy", "--episodes", 4, "--out", "out", "--concurrency", 1, status=1
        )
    assert "16 games are missing: bad dropped out: 8 games failed in a row, the last" in output
    assert output.count("bad: ") == 1, "one line for one kind of failure"
    assert "answers 400 (task pile-7, try 1 of 3)" in output
    assert next(cells for cells in map(str.split, output.splitlines()) if cells[:1] == ["bad"]) == [
        *("bad", "0", "0–0–0", "0–0–0", "0.00–1.00", "–", "–", "16")
    ], "a player without a game has no rating"
    assert len(results("good")) == len(results("greedy")) == 8
    faults = rows("fault")
    assert {(row["fault"], row["player"]) for row in faults} == {("rejected", "bad")}
    assert len(faults) == 8


def test_retries_of_a_request_are_reported():
    with StubModel([stub_model.status(500), stub_model.status(500), stub_model.ok("1")]) as stub:
        output = call(NIM, f"chat:stub@{stub.url}", "greedy", *NIM_OUT[1:])
    assert output.count("chat:stub: ") == 1, "one report in ten seconds"
    assert "answered 500: stub answers 500; the next try follows in 0." in output


def test_a_player_whose_model_refuses_before_the_first_turn_forfeits():
    Path("early.py").write_text(
        "class Early:\n"
        "    def __init__(self, *, client):\n"
        "        self.client = client\n"
        "    async def start(self, opening):\n"
        "        await self.client.complete([{'role': 'user', 'content': 'A plan?'}])\n"
        "    def act(self, observation, info):\n"
        "        return '1'\n"
    )
    blocked = {"error": {"message": "no", "code": "content_filter"}}
    with StubModel([stub_model.status(400, body=blocked)]) as stub:
        file = write(
            f'[[player]]\nname = "bad"\nagent = "early:Early"\nmodel = "stub"\n'
            f'base_url = "{stub.url}"\n'
        )
        options = ("--task", "pile-17", "--out", "out", "--concurrency", 1)
        output = call(NIM, file, "greedy", *options)
    assert "bad forfeited 2 games" in output
    found = read(Path("out"))[0]
    assert [(row["row"], row["end"], row["turns"]) for row in found] == [
        ("episode", "refused", [])
    ] * 2
    for row in found:
        told = {seat["player"]: (seat["score"], seat["forfeit"]) for seat in row["seats"].values()}
        assert told == {"bad": (0.0, True), "greedy": (0.0, False)}


def test_a_change_of_version_is_refused_unless_it_is_allowed(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["agentgym", "tournament", "a game"])
    call(NIM, "random", "greedy", *NIM_OUT[1:])
    path = Path("out/settings.json")
    settings = json.loads(path.read_text())
    assert settings["sessions"][0]["command"] == "agentgym tournament 'a game'"
    settings["sessions"][0]["versions"]["agentgym-envs"] = "0.0.1"
    path.write_text(json.dumps(settings))
    more = (NIM, "random", "greedy", "oracle", *NIM_OUT[1:])
    assert "holds results of agentgym-envs 0.0.1" in call(*more, status=2)
    assert "6 of 6 games" in call(*more, "--allow-version-change")
    assert len(json.loads(path.read_text())["sessions"]) == 2


def test_a_key_that_is_refused_later_takes_its_player_out():
    def script(request):
        return stub_model.status(401) if len(stub.completions) > 3 else stub_model.ok("1")

    with StubModel(script) as stub:
        output = call(NIM, f"chat:stub@{stub.url}", "greedy", "oracle", *NIM_OUT[1:], status=1)
    assert "chat:stub dropped out: its server refuses it: " in output
    assert len(rows("fault")) == 1
    assert len(results("oracle")) >= 2


def test_a_killed_tournament_goes_on():
    """Killed while games are under way: the finished ones stay, and the others follow."""
    slow = stub_model.slow(0.2, stub_model.ok("propose: nothing"))
    with StubModel([slow]) as stub:
        player = f"chat:stub@{stub.url}"
        arguments = (NEGOTIATION, player, "fair", "--episodes", 4, "--out", "out")
        arguments += ("--concurrency", 2)
        command = [sys.executable, "-m", "agentgym_envs.cli", "tournament", *map(str, arguments)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            path = Path("out/episodes.jsonl")
            assert stub.settled(lambda: path.exists() and path.read_bytes().count(b"\n") >= 2, 20)
            process.kill()
        before, usage = path.read_bytes(), Path("out/usage.jsonl")
        assert before.count(b"\n") < 8
        assert 0 <= len(stub.completions) - usage.read_bytes().count(b"\n") <= 2  # under way
        assert "8 of 8 games" in call(*arguments)
        assert 0 <= len(stub.completions) - usage.read_bytes().count(b"\n") <= 2
    assert {json.loads(row)["player"] for row in usage.read_text().splitlines()} == {"chat:stub"}
    whole = before[: before.rfind(b"\n") + 1]
    assert path.read_bytes().startswith(whole)
    assert len(read(Path("out"))[0]) == len(rows()) == 8


def test_the_context_of_a_server_is_known_also_when_a_tournament_goes_on():
    listed = {"data": [{"id": "stub", "max_model_len": 100_000}]}
    with StubModel(
        [stub_model.ok("Action: 1")], models=stub_model.status(200, body=listed)
    ) as stub:
        for episodes in (1, 2):
            player = f"summary:stub@{stub.url}"
            output = call(NIM, player, "greedy", "--episodes", episodes, "--out", "out")
            assert f"{2 * episodes} of {2 * episodes} games" in output


@pytest.mark.parametrize(
    ("agent", "error"),
    [
        (
            "Raises",
            f"'act' of the agent Raises raised ValueError at rivals.py:{FAULT}: a fault of mine",
        ),
        ("Hangs", "'act' of the agent Hangs did not return within 0.1 s (--agent-timeout)"),
        ("Mute", "the response None is not a str"),
    ],
)
def test_the_fault_of_an_agent_is_no_loss(agent, error):
    output = call(NIM, f"rivals:{agent}", "greedy", *NIM_OUT[1:], "--agent-timeout", 0.1, status=1)
    assert "2 games are missing: each of their tries failed, the last with: " in output
    assert "Traceback" not in output
    assert rows() == []
    faults = rows("fault")
    assert [row["try"] for row in faults] == [1, 1, 2, 2, 3, 3]
    for row in faults:
        assert (row["fault"], row["player"]) == ("agent", f"rivals:{agent}")
        assert row["error"] == error
        assert len(row["traceback"].splitlines()) <= 5
    if agent == "Raises":
        assert f"rivals.py:{FAULT} in act\n" in faults[0]["traceback"]
        assert faults[0]["traceback"].endswith("ValueError: a fault of mine")


def test_each_player_that_failed_is_named_and_each_kind_of_failure_once():
    output = call(NIM, "rivals:Raises", "rivals:Red", "greedy", *NIM_OUT[1:], status=1)
    end = output[output.index("6 games are missing: ") :]
    for player in ("rivals:Raises", "rivals:Red"):
        assert f"three tries of {player} failed, the last with: 'act' of the agent" in end
    playing = output[: output.index("6 games are")]
    for line in ("a fault of mine (task pile-7, try 1 of 3)", "red\\x07 (task pile-7, try 1 of 3)"):
        assert playing.count(line) == 1
    assert "try 2" not in output
    assert "\x1b" not in output


def test_every_request_can_be_rebuilt_from_the_folder():
    """The requests of both players, in the order of the game."""
    with StubModel(policy(lambda messages: "Thought: x\nAction: 1")) as stub:
        call(NIM, f"react:stub@{stub.url}", f"plan:stub@{stub.url}", *NIM_OUT[1:])
    shared = prompts(Path("out"))
    sent = [conversation(row, one, shared) for row in rows() for one in row["calls"]]
    assert sent == [request.messages for request in stub.completions]
    for row in rows():
        asked = [row["turns"][one["turn"]]["player"] for one in row["calls"]]
        assert asked.count("plan:stub") == 1 + len(
            [turn for turn in row["turns"] if turn["player"] == "plan:stub"]
        )
    assert CliRunner().invoke(app, ["report", "out"]).exit_code == 0


def test_other_settings_under_the_same_name_are_refused():
    call(NIM, write('[[player]]\nname = "a"\nagent = "rivals:Greedy"'), "random", *NIM_OUT[1:])
    before = Path("out/episodes.jsonl").read_bytes()
    file = write('[[player]]\nname = "a"\nagent = "rivals:Greedy"\noptions = { take = "2" }')
    output = call(NIM, file, "random", *NIM_OUT[1:], status=2)
    assert "out holds games of a with other settings: options is {} there and" in output
    assert Path("out/episodes.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("player", "message"),
    [
        ('agent = "raect"\nmodel = "m"', "unknown player 'raect'. Did you mean 'react'?"),
        ('agent = "react"', "player 'react': agent 'react' acts through a model: name its model"),
        ('agent = "rivals:Best"\nmodel = "m"', "agent 'rivals:Best' has no model: leave model out"),
        ('agent = "greedy"\nmodel = "m"', "greedy is a scripted player: leave model out"),
        ('agent = "rivals:Best"\nbudget_tokens = 5', "has no model: leave the budget out"),
        ('model = "m"\nformat = "tgas"', "unknown format 'tgas'. Did you mean 'tags'?"),
        ('agent = "function"\nmodel = "m"\nformat = "tags"', "has its own format"),
        ('model = "m"\noptions = { windw = 1 }', "does not take 'windw'. Did you mean 'window'?"),
        ('model = "m"\nbudget_cost = 5', "budget_cost needs prices"),
        ('model = "m"\nbase_url = "http://127.0.0.1:9/v1"\noptions = { window = 0 }', "window=0"),
        (
            'agent = "rivals:Unmade"',
            "constructor raised ZeroDivisionError at rivals.py:",
        ),
        ('agent = "rivals:Gone"', "agent 'rivals:Gone' cannot be imported"),
    ],
)
def test_what_cannot_be_is_one_line_before_anything_is_written(player, message):
    output = call(NIM, write(f"[[player]]\n{player}\n"), "random", "--out", "out", status=2)
    assert message in output
    assert output.count("\n") == 1
    assert not Path("out").exists()


def test_a_server_that_lacks_the_model_leaves_no_folder():
    with StubModel() as stub:
        output = call(NIM, f"chat:other@{stub.url}", "random", "--out", "out", status=2)
    assert "no model 'other'" in output
    assert not Path("out").exists()


@pytest.mark.parametrize("game", ["agentgym/TwentyQuestions-v1", "agentgym/Debate-v1"])
def test_players_of_a_shared_score_are_compared_by_success(game):
    """Each pair plays, and each player with itself; only the oracles solve these tasks."""
    output = call(game, "oracle", "random", "--episodes", 3, "--out", "out")
    assert "12 of 12 games" in output
    assert {row["family"] for row in rows()} == {
        f"{a} with {b}" for a in ("oracle", "random") for b in ("oracle", "random")
    }
    for row in rows():
        first, *others = [result["player"] for result in row["seats"].values()]
        assert row["family"] == f"{first} with {others[0]}"
        assert len(set(others)) == 1
    own = [row for row in rows() if "oracle" in row["family"]]
    line = next(cells for cells in map(str.split, output.splitlines()) if cells[:1] == ["oracle"])
    by_task = {}
    for row in own:
        by_task.setdefault(row["task_id"], []).append(row["success"])
    mean = sum(sum(s) / len(s) for s in by_task.values()) / 3
    assert line[1] == "9"
    assert float(line[2]) == pytest.approx(mean, abs=6e-4)
    assert all(row["success"] for row in own if "random" not in row["family"])
    assert "All seats share one score" in output


def test_connect_four_between_an_agent_and_a_player_of_the_game():
    def drops(messages):
        return "Thought: x\nAction: drop 1"

    with StubModel(policy(drops)) as stub:
        output = call(
            "agentgym/Connect4-v1",
            f"react:stub@{stub.url}",
            "oracle",
            "--episodes",
            1,
            "--out",
            "out",
        )
    assert "2 of 2 games" in output
    assert all(not result["success"] for result in results("react:stub"))
    assert json.loads(Path("out/settings.json").read_text())["agent"] == "tournament"
