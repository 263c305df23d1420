"""Each file of a run's folder, damaged: preparing the run repairs it and says so in one line.

What a resumed run reads is then as before the damage, or from the checkpoint before.
"""

import io
import json
import shutil
import tomllib

import pytest
import small_run
from damaged import DAMAGES, contents, delete, flip, truncate
from rich.console import Console
from some import full

from agentgym_train import config as configuration
from agentgym_train.models import scratch
from agentgym_train.reporting import report
from agentgym_train.run.prepare import prepare

pytestmark = pytest.mark.slow

NEWEST, OLDER = "checkpoints/step-000007/", "checkpoints/step-000006/"
WRITTEN = ("model/", "episodes/after/", "learning_curve.png", "trajectories.md", "prepared.json")
"""Files that the run writes again without reading them."""


def write(home, **more):
    return small_run.write(home, run={"folder": str(home / "run"), "save_every": 2, **more})


def prepared(home, steps=8):
    """Prepares a longer run in the folder; returns the warnings."""
    said = io.StringIO()
    config = configuration.load(write(home, steps=steps))
    with report.RunDisplay(Console(file=said, width=80)) as display:
        prepare(config, display).release()
    return [line for line in said.getvalue().splitlines() if line.startswith("warning: ")]


def state(folder, newest=NEWEST):
    """Returns what a resumed run reads."""
    found = {
        name: content
        for name, content in contents(folder).items()
        if not name.startswith((*WRITTEN, "checkpoints/", "episodes/", "."))
        or name.startswith(newest)
    }
    config = tomllib.loads(found.pop("config.toml").decode())
    config["run"] |= {"folder": "", "steps": 0}
    evaluation = json.loads(found.pop("evaluation.json"))
    evaluation.pop("after", None)  # it is played again
    rows = found.pop("failures.jsonl", b"")  # an empty file is as none
    return found, config, evaluation, rows


def check(played, home, name, damage):
    """Damages a file of the run, prepares a longer one, and compares what that one reads."""
    folder = home / "run"
    shutil.copytree(played / "copy", folder)
    damage(folder / name)
    changed = contents(folder) != contents(played / "copy")
    lines = prepared(home)
    corrupt = changed and name.startswith(NEWEST)
    assert (folder / NEWEST).is_dir() != corrupt
    newest = OLDER if corrupt else NEWEST
    assert state(folder, newest) == state(played / "copy", newest)
    if not changed or name.startswith((*WRITTEN, OLDER)):
        assert lines == []
    elif name.startswith(("failures.jsonl", ".", "episodes/before/manifest")):
        # empty, a lock, the checksum of another file, or as of an earlier version
        assert len(lines) <= 1
    else:
        (line,) = lines
        assert name.partition("/")[0] in line
        assert not corrupt or name.removeprefix(NEWEST) in line


@pytest.fixture
def remade(played, monkeypatch):
    """Replaces the training of the small model by a copy of it."""

    def make(draft, *args, **kwargs):
        shutil.copytree(played / "copy" / "init", draft)
        (draft / "manifest.json").unlink()

    monkeypatch.setattr(scratch, "make", make)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("init/model.safetensors", flip),
        ("init/tokenizer.json", truncate),
        ("init/config.json", delete),
        ("init/manifest.json", flip),
        ("config.toml", flip),
        (".config.toml.blake2b", truncate),
        ("evaluation.json", truncate),
        ("metrics.jsonl", flip),
        (NEWEST + "manifest.json", flip),
        (NEWEST + "engine/mp_rank_00_model_states.pt", flip),
        ("episodes/before/episodes.jsonl", flip),
        *full(
            ("init/manifest.json", delete),
            ("config.toml", delete),
            ("metrics.jsonl", delete),
            (NEWEST + "model/tokenizer.json", truncate),
            (NEWEST + "state.json", delete),
            ("prepared.json", flip),
            ("model/model.safetensors", truncate),
        ),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_damaged_file_is_repaired_and_named(played, remade, tmp_path, name, damage):
    check(played, tmp_path, name, damage)


@pytest.mark.full
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda value: value.__name__)
def test_every_file(played, tmp_path, damage):
    """The small model is really made again."""
    for name in contents(played / "copy"):
        home = tmp_path / name.replace("/", " ")
        home.mkdir()
        check(played, home, name, damage)
        shutil.rmtree(home)
