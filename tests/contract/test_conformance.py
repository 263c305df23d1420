"""Built-in environments pass the kit, and the kit catches each kind of breach."""

import random
import unicodedata
from types import SimpleNamespace

import gymnasium
import pytest
from breaches import BREACHES
from games import FAMILIES, made
from raised import raises
from typer.testing import CliRunner

from agentgym_envs import cli
from agentgym_envs.envs.textworld.games import GameOptions, build
from agentgym_envs.errors import ConformanceError, UnknownName
from agentgym_envs.tasks import SPLITS
from agentgym_envs.testing import check_text_env, solutions
from agentgym_envs.testing.hostile import hostile_actions
from agentgym_envs.testing.kit import CheckResult
from agentgym_envs.testing.subject import OracleSolution

PROPERTIES = [
    "The spec round-trips through JSON and pickle; both spaces are Unicode; instructions exist",
    "The class is a TextEnv that implements every abstract method",
    "The constructor starts no process and no thread",
    "The splits exist, share no task, and are the same every time",
    "Gymnasium's own check_env passes without a warning",
    "Info keeps the contract, and rewards are the changes of the score",
    "Admissible actions are listed once each and always understood",
    "Each action that the walks listed has a tool that writes it and reads it back",
    'In mode "ansi" render returns the last observation',
    "A named task begins the same every time; an unknown id or option is an error",
    "Different seeds draw different tasks, and a seed also fixes the following episode",
    "The keyword tasks limits an environment to these tasks",
    "The oracle solves tasks of every split within the step limit",
    "Goals and first observations do not contain the oracle's actions",
    "No two tasks have the same content",
    "Neither info nor the order of the listed actions tells the solution",
    "An agent can see which of two tasks it plays if their solutions differ",
    "After mistakes the oracle still solves the task, and no answer names the right action",
    "No policy that ignores the task wins",
    "Memory does not grow with each episode, nor the time of a turn with its number",
    "A step after the end, or before the first reset, is an error rather than a reward",
    "None of 2,000 hostile actions raises or gains score",
    "The same seed and actions give the same bytes in every process",
    "A replayed episode is the same under other circumstances",
    "Make_vec plays the same episodes as single environments",
    "The global state of the process stays the same",
    "Nothing is printed, and no connection leaves this machine",
    "Closing an environment does not change an episode of another one",
    "After close, no process, thread, open file or new file is left",
]
SCRIPTED = (
    "click-test-2",
    "click-link",
    "enter-text",
    "choose-list",
    "read-table",
    "click-checkboxes",
    "login-user",
    "email-inbox",
)


def held(env_id, **kwargs):
    """Returns the properties without what was looked at."""
    return [line.partition(" (")[0] for line in check_text_env(env_id, **kwargs)]


def solved(*actions):
    """A subject whose oracle solved one task."""
    return SimpleNamespace(solutions={"one": OracleSolution("opening", "goal", actions, actions)})


def test_a_check_with_nothing_to_look_at_is_not_called_ok(monkeypatch):
    looked = [solutions.unrevealed(solved(*actions)) for actions in (("a", "b"), ("a", "b", "c"))]
    assert looked[0].startswith("not applicable: ")
    results = [CheckResult("Title", text) for text in looked]
    monkeypatch.setattr(cli, "_properties", lambda env_id, given: results)
    printed = CliRunner().invoke(cli.app, ["check", "agentgym/Maze-v1"]).output
    assert [line[:8] for line in printed.splitlines() if "Title" in line] == [
        "-- Title",
        "ok Title",
    ]


@pytest.mark.usefixtures("length")
@pytest.mark.parametrize(
    "env_id",
    [
        "agentgym/Maze-v1",
        *(
            pytest.param(f"agentgym/{name}", marks=pytest.mark.full)
            for name in (
                "TextCraft-v2",
                "Tools-v0",
                "LockedMaze-v1",
                "TieredMaze-v0",
                "LMRLMaze-v0",
                "LMRLWordle-v0",
                "Shop-v0",
                "Household-v0",
                "BabyAI-v2",
                "Search-v1",
            )
        ),
    ],
)
def test_environments_without_a_simulator_conform(env_id):
    assert held(env_id) == PROPERTIES


@pytest.mark.usefixtures("length")
@pytest.mark.parametrize(
    "env_id",
    [
        "agentgym/Connect4-v1",
        pytest.param("agentgym/TwentyQuestions-v1", marks=pytest.mark.full),
        pytest.param("agentgym/Debate-v1", marks=pytest.mark.full),
        pytest.param("agentgym/Negotiation-v1", marks=pytest.mark.full),
    ],
)
def test_one_seat_of_a_game_conforms(env_id):
    assert held(env_id) == PROPERTIES


@pytest.mark.full
@pytest.mark.timeout(600)
def test_scienceworld_conforms():
    """On one task a split that is solved in few turns."""
    listed = [
        gymnasium.make("agentgym/ScienceWorld-v2", split=split, tasks="find-plant-*")
        for split in SPLITS
    ]
    chosen = [env.unwrapped.task_ids[0] for env in listed]
    assert held("agentgym/ScienceWorld-v2", tasks=chosen) == PROPERTIES


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("length")
@pytest.mark.full
@pytest.mark.parametrize("env_id", FAMILIES)
def test_games_conform(env_id):
    """Checks one task per split.

    The challenges differ only in their generators, so by default one is enough.
    """
    tasks = made(env_id)
    chosen = [next(i for i in tasks if f"-{split}-" in i) for split in SPLITS]
    assert held(env_id, tasks=chosen, **FAMILIES[env_id]) == PROPERTIES


