"""The ``>>>`` examples in the docstrings of both packages."""

import doctest
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

FINDER = doctest.DocTestFinder()
SOURCES = [
    Path(find_spec(package).origin).parents[1] for package in ("agentgym_envs", "agentgym_train")
]


def modules():
    """Yields the names of the modules whose text has an example."""
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            if ">>> " in path.read_text(encoding="utf-8"):
                name = path.relative_to(source).with_suffix("")
                yield ".".join(name.parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", [*modules()])
def test_examples_of_a_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(verbose=False)
    found = [test for test in FINDER.find(module) if test.examples]
    for test in found:
        runner.run(test)
    assert found, f"{name} has >>> outside of the docstrings that doctest finds"
    assert runner.failures == 0
