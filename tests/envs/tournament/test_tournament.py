"""Tournaments as a user would call them, among scripted players and models behind a server."""

from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import pytest
import stub_model
from some import full
from stub_model import StubModel, policy
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.evaluate.planned import missing
from agentgym_envs.evaluate.record import EPISODES, episodes, read, read_settings
from agentgym_envs.tournament.play import _settle

NEGOTIATION, NIM = "agentgym/Negotiation-v1", "foreign/Nim-v0"
TRIO = ("random", "fair", "oracle")


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "200")


def call(*arguments, status=0):
    result = CliRunner().invoke(app, ["tournament", *map(str, arguments)])
    assert result.exit_code == status, result.output
    return result.output


def rows(folder="out"):
    return episodes(read(Path(folder))[0])


def told(row):
    """A line without what the clock says."""
    return {key: value for key, value in row.items() if key != "seconds"}


def line(output, player):
    """The cells of a player's line."""
    return next(cells for cells in map(str.split, output.splitlines()) if cells[:1] == [player])


def test_every_pair_plays_every_task_on_both_seats():
    output = call(NEGOTIATION, *TRIO, "--episodes", 4, "--out", "out")
    played = [
        (row["task_id"], *(told["player"] for told in row["seats"].values())) for row in rows()
    ]
    tasks = sorted({task for task, *_ in played})
    assert len(tasks) == 4
    assert sorted(played) == sorted(
        (task, *pair) for task in tasks for pair in permutations(TRIO, 2)
    )
    assert "out: 24 of 24 games" in output
    for player in TRIO:
        _, games, first, second, score, *_ = line(output, player)
        assert games == "16"
        assert [sum(map(int, cell.split("–"))) for cell in (first, second)] == [8, 8]
        own = [t["score"] for row in rows() for t in row["seats"].values() if t["player"] == player]
        assert float(score) == pytest.approx(sum(own) / 16, abs=6e-4)
    totals = [
        [int(n) for cell in line(output, player)[2:4] for n in cell.split("–")] for player in TRIO
    ]
    assert sum(t[0] + t[3] for t in totals) == sum(t[2] + t[5] for t in totals), (
        "as many are won as lost"
    )


def test_nim_by_hand():
    """The optimal first player wins, because no pile is a multiple of four.

    Against an optimal first player, the second player loses all games.
    """
    output = call(NIM, "random", "oracle", "--out", "out")
    tasks = len(rows()) // 2
    assert line(output, "oracle")[2] == f"{tasks}–0–0"
    first = [row for row in rows() if row["seats"]["player_0"]["player"] == "random"]
    won = sum(row["seats"]["player_0"]["score"] for row in first)
    assert line(output, "random")[2:4] == [f"{won:.0f}–0–{tasks - won:.0f}", f"0–0–{tasks}"]
    assert output.index("\n oracle") < output.index("\n random"), "the best comes first"


def test_who_wins_all_games_has_no_interval():
    output = call(NIM, "random", "oracle", "--task", "pile-7", "--out", "out")
    assert [line(output, player)[6] for player in ("oracle", "random")] == ["–", "–"]
    assert "a dash stands where a player won or lost every game" in " ".join(output.split())


def test_a_turn_says_who_spoke_and_rewards_add_up_to_the_scores():
    call(NEGOTIATION, *TRIO, "--episodes", 3, "--out", "out")
    for row in rows():
        for seat, end in row["seats"].items():
            turns = [turn for turn in row["turns"] if turn["seat"] == seat]
            assert {turn["player"] for turn in turns} == {end["player"]}
            assert sum(turn["reward"] for turn in turns) == pytest.approx(end["score"])
        speakers = [turn["seat"] for turn in row["turns"]]
        assert speakers[:3] == ["negotiator_0", "negotiator_1", "negotiator_0"][: len(speakers)]
    result = CliRunner().invoke(app, ["report", "out"])
    assert result.exit_code == 0, result.output
    assert "fair against random" in result.output


