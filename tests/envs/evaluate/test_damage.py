"""The files of an evaluation, damaged: the same command goes on, or ends with one line."""

import json
import shutil

import pytest
import stub_model
from damaged import DAMAGES, contents
from evaluations import MAZE
from stub_model import StubModel
from typer.testing import CliRunner

from agentgym_envs import manifests
from agentgym_envs.cli import app
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import record
from agentgym_envs.evaluate.record import EPISODES, PROMPTS, SETTINGS, USAGE
from agentgym_envs.report.following import FollowedRuns


@pytest.fixture(scope="module")
def server():
    with StubModel(lambda request: stub_model.ok("go north")) as stub:
        yield stub


def play(server, folder, episodes=3):
    arguments = ["--model", "stub", "--base-url", server.url, "--agent", "chat", "--horizon", "2"]
    number = ["--episodes", str(episodes), "--workers", "1", "--out", str(folder)]
    return CliRunner().invoke(app, ["eval", MAZE, *arguments, *number])


@pytest.fixture(scope="module")
def played(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("played") / "out"
    assert play(server, folder).exit_code == 0
    assert contents(folder).keys() == {EPISODES, PROMPTS, SETTINGS, USAGE}
    return folder


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", [EPISODES, PROMPTS, SETTINGS, USAGE])
def test_a_damaged_file_is_no_traceback(server, played, tmp_path, name, damage):
    folder = tmp_path / "out"
    shutil.copytree(played, folder)
    damage(folder / name)
    for command in (play(server, folder), CliRunner().invoke(app, ["report", str(folder)])):
        assert command.exit_code in (0, 2), command.output
        assert command.exception is None or isinstance(command.exception, SystemExit)
        if command.exit_code:
            assert len(command.output.strip().splitlines()) == 1
            assert str(folder) in command.output


@pytest.mark.parametrize("name", [EPISODES, PROMPTS, USAGE])
def test_a_torn_last_line_is_said_and_removed(server, played, tmp_path, name):
    folder = tmp_path / "out"
    shutil.copytree(played, folder)
    with (folder / name).open("a") as file:
        file.write('{"cut": "of')
    done = play(server, folder)
    assert done.exit_code == 0, done.output
    assert f"{folder / name} ended in half a line" in done.stderr
    assert (folder / name).read_bytes() == (played / name).read_bytes()
    assert "half a line" not in play(server, folder).stderr


@pytest.mark.parametrize("name", [EPISODES, PROMPTS, USAGE])
def test_a_damaged_line_is_named_by_its_number(server, played, tmp_path, name):
    """A carriage return is a byte of a line, and not its end."""
    folder = tmp_path / "out"
    shutil.copytree(played, folder)
    lines = (folder / name).read_bytes().split(b"\n")
    number = len(lines) - 1
    lines[number - 1] = lines[number - 1].replace(b'"', b'\r"', 1).replace(b":", b"\r", 1)
    (folder / name).write_bytes(b"\n".join(lines))
    done = play(server, folder, episodes=4)
    assert done.exit_code == 2
    assert f"line {number} of {folder / name} is no " in done.output


def test_episodes_with_a_manifest_are_compared_with_it(played, tmp_path):
    """As agentgym-train writes them: a digit that differs is valid JSON."""
    folder = tmp_path / "out"
    shutil.copytree(played, folder)
    manifests.seal(folder)
    rows, _ = record.read(folder)
    rows[0]["score"] = 1 - rows[0]["score"]
    (folder / EPISODES).write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = f"{folder} is damaged: {EPISODES} has "
    with pytest.raises(ArgumentError, match=found):
        record.read(folder)
    assert found in FollowedRuns([folder]).broken[0]
