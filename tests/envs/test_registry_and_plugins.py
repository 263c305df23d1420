import os
import subprocess
import sys
import textwrap

import gymnasium
import pytest
from raised import raises
from typer.testing import CliRunner

import agentgym_envs
from agentgym_envs import errors, plugins, registry
from agentgym_envs.cli import app
from agentgym_envs.multi import make_game
from agentgym_envs.pool import EnvPool
from agentgym_envs.wrappers import ActionFormat

GROUP = plugins.ENVIRONMENTS
ECHO = """
    import gymnasium
    from agentgym_envs import Outcome, Task, TaskSet, TextEnv

    class EchoEnv(TextEnv):
        def __init__(self, *, fail=None, **kwargs):
            if fail == "type":
                len(3)
            if fail == "exit":
                raise SystemExit("leaving")
            super().__init__(**kwargs)

        def make_tasks(self):
            return TaskSet(Task(id=s, split=s) for s in ("train", "dev", "test"))

        def begin(self, task, rng):
            return "say something", "talk"

        def act(self, action):
            return Outcome(action, 0.0)

        def actions(self):
            return ["hello"]

        def oracle(self):
            return iter(())

    class MuteEnv(EchoEnv):
        actions = TextEnv.actions
        oracle = TextEnv.oracle

    class AngryEnv(EchoEnv):
        def make_tasks(self):
            raise ZeroDivisionError("no tasks today")
    """


