"""The path of an author: one file with an environment, the commands, a package."""

import os
import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest
from raised import raises
from typer.testing import CliRunner

from agentgym_envs import new, registry
from agentgym_envs.agents.base import load as load_agent
from agentgym_envs.cli import app
from agentgym_envs.envs.maze.env import MazeEnv
from agentgym_envs.errors import ArgumentError, BrokenPlugin, UnknownName
from agentgym_envs.multi import make_game
from agentgym_envs.processes import module_folders, python_environment
from agentgym_envs.testing import check_text_env, form, kit, limits

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GUIDE = (ROOT / "docs/guides/write_environment.md").read_text()


def written(kind="python"):
    """The blocks of the guide in a language."""
    return re.findall(rf"^```{kind}\n(.*?)^```", GUIDE, re.M | re.S)


def documented():
    for page in PAGES:
        for number, code in enumerate(
            re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)
        ):
            for name in re.findall(r"^class (\w+)\(TextEnv\)", code, re.M):
                yield pytest.param(code, name, id=f"{page.relative_to(ROOT)}-{number}")


def invoke(*args, **more):
    return CliRunner().invoke(app, [*args], **more)


def filed(name, text):
    """Writes a module into the working directory."""
    Path(f"{name}.py").write_text(text)


def test_two_pages_have_an_example():
    assert len([*documented()]) >= 2


@pytest.mark.usefixtures("brief", "warm")
@pytest.mark.parametrize(("code", "name"), [*documented()])
def test_documented_environments_pass_the_kit(code, name):
    filed(f"documented_{name.lower()}", code)
    assert check_text_env(f"./documented_{name.lower()}.py:{name}")


def test_the_guide_shows_the_package_that_the_command_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project, module, test = (path.read_text() for path in new.write_package("dials"))
    assert written()[0] == module
    assert project in written("toml")
    assert test in written()


@pytest.mark.usefixtures("brief", "warm")
def test_a_written_package_works_before_it_is_installed(monkeypatch):
    made = invoke("new", "odd_lock")
    assert made.exit_code == 0, made.output
    assert sum(len(path.read_text().splitlines()) for path in Path("odd_lock").iterdir()) < 90
    monkeypatch.chdir("odd_lock")
    checked = invoke("check", "odd_lock:OddLockEnv", "--set", "reach=2")
    assert checked.exit_code == 0, checked.output
    assert len(re.findall("^(?:ok|--) ", checked.output, re.M)) == 29
    assert "Dials: " in invoke("play", "./odd_lock.py:OddLockEnv", input="up 1\n").output
    played = invoke("eval", "./odd_lock.py:OddLockEnv", "--agent", "oracle", "--episodes", "2")
    assert "results/odd_lock.py-OddLockEnv-oracle: 2 of 2 episodes" in played.output, played.output
    missing = invoke("eval", "./odd_lock.py:OddLock", "--agent", "random")
    assert "Did you mean 'OddLockEnv'?" in missing.output
    wrong = invoke("eval", "odd_lock:OddLockEnv", "--agent", "random", "--set", "rech=2")
    assert wrong.output.startswith("error: odd_lock:OddLockEnv does not take 'rech'. Did you mean")


@pytest.mark.full
def test_a_written_package_can_be_installed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new.write_package("odd-key")
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "-q"]
    subprocess.run([*pip, "--target", "site", "./odd-key"], check=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "odd-key"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    "name", ["", "Lock", "my lock", "../lock", "class", "text", "json", "taken"]
)
def test_a_name_that_cannot_be_a_package_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("taken").mkdir()
    result = invoke("new", name)
    assert result.exit_code == 2
    assert result.output.startswith("error: ")
    assert "use " in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


