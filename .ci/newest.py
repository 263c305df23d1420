"""The newest versions of the dependencies in newest.txt, for `tox run -e newest`.

    python .ci/newest.py install    installs them, whatever ranges our packages declare
    python .ci/newest.py note       writes the installed versions into newest.txt

With further arguments, which select tests, `note` writes nothing.
"""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

FILE = Path(__file__).parent.parent / "newest.txt"


def names(lines: list[str]) -> list[str]:
    """Returns the packages of the file's lines."""
    return [line.partition("==")[0] for line in lines if not line.startswith("#")]


def install(packages: list[str]) -> int:
    """Installs the newest versions; returns pip's exit status."""
    return subprocess.call([sys.executable, "-m", "pip", "install", "--upgrade", *packages])


def noted(lines: list[str]) -> list[str]:
    """Returns the file's lines with the installed versions, without the name of a build."""
    comments = [line for line in lines if line.startswith("#")]
    return comments + [f"{name}=={version(name).partition('+')[0]}" for name in names(lines)]


def main(task: str, *tests: str) -> int:
    """Returns an exit status."""
    lines = FILE.read_text().splitlines()
    if task == "install":
        return install(names(lines))
    if not tests:
        FILE.write_text("\n".join(noted(lines)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
