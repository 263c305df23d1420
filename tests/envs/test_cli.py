import errno
import os
import subprocess
import sys
from importlib.metadata import entry_points, version

import pytest
from some import full
from typer.testing import CliRunner

from agentgym_envs import describe
from agentgym_envs.cli import app
from agentgym_envs.listing import listing
from agentgym_envs.terminal import READABLE

ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "COLUMNS": "80"}


def invoke(*args, charset="utf-8", **kwargs):
    return CliRunner(charset=charset).invoke(app, args, **kwargs)


def run(*args, **kwargs):
    """Runs a command in a process of its own."""
    command = [sys.executable, "-m", "agentgym_envs.cli", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)


def own_ids():
    points = entry_points(group="agentgym_envs.environments")
    return {point.name for point in points if point.dist.name == "agentgym-envs"}


def test_list_has_a_line_of_80_columns_for_each_id():
    lines = list(listing(80))
    listed = {line.split()[0]: line for line in lines}
    assert len(listed) == len(lines)
    assert own_ids() <= listed.keys()
    assert all(len(line) <= 80 for line in lines)
    for env_id in own_ids():
        assert len(listed[env_id].split()) > 4, "a description"
        assert "…" not in listed[env_id], "our descriptions fit"


def test_a_description_that_is_too_long_ends_at_a_word():
    whole = {line.split()[0]: line for line in listing(200)}
    for line in listing(60):
        words = line.removesuffix(" …").split()
        assert len(line) <= 60
        assert whole[words[0]].split()[: len(words)] == words


def test_a_description_is_whole_in_a_pipe(monkeypatch):
    long = " ".join(["word"] * 100)
    monkeypatch.setattr("agentgym_envs.listing.first_sentence", lambda plugin: long)
    lines = invoke("list").output.splitlines()
    assert any(line.startswith("agentgym/Maze-v1") and line.endswith(long) for line in lines)


def test_list_names_the_missing_extras(monkeypatch):
    monkeypatch.setattr("agentgym_envs.registry._installed", lambda name: False)
    lines = invoke("list").output.splitlines()
    marked = {line.split()[0] for line in lines if "[needs textworld]" in line}
    assert len(marked) == 5
    assert {env_id for env_id in own_ids() if "/TW" in env_id} < marked
    assert (
        'missing extras: python -m pip install "agentgym-envs[babyai,scienceworld,search,textworld,'
        'web]"' in lines
    )


def test_list_imports_no_environment():
    code = (
        "import sys; from agentgym_envs.listing import listing; list(listing(80));"
        "print([name for name in sys.modules if name.startswith('agentgym_envs.envs.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_ascii_terminal_gets_similar_characters(tmp_path):
    done = run("show", "agentgym/BabyAI-v2", env=os.environ | ASCII)
    assert done.returncode == 0, done.stderr
    assert "seeds 0-9 for test" in done.stdout
    assert "3–0–1 × … é 字".encode("ascii", READABLE) == b"3-0-1 x ... e ?"


@pytest.mark.parametrize(
    "args",
    [
        ("list",),
        ("play", "agentgym/Debate-v1", "--task", "hop3-*"),
        ("tournament", "agentgym/Negotiation-v1", "random", "fair", "--episodes", "1"),
        ("report", "results/agentgym-Negotiation-v1-tournament"),
    ],
    ids=lambda args: args[0],
)
def test_no_command_fails_where_the_locale_is_ascii(args, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if args[0] == "report":
        invoke("tournament", "agentgym/Negotiation-v1", "random", "fair", "--episodes", "1")
    result = invoke(*args, charset="ascii", input="Nam Định".encode())
    assert result.exit_code == 0, result.output
    assert result.output.isascii()


def test_the_version_is_that_of_the_distribution():
    assert invoke("--version").output == f"agentgym-envs {version('agentgym-envs')}\n"


def test_a_full_disk_is_one_line(monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device", "there")

    monkeypatch.setattr("agentgym_envs.cli.listing", full)
    result = invoke("list")
    assert result.exit_code == 2
    assert result.output == "error: the disk is full at there; complete results were kept\n"


@pytest.mark.parametrize(
    ("env_id", "given", "meant"),
    [
        ("agentgym/Maze-v1", "roooms", "rooms"),
        *full(
            ("agentgym/Connect4-v1", "seets", "seats"),
            ("agentgym/LockedMaze-v1", "spilt", "split"),
            ("agentgym/Connect4-v1", "colums", "columns"),
            ("agentgym/WebSites-v1", "max_lenght", "max_length"),
        ),
    ],
)
def test_an_unknown_keyword_suggests_the_nearest(env_id, given, meant):
    """The keyword of a base class and of a game's seats too."""
    for args in (("play", env_id), ("check", env_id), ("eval", env_id, "--agent", "random")):
        result = invoke(*args, "--set", f"{given}=4")
        assert result.exit_code == 2
        assert f"{env_id} does not take {given!r}. Did you mean {meant!r}?" in result.output


def test_show_has_a_transcript_of_the_oracle():
    """One that the README holds is not repeated; a foreign environment gets one."""
    text = invoke("show", "foreign/Nim-v0").output
    shown = text.split("## Transcript\n\n```text\n")[1].split("```")[0]
    assert shown.startswith("Task pile-")
    assert "\n> " in shown
    assert shown.endswith("(score 1.00)\n")
    assert "| players | `random`, `oracle`, `greedy` |" in text
    text = invoke("show", "agentgym/Maze-v1").output
    assert "## Transcript" not in text
    assert "```text agentgym/Maze-v1 " in text


def test_show_says_why_an_environment_cannot_be_played():
    text = invoke("show", "agentgym/TextWorld-v0").output
    assert "## Transcript\n\n```text\nThe environment cannot be played here: agentgym/" in text


def test_a_description_is_found_without_an_import(tmp_path, monkeypatch):
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme/__init__.py").write_text("raise RuntimeError('imported')\n")
    (tmp_path / "acme/env.py").write_text('class Env:\n    """Made\n    here. And more."""\n')
    (tmp_path / "alone.py").write_text('class Env:\n    """In one file."""\n')
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "torn.py").write_text("class Env(:")
    for module, text in (
        ("acme.env", "Made here"),
        ("alone", "In one file"),
        ("torn", ""),
        ("gone", ""),
    ):
        plugin = type("Plugin", (), {"target": f"{module}:Env"})
        assert describe.first_sentence(plugin) == text


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
    lines = {line.split()[0]: line for line in invoke("list").output.splitlines()}
    games = {
        "agentgym/Connect4-v1",
        "agentgym/TwentyQuestions-v1",
        "foreign/Nim-v0",
        "foreign/Sum-v0",
    }
    assert games <= {env_id for env_id, line in lines.items() if "[game]" in line}
    assert "[game]" not in lines["agentgym/Maze-v1"]


@pytest.mark.full
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
    monkeypatch.setattr("agentgym_envs.evaluate.job.plan", lambda *args, **kwargs: int("x"))
    result = invoke("eval", "agentgym/Maze-v1", "--agent", "random")
    assert isinstance(result.exception, ValueError)
    assert "error:" not in result.output
