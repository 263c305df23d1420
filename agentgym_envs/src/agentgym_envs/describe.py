"""Describes a registered environment from its code.

``agentgym show`` and the documentation's pages print this text.
"""

import ast
import inspect
import re
import statistics
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from agentgym_envs import plugins, registry
from agentgym_envs.errors import AgentGymError, ArgumentError
from agentgym_envs.plugins import Plugin
from agentgym_envs.tasks import TaskSet

INFO_KEYS = (
    ("task_id", "str", "id of the task"),
    ("goal", "str", "the task in words"),
    ("score", "float", "progress in [0, 1]; the reward is its change"),
    ("success", "bool", "the task is solved"),
    ("invalid", "bool", "the last action was not understood"),
    ("turn", "int", "number of actions so far"),
    (
        "admissible_actions",
        "list of str",
        "actions that are understood now; only with `admissible=True`",
    ),
)


class KeywordInfo(NamedTuple):
    """A keyword of an environment's constructor.

    Attributes:
        name: the keyword.
        default: its default as Python code.
        text: its description from the class's docstring, on one line.
    """

    name: str
    default: str
    text: str


class SplitInfo(NamedTuple):
    """The tasks of a split.

    Attributes:
        name: "train", "dev" or "test".
        tasks: number of listed tasks.
        difficulty: lowest, median and highest difficulty, in the environment's unit.
        example: the id of one task.
    """

    name: str
    tasks: int
    difficulty: tuple[int, float, int]
    example: str


def description(env_id: str) -> str:
    """Returns an environment's description as Markdown, made from its code.

    Args:
        env_id: a registered id.

    Raises:
        UnknownName: no such id.
        ArgumentError: no package registers it.
        BrokenPlugin: its registration is wrong, or its module does not import.
    """
    spec = registry.spec(env_id)
    plugin = plugins.discover(plugins.ENVIRONMENTS).get(spec.id)
    if plugin is None:
        raise ArgumentError(
            f"{env_id} has no entry point, and only environments of packages are described; try"
            f" `agentgym play {env_id}`"
        )
    kind = plugin.load()
    install = registry.install_command(plugin)
    rows = [
        ("class", f"`{plugin.target}`"),
        ("package", plugins.distribution(plugin)),
        (
            "needs",
            ", ".join(f"extra `{extra}`" for extra in registry.extras(plugin)) or "nothing more",
        ),
        ("step limit", f"{spec.max_episode_steps} turns"),
        ("kind", "game of several seats" if registry.is_game(plugin) else "one agent"),
    ]
    if registry.is_game(plugin):
        rows.append(
            ("players", ", ".join(f"`{name}`" for name in ("random", "oracle", *kind.players)))
        )
    parts = [f"# {spec.id}", _summary(kind), _table(("", ""), rows), "## Keywords"]
    parts.append(
        _table(
            ("keyword", "default", "meaning"),
            [(f"`{k.name}`", f"`{k.default}`", k.text) for k in keywords_of(spec.id)],
        )
    )
    parts += [
        "## Tasks",
        _tasks(spec.id)
        if install is None
        else f"The tasks are listed once the extra is installed: `{install}`.",
    ]
    parts += [
        "## Info",
        _table(
            ("key", "type", "meaning"),
            [(f"`{name}`", kind_, text) for name, kind_, text in INFO_KEYS],
        ),
    ]
    if rules := _instructions(kind):
        parts += ["## Instructions", f"```text\n{rules}\n```"]
    return "\n\n".join(parts) + "\n"


def readme(env_id: str) -> str:
    """Returns the ``README.md`` of an environment's family; empty without one.

    It is the nearest one in the folder of the environment's module and the package folders above.
    """
    target = plugins.discover(plugins.ENVIRONMENTS)[registry.spec(env_id).id].target
    module = target.partition(":")[0]
    source = _source(module)
    if source is None:
        return ""
    folders = source.parents[: max(module.count("."), 1)]
    files = (folder / "README.md" for folder in folders)
    return next((file.read_text(encoding="utf-8") for file in files if file.exists()), "")


