"""What tests of the conformance kit share."""

import gc
import locale
import logging
import os
import signal
import socket
import sys
import tempfile
import threading

import pytest
from warm_kit import Forks

from agentgym_envs.testing import episodes, hostile, solutions, subprocesses


@pytest.fixture(scope="package", autouse=True)
def started(forked_workers):
    """The kit would report a process that starts during a check."""
    forked_workers.start()


@pytest.fixture
def brief(monkeypatch):
    """A brief check has fewer hostile actions, shorter walks and one other process."""
    letters = hostile.scripts()
    monkeypatch.setattr(hostile, "scripts", lambda: letters[::5])
    monkeypatch.setattr(hostile, "COUNT", hostile.COUNT // 5)
    monkeypatch.setattr(episodes, "WALK_TURNS", episodes.WALK_TURNS // 5)
    monkeypatch.setattr(subprocesses, "CONDITIONS", subprocesses.CONDITIONS[1:])
    monkeypatch.setattr(solutions, "MORE", 0)


@pytest.fixture(params=["brief", pytest.param("whole", marks=pytest.mark.full)])
def length(request):
    if request.param == "brief":
        request.getfixturevalue("brief")
    return request.param


@pytest.fixture(scope="session")
def forks():
    with Forks() as kept:
        yield kept


@pytest.fixture
def warm(forks, monkeypatch, tmp_path):
    """Runs the kit's subprocesses as forks.

    Changes by a broken environment in this process are undone.
    """
    monkeypatch.setattr(subprocesses, "start", forks.start)
    monkeypatch.chdir(tmp_path)  # some litter
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    language, depth = locale.setlocale(locale.LC_ALL), sys.getrecursionlimit()
    mask = os.umask(0o022)
    os.umask(mask)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    profile = threading.getprofile()
    yield
    threading.setprofile(profile)
    os.environ.pop("SIMULATOR", None)
    os.umask(mask)
    gc.enable()
    logging.disable(logging.NOTSET)
    locale.setlocale(locale.LC_ALL, language)
    sys.setrecursionlimit(depth)
    socket.setdefaulttimeout(None)
    for number, handler in handlers.items():
        signal.signal(number, handler)
