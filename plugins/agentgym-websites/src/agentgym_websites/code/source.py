"""Modules as structured data, changed step by step and rendered in their project's language."""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from agentgym_websites.tables import tables


class Language(NamedTuple):
    """The forms of a language.

    Attributes:
        end: extension of a file.
        remark: text before a comment.
        constant: line of a named constant.
        function: lines of a function.
        run: last function of a module of the first release.
        test: lines of a test.
        camel: whether names are written likeThis rather than like_this.
    """

    end: str
    remark: str
    constant: str
    function: str
    run: str
    test: str
    camel: bool = False


_LANGUAGES_TABLES = tables("code/languages")
LANGUAGES = {name: Language(**of) for name, of in _LANGUAGES_TABLES["languages"].items()}
# Functions by part: name, argument, one item of it, another word for an item, the error, the test,
# the operation, the purpose.
FUNCTIONS: Mapping[str, tuple[tuple[str, ...], ...]] = _LANGUAGES_TABLES["functions"]
CONSTANTS: Mapping[str, tuple[int, ...]] = _LANGUAGES_TABLES["constants"]
# Parts without a module in the first release.
FOLDERS: dict[str, str] = _LANGUAGES_TABLES["folders"]

LONGEST = 4  # limit of functions per module


@dataclass(frozen=True)
class Function:
    """A function of a module: a row of ``FUNCTIONS``, and its features, which commits add."""

    row: tuple[str, ...]
    renamed: bool = False
    doc: bool = False
    guard: bool = False
    off: bool = False
    cache: bool = False
    context: bool = False


@dataclass
class Module:
    """The parts of a program file.

    Attributes:
        part: topic of the file.
        project: name of the project.
        language: a key of ``LANGUAGES``.
        limit: value of the oldest constant; None without one.
        constants: values of the other constants, by name.
        functions: functions of the file.
    """

    part: str
    project: str
    language: str
    limit: int | None
    constants: dict[str, int]
    functions: list[Function] = field(default_factory=list)


def make_module(
    rng: random.Random, part: str, project: str, language: str, limit: int | None = None
) -> Module:
    """Returns a module with some functions and constants."""
    names = rng.sample(sorted(CONSTANTS), 2)
    module = Module(
        part, project, language, limit, {name: rng.choice(CONSTANTS[name]) for name in names}
    )
    for row in rng.sample(FUNCTIONS[part], 1 if limit is None else 2):
        module.functions.append(_function(rng, row))
    return module


def _function(rng: random.Random, row: tuple[str, ...]) -> Function:
    return Function(row, False, *(rng.random() < 0.35 for _ in range(5)))


def cased(name: str, camel: bool) -> str:
    """Returns a name in a language's style: batch_size, or batchSize."""
    return re.sub(r"_(\w)", lambda m: m[1].upper(), name) if camel else name


def constant(name: str, language: str) -> str:
    """Returns a constant's name in a language's style."""
    return cased(name, True) if "§name" in LANGUAGES[language].constant else name.upper()


def filled(text: str, values: Mapping[str, Any]) -> str:
    """Fills the placeholders of a language's lines."""
    return re.sub(r"§(\w+)", lambda m: str(values[m[1]]), text)


def _written(f: Function, language: Language) -> str:
    name, arg, item, other, problem, check, op, doc = f.row
    has = {
        "doc": f.doc,
        "guard": f.guard,
        "cache": f.cache,
        "context": f.context,
        "plain": not f.context,
    }
    lines = []
    for line in language.function.splitlines():
        feature, bar, rest = line.partition("|")
        if not (bar and feature in has):
            lines.append(line)
        elif has[feature]:
            lines.append(rest)
    name, check, op = (cased(n, language.camel) for n in (name, check, op))
    item = other if f.renamed else item
    values = {
        "name": name,
        "arg": arg,
        "item": item,
        "problem": problem,
        "check": check,
        "op": op,
        "doc": doc,
    }
    return filled("\n".join(lines), {**values, "off": " - 1" if f.off else ""}) + "\n"


def render(module: Module) -> str:
    """Returns the text of a module."""
    language = LANGUAGES[module.language]
    limit = {} if module.limit is None else {"limit": module.limit}
    constants = [
        filled(language.constant, {"name": cased(name, True), "NAME": name.upper(), "value": value})
        for name, value in (limit | module.constants).items()
    ]
    head = f"{language.remark} The {module.part} of {module.project}."
    if module.language == "Python":
        head = f'"""The {module.part} of {module.project}."""'
    functions = [_written(f, language) for f in module.functions]
    run = [language.run] if module.limit is not None else []
    gap = "\n\n" if module.language == "Python" else "\n"
    return gap.join(
        [f"{head}\n", *(["\n".join(constants) + "\n"] if constants else []), *functions, *run]
    )


def _first(module: Module, feature: str, value: bool = True) -> bool:
    """Sets a feature of the first function with another value; returns whether one exists."""
    for place, f in enumerate(module.functions):
        if getattr(f, feature) is not value:
            given: dict[str, Any] = {feature: value}
            module.functions[place] = replace(f, **given)
            return True
    return False


def tune(rng: random.Random, module: Module) -> str:
    """Changes the value of a constant; returns its name."""
    name = rng.choice(sorted(module.constants))
    module.constants[name] = rng.choice([v for v in CONSTANTS[name] if v != module.constants[name]])
    return name


def _drop(rng: random.Random, module: Module) -> bool:
    if len(module.functions) < 2:
        return False
    del module.functions[rng.randrange(len(module.functions))]
    return True


def grow(rng: random.Random, module: Module) -> bool:
    """Adds a function; returns whether one was left to add."""
    there = {f.row[0] for f in module.functions}
    left = [row for row in FUNCTIONS[module.part] if row[0] not in there]
    if not left or len(module.functions) >= LONGEST:
        return False
    module.functions.append(_function(rng, rng.choice(left)))
    return True


EFFECTS: Mapping[str, Callable[[random.Random, Module], bool]] = {
    "Fix": lambda rng, m: _first(m, "off", False),
    "Make": lambda rng, m: bool(tune(rng, m)),
    "Remove": _drop,
    "Document": lambda rng, m: _first(m, "doc"),
    "Add": lambda rng, m: _first(m, "guard"),
    "Rename": lambda rng, m: _first(m, "renamed"),
    "Handle": lambda rng, m: _first(m, "guard"),
    "Cache": lambda rng, m: _first(m, "cache"),
    "Report": lambda rng, m: _first(m, "context"),
    "Split": grow,
}
"""The effect of a commit on a module, by the first word of its message.

Each function returns whether it changed the module.
"""


def change(rng: random.Random, module: Module, message: str) -> None:
    """Changes a module as a commit's message states; if that is already done, in another way."""
    if not EFFECTS[message.split()[0]](rng, module) and not grow(rng, module):
        tune(rng, module)
