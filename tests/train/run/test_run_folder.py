"""Run folders: ownership, changes that a resumed run allows, and unreadable files."""

import errno
import fcntl
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import small_run
import tiny
from fake_engine import save
from raised import raises
from some import full
from typer.testing import CliRunner

from agentgym_train import cli, plugins
from agentgym_train import config as configuration
from agentgym_train.distributed import Distributed
from agentgym_train.errors import RunFolderError, TrainingError
from agentgym_train.files import FolderLock, checksum_file, write_whole
from agentgym_train.reporting import metrics
from agentgym_train.run.folder import CHANGEABLE, claim_folder
from agentgym_train.run.work import check_learned


def claim(path, *overrides):
    return claim_folder(plugins.resolved(configuration.load(path, overrides)))


@pytest.mark.parametrize(
    "override",
    [
        "engine.micro_batch_tokens=512",
        "model.checkpointing=on",
        "engine.sleep=true",
        "env.timeout=5",
        "env.workers=2",
        "env.retries=9",
        "env.failure_budget=9",
        "rollout.batch_wait=0",
        "eval.every=3",
        "run.save_every=1",
        "run.keep=5",
        "run.threads=2",
        "run.steps=99",
    ],
)
def test_what_does_not_change_results_may_change(tmp_path, override):
    path = small_run.write(tmp_path)
    folder = claim(path)
    assert claim(path, override) == folder
    key, _, value = override.partition("=")
    section, name = key.split(".")
    saved = getattr(getattr(configuration.load(folder / "config.toml"), section), name)
    assert str(saved).lower() in (value, f"{value}.0")


def test_the_guide_lists_all_keys_that_may_change():
    page = (Path(__file__).parents[3] / "docs" / "guides" / "resuming.md").read_text()
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ((?:`\w+`(?:, )?)+) \|$", page, re.MULTILINE)
    listed = [
        f"{section}.{key}"
        for sections, keys in rows
        for section in re.findall(r"\w+", sections)
        for key in re.findall(r"\w+", keys)
    ]
    assert sorted(listed) == sorted(CHANGEABLE)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("engine.lr=0.5", r"engine\.lr was 0\.001 and is now 0\.5"),
        ("engine.minibatches=2", r"engine\.minibatches was 1 and is now 2"),
        ("run.seed=1", r"run\.seed was 0 and is now 1"),
        ("rollout.temperature=0.5", r"rollout\.temperature was 1\.0 and is now 0\.5"),
        ("env.group_size=5", r"env\.group_size was 4 and is now 5"),
        ("eval.episodes=7", r"eval\.episodes was 6 and is now 7"),
        ("curriculum.every=3", r"curriculum\.every was 2 and is now 3"),
        ("algorithm.name='ppo'", r"algorithm\.name was 'grpo' and is now 'ppo'"),
        ("critic.kind='head'", r"critic\.kind was 'model' and is now 'head'"),
        ("critic.lr=1e-4", r"critic\.lr was 0\.0 and is now 0\.0001"),
        ("algorithm.gamma=0.5", r"algorithm\.gamma was 1\.0 and is now 0\.5"),
        (
            "curriculum={name='fixed', turns=3}",
            r"name was 'scaling_inter' and is now 'fixed'.*turns was not set and is now 3",
        ),
    ],
)
def test_what_changes_results_is_refused_with_both_values(tmp_path, override, message):
    path = small_run.write(tmp_path)
    before = (claim(path) / "config.toml").read_bytes()
    with pytest.raises(RunFolderError, match=message):
        claim(path, override)
    assert (tmp_path / "run" / "config.toml").read_bytes() == before


@pytest.mark.parametrize("override", ["run.save_every=1", "eval.every=3"])
def test_the_pauses_of_a_run_that_collects_ahead_change_its_results(tmp_path, override):
    path = small_run.write(tmp_path, rollout={"ahead": 1})
    claim(path)
    claim(path, "run.steps=99")
    with pytest.raises(RunFolderError, match=override.partition("=")[0]):
        claim(path, "run.steps=99", override)


def test_a_default_that_is_spelt_out_is_no_change(tmp_path):
    path = small_run.write(tmp_path)
    before = (claim(path) / "config.toml").read_bytes()
    assert (
        claim(path, "algorithm.gamma=1.0", "engine.zero_stage=2") / "config.toml"
    ).read_bytes() == before


def test_a_run_without_the_newest_options_of_its_plugins_is_recognised(tmp_path):
    """An earlier version wrote the folder; the options have their defaults now."""
    path = small_run.write(tmp_path, scorer=[{"name": "penalty", "invalid": 0.1}])
    saved = claim(path) / "config.toml"
    checksum_file(saved).unlink()
    text = saved.read_text()
    assert ", overlong = 0.0" in text
    saved.write_text(text.replace(", overlong = 0.0", "").replace("replacements = 0\n", ""))
    claim(path)
    checksum_file(saved).unlink()
    path = small_run.write(tmp_path, scorer=[{"name": "penalty", "invalid": 0.1, "overlong": 1.0}])
    saved.write_text(text.replace(", overlong = 0.0", ""))
    with raises(RunFolderError, "scorer.0.overlong", "0.0", "1.0"):
        claim(path)


def test_a_folder_may_move(tmp_path):
    path = small_run.write(tmp_path)
    claim(path).rename(tmp_path / "moved")
    assert claim(path, f"run.folder={tmp_path / 'moved'}") == tmp_path / "moved"


