"""Folders that are filled once for all processes of a test session."""

import fcntl
import os
import shutil


def filled_once(tmp_path_factory, name, fill):
    """Returns a folder, which the first caller's ``fill`` fills; tests only read it."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    place, done = base / f"once-{name}", base / f"once-{name}.done"
    with open(base / f"once-{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            fill(place)
            done.touch()
    return place
