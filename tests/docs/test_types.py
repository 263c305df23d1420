"""The strict type checker has nothing to say."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_the_types_are_right():
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
