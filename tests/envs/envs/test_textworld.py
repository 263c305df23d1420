import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import gymnasium
import pytest
from games import FAMILIES
from raised import raises

from agentgym_envs.cache import cache_folder
from agentgym_envs.envs.textworld import play
from agentgym_envs.envs.textworld.games import GameOptions, build, game_file
from agentgym_envs.errors import TaskError

pytest.importorskip(
    "textworld", reason="the tox environments install the extra; a run without it tests the rest"
)
pytestmark = pytest.mark.slow

COIN = GameOptions("tw-coin_collector", (("level", 2),), 7)
ONE = "agentgym/TWCoinCollector-v1"
EACH = [pytest.param(i, k, marks=[pytest.mark.full] * (i != ONE)) for i, k in FAMILIES.items()]
"""The challenges, one of them by default."""
ODD = [
    "look",
    "inventory",
    "take all",
    "go west",
    "examine me",
    "frobnicate",
    "take",
    "wait",
    "again",
    "open door",
    "oops",
    "z",
]


@pytest.fixture(scope="module", autouse=True)
def games(once):
    """One process makes the games of several tests, because its start takes longer than a game."""

    def make(_):
        worlds = [
            gymnasium.make(ONE, split=split, **FAMILIES[ONE]).unwrapped
            for split in ("train", "dev")
        ]
        build([COIN, *(world.options(world.task_ids[0]) for world in worlds)], workers=1)

    once("games", make)


@pytest.fixture
def table(monkeypatch):
    """A new, empty table."""
    monkeypatch.setattr(play, "TABLE", play.TurnCache(play.TURNS))


@pytest.fixture
def commands(monkeypatch):
    """The commands that reach the interpreters."""
    import jericho

    sent, step = [], jericho.FrotzEnv.step
    monkeypatch.setattr(
        jericho.FrotzEnv, "step", lambda self, command: sent.append(command) or step(self, command)
    )
    return sent


@pytest.mark.parametrize(("env_id", "kwargs"), EACH)
def test_the_rewards_of_a_solved_game_add_up(env_id, kwargs):
    env = gymnasium.make(env_id, split="dev", **kwargs)
    env.reset(options={"task_id": env.unwrapped.task_ids[0]})
    total = 0.0
    for action in env.unwrapped.oracle():
        observation, reward, terminated, _, info = env.step(action)
        total += reward
        assert "$$" not in observation
        assert "RESTART" not in observation
    assert info["success"]
    assert terminated
    assert total == pytest.approx(1.0)
    env.close()


def upstream(path, **infos):
    import textworld

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        request = textworld.EnvInfos(
            feedback=True, score=True, max_score=True, won=True, objective=True, **infos
        )
        return textworld.start(str(path), request)


def same_words(shown, feedback):
    """The feedback ends with a prompt and the status line, or with the closing question."""
    shown, feedback = " ".join(shown.split()), " ".join(feedback.split())
    start = feedback.find(shown)
    assert start == 0 or "$$" in feedback[:start], (shown, feedback)
    rest = feedback[start + len(shown) :].strip()
    assert re.fullmatch(r"(>( ?-= .* =-.*)?)?|Would you like to .*", rest), rest


@pytest.mark.full
def test_random_play_of_interleaved_games_is_upstreams(table):
    """Plays four games in turn, with and without listed actions, beside upstream in both modes."""
    paths, rng = [], random.Random(0)
    for env_id, kwargs in FAMILIES.items():
        world = gymnasium.make(env_id, **kwargs).unwrapped
        paths.append(world.path(world.task_set.get(world.task_ids[0])))
    listing = [
        gymnasium.make(
            "agentgym/TextWorld-v0", games=[str(p)], admissible=True, max_episode_steps=-1
        )
        for p in paths
    ]
    plain = [
        gymnasium.make("agentgym/TextWorld-v0", games=[str(p)], max_episode_steps=-1) for p in paths
    ]
    theirs = [(upstream(p, admissible_commands=True), upstream(p)) for p in paths]
    for winning in (False, True):
        states = [tuple(env.reset() for env in pair) for pair in theirs]
        for ours, bare, (state, bare_state) in zip(listing, plain, states, strict=True):
            observation, info = ours.reset()
            assert bare.reset()[0] == observation
            same_words(observation, bare_state.feedback)
            assert info["goal"] == state.objective.strip()
            assert (
                info["admissible_actions"] == bare.unwrapped.actions() == state.admissible_commands
            )
        living = set(range(len(paths)))
        oracles = [env.unwrapped.oracle() for env in listing]
        for _ in range(25 if winning else 4):
            for n in sorted(living):
                state = states[n][0]
                command = (
                    rng.choice(state.admissible_commands) if rng.random() < 0.6 else rng.choice(ODD)
                )
                command = next(oracles[n]) if winning else command
                (state, points, done), (bare_state, _, _) = (env.step(command) for env in theirs[n])
                states[n] = state, bare_state
                observation, _, terminated, _, info = listing[n].step(command)
                assert plain[n].step(command)[0] == observation
                same_words(observation, bare_state.feedback)
                same_words(observation, state.feedback)
                score = 1.0 if state.won else min(max(points / state.max_score, 0), 1)
                assert (terminated, info["success"], info["score"]) == (done, state.won, score)
                if done:
                    living.discard(n)
                else:
                    assert (
                        info["admissible_actions"]
                        == plain[n].unwrapped.actions()
                        == state.admissible_commands
                    )
    assert not living, "every game was won"
    for env in (*listing, *plain, *(env for pair in theirs for env in pair)):
        env.close()


