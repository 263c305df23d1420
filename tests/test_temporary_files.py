"""A test session leaves no temporary file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
OPTIONS = ("-q", "-p", "conftest", "-p", "no:cacheprovider")
LEAVING = "import tempfile\n\ndef test_it():\n    tempfile.mkstemp(prefix='forgotten-')\n"
CLEAN = "def test_it(tmp_path):\n    (tmp_path / 'file').touch()\n"


@pytest.mark.parametrize(
    ("source", "status", "left"),
    [
        pytest.param(CLEAN, 0, 0, id="clean", marks=pytest.mark.full),
        pytest.param(LEAVING, 1, 1, id="leaving"),
    ],
)
def test_a_session_fails_if_a_test_leaves_a_temporary_file(tmp_path, source, status, left):
    (tmp_path / "test_one.py").write_text(source)
    (settings := tmp_path / "pytest.ini").write_text("[pytest]\n")
    (temporary := tmp_path / "temporary").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, "-c", settings, tmp_path / "test_one.py"],
        env={
            **{name: value for name, value in os.environ.items() if "XDIST" not in name},
            "TMPDIR": str(temporary),
            "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS / "support")]),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout
    assert ("forgotten-" in done.stdout) == bool(left)
    assert len(list(temporary.iterdir())) == left
