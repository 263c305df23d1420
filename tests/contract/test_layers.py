"""Folders import each other in one direction, and no two classes of a package share a name."""

import ast
from pathlib import Path

import house
import pytest

ROOT = Path(house.__file__).parents[1]


@pytest.fixture(params=house.PACKAGES.values(), scope="module")
def package(request):
    return request.param


@pytest.fixture(scope="module")
def modules(package):
    paths = (ROOT / package / "src").rglob("*.py")
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def test_folders_form_no_circle(modules, package):
    assert house.upward(modules, package) == 0


def test_a_class_name_is_used_once(modules, package):
    assert house.names(modules, package)["class names used twice"] == 0


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("from agentgym_train.b.low import f", 1),
        ("import agentgym_train.b.low", 1),
        ("def f():\n    from agentgym_train.b.low import f", 0),
        ("if TYPE_CHECKING:\n    from agentgym_train.b.low import f", 0),
    ],
)
def test_an_import_against_the_direction_is_counted(source, count):
    up = Path("src/agentgym_train/a/high.py")
    modules = {
        up: ast.parse(source),
        up.with_name("other.py"): ast.parse(source.replace("agentgym_train.b", "json")),
        Path("src/agentgym_train/b/low.py"): ast.parse(
            "from agentgym_train.a import high\nfrom agentgym_train.a.high import g"
        ),
    }
    assert house.upward(modules, "agentgym_train") == count