@pytest.mark.parametrize(("env_id", "kwargs"), EACH)
def test_what_is_listed_is_understood_throughout_random_episodes(env_id, kwargs):
    env = gymnasium.make(env_id, admissible=True, max_episode_steps=-1, **kwargs)
    for seed in range(2):
        rng = random.Random(seed)
        _, info = env.reset(options={"task_id": env.unwrapped.task_ids[0]})
        for _ in range(60):
            if not info["admissible_actions"]:
                break
            action = rng.choice(info["admissible_actions"])
            *_, info = env.step(action)
            assert not info["invalid"], action
    env.close()


def test_a_game_begun_anew_is_as_in_a_fresh_interpreter(monkeypatch):
    used, fresh = (
        gymnasium.make("agentgym/TextWorld-v0", games=[str(game_file(COIN))]) for _ in range(2)
    )
    used.reset()
    solution = list(used.unwrapped.oracle())
    for actions in (solution[:1], solution):  # abandoned in the middle, then played to the end
        for action in actions:
            used.step(action)
        monkeypatch.setattr(play, "TABLE", play.TurnCache(play.TURNS))
        assert used.reset() == fresh.reset()
    assert [used.step(a) for a in solution] == [fresh.step(a) for a in solution]
    used.close()
    fresh.close()


def test_what_was_played_before_and_what_can_be_done_now_needs_no_interpreter(
    table, commands, monkeypatch
):
    first, second = (
        gymnasium.make("agentgym/TextWorld-v0", games=[str(game_file(COIN))]) for _ in range(2)
    )
    first.reset()
    start = [*list(first.unwrapped.oracle())[:1], "inventory"]
    shown = [first.step(command) for command in start]
    sent = len(commands)
    assert first.unwrapped.actions()
    assert list(first.unwrapped.oracle())
    second.reset()
    assert [second.step(command) for command in start] == shown
    assert len(commands) == sent
    after = second.step("look")
    assert commands[sent:] == ["look"], "goes on from where the table ends"
    monkeypatch.setattr(play, "TABLE", play.TurnCache(play.TURNS))
    first.reset()
    assert [first.step(command) for command in (*start, "look")] == [*shown, after]
    first.close()
    second.close()


@pytest.mark.parametrize("size", [1, 3])
def test_the_table_is_bounded_and_what_it_forgets_changes_nothing(monkeypatch, size):
    env = gymnasium.make("agentgym/TextWorld-v0", games=[str(game_file(COIN))], admissible=True)
    walk = ["look", "go west", "look", "go east", "inventory"]

    def shown():
        return [env.reset(), *(env.step(command) for command in walk)]

    reference = shown()
    monkeypatch.setattr(play, "TABLE", play.TurnCache(size))
    assert [shown(), shown()] == [reference] * 2
    assert len(play.TABLE) == size
    env.close()


@pytest.mark.full
def test_one_interpreter_plays_many_games_and_keeps_one(table):
    paths = build(
        [GameOptions("tw-coin_collector", (("level", 1),), s) for s in range(3)], workers=1
    )
    many = gymnasium.make("agentgym/TextWorld-v0", games=[str(p) for p in paths])
    for path in (*paths, *paths):
        one = gymnasium.make("agentgym/TextWorld-v0", games=[str(path)])
        task = {"task_id": path.stem}
        assert many.reset(options=task) == one.reset(options=task)
        assert many.step("look") == one.step("look")
        one.close()
    assert len(many.unwrapped._player._frotz._cache) == 1
    many.close()


