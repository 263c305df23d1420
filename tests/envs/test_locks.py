"""File systems without locks, and locks that fail."""

import errno
import fcntl
import logging
import os

import pytest
from raised import raises

from agentgym_envs import cache, locks
from agentgym_envs.envs.search.index import alone
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.record import RunRecord
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.lines import JsonLinesFile


@pytest.fixture
def fails(monkeypatch):
    """Returns a function that sets the error of every lock."""
    monkeypatch.setattr(locks, "_warned", set())

    def fail(number):
        def flock(file, how):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(fcntl, "flock", flock)

    return fail


NO_LOCKS = [errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL]


@pytest.mark.parametrize("number", NO_LOCKS)
def test_a_run_goes_on_with_one_warning(number, fails, tmp_path, caplog):
    fails(number)
    settings = RunSettings(agent="chat", format="plain", horizon=3, options={})
    for _ in range(2):  # a resume too
        record = RunRecord(tmp_path / "run", settings)
        record.share({"prompt": "a"})
        record.close()
    (said,) = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert str(tmp_path / "run") in said
    assert "Two runs must not use this folder at the same time" in said


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_another_failure_is_one_line_and_leaves_a_folder_that_can_be_used(
    number, fails, tmp_path, monkeypatch
):
    settings = RunSettings(agent="chat", format="plain", horizon=3, options={})
    with monkeypatch.context():
        fails(number)
        with raises(ArgumentError, "episodes.jsonl") as caught:
            RunRecord(tmp_path / "run", settings)
        assert "\n" not in str(caught.value)
    monkeypatch.undo()
    RunRecord(tmp_path / "run", settings).close()


def test_a_lock_is_still_a_lock(tmp_path):
    first = JsonLinesFile(tmp_path / "file", busy="busy")
    with pytest.raises(ArgumentError, match=r"^busy$"):
        JsonLinesFile(tmp_path / "file", busy="busy")
    first.close()


def test_builds_need_no_locks_and_a_living_draft_stays(fails, tmp_path, caplog):
    fails(errno.ENOLCK)
    for name, age in (("draft-living", cache.FRESH), ("draft-dead", cache.OLD)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, os.stat(tmp_path).st_mtime - age - 10))
    with alone(tmp_path / "lock"), cache.build_once(tmp_path / "thing") as draft:
        (draft / "part").write_text("whole")
        with alone(tmp_path / "lock"):
            pass  # another process builds too
    assert sorted(os.listdir(tmp_path)) == ["draft-living", "thing"]
    assert not caplog.records


def test_a_lock_that_is_held_for_a_moment_is_waited_for(tmp_path, monkeypatch):
    """A look at whether a run is live does not stop a run that begins."""
    path = tmp_path / "episodes.jsonl"
    path.touch()
    look = os.open(path, os.O_RDONLY)
    locks.lock(look)
    monkeypatch.setattr(locks.time, "sleep", lambda seconds: os.close(look))
    JsonLinesFile(path, busy="busy").close()
    assert locks.held(path) is False
    assert locks.held(tmp_path / "none") is False