@pytest.mark.parametrize("kept", [7.5, 30, *full(0, 7)])
def test_an_interrupted_tournament_goes_on_and_ends_the_same(tmp_path, kept):
    arguments = (NEGOTIATION, *TRIO, "--episodes", 5, "--out")
    whole = call(*arguments, "whole", "--concurrency", 1)
    call(*arguments, "out", "--concurrency", 4)
    path = tmp_path / "out" / EPISODES
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: int(kept)]) + (lines[7][:50] if kept == 7.5 else b""))
    plan = read_settings(tmp_path / "out")["planned"]
    assert len(missing(read(tmp_path / "out")[0], plan)) == 30 - int(kept)
    again = call(*arguments, "out")
    assert sorted(map(str, map(told, rows()))) == sorted(map(str, map(told, rows("whole"))))
    assert len(path.read_bytes().splitlines()) == 30
    table = [
        text.split("games\n")[1].split("won–")[0]
        for text in (whole.replace("%\n", "games\n"), again.replace("%\n", "games\n"))
    ]
    assert table[0] == table[1]


def test_another_player_joins_later():
    call(NEGOTIATION, "random", "fair", "--episodes", 3, "--out", "out")
    before = list(map(told, rows()))
    output = call(NEGOTIATION, *TRIO, "--episodes", 3, "--out", "out")
    assert [told(row) for row in rows()][:6] == before
    assert "18 of 18 games" in output


def serving(monkeypatch, script):
    stub = StubModel(script)
    stub.__enter__()
    monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
    return stub


@pytest.fixture
def server(monkeypatch):
    """A server of a model that a test writes."""
    begun = []

    def serve(script):
        begun.append(serving(monkeypatch, script))
        return begun[-1]

    yield serve
    for stub in begun:
        stub.__exit__()


def accepting(messages):
    return "accept" if "proposes" in messages[-1]["content"] else "propose: nothing"


def test_a_model_plays(server):
    stub = server(policy(accepting))
    output = call(NEGOTIATION, "model:stub", "fair", "--episodes", 3, "--out", "out")
    assert line(output, "model:stub")[1] == "6"
    assert all(
        row["seats"]["negotiator_0"]["success"]
        for row in rows()
        if row["family"].startswith("fair")
    )
    assert all(
        request.messages[0]["content"].startswith("You and another divide")
        for request in stub.completions
    )


def test_a_server_that_fails_costs_nobody_a_game(server):
    """The second and third request are refused: these games are played again."""
    count = iter(range(1000))

    def script(request):
        return (
            stub_model.status(400)
            if next(count) in (1, 2)
            else stub_model.ok(accepting(request.messages))
        )

    server(script)
    output = call(
        NEGOTIATION, "model:stub", "fair", "--episodes", 3, "--out", "out", "--concurrency", 1
    )
    assert "6 of 6 games" in output
    faults = [row for row in read(Path("out"))[0] if row["row"] == "fault"]
    assert [(row["fault"], row["try"]) for row in faults] == [("rejected", 1)] * 2
    assert "stub answers 400" in faults[0]["error"]


def test_a_game_that_always_fails_is_missing_and_no_loss(server):
    """The model refuses tasks with one thing of each kind, always."""

    def script(request):
        refused = request.messages[1]["content"].partition("\n")[0].count(" 1 ") == 6
        return stub_model.status(400) if refused else stub_model.ok(accepting(request.messages))

    server(script)
    output = call(
        NEGOTIATION,
        "model:stub",
        "fair",
        "--episodes",
        5,
        "--out",
        "out",
        "--concurrency",
        1,
        status=1,
    )
    gone = sum(row["row"] == "fault" and row["try"] == 3 for row in read(Path("out"))[0])
    assert 0 < gone < 8
    assert f"{gone} games are missing: each of their tries failed, the last with: " in output
    assert line(output, "model:stub")[1] == str(10 - gone) == str(len(rows()))
    assert line(output, "fair")[-1] == str(gone)


def test_a_server_that_always_fails_ends_it(server):
    server([stub_model.status(400)])
    output = call(
        NEGOTIATION,
        "model:stub",
        "fair",
        "--episodes",
        20,
        "--concurrency",
        1,
        "--out",
        "out",
        status=1,
    )
    assert "40 games are missing: model:stub dropped out: 8 games failed in a row" in output
    assert len(read(Path("out"))[0]) == 8


