"""Repairs of a run folder, with checkpoints of an engine that only writes files."""

import io
import json
import shutil

import pytest
import small_run
from damaged import delete, flip, truncate
from fake_engine import save
from raised import raises
from rich.console import Console

from agentgym_envs import manifests
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import record
from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.engine import checkpoint
from agentgym_train.errors import CheckpointError, ModelError, RunFolderError
from agentgym_train.evaluation import episodes
from agentgym_train.files import checksum_file, read_sealed, sealed_fault, write_sealed
from agentgym_train.models import scratch
from agentgym_train.models.loading import check_files, load_model
from agentgym_train.reporting import metrics, report
from agentgym_train.run import repair, work
from agentgym_train.run.folder import claim_folder, dated, saved_config
from agentgym_train.run.launch import check_prepared, note_prepared, take_checked

ROWS = [{"step": step, "loss": step / 3} for step in (1, 2, 3)]
NOTES = {"random": {"success": 0.1}, "before": {"success": 0.25, "step": 0}}


@pytest.fixture
def run(tmp_path):
    """Returns a configuration and its folder, with a row of metrics more than the checkpoint."""
    config = plugins.resolved(configuration.load(small_run.write(tmp_path)))
    config = dated(config, None)
    folder = claim_folder(config)
    (folder / "metrics.jsonl").write_text(metrics._lines(ROWS))
    (folder / "failures.jsonl").touch()
    write_sealed(folder / "evaluation.json", metrics.written(NOTES))
    episodes.write(folder / "episodes" / "before", config, step=0, rows=[])
    save(folder, 2)
    return config, folder


def read(folder):
    notes = json.loads((folder / "evaluation.json").read_text())
    return metrics.read(folder / "metrics.jsonl"), notes


def test_an_undamaged_folder_stays_as_it_is(run):
    config, folder = run
    assert repair.repair(folder, config) == []
    assert read(folder) == (ROWS, NOTES)
    assert saved_config(folder) == (config, "")


@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_after_the_checkpoint_are_reported_with_their_numbers(run, end):
    config, folder = run
    path = folder / "metrics.jsonl"
    path.write_text(path.read_text() + '{"step": 4, "cut\n{"step": 5}\n{"step": 6, "cu' + end)
    lines = repair.repair(folder, config)
    assert f"line 4 of {path}" in lines[0]
    assert (f"line 6 of {path}" if end else f"last line of {path}") in lines[1]
    assert len(lines) == 2
    assert read(folder)[0] == [*ROWS, {"step": 5}]
    assert repair.repair(folder, config) == []


@pytest.mark.parametrize("number", [1, 2])
def test_a_digit_that_changed_before_the_checkpoint_is_taken_from_it(run, number):
    """Valid JSON that lies."""
    config, folder = run
    path = folder / "metrics.jsonl"
    rows = [row | {"loss": 9.5} if row["step"] == number else row for row in ROWS]
    path.write_text(metrics._lines(rows))
    (line,) = repair.repair(folder, config)
    assert f"line {number} of {path} is damaged" in line
    assert "step-000002" in line
    assert read(folder)[0] == ROWS[:2]


@pytest.mark.parametrize("name", ["metrics.jsonl", "evaluation.json"])
@pytest.mark.parametrize("damage", [truncate, flip, delete], ids=lambda value: value.__name__)
def test_files_of_results_are_taken_from_the_checkpoint(run, damage, name):
    config, folder = run
    (folder / "metrics.jsonl").write_text(metrics._lines(ROWS[:2]))
    before = read(folder)
    damage(folder / name)
    (line,) = repair.repair(folder, config)
    assert str(folder / name) in line
    assert read(folder) == before


def test_without_a_checkpoint_damaged_results_are_made_again(run):
    config, folder = run
    shutil.rmtree(folder / "checkpoints")
    path = folder / "evaluation.json"
    path.write_text(path.read_text().replace("0.25", "0.75"))
    (line,) = repair.repair(folder, config)
    assert "played again" in line
    assert not path.exists()
    for text in ("[3]", "null", '{"before": 7}', "\xff", "[" * 100_000):
        path.write_text(text)
        checksum_file(path).unlink(missing_ok=True)
        assert len(repair.repair(folder, config)) == 1


def test_an_evaluation_without_its_episodes_is_played_again_or_named(run):
    config, folder = run
    delete(folder / "episodes" / "before" / "episodes.jsonl")
    (line,) = repair.repair(folder, config)
    assert "episodes.jsonl is missing" in line
    assert read(folder)[1] == NOTES, "the policy of the start is gone"
    shutil.rmtree(folder / "checkpoints")
    for damage in (delete, None):
        write_sealed(folder / "evaluation.json", metrics.written(NOTES))
        (line,) = repair.repair(folder, config)
        assert "played again" in line
        assert read(folder)[1].keys() == {"random"}
        if damage:
            shutil.rmtree(folder / "episodes")


