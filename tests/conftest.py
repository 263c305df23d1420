import fcntl
import gc
import os
import shutil
import signal
import tempfile
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings
from once import filled_once
from warm import Warm, server
from warm_worker import Forking

# Machines are busy, and a first call loads what it needs. Every run draws other examples.
settings.register_profile("untimed", deadline=None, max_examples=25)
settings.load_profile("untimed")
os.environ["COLUMNS"] = "200"  # tables are printed whole, whatever the terminal
# Java's second compiler takes more time than it saves in runs of seconds.
os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1"
# A shell's background jobs ignore it, and so would what tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


OWN = ("pytest-of-", "torchinductor_")  # temporary files of the tools
temporary = pytest.StashKey[Path]()


def pytest_configure(config):
    """The temporary files of all processes of a session are in one folder."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.stash[temporary] = Path(tempfile.mkdtemp(prefix="agentgym-"))
        config.stash[temporary].chmod(0o711)  # a test runs a browser as another user
        os.environ["TMPDIR"] = tempfile.tempdir = str(config.stash[temporary])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """The folder ends with the session; a file that a test left there fails the session.

    After a failure the folder stays.
    """
    folder = session.config.stash.get(temporary, None)
    if folder is None:  # a process of xdist
        return
    end = time.monotonic() + 5  # processes that the session has ended still clean up
    while left := [path.name for path in folder.iterdir() if not path.name.startswith(OWN)]:
        if time.monotonic() > end:
            break
        time.sleep(0.1)
    if left:
        session.exitstatus = exitstatus or pytest.ExitCode.TESTS_FAILED
        session.config.get_terminal_writer().line(
            f"\nThe tests left temporary files in {folder}: {', '.join(sorted(left))}", red=True
        )
    elif exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """The first process of a session collects alone, the others together after it.

    They read the bytecode that it leaves. Compiling takes twice as long as reading.
    """
    with open(__file__) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
        collected = yield
    gc.freeze()  # modules stay; DeepSpeed looks through all objects for garbage at each sleep
    return collected


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Games and indices are kept where the tox environment says, else for one session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "AGENTGYM_CACHE",
            os.environ.get("AGENTGYM_TEST_CACHE") or str(tmp_path_factory.mktemp("cache")),
        )
        # A guard of each command that a test calls in this process would take time.
        patch.setattr("agentgym_envs.descendants.guard", lambda token: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def forked_workers(tmp_path_factory):
    """The workers of pools are forks of one process, which has imported their modules."""
    forking = Forking(*server(tmp_path_factory))
    forking.install()
    yield forking
    forking.uninstall()


@pytest.fixture(scope="session")
def provider_sdks():
    """Skips tests without the extras; only the processes of such tests import these packages."""
    for name in ("anthropic", "google.genai", "openai"):
        pytest.importorskip(name, reason="an extra of agentgym-envs")


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Returns a function that fills a folder once for all test processes."""
    return partial(filled_once, tmp_path_factory)


@pytest.fixture(scope="session")
def warm(tmp_path_factory):
    """Returns a connection to a server that forks runs; all test processes share it."""
    with Warm.of(tmp_path_factory) as connection:
        yield connection


def pytest_runtest_setup(item):
    if item.get_closest_marker("browser"):
        import browsers  # the processes of other tests need no environment of web pages

        browsers.need_browser()


def pytest_unconfigure(config):
    """The last line counts the tests that were skipped above, and gives the reason."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = [report.longrepr for report in reporter.stats.get("skipped", [])] if reporter else []
    reasons = [reason for file, _, reason in skipped if file.endswith("browsers.py")]
    if reasons:
        reporter.write_line(
            f"{len(reasons)} tests of web pages were skipped:"
            f" {reasons[0].removeprefix('Skipped: ')}"
        )