def dist(folder, name, entry_points, more=""):
    """Writes the metadata of an installed distribution."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{more}")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{textwrap.dedent(entry_points)}")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of packages; after ``registry.register_all()`` their environments are there."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("gymnasium.envs.registration.registry", gymnasium.registry.copy())
    monkeypatch.setattr(gymnasium, "registry", gymnasium.envs.registration.registry)
    plugins.discover.cache_clear()
    (tmp_path / "acme_echo.py").write_text(textwrap.dedent(ECHO))
    yield tmp_path
    plugins.discover.cache_clear()
    sys.modules.pop("acme_echo", None)


def one_line(error):
    return "\n" not in str(error.value)


def test_the_package_is_the_installed_one():
    assert agentgym_envs.__file__ is not None


def test_the_entry_points_say_the_step_limits():
    limits = {
        i: gymnasium.spec(i).max_episode_steps
        for i, p in plugins.discover(GROUP).items()
        if i.startswith("agentgym/")
    }
    named = {i.removeprefix("agentgym/").rpartition("-v")[0]: limit for i, limit in limits.items()}
    assert named == {
        **{
            "Maze": 40,
            "LockedMaze": 60,
            "TieredMaze": 84,
            "LMRLMaze": 51,
            "LMRLWordle": 6,
            "Tools": 30,
            "Shop": 15,
            "TwoAttempts": 512,
            "TextCraft": 60,
            "Household": 50,
            "BabyAI": 256,
            "ScienceWorld": 100,
            "Search": 10,
        },
        **{"Debate": 80, "Negotiation": 20, "Connect4": 60, "TwentyQuestions": 80},
        **{"MiniWoB": 40, "WebSites": 40, "WebArena": 30},
        **dict.fromkeys(
            ("TextWorld", "TWSimple", "TWCoinCollector", "TWTreasureHunter", "TWCooking"), 100
        ),
    }


def test_an_unknown_id_names_the_nearest():
    with raises(errors.UnknownName, "'agentgym/TextCraft-v2'"):
        registry.spec("agentgym/TextCraf-v0")
    with raises(errors.UnknownName, "'agentgym/Maze-v1'"):
        registry.spec("agentgym/Maze")


def test_a_module_that_does_not_import_says_so(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lame_module.py").write_text("import package_that_is_not_there")
    for module, why in (
        ("no_such_module", "no_such_module"),
        ("lame_module", "package_that_is_not_there"),
    ):
        with raises(errors.BrokenPlugin, f"module '{module}'", why):
            registry.spec(f"{module}:agentgym/Maze-v1")


def test_an_unknown_id_of_a_module_names_those_of_the_module():
    with raises(errors.UnknownName, "'support/Hash-v0'") as raised:
        registry.spec("hash_env:support/Hsh-v0")
    assert str(raised.value).endswith("Known: support/Hash-v0.")


def test_a_plugin_says_its_step_limit_and_its_extra_before_it_is_imported(site):
    requires = (
        'Requires-Dist: numpy ; extra == "there"\nRequires-Dist: not-there-at-all>1 ; extra =='
        ' "voice"\n'
    )
    dist(
        site,
        "acme-echo",
        """
        acme/Echo-v0 = acme_echo:EchoEnv [voice, horizon-7]
        acme/Plain-v0 = acme_echo:EchoEnv
        acme/There-v0 = acme_echo:EchoEnv[there]
        """,
        requires,
    )
    registry.register_all()
    listed = plugins.discover(GROUP)
    assert [
        registry.install_command(listed[f"acme/{n}-v0"]) for n in ("Echo", "Plain", "There")
    ] == [
        'python -m pip install "acme-echo[voice]"',
        None,
        None,
    ]
    assert "acme_echo" not in sys.modules
    assert gymnasium.spec("acme/Plain-v0").max_episode_steps == registry.DEFAULT_HORIZON
    for keywords, limit in (
        ({}, 7),
        ({"max_episode_steps": 3}, 3),
        ({"max_episode_steps": -1}, None),
    ):
        env = gymnasium.make("acme/Echo-v0", **keywords)
        assert env.spec.max_episode_steps == limit
        env.reset(seed=0)
        cut = [env.step("x")[3] for _ in range(limit or 9)]
        assert cut == [False] * (len(cut) - 1) + [limit is not None]


def test_two_distributions_with_one_name_are_both_named(site):
    for name in ("acme-one", "acme-two"):
        dist(site, name, f"acme/Guess-v0 = {name.replace('-', '_')}:Env\n")
    registry.register_all()
    for use in (
        registry.make,
        gymnasium.make,
        registry.spec,
        lambda i: EnvPool(i, 1),
        lambda i: plugins.load(GROUP, i),
    ):
        with raises(errors.DuplicateName, "acme-one", "acme-two"):
            use("acme/Guess-v0")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("noslash-v0 = acme_echo:EchoEnv", "'noslash-v0', which is no id"),
        ("acme/Echo = acme_echo:EchoEnv", "'acme/Echo', which is no id"),
        ("acme/E cho!-v0 = acme_echo:EchoEnv", "which is no id"),
        ("acme/Echo-v0 = acme_echo", "not 'module:Class'"),
        (
            "acme/Echo-v0 = acme_echo:EchoEnv [horizon-1.5]",
            "'horizon-1.5': a horizon is a positive whole number",
        ),
        ("acme/Echo-v0 = acme_echo:EchoEnv [horizon-0]", "positive whole number"),
        ("acme/Echo-v0 = acme_echo:EchoEnv [horizon-5, horizon-6]", "with two horizons"),
        ("taken/Env-v0 = acme_echo:EchoEnv", "an id that somebody:Env has"),
    ],
)
def test_a_wrong_registration_is_listed_and_fails_when_used(site, line, message):
    gymnasium.register("taken/Env-v0", entry_point="somebody:Env")
    dist(site, "acme-wrong", line + "\nacme/Fine-v0 = acme_echo:EchoEnv\n")
    registry.register_all()
    env_id = line.split(" = ")[0]
    with raises(errors.BrokenPlugin, "acme-wrong") as error:
        registry.make(env_id)
    assert message in str(error.value)
    assert one_line(error)
    gymnasium.make("acme/Fine-v0").close()
    listed = CliRunner().invoke(app, ["list"])
    assert listed.exit_code == 0, (listed.output, listed.exception)
    assert f"broken: {error.value}" in listed.output
    checked = CliRunner().invoke(app, ["check", env_id])
    assert (checked.exit_code, "Traceback" in checked.output) == (2, False)
    assert "acme-wrong" in checked.output


def test_wrong_registrations_do_not_keep_the_package_from_being_imported(site):
    dist(
        site,
        "acme-wrong",
        "noslash = x\na/b-v0 = acme_echo:EchoEnv\nagentgym/Maze-v1 = acme_echo:EchoEnv\n",
    )
    unreadable(site)
    code = (
        "import agentgym_envs, gymnasium; gymnasium.make('agentgym/TextCraft-v2'); from"
        " agentgym_envs.cli import app; app(['list'])"
    )
    environ = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environ
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("broken: ") == 2
    assert (
        "acme-wrong and agentgym-envs" in done.stdout
        or "agentgym-envs and acme-wrong" in done.stdout
    )


def unreadable(site):
    """Writes packages whose metadata cannot be read, and one that is well."""
    for name in ("nameless", "torn", "bytes", "title"):
        dist(site, f"acme-{name}", f"acme/{name.title()}-v0 = acme_echo:EchoEnv\n")
    (site / "acme_nameless-1.0.dist-info/METADATA").unlink()
    (site / "acme_torn-1.0.dist-info/entry_points.txt").write_text(f"[{GROUP}]\nacme/Torn-v0\n")
    (site / "acme_bytes-1.0.dist-info/entry_points.txt").write_bytes(b"[other]\n\xff = x:y\n")
    (site / "acme_title-1.0.dist-info/METADATA").write_bytes(b"Name: acme-\xff\n")
    dist(site, "acme-well", "acme/Well-v0 = acme_echo:EchoEnv\n")


def test_packages_whose_metadata_cannot_be_read_are_left_out_with_a_warning(site, caplog):
    unreadable(site)
    registry.register_all()
    assert [i for i in plugins.discover(GROUP) if i.startswith("acme/")] == ["acme/Well-v0"]
    gymnasium.make("acme/Well-v0").close()
    warned = [r.getMessage() for r in caplog.records if "is left out" in r.getMessage()]
    assert len(warned) == 4
    for name in ("nameless", "torn", "bytes", "title"):
        assert any(str(site / f"acme_{name}-1.0.dist-info") in w for w in warned)


def test_the_first_of_two_versions_of_a_package_on_the_path_counts(site, monkeypatch):
    for folder, target in (("old", "Old"), ("new", "New")):
        (site / folder).mkdir()
        dist(
            site / folder,
            "Acme.Echo" if folder == "old" else "acme-echo",
            f"acme/Echo-v0 = acme_echo:{target}\n",
        )
        monkeypatch.syspath_prepend(site / folder)
    assert plugins.discover(GROUP)["acme/Echo-v0"].target == "acme_echo:New"
    assert len(plugins.discover(GROUP)["acme/Echo-v0"].points) == 1


def test_a_plugin_in_the_working_directory_can_be_used_in_a_pool(site, monkeypatch):
    dist(site, "acme-echo", "acme/Echo-v0 = acme_echo:EchoEnv [horizon-2]\n")
    registry.register_all()
    monkeypatch.chdir(site)
    played = CliRunner().invoke(
        app, ["eval", "acme/Echo-v0", "--agent", "random", "--episodes", "2", "--out", "out"]
    )
    assert played.exit_code == 0, played.output
    with EnvPool("acme/Echo-v0", 1) as pool:
        pool.reset(0)
        assert pool.recv()[0].observation == "say something"


def test_a_broken_plugin_is_listed_and_fails_when_used(site):
    (site / "acme_broken.py").write_text("raise ZeroDivisionError('at import')")
    dist(
        site,
        "acme-broken",
        "acme/Broken-v0 = acme_broken:Env\nacme/Lost-v0 = acme_echo:NoSuchEnv\n",
    )
    registry.register_all()
    assert "acme/Broken-v0" in plugins.discover(GROUP)
    for use in (lambda i: plugins.load(GROUP, i), registry.make):
        with raises(errors.BrokenPlugin, "acme-broken", "ZeroDivisionError") as error:
            use("acme/Broken-v0")
        assert one_line(error)
    with raises(errors.BrokenPlugin, "acme-broken", "NoSuchEnv", "'EchoEnv'"):
        registry.make("acme/Lost-v0")
    with raises(errors.UnknownName, "'acme/Broken-v0'"):
        plugins.load(GROUP, "acme/Brokn-v0")
    assert "acme/Broken-v0" in CliRunner().invoke(app, ["list"]).output
    assert (
        "acme-broken fails to import: ZeroDivisionError"
        in CliRunner().invoke(app, ["check", "acme/Broken-v0"]).output
    )


def test_what_a_plugin_lacks_or_raises_is_one_line_with_its_name(site, monkeypatch):
    dist(
        site,
        "acme-echo",
        "acme/Mute-v0 = acme_echo:MuteEnv\nacme/Angry-v0 = acme_echo:AngryEnv\nacme/Echo-v0 ="
        " acme_echo:EchoEnv\n",
    )
    registry.register_all()
    with raises(errors.BrokenPlugin, "MuteEnv", "acme-echo", "actions, oracle"):
        gymnasium.make("acme/Mute-v0")
    with raises(
        errors.EnvRaised,
        "acme/Angry-v0",
        "acme-echo",
        "ZeroDivisionError",
        "acme_echo.py:",
        "no tasks today",
    ):
        registry.make("acme/Angry-v0")
    with raises(errors.EnvRaised, "acme-echo", "TypeError", "acme_echo.py"):
        registry.make("acme/Echo-v0", fail="type")
    with raises(errors.EnvRaised, "acme-echo", "SystemExit"):
        registry.make("acme/Echo-v0", fail="exit")
    with raises(errors.ArgumentError, "acme/Echo-v0", "'fall'"):
        registry.make("acme/Echo-v0", fall="type")
    for env_id, words in (
        ("acme/Mute-v0", "lacks actions, oracle"),
        ("acme/Angry-v0", "no tasks today"),
    ):
        checked = CliRunner().invoke(app, ["check", env_id])
        assert checked.exit_code == 2
        assert "acme-echo" in checked.output
        assert words in checked.output
        with EnvPool(env_id, 1) as pool:
            pool.reset(0)
            error = str(pool.recv()[0].error)
        assert "acme-echo" in error
        assert words in error
        assert "\n" not in error


def test_a_game_that_is_none_lacks_methods_or_raises_is_one_line_with_its_name(site):
    (site / "acme_games.py").write_text(
        textwrap.dedent("""
        from agentgym_envs import TextGame

        class Mute(TextGame):
            def oracle(self, seat):
                return ""

        class Angry(Mute):
            begin = goal = acting = act = actions = make_tasks = Mute.oracle

            def __init__(self, *, loud=True):
                raise ZeroDivisionError("no game today")

        class Calm(Angry):
            def __init__(self, *, quiet=True):
                self.seats = ("player_0", "player_1")
        """)
    )
    lines = (f"acme/{n}-v0 = acme_games:{n} [game]" for n in ("Mute", "Angry", "Calm"))
    dist(site, "acme-games", "\n".join(lines) + "\nacme/Echo-v0 = acme_echo:EchoEnv [game]\n")
    registry.register_all()
    for name, error, message in (
        (
            "Mute",
            errors.BrokenPlugin,
            r"acme_games\.Mute of acme-games lacks act, acting, .*see agentgym_envs\.TextGame",
        ),
        (
            "Angry",
            errors.EnvRaised,
            (
                r"acme/Angry-v0 of acme-games raised ZeroDivisionError at acme_games.py:\d+: no"
                r" game today"
            ),
        ),
        (
            "Echo",
            errors.BrokenPlugin,
            "acme/Echo-v0 of acme-games is registered as a game and is no TextGame",
        ),
        (
            "Calm",
            errors.ArgumentError,
            "acme/Calm-v0 does not take 'loud'. It takes: .*quiet",
        ),
    ):
        for use in (registry.make, make_game, gymnasium.make):
            with pytest.raises(error, match=message) as raised:
                use(f"acme/{name}-v0", **({"loud": False} if name == "Calm" else {}))
            assert one_line(raised)
    sys.modules.pop("acme_games")


def test_a_missing_extra_is_the_pip_command(monkeypatch):
    monkeypatch.setattr("agentgym_envs.envs.textworld.env.find_spec", lambda name: None)
    with raises(errors.MissingExtra, "agentgym-envs[textworld]"):
        gymnasium.make("agentgym/TWSimple-v1")


def test_the_spec_of_a_wrapped_environment_makes_it_again():
    env = ActionFormat(
        gymnasium.make("agentgym/Maze-v1", split="test", max_episode_steps=9), "react"
    )
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert env.reset(seed=4) == again.reset(seed=4)
    assert env.step("Action: go north") == again.step("Action: go north")
    assert again.spec == env.spec


def test_importing_is_light():
    code = """
        import sys, time
        import gymnasium, numpy
        start = time.process_time()  # what other processes use does not count
        import agentgym_envs
        seconds = time.process_time() - start
        names = "torch textworld jericho transformers deepspeed typer rich httpx2"
        heavy = set(names.split()) & set(sys.modules)
        families = [m for m in sys.modules if m.startswith("agentgym_envs.envs.")]
        print(seconds, sorted(heavy), families)
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    seconds, rest = done.stdout.split(" ", 1)
    assert rest.strip() == "[] []"
    assert float(seconds) < 0.5