ENVIRONMENTS = """
from documented_echo import Echo


class Constants(Echo):
    # TextEnv copies what these methods return.
    LISTED = ["red", "blue", "green", "black"]
    EXTRA = {"words": LISTED, "more": {"few": ["red", "black", "green"]}}

    def act(self, action):
        return super().act(action)._replace(extra=self.EXTRA)

    def actions(self):
        return self.LISTED


class Shared(Echo):
    SHOWN = ["one", "two"]

    def _info(self, outcome):
        return {**super()._info(outcome), "shown": self.SHOWN}

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} {self.SHOWN[0]}", goal


class Raising(Echo):
    def act(self, action):
        if "\\\\" in action:
            raise LookupError("lost")
        return super().act(action)

    def render(self):
        return len(5)


class Wordless(Echo):
    def begin(self, task, rng):
        super().begin(task, rng)


class Untabled(Echo):
    def make_tasks(self):
        return []


class Needy(Echo):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.size = len(7)


class Empty(Echo):
    def actions(self):
        return [] if self._turn else super().actions()
"""


@pytest.fixture
def checked(brief, warm):
    """Returns a function that gives the results of all checks of a class, by title."""
    (example,) = [p.values for p in documented() if p.values[1] == "Echo"]
    filed("documented_echo", example[0])
    filed("own_classes", ENVIRONMENTS)

    def results(kind):
        return {result.title: result for result in kit.properties(f"./own_classes.py:{kind}")}

    yield results
    for module in ("documented_echo", "own_classes"):
        sys.modules.pop(module, None)


def faults(results):
    return {title: str(result.fault) for title, result in results.items() if result.fault}


def line_of(text):
    return 1 + ENVIRONMENTS.splitlines().index(text)


def test_constants_of_an_author_stay_as_they_are(checked):
    """TextEnv hands out copies; the kit fills again what it emptied."""
    assert faults(checked("Constants")) == {}
    found = faults(checked("Shared"))
    assert list(found) == ["A replayed episode is the same under other circumstances"]
    module = sys.modules["own_classes"]
    assert module.Shared.SHOWN == ["one", "two"]
    assert module.Constants.LISTED == ["red", "blue", "green", "black"]
    assert module.Constants.EXTRA["more"] == {"few": ["red", "black", "green"]}


def test_an_exception_is_reported_with_the_property_and_the_authors_line(checked):
    """All other properties are checked as well."""
    results = checked("Raising")
    assert len(results) == 29
    found = faults(results)
    hostile = next(text for title, text in found.items() if title.startswith("None of 2,000"))
    line = line_of('            raise LookupError("lost")')
    assert f"LookupError: lost (own_classes.py:{line})" in hostile
    shown = next(text for title, text in found.items() if "render returns" in title)
    assert f"(own_classes.py:{line_of('        return len(5)')})" in shown
    assert len(found) == 2


def test_a_wrong_return_value_names_the_line_of_the_method(checked):
    results = checked("Wordless")
    line = 1 + line_of("class Wordless(Echo):")
    texts = [*faults(results).values()]
    assert len(texts) > 5
    assert all(f"(own_classes.py:{line})" in text for text in texts), texts
    solved = [title for title, result in results.items() if "not checked" in result.looked]
    assert len(solved) == 6


@pytest.mark.parametrize(
    ("kind", "line"),
    [("Untabled", "    def make_tasks(self):"), ("Needy", "        self.size = len(7)")],
)
def test_an_environment_that_cannot_be_made_names_the_authors_line(kind, line, checked):
    result = invoke("check", f"own_classes:{kind}")
    assert result.exit_code == 2
    assert result.output.count("\n") == 1
    assert f"own_classes.py:{line_of(line)}" in result.output


def one_step():
    env = MazeEnv()
    env.reset(seed=1)
    env.step("go north")


WRONG = {
    "make_tasks": ([], "make_tasks must return a TaskSet, not []"),
    "begin": ("text", "begin must return an observation and a goal, two strings, not 'text'"),
    "act": (None, "act must return an Outcome, not None"),
}


@pytest.mark.parametrize("method", WRONG)
def test_a_wrong_return_value_is_named(method, monkeypatch):
    value, message = WRONG[method]
    monkeypatch.setattr(MazeEnv, method, lambda *_: value)
    with pytest.raises(TypeError) as error:
        one_step()
    assert str(error.value) == message


def test_a_list_that_becomes_empty_is_named(checked):
    texts = [*faults(checked("Empty")).values()]
    assert texts
    assert all("lists nothing" in text or "admissible_actions" in text for text in texts), texts