@pytest.mark.full
def test_compiled_games_conform():
    """One for each split."""
    paths = build(
        [GameOptions("tw-coin_collector", (("level", 1),), s) for s in range(3)], workers=1
    )
    games = {split: [str(path)] for split, path in zip(SPLITS, paths, strict=True)}
    assert held("agentgym/TextWorld-v0", games=games) == PROPERTIES


@pytest.mark.full
@pytest.mark.timeout(900)
def test_miniwob_conforms(length):
    """On pages whose script also goes on from the middle of an episode."""
    pages = SCRIPTED[::16] if length == "brief" else SCRIPTED
    assert held("agentgym/MiniWoB-v1", tasks=[f"{page}-*" for page in pages]) == PROPERTIES


@pytest.mark.full
@pytest.mark.timeout(900)
def test_sites_conform():
    assert held("agentgym/WebSites-v1") == PROPERTIES


def test_a_correct_environment_passes():
    assert held("breaches:contract/Count-v0") == PROPERTIES


def test_the_hostile_actions_are_many_and_of_every_script():
    actions = hostile_actions(["go north", "take the lamp"])
    assert len(actions) == 2000
    scripts = {unicodedata.name(c, "").partition(" ")[0] for action in actions for c in action}
    assert {
        "LATIN",
        "GREEK",
        "CYRILLIC",
        "ARABIC",
        "HEBREW",
        "DEVANAGARI",
        "HANGUL",
        "CJK",
        "HIRAGANA",
        "EGYPTIAN",
    } <= scripts
    assert len(scripts) > 150
    assert max(map(len, actions)) >= 100_000
    assert "" in actions
    assert actions == hostile_actions(["go north", "take the lamp"])


def test_the_shares_of_the_hostile_actions_make_up_the_whole():
    whole = hostile_actions(["go north"])
    shares = [hostile_actions(["go north"], part=part, parts=7) for part in range(7)]
    assert sum(map(len, shares)) == len(whole)
    assert {"", "a" * 100_000, "undo", "\x01" * 3} <= {
        action for share in shares for action in share
    }
    assert all(len({"go north"[n:] for n in range(9)} & set(share)) > 3 for share in shares), (
        "each has mutilated ones"
    )


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    ("cls", "what"),
    [
        pytest.param(*breach, marks=[pytest.mark.full] * (number % 2))
        for number, breach in enumerate(BREACHES.items())
    ],
)
def test_every_breach_is_caught(cls, what):
    with pytest.raises(ConformanceError, match=what) as caught:
        check_text_env(f"breaches:contract/{cls.__name__}-v0")
    assert f"contract/{cls.__name__}-v0: " in str(caught.value)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        pytest.param("HashOrdered", "PYTHONHASHSEED=4242", marks=pytest.mark.full),
        ("Elsewhere", "ZeroDivisionError"),
    ],
)
def test_other_processes_are_started_where_they_are_no_forks(name, what, monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    with pytest.raises(ConformanceError, match=what):
        check_text_env(f"breaches:contract/{name}-v0")


@pytest.mark.full
def test_what_lies_in_the_working_directory_hides_no_module(tmp_path, monkeypatch):
    (tmp_path / "queue.py").write_text("raise SystemExit('not the standard library')")
    monkeypatch.chdir(tmp_path)
    assert held("breaches:contract/Count-v0") == PROPERTIES


def test_an_environment_of_the_working_directory_is_found_by_the_second_process(
    tmp_path, monkeypatch
):
    (tmp_path / "homemade.py").write_text("import breaches\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert held("homemade:contract/Count-v0") == PROPERTIES


def test_keywords_that_json_does_not_keep_are_refused():
    with pytest.raises(ConformanceError, match="does not round-trip"):
        check_text_env("breaches:contract/Count-v0", tasks=("*-0", "*-1"))


@pytest.mark.parametrize(
    "env_id",
    [
        "breaches:contract/Versionless",
        "agentgym/Maze",
        "Maze",
        "agentgym/Maze-v",
        "a/b/Maze-v1",
        "agentgym/Maze-v1 ",
        "",
        ":x-v0",
    ],
)
def test_an_id_without_a_version_is_refused(env_id):
    with raises(ConformanceError, "'namespace/Name-v0'") as caught:
        check_text_env(env_id)
    assert "Maze" not in env_id or "Did you mean 'agentgym/Maze-v1'?" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_id_is_named():
    with raises(UnknownName, "'agentgym/Maze-v1'"):
        check_text_env("agentgym/Mase-v0")


def test_the_episode_generator_is_not_the_global_one():
    random.seed(1)
    state = random.getstate()
    for env_id in ("agentgym/Maze-v1", "agentgym/TextCraft-v2"):
        gymnasium.make(env_id).reset(seed=3)
    assert random.getstate() == state
