import subprocess
import sys

import pytest
from raised import raises

from agentgym_envs.errors import UnsupportedPlatform
from agentgym_envs.platforms import check_platform

WINDOWS = (
    "import sys\n"
    "for unix_only in ('fcntl', 'grp', 'pwd', 'resource', 'termios'):\n"
    "    sys.modules[unix_only] = None\n"
    "import gymnasium, typer\n"  # Imported as on Linux: only our own import sees Windows.
    "sys.platform = 'win32'\n"
)


@pytest.mark.parametrize("module", ["agentgym_envs", "agentgym_envs.cli", "agentgym_train.plugins"])
def test_windows_is_refused_at_import_in_one_line(module):
    if module.startswith("agentgym_train"):
        pytest.importorskip("agentgym_train")
    done = subprocess.run(
        [sys.executable, "-c", f"{WINDOWS}import {module}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    name, _, message = done.stderr.splitlines()[-1].partition(": ")
    assert name == "agentgym_envs.errors.UnsupportedPlatform"
    assert message == "AgentGym runs on Linux and macOS, not on 'win32'. On Windows, use WSL 2."


@pytest.mark.parametrize("platform", ["cygwin", "emscripten", "freebsd14", ""])
def test_other_platforms_are_refused(platform):
    with raises(UnsupportedPlatform, "Linux", "macOS"):
        check_platform(platform)


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_linux_and_macos_are_supported(platform):
    check_platform(platform)