def test_a_start_that_was_interrupted_early_is_no_foreign_folder(tmp_path):
    path = small_run.write(tmp_path)
    (tmp_path / "run").mkdir()
    for name in (".lock", ".config.toml-draft"):
        (tmp_path / "run" / name).touch()
    assert (claim(path) / "config.toml").is_file()


def refused(*args):
    result = CliRunner().invoke(cli.app, [str(a) for a in args])
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert result.output.strip().count("\n") == 0
    return result.output


HOLDER = """
import sys, time
from pathlib import Path
from agentgym_train.files import FolderLock
lock = FolderLock(Path(sys.argv[1]))
if sys.argv[2] == "share":
    lock.share()
print("held", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("how", ["alone", *full("share")])
def test_two_runs_in_one_folder(tmp_path, how):
    path = small_run.write(tmp_path, model={"path": small_model(tmp_path)})
    folder = claim(path)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), how], stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout.readline() == b"held\n"
        assert "another run is at work in" in refused("run", path)
        os.kill(holder.pid, signal.SIGKILL)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    FolderLock(folder).release()


def small_model(tmp_path):
    return tiny.save(tmp_path / "model", template=tiny.CHATML)


def test_processes_of_one_run_share_its_lock(tmp_path):
    first = FolderLock(tmp_path)
    with pytest.raises(RunFolderError):
        FolderLock(tmp_path, shared=True)
    first.share()
    worker = FolderLock(tmp_path, shared=True)
    first.release()
    with pytest.raises(RunFolderError):
        FolderLock(tmp_path)
    worker.release()
    FolderLock(tmp_path).release()


def test_a_metrics_line_that_was_cut_off_is_written_again(tmp_path):
    file = tmp_path / "metrics.jsonl"
    file.write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n{"step": 4, "cut')
    metrics.MetricsFile(file, start=2, distributed=Distributed()).write({"step": 3, "new": True})
    assert metrics.read(file) == [{"step": 1}, {"step": 2}, {"step": 3, "new": True}]


def test_a_run_does_not_end_before_where_it_is(tmp_path):
    path = small_run.write(tmp_path, model={"path": small_model(tmp_path)})
    save(claim(path), 4)
    assert "has 4 steps behind it, more than run.steps=3" in refused(
        "run", path, "--set", "run.steps=3"
    )


def test_a_whole_file_stays_when_its_successor_cannot_be_written(tmp_path):
    file = tmp_path / "sub" / "evaluation.json"
    with raises(RunFolderError, "sub/.evaluation.json-draft"):
        write_whole(file, "{}")
    file.parent.mkdir()
    write_whole(file, "{}")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "\ud800")
    assert file.read_text() == "{}"


def test_a_run_without_a_gradient_has_not_learned():
    with pytest.raises(TrainingError, match="rewards never differed within a group"):
        check_learned([{"step": 1, "grad_norm": 0.0}, {"step": 2, "grad_norm": 0.0}])
    check_learned([{"step": 1, "grad_norm": 0.0}, {"step": 2, "grad_norm": 0.1}])


FAILURES = """
import os, sys
from agentgym_envs.errors import EnvFailure
from agentgym_train import cli
from agentgym_train.run import work

home, *errors = sys.argv[1:]

def fail(folder, console):
    raise eval(error)

work.work = fail
for number, error in enumerate(errors):
    if os.fork() == 0:
        os.dup2(os.open(f"{home}/{number}/stderr", os.O_CREAT | os.O_WRONLY), 2)
        cli.app(["run", f"{home}/{number}/run.toml"])
    _, status = os.wait()
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


def test_a_run_that_fails_says_what_it_can_go_on_from(warm, tmp_path):
    model, last = small_model(tmp_path), []
    errors = ["ValueError('of a plugin')", "EnvFailure('it is gone')", "KeyboardInterrupt"]
    for number in range(len(errors)):
        home = tmp_path / str(number)
        home.mkdir()
        folder = claim(small_run.write(home, model={"path": model}))
        last.append(f"No checkpoint was written to {folder}: the same command starts again.")
        if number != 1:
            last[-1] = f"The same command goes on from {save(folder, 2)}."
    script = tmp_path / "failures.py"
    script.write_text(FAILURES)
    assert warm.play(script, tmp_path, tmp_path, *errors).split() == ["1", "1", "130"]
    theirs, ours, interrupt = (
        (tmp_path / str(n) / "stderr").read_text().strip().splitlines() for n in range(3)
    )
    assert [lines[-1] for lines in (theirs, ours, interrupt)] == last
    assert theirs[0] == "Traceback (most recent call last):"
    assert theirs[-2] == "ValueError: of a plugin"
    assert ours[:-1] == ["error: it is gone"]
    assert interrupt[:-1] == ["interrupted"]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_one_warning(tmp_path, monkeypatch, caplog, number):
    def flock(file, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    first = FolderLock(tmp_path)
    first.share()
    for options in ({"shared": True}, {"name": ".main-lock"}):
        FolderLock(tmp_path, **options).release()
    first.release()
    (said,) = [record.getMessage() for record in caplog.records]
    assert str(tmp_path) in said
    assert "must not use this folder at the same time" in said


def test_a_lock_that_fails_is_one_line(tmp_path, monkeypatch):
    def flock(file, how):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(RunFolderError, match=r"^cannot lock "):
        FolderLock(tmp_path)