@pytest.mark.full
def test_another_game_under_the_same_name_is_another_game(tmp_path, table):
    made = build([GameOptions("tw-coin_collector", (("level", 1),), s) for s in range(2)])
    shown = []
    for path in made:
        for suffix in (".z8", ".json"):
            (tmp_path / f"game{suffix}").write_bytes(path.with_suffix(suffix).read_bytes())
        env = gymnasium.make("agentgym/TextWorld-v0", games=[str(tmp_path / "game.z8")])
        shown.append(env.reset()[0])
        env.close()
    assert shown[0] != shown[1]


@pytest.mark.full
def test_a_games_own_random_texts_do_not_follow_the_clock(tmp_path, monkeypatch):
    """TextWorld's games set the seed of their random numbers. Other games need not."""
    from textworld import GameMaker
    from textworld.generator.inform7 import compile_inform7_game, generate_inform7_source

    maker = GameMaker()
    room = maker.new_room(
        "Casino", "You roll [one of]one[or]two[or]three[or]four[or]five[or]six[purely at random]."
    )
    maker.set_player(room)
    room.add(maker.new(type="o", name="coin"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jericho's, about a game that it does not know
        maker.set_quest_from_commands(["take coin"])
    game = maker.build()
    source = generate_inform7_source(game).replace(
        "seed the random-number generator with 1234", "do nothing"
    )
    game.save(str(tmp_path / "dice.json"))
    compile_inform7_game(source, str(tmp_path / "dice.z8"))
    shown = []
    for _ in range(2):
        monkeypatch.setattr(play, "TABLE", play.TurnCache(play.TURNS))
        env = gymnasium.make("agentgym/TextWorld-v0", games=[str(tmp_path / "dice.z8")])
        env.reset(seed=0)
        shown.append([env.step("look")[0] for _ in range(10)])
        env.close()
        time.sleep(1.1)
    assert len(set(shown[0])) > 1
    assert shown[0] == shown[1]


@pytest.mark.full
def test_hash_seeds_processes_and_folders_make_the_same_game(tmp_path):
    first = game_file(COIN)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "queue.py").write_text("raise ImportError('a stray file was imported')\n")
    environ = {**os.environ, "AGENTGYM_CACHE": str(tmp_path / "cache"), "PYTHONHASHSEED": "77"}
    code = (
        "from agentgym_envs.envs.textworld.games import *;"
        " print(game_file(GameOptions('tw-coin_collector', (('level', 2),), 7)))"
    )
    command = [sys.executable, "-P", "-c", code]
    both = [
        subprocess.Popen(
            command, env=environ, stdout=subprocess.PIPE, text=True, cwd=tmp_path / "here"
        )
        for _ in range(2)
    ]
    paths = {p.communicate()[0].strip() for p in both}
    assert len(paths) == 1, "two processes that request a game at the same time get one game"
    other = Path(paths.pop())
    games = [json.loads(p.with_suffix(".json").read_text()) for p in (first, other)]
    assert games[0] == games[1]
    assert os.listdir(tmp_path / "cache" / "textworld") == [other.stem], "no draft is left behind"
    assert {".json", ".z8"} <= {p.suffix for p in other.parent.iterdir()}


@pytest.mark.full
def test_an_interrupted_build_leaves_no_draft_and_no_process(tmp_path):
    import psutil

    code = (
        "from agentgym_envs.envs.textworld.games import *; print('up',"
        " flush=True);build([GameOptions('tw-coin_collector', (('level', 5),), s) for s in"
        " range(40)], workers=1)"
    )
    environ = {**os.environ, "AGENTGYM_CACHE": str(tmp_path)}
    parent = subprocess.Popen(
        [sys.executable, "-c", code], env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    while not list(tmp_path.glob("textworld/*draft-*")):
        assert parent.poll() is None
        time.sleep(0.05)
    children = psutil.Process(parent.pid).children(recursive=True)
    parent.send_signal(signal.SIGINT)
    assert parent.wait(60) != 0
    parent.stdout.close()
    psutil.wait_procs(children, timeout=10)
    assert not any(child.is_running() for child in children)
    assert not list(tmp_path.glob("textworld/*draft-*"))
    assert len(list(tmp_path.glob("textworld/*/*.z8"))) < 20, "the rest is not made first"


@pytest.mark.full
def test_building_ahead_reports_every_game():
    done = []
    options = [GameOptions("tw-coin_collector", (("level", 1),), s) for s in range(2)]
    paths = build(options, workers=2, on_game=lambda: done.append(1))
    assert len(done) == 2
    assert [p.exists() for p in paths] == [True, True]
    assert paths[0] != paths[1]


def test_commands_that_would_leave_the_game_are_refused():
    env = gymnasium.make("agentgym/TextWorld-v0", games=[str(game_file(COIN))])
    before = set(os.listdir())
    env.reset()
    for action in (
        "quit",
        "SAVE",
        "restore",
        "undo",
        "script",
        "tw-extra-infos score",
        "look. look",
        "look then look",
        "",
        "@@@",
    ):
        _, reward, terminated, _, info = env.step(action)
        assert info["invalid"], action
        assert (reward, terminated) == (0.0, False)
    assert set(os.listdir()) == before
    stopped, plain = env.step(" Look . "), env.step("look")
    assert stopped[0] == plain[0], "one full stop at the end changes nothing"
    assert not stopped[4]["invalid"]
    env.close()


ESCAPES = [
    "\\",
    "\\n",
    "\\boxed{take key}",
    "\\help",
    "\\s",
    "\\#",
    "take \\ key",
    "look\\",
    "look\\_quit",
    "go \\north",
]
ORDERS = [
    "me, save",
    "me, quit",
    "quit,",
    "me, restart",
    "transcripts",
    "transcription on",
    "print_state",
    "print_story",
]
OPTIONS = [
    "enable print state option",
    "disable print",
    "restrict commands",
    'save"',
    "look\x7f",
    "\x01look",
    "\x1b[31m",
]
PLAY = """
import resource, sys
import gymnasium, agentgym_envs
env = gymnasium.make("agentgym/TextWorld-v0", games=[sys.argv[1]], max_episode_steps=-1)
first, info = env.reset()
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
for action in sys.argv[2:]:
    observation, reward, terminated, _, info = env.step(action)
    assert info["invalid"] and (reward, terminated) == (0.0, False), (action, observation)
    assert len(observation) < 300, (action, observation)
assert env.step("look")[0] in first, "the game is where it was"
for action in ["inventory", "take all", "goal", "help", "score", *env.unwrapped.oracle()]:
    info = env.step(action)[4]
assert info["success"]
env.close()
"""


def test_no_action_reaches_the_interpreters_own_commands(tmp_path):
    """Backslashes print without end, and orders and transcripts write files.

    So the game runs in a separate process that can write at most 100 kB.
    """
    game, out, place = game_file(COIN), tmp_path / "out", tmp_path / "place"
    place.mkdir()
    command = [sys.executable, "-c", PLAY, str(game), *ESCAPES, *ORDERS, *OPTIONS]
    with out.open("wb") as file:
        done = subprocess.run(command, cwd=place, stdout=file, stderr=subprocess.STDOUT, timeout=60)
    assert (done.returncode, out.read_bytes()[-2000:], os.listdir(place)) == (0, b"", [])


def test_where_the_cache_is():
    assert str(cache_folder("textworld", {"AGENTGYM_CACHE": "/a"})) == "/a/textworld"
    assert str(cache_folder("textworld", {"XDG_CACHE_HOME": "/b"})) == "/b/agentgym/textworld"


@pytest.mark.parametrize(
    ("env_id", "kwargs", "message"),
    [
        *(
            (
                "agentgym/TWCoinCollector-v1",
                {"level": level},
                f"level must be from 2 to 150 or from 201 to 233, not {level}",
            )
            for level in (1, 151, 234, 301)
        ),
        ("agentgym/TWTreasureHunter-v1", {"level": 31}, "level must be from 1 to 30, not 31"),
        ("agentgym/TWTreasureHunter-v1", {"goal": "none"}, "goal must be one of"),
        ("agentgym/TWSimple-v1", {"goal": "vague"}, "goal must be one of"),
        ("agentgym/TWCooking-v1", {"go": 2}, r"go must be one of \[1, 6, 9, 12\], not 2"),
        ("agentgym/TWCooking-v1", {"recipe": 1, "take": 2}, "take must be from 0 to 1"),
    ],
)
def test_impossible_parameters_are_refused(env_id, kwargs, message):
    with pytest.raises(ValueError, match=message):
        gymnasium.make(env_id, **kwargs)


def test_missing_games_are_named(tmp_path):
    with raises(TaskError, "games="):
        gymnasium.make("agentgym/TextWorld-v0")
    (tmp_path / "a.z8").touch()
    with raises(TaskError, "a.json"):
        gymnasium.make("agentgym/TextWorld-v0", games=str(tmp_path / "a.z8"))
