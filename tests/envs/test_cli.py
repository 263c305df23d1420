import pytest
from typer.testing import CliRunner

from agentgym_envs.cli import app


def invoke(*args, **kwargs):
    return CliRunner().invoke(app, args, **kwargs)


def test_list_names_every_id_and_its_extra(monkeypatch):
    monkeypatch.setattr("agentgym_envs.registry._installed", lambda name: False)
    result = invoke("list")
    assert result.exit_code == 0
    assert "agentgym/Maze-v0" in result.output
    assert result.output.count('python -m pip install "agentgym-envs[textworld]"') == 5
    for extra in ("babyai", "scienceworld", "search"):
        assert result.output.count(f'python -m pip install "agentgym-envs[{extra}]"') == 1


def test_a_person_can_play():
    result = invoke("play", "agentgym/Maze-v0", "--task", "rooms4-things1-test-0", "--split", "test", input="\nlook\n")
    assert result.exit_code == 0
    assert "Goal: take the lamp" in result.output
    assert "Not an action: look" in result.output
    assert "go east, go south" in result.output, "an empty line lists what is possible"


def test_rollout_prints_success_by_difficulty():
    result = invoke("rollout", "agentgym/Maze-v0", "--agent", "oracle", "--episodes", "8")
    assert result.exit_code == 0
    rows = [line.split("│")[1:-1] for line in result.output.splitlines() if line.startswith("│")]
    assert [[c.strip() for c in r[:3]] for r in rows] == [
        [d, n, "1.000"] for d, n in zip(["4", "8", "12", "16", "all"], "22228", strict=True)
    ]


def test_random_play_is_worse_than_the_oracle():
    result = invoke("rollout", "agentgym/Maze-v0", "--agent", "random", "--episodes", "20", "--set", "rooms=[16]")
    success = float(result.output.splitlines()[-2].split("│")[3])
    assert success < 0.7


def test_check_reports_what_holds():
    assert invoke("check", "agentgym/Maze-v0").output.count("ok") >= 10


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rollout", "agentgym/Maz-v0"], "Did you mean 'agentgym/Maze-v0'"),
        (["rollout", "agentgym/Maze-v0", "--agent", "orakel"], "Did you mean 'oracle'"),
        (["rollout", "agentgym/Maze-v0", "--split", "tset"], "Did you mean 'test'"),
        (["play", "agentgym/Maze-v0", "--task", "x*"], "selects nothing"),
        (["check", "agentgym/Maze"], "Did you mean 'agentgym/Maze-v0'"),
        (["check", "no_such_module:agentgym/Maze-v0"], "No module named 'no_such_module'"),
        (["rollout", "faulty_envs:support/Faulty-v0"], "support/Faulty-v0 does not take 'split'"),
        (["rollout", "agentgym/Maze-v0", "--episodes", "0"], "--episodes"),
        (["rollout", "agentgym/Maze-v0", "--episodes", "-1"], "--episodes"),
        (["rollout", "agentgym/Maze-v0", "--horizon", "0"], "--horizon"),
        (["suite", "agentgym-rl", "--horizon", "0"], "--horizon"),
        (["build", "agentgym/TWSimple-v0", "--workers", "0"], "--workers"),
        (["play", "agentgym/Maze-v0", "--seed", "-1"], "--seed"),
        (["install", "moon"], "nothing to install for 'moon'"),
        (["rollout", "agentgym/Maze-v0", "--set", "room=[4]"], "does not take"),
        (["play", "agentgym/Maze-v0", "--set", "rooms"], "--set takes key=value"),
        (["build", "agentgym/Maze-v0"], "nothing to build"),
    ],
)
def test_errors_are_one_line_and_status_2(args, message):
    result = invoke(*args)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_an_error_that_is_not_ours_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr("agentgym_envs.baselines.play", lambda *args, **kwargs: int("x"))
    result = invoke("rollout", "agentgym/Maze-v0")
    assert isinstance(result.exception, ValueError)
    assert "error:" not in result.output
