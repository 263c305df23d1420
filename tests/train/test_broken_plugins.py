"""Broken third-party plugins: one line with plugin and distribution before the run.

During the run, a traceback names the plugin.
"""

import textwrap
import tomllib

import pytest
import small_run
from raised import raises
from some import every
from typer.testing import CliRunner

from agentgym_envs import plugins as discovery
from agentgym_envs.errors import BrokenPlugin
from agentgym_train import cli, plugins
from agentgym_train.errors import ConfigError
from agentgym_train.rollout import tasks
from agentgym_train.run import prepare

HEAD = """
from dataclasses import dataclass, field
from typing import Any
from agentgym_train import *

"""
STATE = """
    def observe(self, metrics): pass
    def state_dict(self): return {}
    def load_state_dict(self, state): pass
"""
BUILD = "    @classmethod\n    def build(cls, *parts): return parts[0]\n"
OPTIONS = "    @dataclass\n    class Options:\n"
TURNS = "    def horizon(self, step): return 5\n"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a distribution with a curriculum, an algorithm and a generator named "acme"."""
    number = iter(range(100))
    monkeypatch.syspath_prepend(tmp_path / "site")

    def put(code):
        module = f"acme_{tmp_path.name.replace('-', '_')}_{next(number)}"
        info = tmp_path / "site" / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-tools\nVersion: 1.0\n")
        groups = "".join(
            f"[{group}]\nacme = {module}:Acme\n" for group in (kind.group for kind in plugins.KINDS)
        )
        (info / "entry_points.txt").write_text(groups)
        (tmp_path / "site" / f"{module}.py").write_text(HEAD + textwrap.dedent(code))
        discovery.discover.cache_clear()

    yield put
    discovery.discover.cache_clear()


def refusal(tmp_path, *overrides):
    args = [a for o in overrides for a in ("--set", o)]
    result = CliRunner().invoke(cli.app, ["run", str(small_run.write(tmp_path)), *args])
    assert result.exit_code == 2, result.output
    assert result.output.strip().count("\n") == 0, "one line"
    assert "acme of acme-tools" in result.output
    assert not (tmp_path / "run").exists()
    return result.output


ACME = "curriculum={name='acme'}"


BROKEN = [
    ("import no_such_module", "No module named 'no_such_module'"),
    ("1 / 0", "ZeroDivisionError"),
    ("class Other: pass", "has no attribute 'Acme'"),
    ("class Acme: pass", "Acme is not a subclass of agentgym_train."),
    ("def Acme(): pass", "is not a class"),
    ("@dataclass\nclass Acme(BASE): pass", "Acme lacks FIRST"),
    ("class Acme(BASE):\n    def build(self): pass", "build is not a class method"),
    (f"class Acme(BASE):\n{BUILD}    Options = 3", "Acme.Options is not a dataclass"),
    (f"class Acme(BASE):\n{BUILD}    turns: int = 1", "has the fields turns and is not a data"),
    ("from agentgym_train import BASEPlugin", "BASEPlugin is now BASE"),
    (
        f"class Acme(BASE):\n{BUILD}{OPTIONS}        x: 'Nothing' = 1",
        "name 'Nothing' is not defined",
    ),
    (
        f"class Acme(BASE):\n{BUILD}{OPTIONS}        def __post_init__(self): {{}}['x']",
        "cannot be made: KeyError('x')",
    ),
]


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    every(5, [(kind, *broken) for kind in plugins.KINDS for broken in BROKEN]),
    ids=lambda value: getattr(value, "section", None),
)
def test_one_that_cannot_be_made(install, tmp_path, kind, code, message):
    first = next(name for name in vars(kind.base) if name in kind.base.__abstractmethods__)
    install(code.replace("BASE", kind.base.__name__))
    message = message.replace("FIRST", first).replace("BASE", kind.base.__name__)
    named = "{name='acme'}"
    assert message in refusal(tmp_path, f"{kind.section}={f'[{named}]' if kind.many else named}")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (STATE, "Acme lacks horizon"),
        (STATE + "    horizon = 5", "Acme lacks horizon of"),
        (
            STATE + "    def horizon(self, step): return 1.5",
            "its horizon at step 1 is 1.5, not a whole number of turns",
        ),
        (STATE + "    def horizon(self, step): return True", "its horizon at step 1 is True"),
        (STATE + "    def horizon(self, step): return 3 - step", "its horizon at step 4 is 0"),
        (STATE + "    def horizon(self, step): return None", "its horizon at step 1 is None"),
        (STATE + "    def horizon(self, step): return self.turns", "AttributeError"),
        (
            STATE + TURNS + "    def difficulties(self, step): return 3",
            "its difficulties at step 1 are 3, neither None nor two whole",
        ),
        (
            STATE + TURNS + "    def difficulties(self, step): return (step, 2)",
            r"its difficulties at step 4 are (3, 2)",
        ),
        (STATE + TURNS + "    def difficulties(self, step): return self.easy", "AttributeError"),
        (STATE + TURNS + "    difficulties = (1, 2)", "Acme lacks difficulties of Curriculum"),
        (
            STATE.replace("pass", "metrics['x'].y", 1) + "    def horizon(self, step): return 5",
            "AttributeError",
        ),
        (
            STATE.replace("{}", "{1, 2}") + "    def horizon(self, step): return 5",
            "not JSON serializable",
        ),
        (
            STATE.replace("state): pass", "state): state['gone']")
            + "    def horizon(self, step): return 5",
            "KeyError",
        ),
    ],
)
def test_a_curriculum_whose_methods_are_missing_or_raise(install, tmp_path, code, message):
    install("@dataclass\nclass Acme(Curriculum):\n" + code)
    assert message in refusal(tmp_path, ACME)


def test_the_object_that_is_built_needs_all_methods(install):
    half = "class Half:\n    def horizon(self, step): return 5\n"
    install(
        f"{half}class Acme(Curriculum):\n    @classmethod\n"
        "    def build(cls, options): return Half()"
    )
    with raises(BrokenPlugin, "load_state_dict"):
        plugins.make_object(plugins.CURRICULUM, {"name": "acme"})


def test_the_hooks_of_the_base_class_are_enough(install, tmp_path):
    install("@dataclass\nclass Acme(Curriculum):\n    def horizon(self, step): return 5")
    prepare.rehearse({"name": "acme"}, steps=3)
    made = plugins.make_object(plugins.CURRICULUM, {"name": "acme"})
    assert (made.difficulties(0), made.state_dict()) == (None, {})


def test_its_options_are_validated_like_ours(install):
    install(
        "@dataclass\nclass Acme(Curriculum):\n    turns: int = 5\n    share: float = 0.5\n    def"
        " horizon(self, step): return 5"
    )
    for value in (1.5, True, 3.0, "3", float("nan")):
        with raises(ConfigError, "curriculum.turns"):
            plugins.make(plugins.CURRICULUM, {"name": "acme", "turns": value})
    for value in (float("nan"), float("inf"), True):
        with raises(ConfigError, "curriculum.share"):
            plugins.make(plugins.CURRICULUM, {"name": "acme", "share": value})
    assert plugins.make(plugins.CURRICULUM, {"name": "acme", "share": 1}).options.share == 1.0


def test_a_curriculum_with_state_is_made_and_its_options_are_its_fields_of_the_constructor(
    install, tmp_path
):
    install("""
        @dataclass(kw_only=True)
        class Acme(Curriculum):
            start: int = 4
            names: tuple[str, ...] = ("a", "b")
            limit: int | None = None
            turns: int = field(default=0, init=False)
            def horizon(self, step): return self.start + self.turns
            def observe(self, metrics): self.turns += metrics["success"] > 0.4
            def state_dict(self): return {"turns": self.turns}
            def load_state_dict(self, state): self.turns = state["turns"]
        """)
    prepare.rehearse({"name": "acme"}, steps=3)
    result = CliRunner().invoke(
        cli.app, ["config", "show", str(small_run.write(tmp_path)), "--set", ACME]
    )
    assert tomllib.loads(result.output)["curriculum"] == {
        "name": "acme",
        "start": 4,
        "names": ["a", "b"],
    }


@pytest.mark.parametrize("kind", ["float64", "int64"])
def test_whole_numbers_of_numpy_are_whole_numbers(install, kind):
    install(
        "import numpy\n@dataclass\nclass Acme(Curriculum):\n    def horizon(self, step): return"
        f" numpy.{kind}(5)"
    )
    made = plugins.make_object(plugins.CURRICULUM, {"name": "acme"})
    if kind == "int64":
        assert type(tasks.checked_horizon(made, 0)) is int
    else:
        with raises(BrokenPlugin, "acme-tools"):
            tasks.checked_horizon(made, 0)


def test_a_hook_that_raises_in_the_run_keeps_its_traceback_and_names_the_plugin(
    install, tmp_path, monkeypatch, capfd
):
    install(
        "@dataclass\nclass Acme(Curriculum):\n"
        "    def horizon(self, step): return 5\n"
        "    def observe(self, metrics): metrics['gone']"
    )
    made = plugins.make_object(plugins.CURRICULUM, {"name": "acme"})
    monkeypatch.setattr("agentgym_train.run.work.work", lambda folder, console: made.observe({}))
    assert cli.attempt(tmp_path) == 1
    shown = capfd.readouterr().err
    assert "Traceback (most recent call last)" in shown
    assert "in observe" in shown
    assert shown.strip().splitlines()[-1] == "raised in acme of acme-tools"


def test_an_error_of_ours_is_not_blamed_on_a_plugin(install):
    install("@dataclass\nclass Acme(Curriculum):\n    def horizon(self, step): return 5")
    with pytest.raises(AttributeError) as caught:
        tasks.checked_horizon(None, 0)
    assert plugins.culprit(caught.value) is None
