"""Checks what a release needs and no test can know before: ``python .ci/check_release.py [TAG]``.

Without a tag it checks that the version stands everywhere. With a tag it also checks that the tag
names this version, that the repository's address is set, and that the changelog has a section for
the version.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNSET = "https://example.org/agentgym"  # stands for the repository's address until it is known
ADDRESSED = (
    "agentgym_envs/pyproject.toml",
    "agentgym_train/pyproject.toml",
    "plugins/agentgym-websites/pyproject.toml",
    "CITATION.cff",
    ".github/ISSUE_TEMPLATE/config.yml",
)


def versions(root: Path) -> dict[str, str]:
    """Returns the version that each file names."""
    places = {
        "agentgym_envs/src/agentgym_envs/__init__.py": r'^__version__ = "(.+)"$',
        "agentgym_train/src/agentgym_train/__init__.py": r'^__version__ = "(.+)"$',
        "plugins/agentgym-websites/src/agentgym_websites/__init__.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
    }
    return {name: _first(pattern, (root / name).read_text()) for name, pattern in places.items()}


def faults(root: Path, tag: str | None = None) -> list[str]:
    """Returns one line for each fault."""
    named = versions(root)
    version = next(iter(named.values()))
    found = [
        f"{name} names version {other}, not {version}"
        for name, other in named.items()
        if other != version
    ]
    series = ".".join(version.split(".")[:2])
    for project, needed in (
        ("agentgym_train", "agentgym-envs"),
        ("plugins/agentgym-websites", "agentgym-envs[web]"),
        ("agentgym_envs", "agentgym-websites"),
    ):
        if f'"{needed}>={series},' not in (root / project / "pyproject.toml").read_text():
            found.append(f"{project}/pyproject.toml does not need {needed}>={series}")
    return found if tag is None else found + _tag_faults(root, tag, version)


def _tag_faults(root: Path, tag: str, version: str) -> list[str]:
    found = [f"the tag {tag} is not v{version}"] if tag != f"v{version}" else []
    found += [
        f"{name} has no address of the repository"
        for name in ADDRESSED
        if UNSET in (root / name).read_text()
    ]
    if not re.search(
        rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$",
        (root / "CHANGELOG.md").read_text(),
        re.M,
    ):
        found.append(f"CHANGELOG.md has no section '## {version} (YEAR-MONTH-DAY)'")
    return found


def _first(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.M)
    return match[1] if match else "(none)"


if __name__ == "__main__":
    sys.exit("\n".join(faults(ROOT, *sys.argv[1:2])) or 0)
