"""Installs the packages of a tox environment: torch with pip, the other packages with uv.

uv is several times faster, but it ignores pip's settings, which may name a build of torch without
CUDA. pip installs everything where uv is missing or fails, and where torch is not wanted.
"""

import os
import subprocess
import sys

PIP = [sys.executable, "-m", "pip", "install"]
UV = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable]


def main(packages: list[str]) -> int:
    """Returns an exit status: 0 if every package is installed."""
    torch = [package for package in packages if package.startswith("torch==")]
    if not torch:
        return subprocess.call([*PIP, *packages])
    others = [package for package in packages if package not in torch]
    if status := subprocess.call([*PIP, *torch]):
        return status
    constraints = {"UV_CONSTRAINT": os.environ["PIP_CONSTRAINT"]}
    if (
        subprocess.call([*PIP, "--quiet", "uv"]) == 0
        and subprocess.call([*UV, *others], env=os.environ | constraints) == 0
    ):
        return 0
    return subprocess.call([*PIP, *others])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
