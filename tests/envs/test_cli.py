import pytest
from typer.testing import CliRunner

from agentgym_envs.cli import app


def invoke(*args, **kwargs):
    return CliRunner().invoke(app, args, **kwargs)


def test_list_names_every_id_and_its_extra(monkeypatch):
    monkeypatch.setattr("agentgym_envs.registry._installed", lambda name: False)
    result = invoke("list")
    assert result.exit_code == 0
    assert "agentgym/Maze-v1" in result.output
    assert result.output.count('python -m pip install "agentgym-envs[textworld]"') == 5
    for extra in ("babyai", "scienceworld", "search"):
        assert result.output.count(f'python -m pip install "agentgym-envs[{extra}]"') == 1


def test_a_person_can_play():
    result = invoke(
        "play",
        "agentgym/Maze-v1",
        "--set",
        "rooms=[4]",
        "--task",
        "rooms4-things1-test-0",
        "--split",
        "test",
        input="\nlook\n",
    )
    assert result.exit_code == 0
    assert "Goal: take the lamp" in result.output
    assert "Not an action: look" in result.output
    assert "go east, go south" in result.output, "an empty line lists what is possible"


def test_a_person_can_take_a_seat_of_a_game():
    nim = ("play", "foreign/Nim-v0", "--task", "pile-6", "--split", "dev")
    result = invoke(*nim, "--set", "seats=player_1", "--set", "opponents=oracle", input="\n9\n3\n")
    assert result.exit_code == 0
    assert (
        "player_1> 1, 2, 3\nplayer_1> Answer with a number of stones.\nplayer_1> player_1 takes 3."
        in result.output
    )
    assert result.output.endswith("Over after 2 turns, score: player_1 0.00.\n")
    result = invoke(*nim, "--set", "seats=all", input="2\n3\n1\n")
    assert (
        "player_0> You are player_1. There are 6 stones.\nplayer_0 takes 2. There are 4"
        " stones.\nplayer_1> " in result.output
    )
    assert result.output.endswith("Over after 3 turns, score: player_0 1.00, player_1 0.00.\n")


def test_list_marks_games():
    lines = {
        line.split("│")[1].strip(): line
        for line in invoke("list").output.splitlines()
        if "│" in line
    }
    games = {
        "agentgym/Connect4-v1",
        "agentgym/TwentyQuestions-v1",
        "foreign/Nim-v0",
        "foreign/Sum-v0",
    }
    assert games <= {
        env_id for env_id, line in lines.items() if line.split("│")[2].strip() == "game"
    }
    assert lines["agentgym/Maze-v1"].split("│")[2].strip() == ""


def test_check_reports_what_holds():
    assert invoke("check", "agentgym/Maze-v1").output.count("ok") >= 10


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["play", "agentgym/Maze-v1", "--task", "x*"], "selects nothing"),
        (["check", "agentgym/Maze"], "Did you mean 'agentgym/Maze-v1'"),
        (["check", "no_such_module:agentgym/Maze-v1"], "No module named 'no_such_module'"),
        (["eval", "agentgym/Maze-v1", "--agent", "random", "--episodes", "0"], "--episodes"),
        (["eval", "agentgym/Maze-v1", "--agent", "random", "--episodes", "-1"], "--episodes"),
        (["eval", "agentgym/Maze-v1", "--agent", "random", "--horizon", "0"], "--horizon"),
        (["build", "agentgym/TWSimple-v1", "--workers", "0"], "--workers"),
        (["play", "agentgym/Maze-v1", "--seed", "-1"], "--seed"),
        (["install", "moon"], "nothing to install for 'moon'"),
        (["play", "agentgym/Maze-v1", "--set", "rooms"], "an option takes key=value"),
        (["build", "agentgym/Maze-v1"], "nothing to build"),
    ],
)
def test_errors_are_one_line_and_status_2(args, message):
    result = invoke(*args)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_an_error_that_is_not_ours_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr("agentgym_envs.evaluate.command.plan", lambda *args, **kwargs: int("x"))
    result = invoke("eval", "agentgym/Maze-v1", "--agent", "random")
    assert isinstance(result.exception, ValueError)
    assert "error:" not in result.output