def test_a_model_that_the_server_lacks_is_told_in_one_line(server):
    server(policy(accepting))
    output = call(NEGOTIATION, "model:other", "fair", "--episodes", 2, "--out", "out", status=2)
    assert "error: " in output
    assert "no model 'other'" in output


def test_who_forfeits_has_lost(server):
    server([stub_model.ok("hm")])
    output = call(NEGOTIATION, "model:stub", "random", "--episodes", 2, "--out", "out")
    assert line(output, "model:stub")[2:4] == ["0–0–2", "0–0–2"]
    assert all(sum(turn["invalid"] for turn in row["turns"]) == 3 for row in rows())
    assert {told["score"] for row in rows() for told in row["seats"].values()} == {0.0}


def test_a_conversation_that_is_full_is_a_forfeit_and_no_fault(monkeypatch):
    """The model takes one stone at a time; its 50 words are full long before 17 stones are gone."""
    with StubModel(policy(lambda messages: "1"), context=50) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        output = call(
            NIM, "model:stub", "greedy", "--task", "pile-17", "--out", "out", "--concurrency", 1
        )
        asked = len(stub.completions)
        assert call(NIM, "model:stub", "greedy", "--task", "pile-17", "--out", "out"), (
            "nothing is missing"
        )
        assert len(stub.completions) == asked
    assert len(read(Path("out"))[0]) == len(rows()) == 2, "no fault"
    assert line(output, "model:stub")[2:4] == ["0–0–1"] * 2
    assert "model:stub forfeited 2 games: its conversation was too long" in output
    for row in rows():
        assert "answered 400" in row["error"]
        own = next(seat for seat, told in row["seats"].items() if told["player"] == "model:stub")
        assert (row["end"], row["seats"][own]["forfeit"]) == ("context", True)
        assert {
            (told["score"], told["forfeit"]) for seat, told in row["seats"].items() if seat != own
        } == {(0.0, False)}
        assert not any(turn["invalid"] or turn["reward"] for turn in row["turns"])
        assert row["seats"][own]["last"].endswith(
            f"The conversation of {own} is too long for its model: the game is over."
        )
        assert "stones." in row["seats"][own]["last"], "what it could not answer to"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("agentgym/Debate-v1", "random", "oracle", "--set", "debaters=1"), "has 1 seats here"),
        ((NEGOTIATION, "random"), "at least two players, each named once, not random"),
        ((NEGOTIATION, "random", "fair", "random"), "each named once, not random, fair, random"),
        ((NEGOTIATION, "random", "fare"), "unknown player 'fare'. Did you mean 'fair'?"),
        (("agentgym/Maze-v1", "random", "oracle"), "unknown game 'agentgym/Maze-v1'"),
        ((NEGOTIATION, "random", "fair", "--task", "no such"), "selects nothing"),
        ((NEGOTIATION, "random", "fair", "--set", "turns=3"), "turns"),
        ((NEGOTIATION, "model:far", "fair"), "set the environment variable OPENAI_API_KEY"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    tmp_path, monkeypatch, arguments, message
):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert message in call(*arguments, status=2)
    assert not (tmp_path / "results").exists()


def test_results_of_other_settings_are_refused():
    call(NEGOTIATION, "random", "fair", "--episodes", 1, "--out", "out")
    assert "split is 'test' there" in call(
        NEGOTIATION, "random", "fair", "--split", "dev", "--out", "out", status=2
    )


def test_what_a_seat_earns_in_several_steps_is_the_reward_of_its_last_turn():
    """Half of a point in its own step, a quarter in the other's: 0.75, worked out by hand."""
    turns = [{"seat": seat, "reward": 0.0, "invalid": False} for seat in ("player_0", "player_1")]
    earned = iter([0.5, 0.0, 0.25, 0.0])
    understood = SimpleNamespace(invalid=False)
    match = SimpleNamespace(
        earned=lambda seat: next(earned), outcomes={"player_0": understood, "player_1": understood}
    )
    for _ in range(2):
        _settle(match, turns)
    assert [turn["reward"] for turn in turns] == [0.75, 0.0]