def test_episodes_are_written_before_the_result_that_names_them(run, monkeypatch):
    """A process that is killed between the two has written no result."""
    config, folder = run
    final = folder / "episodes" / "step-2"
    monkeypatch.setattr(episodes, "publish", lambda *paths: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        episodes.write(final, config, step=2, rows=[])
    assert not final.exists()
    monkeypatch.undo()
    episodes.write(final, config, step=2, rows=[])
    assert manifests.fault(final) is None
    assert {path.name for path in final.parent.iterdir()} == {"before", "step-2"}
    flip(final / "settings.json")
    with raises(ArgumentError, "step-2", "settings.json"):
        record.read(final)


def test_a_damaged_configuration_is_that_of_the_checkpoint(run):
    config, folder = run
    path = folder / "config.toml"
    whole = path.read_text()
    for damaged in (whole.replace("lr = 0.001", "lr = 0.003"), "\xff", whole[:99], None):
        if damaged is None:
            path.unlink()
        else:
            path.write_text(damaged)
        found, line = saved_config(folder)
        assert found == config
        assert "step-000002" in line
        with raises(RunFolderError, "engine.lr", "0.001", "0.5"):
            claim_folder(configuration.load(path.parents[1] / "run.toml", ["engine.lr=0.5"]))
    shutil.rmtree(folder / "checkpoints")
    found, line = saved_config(folder)
    assert found is None
    assert "config.toml is missing: the given configuration" in line
    assert claim_folder(config) == folder
    assert path.read_text() == whole


def test_a_sealed_file_that_a_kill_interrupted_is_the_old_one(tmp_path, monkeypatch, caplog):
    path = tmp_path / "file"
    write_sealed(path, "old")
    replace = "agentgym_train.files.write_whole"
    real = write_sealed.__globals__["write_whole"]
    monkeypatch.setattr(replace, lambda place, text: real(place, text) if place != path else None)
    for text in ("new", "newer"):  # also twice
        write_sealed(path, text)
    monkeypatch.undo()
    assert (path.read_text(), sealed_fault(path)) == ("old", None)
    write_sealed(path, "newer")
    assert sealed_fault(path) is None
    path.write_text("another")
    assert sealed_fault(path) == "does not match its checksum"
    assert read_sealed(path, otherwise="so be it") is None
    assert f"{path} does not match its checksum: so be it" in caplog.text
    checksum_file(path).unlink()
    assert read_sealed(path, otherwise="") == "another", "of an earlier version"


def display():
    return report.RunDisplay(Console(file=io.StringIO()))


def test_a_small_model_that_cannot_be_made_again_equally_ends_the_run(run, monkeypatch):
    config, folder = run
    made = []

    def make(draft, *args, **kwargs):
        made.append(draft)
        draft.mkdir()
        (draft / "model.safetensors").write_bytes(b"%d weights" % len(made))

    monkeypatch.setattr(scratch, "make", make)
    (line,) = repair.prepare_init(config, folder, display())
    assert "init is missing: it is made again" in line
    assert repair.prepare_init(config, folder, display()) == []
    flip(folder / "init" / "model.safetensors")
    with raises(RunFolderError, "model.safetensors"):
        repair.prepare_init(config, folder, display())
    made.clear()
    (line,) = repair.prepare_init(config, folder, display())
    assert "model.safetensors has another checksum" in line
    assert "made again" in line
    (folder / "init" / "manifest.json").unlink()
    (line,) = repair.prepare_init(config, folder, display())
    assert "taken as they are" in line
    assert len(made) == 1
    assert repair.prepare_init(config, folder, display()) == []


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b"7", b'{"processes"', b"\xff", b"[" * 99_999]
)
def test_a_damaged_note_of_the_preparation_is_one_line(tmp_path, content):
    (tmp_path / "prepared.json").write_bytes(content)
    with raises(RunFolderError, "prepared.json"):
        check_prepared(tmp_path, 2)
    assert not take_checked(tmp_path)


def test_a_start_without_preparation_checks_the_files_again(run):
    """As torchrun starts the processes again after a failure."""
    config, folder = run
    note_prepared(folder, 1)
    flip(folder / "checkpoints" / "step-000002" / "engine" / "part.pt")
    said = io.StringIO()
    work.check_again(config, folder, Console(file=said, width=80))
    assert said.getvalue() == ""
    check_prepared(folder, 1)
    with raises(RunFolderError, "init", "agentgym-train prepare"):
        work.check_again(config, folder, Console(file=said, width=80))
    assert "step-000002 is corrupt: engine/part.pt" in said.getvalue()
    assert checkpoint.latest(folder) is None


def test_a_damaged_model_is_not_loaded(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    check_files(str(tmp_path))
    check_files("a/hub-name")
    manifests.seal(tmp_path)
    check_files(str(tmp_path))
    flip(tmp_path / "config.json")
    with raises(ModelError, "scorer.path=", "config.json"):
        check_files(str(tmp_path), key="scorer.path")
    with raises(ModelError, "model=", "config.json"):
        work.evaluate_checkpoint(tmp_path, None, [], Console())


@pytest.mark.parametrize("place", ["run", "checkpoints/step-000002"])
def test_an_evaluation_rejects_a_damaged_configuration(run, place):
    _, folder = run
    where = folder if place == "run" else folder / place
    model = where / "model"
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text("{}")
    manifests.seal(model)
    flip(where / "config.toml")
    with raises(CheckpointError, "config.toml", "--config"):
        work.evaluate_checkpoint(where, None, [], Console())


def test_truncated_weights_are_one_line(tmp_path):
    import tiny

    tiny.save(tmp_path)
    truncate(tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        load_model(str(tmp_path), "float32")
    assert "\n" not in str(caught.value)
