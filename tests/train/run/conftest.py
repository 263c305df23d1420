import shutil

import pytest
import small_run


@pytest.fixture(scope="session")
def played(warm, once):
    """Returns a folder with a run of seven steps, ``run``, and a copy that no test changes."""

    def play(home):
        run = {"folder": str(home / "run"), "steps": 7, "save_every": 2}
        warm.finish(small_run.write(home, run=run))
        shutil.copytree(home / "run", home / "copy")

    return once("undisturbed", play)