def test_the_command_prints_the_properties_that_hold_beside_the_failed_ones(checked):
    result = invoke("check", "own_classes:Raising")
    assert result.exit_code == 1
    marks = [line.split(" ")[0] for line in result.output.splitlines()]
    assert (marks.count("ok"), marks.count("--"), marks.count("FAILED")) == (26, 1, 2)
    assert "2 of 29 properties failed" in result.output


def test_a_call_that_never_returns_ends_the_checks(monkeypatch):
    def hang(subject):
        raise limits.CallTimeout("step('x') has not returned")

    monkeypatch.setattr(kit, "_CHECKS", (form.splits, hang, form.methods))
    results = [*kit.properties("agentgym/Maze-v1")]
    assert [bool(result.fault) for result in results] == [False, True, False]
    assert results[2].looked == "not checked: a call never returned"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The working directory has modules, and sys.path does not have it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "below").mkdir()
    texts = {
        "own_broken": "import no_such_module",
        "own_several": "from breaches import Count\nclass Mine(Count): ...\nNUMBER = 1",
        "below/own_deep": "from own_beside import Count",
        "below/own_beside": "from breaches import Count",
        "below/queue": "",
    }
    for name, text in texts.items():
        filed(name, text)
    yield tmp_path
    for name in texts:
        if name != "below/queue":
            sys.modules.pop(name.rpartition("/")[2], None)


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("env_id", "kind", "message"),
    [
        ("own_several:Mime", UnknownName, "Did you mean 'Mine'"),
        ("./own_several.py:NUMBER", BrokenPlugin, "neither a TextEnv nor a TextGame"),
        ("./own_several.py", ArgumentError, r"write ./own_several.py:Class"),
        ("./own_broken.py:Mine", BrokenPlugin, "No module named 'no_such_module'"),
        ("./own_absent.py:Mine", BrokenPlugin, "there is no file './own_absent.py'"),
        ("below/queue.py:Mine", BrokenPlugin, "has the name of another module"),
        ("own_several:contract/Coint-v0", UnknownName, "unknown environment"),
    ],
)
def test_a_wrong_name_of_a_class_is_one_line(env_id, kind, message):
    with pytest.raises(kind, match=message):
        registry.spec(env_id)


@pytest.mark.usefixtures("own")
def test_classes_and_ids_of_the_working_directory_are_found():
    """Gymnasium finds the id of a module that registers it."""
    ids = ("./own_several.py:Mine", "own_several:Mine", "own_several:contract/Count-v0")
    for env_id in (*ids, "below/own_deep.py:Count"):
        env = registry.make(env_id, split="test")
        assert env.reset(options={"task_id": "test-0"})[0] == "16"
        assert env.spec.max_episode_steps is not None
    assert gymnasium.make(ids[2]).reset(seed=1)[1]["task_id"].startswith("train-")
    environment = python_environment()["PYTHONPATH"].split(os.pathsep)
    assert not {os.getcwd(), os.path.join(os.getcwd(), "below")} & {*environment}
    assert {os.getcwd(), os.path.join(os.getcwd(), "below")} == {*module_folders()[1]}


@pytest.mark.usefixtures("own")
def test_a_second_name_of_a_class_leaves_the_path_of_modules_as_it_is():
    """A vector uses the second name, and the kit compares the path."""
    registry.spec("below/own_deep.py:Count")
    before = list(sys.path)
    registry.spec("own_deep:Count")
    assert sys.path == before


@pytest.mark.usefixtures("own")
def test_an_agent_can_be_named_by_its_file():
    filed("below/own_agent", "def act(observation, info): return observation.upper()")
    assert load_agent("below/own_agent.py:act").make().act("look", {}) == "LOOK"


@pytest.mark.usefixtures("own")
def test_vectors_and_games_take_classes():
    many = gymnasium.make_vec(registry.spec("./own_several.py:Mine"), num_envs=2)
    try:
        assert many.reset(seed=[1, 1])[0][0].isdigit()
    finally:
        many.close()
    assert make_game("nim:Nim", most=2).seats == ("player_0", "player_1")
    env = registry.make("nim:Nim", seats="player_1", most=2)
    assert env.reset(seed=1)[1]["seat"] == "player_1"
    with raises(UnknownName, "unknown game"):
        make_game("own_several:Mine")