def first_sentence(plugin: Plugin) -> str:
    """Returns the first sentence of the docstring of an environment's class.

    The text comes from the source file, so nothing is imported. It is empty without a docstring,
    and for a file that does not parse.
    """
    module, _, name = plugin.target.partition(":")
    source = _source(module)
    try:
        body = ast.parse(source.read_bytes()).body if source else []
    except (OSError, SyntaxError, ValueError):
        return ""
    docs = [ast.get_docstring(b) for b in body if isinstance(b, ast.ClassDef) and b.name == name]
    text = _one_line(((docs or [""])[0] or "").partition("\n\n")[0])
    return re.split(r"(?<=[.!?])\s", text)[0].removesuffix(".")


def _source(module: str) -> Path | None:
    """Returns the source file of a module without importing a package that contains it."""
    top, *inner = module.split(".")
    spec = find_spec(top)
    if spec is None:
        return None
    folders = [Path(folder, *inner) for folder in spec.submodule_search_locations or ()]
    files = [Path(spec.origin)] if spec.origin and not inner else []
    files += [file for f in folders for file in (f.with_suffix(".py"), f / "__init__.py")]
    return next((file for file in files if file.is_file()), None)


def keywords_of(env_id: str) -> list[KeywordInfo]:
    """Returns the keywords of an environment's constructor; those of base classes come last."""
    plugin = plugins.discover(plugins.ENVIRONMENTS)[env_id]
    classes = [plugin.load()]
    if registry.is_game(plugin):
        from agentgym_envs.multi.env import SeatsEnv

        classes.append(SeatsEnv)
    found: dict[str, KeywordInfo] = {}
    for kind in (base for one in classes for base in one.__mro__ if "__init__" in vars(base)):
        texts = dict(_arguments(inspect.getdoc(kind) or ""))
        for parameter in inspect.signature(kind.__init__).parameters.values():
            # The registration passes a keyword without a default (a game's id), not the user.
            if parameter.name in texts and parameter.default is not parameter.empty:
                keyword = KeywordInfo(
                    parameter.name, repr(parameter.default), texts[parameter.name]
                )
                found.setdefault(parameter.name, keyword)
    return list(found.values())


def _arguments(doc: str) -> Iterator[tuple[str, str]]:
    """Yields the arguments of a docstring in Google's style, and their descriptions on one line."""
    section = re.search(r"^Args:\n((?:[ ]{4}.*\n?|\n)+)", doc, re.M)
    for name, text in re.findall(
        r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section[1] if section else "", re.M
    ):
        yield name, _one_line(text)


def _summary(kind: type) -> str:
    return _one_line((inspect.getdoc(kind) or "").partition("\n\n")[0])


def _one_line(text: str) -> str:
    """Returns text of a docstring on one line, with Markdown's backquotes."""
    return " ".join(text.split()).replace("``", "`")


def _instructions(kind: type) -> str:
    text = getattr(kind, "instructions", "")
    return text.strip() if isinstance(text, str) else ""


def _tasks(env_id: str) -> str:
    try:
        env: Any = registry.make(env_id)
    except AgentGymError as error:  # the user brings the tasks, as in WebArena; the error says how
        return f"This package holds no tasks of this environment: {error}"
    tasks = env.unwrapped.task_set
    env.close()
    rows = [
        (s.name, f"{s.tasks:,}", "{:g}, {:g}, {:g}".format(*s.difficulty), f"`{s.example}`")
        for s in _splits(tasks)
    ]
    return _table(("split", "tasks", "difficulty: lowest, median, highest", "a task"), rows)


def _splits(tasks: TaskSet) -> Iterator[SplitInfo]:
    for split in tasks.splits:
        if ids := tasks.ids(split):
            levels = [tasks.difficulty(task_id) for task_id in ids]
            yield SplitInfo(
                split, len(ids), (min(levels), statistics.median(levels), max(levels)), ids[0]
            )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )
