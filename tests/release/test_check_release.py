"""The check before a release finds each fault."""

import shutil
from pathlib import Path

import pytest
from scripts import load

ROOT = Path(__file__).parents[2]
check_release = load(ROOT / ".ci/check_release.py")

INIT = "agentgym_{0}/src/agentgym_{0}/__init__.py"
SITES = "plugins/agentgym-websites/src/agentgym_websites/__init__.py"
INITS = [INIT.format("envs"), INIT.format("train"), SITES]
FILES = [*INITS, *check_release.ADDRESSED, "CHANGELOG.md"]


def edit(root, file, old, new):
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new))


@pytest.fixture
def ready(tmp_path):
    """A copy in which all is ready for the release of the present version."""
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    for file in check_release.ADDRESSED:
        if check_release.UNSET in (tmp_path / file).read_text():
            edit(tmp_path, file, check_release.UNSET, "https://code.example/agentgym")
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(f"# Changelog\n\n## {version(tmp_path)} (2026-12-01)\n")
    return tmp_path


def version(root):
    return next(iter(check_release.versions(root).values()))


def test_the_repository_has_one_version():
    assert check_release.faults(ROOT) == []


def test_a_ready_repository_has_no_fault(ready):
    assert check_release.faults(ready, f"v{version(ready)}") == []


def test_a_tag_of_another_version_is_a_fault(ready):
    assert check_release.faults(ready, "v99.0.0") == [f"the tag v99.0.0 is not v{version(ready)}"]


def test_another_version_in_the_trainer_is_a_fault(ready):
    old = version(ready)
    edit(ready, INIT.format("train"), f'"{old}"', '"99.0.0"')
    assert check_release.faults(ready) == [
        f"{INIT.format('train')} names version 99.0.0, not {old}"
    ]


def test_a_new_series_needs_a_new_range(ready):
    for file in (*INITS, "CITATION.cff"):
        edit(ready, file, version(ROOT), "99.1.0")
    assert check_release.faults(ready) == [
        "agentgym_train/pyproject.toml does not need agentgym-envs>=99.1",
        "plugins/agentgym-websites/pyproject.toml does not need agentgym-envs[web]>=99.1",
        "agentgym_envs/pyproject.toml does not need agentgym-websites>=99.1",
    ]


def test_an_address_that_is_not_set_is_a_fault(ready):
    edit(ready, "CITATION.cff", "https://code.example/agentgym", check_release.UNSET)
    assert check_release.faults(ready, f"v{version(ready)}") == [
        "CITATION.cff has no address of the repository"
    ]


def test_a_version_without_a_section_in_the_changelog_is_a_fault(ready):
    (ready / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    assert [f.split()[0] for f in check_release.faults(ready, f"v{version(ready)}")] == [
        "CHANGELOG.md"
    ]
