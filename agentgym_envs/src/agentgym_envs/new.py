"""``agentgym new``: writes a small package with an environment that passes the conformance kit."""

import keyword
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import NamedTuple

from agentgym_envs.errors import ArgumentError, shown

_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")

MODULE = '''"""A lock whose dials must show a code."""

from agentgym_envs import Outcome, Task, TaskSet, TextEnv
from agentgym_envs.tasks import split_of


class $kind(TextEnv):
    """Turns dials to a code. At the start they are up to ``reach`` off."""

    instructions = "Set the dials to the code. 'up 1' turns dial 1 from 3 to 4."

    def __init__(self, *, reach=3, **kwargs):
        self.reach = reach
        super().__init__(**kwargs)

    def make_tasks(self):
        codes = [str(number) for number in range(10, 1000, 3)]
        return TaskSet(
            Task(
                id=f"code-{code}",
                split=split_of(code),
                difficulty=len(code),
                data={"code": code},
            )
            for code in codes
        )

    def begin(self, task, rng):
        self.code = [int(digit) for digit in task.data["code"]]
        self.dials = [(n + rng.randint(1, self.reach)) % 10 for n in self.code]
        return f"Code: {task.data['code']}. {self.shown()}", "set the code"

    def act(self, action):
        valid = action in self.actions()
        if valid:
            way, number = action.split()
            n, step = int(number) - 1, {"up": 1, "down": -1}[way]
            self.dials[n] = (self.dials[n] + step) % 10
        right = [n == m for n, m in zip(self.dials, self.code, strict=True)]
        return Outcome(
            self.shown() if valid else "Say 'up' or 'down' and a dial.",
            score=sum(right) / len(right),
            done=all(right),
            success=all(right),
            invalid=not valid,
            extra={"right_dials": sum(right)},
        )

    def actions(self):
        numbers = range(1, len(self.dials) + 1)
        return [f"{way} {n}" for n in numbers for way in ("up", "down")]

    def oracle(self):
        for n, wanted in enumerate(self.code):
            while off := (self.dials[n] - wanted) % 10:
                yield f"{'down' if off < 6 else 'up'} {n + 1}"

    def shown(self):
        return f"Dials: {' '.join(map(str, self.dials))}."
'''
PROJECT = """[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "$name"
version = "0.1.0"
description = "A text environment"
requires-python = ">=3.11"
dependencies = ["agentgym-envs>=$release"]

[project.entry-points."agentgym_envs.environments"]
"$env_id" = "$module:$kind [horizon-50]"
"""
TEST = """from agentgym_envs.testing import check_text_env


def test_the_environment_keeps_the_contract():
    assert check_text_env("$env_id")
"""


class PackageNames(NamedTuple):
    """The names in a package.

    Attributes:
        name: the distribution.
        module: its only module.
        kind: the class of the environment.
        env_id: the registered id.
        release: the oldest agentgym-envs that the package needs.
    """

    name: str
    module: str
    kind: str
    env_id: str
    release: str


def names(name: str) -> PackageNames:
    """Returns the names in a package.

    >>> names("my-lock").env_id
    'my-lock/MyLock-v0'

    Raises:
        ArgumentError: the name has another form, or is a keyword of Python.
    """
    if not _NAME.fullmatch(name):
        raise ArgumentError(
            f"{shown(name)} is not a valid package name: use lowercase letters, digits and '-',"
            " as in 'my-lock'"
        )
    module = re.sub("[-_]", "_", name)
    words = "".join(part.capitalize() for part in module.split("_"))
    base = words.removesuffix("Env") or words
    if keyword.iskeyword(module) or base == "Text":
        raise ArgumentError(f"{name!r} is a word of Python or of agentgym_envs: use another name")
    release = ".".join(version("agentgym-envs").split(".")[:2])
    return PackageNames(name, module, f"{base}Env", f"{name}/{base}-v0", release)


def write_package(name: str) -> list[Path]:
    """Writes the package into the folder ``name`` and returns the paths of its files.

    Raises:
        ArgumentError: the folder or another module of this name exists, or see :func:`names`.
    """
    chosen, folder = names(name), Path(name)
    if folder.exists():
        raise ArgumentError(f"{name!r} already exists here: use another name or folder")
    if find_spec(chosen.module) is not None:
        raise ArgumentError(f"a module {chosen.module!r} is already installed: use another name")
    texts = {
        "pyproject.toml": PROJECT,
        f"{chosen.module}.py": MODULE,
        f"test_{chosen.module}.py": TEST,
    }
    folder.mkdir()
    for file, text in texts.items():
        (folder / file).write_text(Template(text).substitute(chosen._asdict()), encoding="utf-8")
    return [folder / file for file in texts]
