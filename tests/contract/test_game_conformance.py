"""Games pass the kit that authors of games run, and the kit catches each kind of breach."""

import re

import pytest
from broken_games import BREACHES
from raised import raises
from typer.testing import CliRunner

from agentgym_envs import plugins, registry
from agentgym_envs.cli import app
from agentgym_envs.errors import ConformanceError, UnknownName
from agentgym_envs.testing import check_text_parallel_env, subprocesses

PROPERTIES = [
    "Seats have unique names like player_0 and are the same in every game",
    "The oracle in all seats ends sampled tasks of every split and is always understood",
    "Listed actions are understood, all seats end together, and secrets stay hidden",
    "None of 2,000 hostile actions raises, in any seat",
    "PettingZoo's parallel_api_test and parallel_seed_test pass without a warning",
    "PettingZoo's api_test and seed_test pass; it only warns that strings are not arrays",
    "The parallel and the AEC form show the same episodes",
    "All seats see the same bytes for a seed in every process",
    "The global state of the process stays the same",
    "Nothing is printed, and no connection leaves this machine",
    "No process, thread, temporary file or file in the working folder is left",
]


@pytest.mark.parametrize(
    "game_id",
    [
        pytest.param("foreign/Nim-v0", marks=pytest.mark.full),
        "foreign/Sum-v0",
        *(
            pytest.param(f"agentgym/{name}-v1", marks=pytest.mark.full)
            for name in ("Connect4", "TwentyQuestions", "Debate", "Negotiation")
        ),
    ],
)
def test_games_conform(game_id):
    assert [line.partition(" (")[0] for line in check_text_parallel_env(game_id)] == PROPERTIES


@pytest.mark.full
def test_check_runs_both_kits_on_a_game():
    checked = CliRunner().invoke(
        app, ["check", "foreign/Nim-v0", "--set", "most=2", "--set", "opponents=greedy"]
    )
    assert checked.exit_code == 0, checked.output
    lines = re.findall(r"^(?:ok|--) ", checked.output, re.MULTILINE)
    assert len(lines) == 29 + len(PROPERTIES)


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """The broken games are registered, as another package would do it."""
    info = tmp_path / "broken_games-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-games\nVersion: 1.0\n")
    lines = [f"broken/{cls.__name__}-v0 = broken_games:{cls.__name__} [game]" for cls in BREACHES]
    (info / "entry_points.txt").write_text(f"[{plugins.ENVIRONMENTS}]\n" + "\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(subprocesses, "CONDITIONS", subprocesses.CONDITIONS[1:])
    plugins.discover.cache_clear()
    registry.register_all()
    yield
    plugins.discover.cache_clear()


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(("cls", "what"), BREACHES.items())
def test_every_breach_of_a_game_is_caught(cls, what):
    with pytest.raises(ConformanceError, match=what) as caught:
        check_text_parallel_env(f"broken/{cls.__name__}-v0")
    assert f"broken/{cls.__name__}-v0: " in str(caught.value)


@pytest.mark.usefixtures("broken")
@pytest.mark.filterwarnings("ignore")
def test_a_warning_during_pettingzoos_tests_is_an_error_where_nobody_else_makes_it_one():
    with raises(ConformanceError, "parallel_api_test", "out of date"):
        check_text_parallel_env("broken/Outdated-v0")


def test_what_is_no_game_is_named():
    with raises(UnknownName, "'agentgym/Maze-v1'"):
        check_text_parallel_env("agentgym/Maze-v1")
    with pytest.raises(ConformanceError, match="is not an id with a version"):
        check_text_parallel_env("foreign/Nim")
