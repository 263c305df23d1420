"""Runs the README's two commands on fresh clones: in both orders, each command twice.

    python benchmarks/two_commands.py

The clones hold the committed state. Each command must end with status 0, leave no temporary file
and change no tracked file. The quickstart begins anew each time: its folder is removed before it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUICKSTART, TESTS = ("-e", "quickstart"), ()
ORDERS = [(QUICKSTART, TESTS, QUICKSTART, TESTS), (TESTS, QUICKSTART, TESTS, QUICKSTART)]


def run(clone: Path, arguments: tuple[str, ...], temporary: Path) -> str:
    """Runs a command in a clone; prints a row of the table; returns what is wrong, or ""."""
    if arguments == QUICKSTART:  # the tests find the folder of the run before
        shutil.rmtree(clone / "runs/quickstart", ignore_errors=True)
    temporary.mkdir()
    began = time.monotonic()
    status = subprocess.call(
        [sys.executable, "-m", "tox", "run", *arguments],
        cwd=clone,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=sys.stderr,
    )
    seconds = time.monotonic() - began
    left = sorted(path.name for path in temporary.iterdir())
    changed = subprocess.check_output(["git", "status", "--short"], cwd=clone, text=True)
    shutil.rmtree(temporary)
    command = " ".join(("tox run", *arguments))
    print(f"| {command} | {status} | {seconds:.0f} | {', '.join(left)} | {changed.strip()} |")
    return f"{status or ''}{left or ''}{changed}"


def main() -> int:
    """Returns an exit status: 0 if all commands succeed and leave nothing."""
    print("| command | status | seconds | left behind | changed |\n|---|---|---|---|---|")
    wrong = []
    for order in ORDERS:
        with tempfile.TemporaryDirectory(prefix="two-") as folder:
            clone = Path(folder) / "clone"
            subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
            wrong += [run(clone, command, Path(folder) / "t") for command in order]
    return int(any(wrong))


if __name__ == "__main__":
    sys.exit(main())
