"""The workflows run commands that exist.

No workflow runs here: their YAML and their commands are checked.
"""

import configparser
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def steps(workflow):
    for job in yaml.safe_load(workflow.read_text())["jobs"].values():
        yield from job["steps"]


def environments():
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    return {name.removeprefix("testenv:") for name in tox.sections()}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda p: p.name)
def test_tox_has_the_environments(workflow):
    named = {
        env
        for step in steps(workflow)
        for env in re.findall(r"tox run -e ([\w-]+)", step.get("run", ""))
    }
    assert named <= environments()


def test_the_test_files_that_tox_names_exist():
    named = set(re.findall(r"tests/\S+\.py", (ROOT / "tox.ini").read_text()))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda p: p.name)
def test_scripts_exist_and_are_executable(workflow):
    for step in steps(workflow):
        for script in re.findall(r"^(\.ci/\w+)", step.get("run", ""), re.M):
            assert (ROOT / script).stat().st_mode & 0o111


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda p: p.name)
def test_permissions_are_read_only_unless_a_job_asks_for_more(workflow):
    assert yaml.safe_load(workflow.read_text())["permissions"] == {"contents": "read"}


def test_every_supported_python_is_in_the_matrix():
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    first = [
        s["with"]["python-version"]
        for s in jobs["run"]["steps"]
        if "with" in s and "python-version" in s["with"]
    ]
    versions = {*first, *jobs["matrix"]["strategy"]["matrix"]["python"]}
    classifiers = (ROOT / "agentgym_envs/pyproject.toml").read_text()
    assert set(re.findall(r"Python :: (3\.\d+)", classifiers)) <= versions


@pytest.mark.parametrize(
    "form", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda p: p.name
)
def test_issue_forms_have_what_github_needs(form):
    loaded = yaml.safe_load(form.read_text())
    assert loaded["name"]
    assert loaded["description"]
    assert all(field["attributes"]["label"] for field in loaded["body"])
