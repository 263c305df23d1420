"""The trainer's entry-point groups; ``agentgym_envs.plugins`` has discovery and errors."""

import hashlib
import inspect
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import pydantic

from agentgym_envs.errors import AgentGymError, BrokenPlugin
from agentgym_envs.plugins import Plugin, discover, distribution, load
from agentgym_train import protocols
from agentgym_train.config import Config, Settings, build, tree, without_none
from agentgym_train.config.schema import PLUGIN_GROUPS
from agentgym_train.errors import ConfigError

T = TypeVar("T")
S = TypeVar("S", bound=Settings)
OURS = "agentgym-train"
AHEAD_CAP = 2.0
"""Default of ``algorithm.importance_cap`` with ``rollout.ahead``: that of Yao et al. (2025)."""


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of plugin: one entry-point group.

    Attributes:
        section: the configuration section that names a plugin of this kind.
        group: the entry-point group.
        options: the base class of its options.
        working: the base class of the objects that ``build`` returns.
        many: a configuration can have any number of them, in ``[[section]]`` tables.
    """

    section: str
    group: str
    options: type
    working: type
    many: bool = False


ALGORITHM: Kind[protocols.AlgorithmPlugin] = Kind(
    "algorithm", PLUGIN_GROUPS["algorithm"], protocols.AlgorithmPlugin, protocols.Algorithm
)
CURRICULUM: Kind[protocols.CurriculumPlugin] = Kind(
    "curriculum", PLUGIN_GROUPS["curriculum"], protocols.CurriculumPlugin, protocols.Curriculum
)
GENERATOR: Kind[protocols.GeneratorPlugin] = Kind(
    "generator", PLUGIN_GROUPS["generator"], protocols.GeneratorPlugin, protocols.Generator
)
SOURCE: Kind[protocols.SourcePlugin] = Kind(
    "source", PLUGIN_GROUPS["source"], protocols.SourcePlugin, protocols.Source
)
SCORER: Kind[protocols.ScorerPlugin] = Kind(
    "scorer", PLUGIN_GROUPS["scorer"], protocols.ScorerPlugin, protocols.Scorer, many=True
)
TRACKER: Kind[protocols.TrackerPlugin] = Kind(
    "tracker", PLUGIN_GROUPS["tracker"], protocols.TrackerPlugin, protocols.Tracker, many=True
)
_by_place: dict[str, Any] = {}
"""The plugins that were made by "module:Class" or "./file.py:Class"."""
KINDS: tuple[Kind[Any], ...] = (ALGORITHM, CURRICULUM, GENERATOR, SOURCE, SCORER, TRACKER)


def make(kind: Kind[T], options: Mapping[str, Any]) -> T:
    """Creates the options object that a configuration section describes.

    Args:
        kind: the kind of plugin.
        options: the plugin's ``name`` and its options. The name is registered, "module:Class" or
            "./file.py:Class".

    Raises:
        UnknownName: no plugin has this name.
        ArgumentError: a file or a module without a class.
        ConfigError: an option is unknown, or has an invalid value.
        BrokenPlugin: the plugin does not import, is not a dataclass, cannot be created, or lacks
            methods.
    """
    rest = dict(options)
    name = rest.pop("name", None)
    if not isinstance(name, str):
        known = ", ".join(discover(kind.group))
        given = "and is missing" if name is None else f"not {name!r}"
        raise ConfigError(
            f"configuration key '{kind.section}.name' must be one of {known}, {given}"
        )
    found = discover(kind.group).get(name)
    label = _title(found) if found else f"{kind.section}.name={name!r}"
    cls = load(kind.group, name, label)
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise BrokenPlugin(
            f"{label}: {cls!r} is not a dataclass, whose fields would be its options"
        )
    _require(cls, kind.options, label)
    if found is None and not cls.__module__.startswith("agentgym_train."):
        _by_place[name] = cls
    try:
        made: Any = build(cls, rest, section=kind.section)
    except AgentGymError:
        raise
    except Exception as error:
        raise BrokenPlugin(f"{label} cannot be made: {error!r}") from error
    checked: T = made
    return checked


def build_object(kind: Kind[Any], plugin: Any, *parts: Any) -> Any:
    """Builds the working object of a plugin.

    Args:
        kind: the kind of plugin.
        plugin: its options object, as :func:`make` returns it.
        *parts: the arguments of its ``build``.

    Raises:
        BrokenPlugin: the object lacks methods.
    """
    built = plugin.build(*parts)
    verify(built, kind.working, title(plugin))
    return built


def make_object(kind: Kind[Any], options: Mapping[str, Any], *parts: Any) -> Any:
    """Does :func:`make` and then :func:`build_object`."""
    return build_object(kind, make(kind, options), *parts)


def make_parts(
    kind: Kind[T], tables: Sequence[Mapping[str, Any]], *, whole: type, called: str
) -> tuple[tuple[T, ...], tuple[dict[str, Any], ...]]:
    """Builds the plugins that another of their kind is made of.

    Args:
        kind: the kind of plugin.
        tables: one table per part, with the same keys as the section of a single plugin.
        whole: the class that combines the parts; a part must not be one.
        called: the name of ``whole`` in messages.

    Returns:
        The plugins, and their tables with every option written out.

    Raises:
        AgentGymError: as :func:`make`, with the part's number; or a part is a ``whole`` itself.
    """
    key = f"{kind.section}.parts"
    made = tuple(
        make(replace(kind, section=f"{key}.{number}"), table) for number, table in enumerate(tables)
    )
    if any(isinstance(part, whole) for part in made):
        raise ConfigError(
            f"configuration key {key!r}: a part is {called} itself: list its parts in its place"
        )
    return made, tuple(options(table, part) for table, part in zip(tables, made, strict=True))


def make_algorithm(options: Mapping[str, Any]) -> protocols.Algorithm:
    """Builds an algorithm.

    Raises:
        AgentGymError: as :func:`make`.
        BrokenPlugin: the algorithm requires a stream that no component produces, or "next_value"
            without "value".
    """
    made: protocols.Algorithm = make_object(ALGORITHM, options)
    if unknown := sorted(set(made.required_streams) - protocols.STREAMS.keys()):
        raise BrokenPlugin(
            f"{title(made)} requires the stream {unknown[0]!r}, which no component produces; there"
            f" are: {', '.join(protocols.STREAMS)}"
        )
    if "next_value" in made.required_streams and "value" not in made.required_streams:
        raise BrokenPlugin(
            f"{title(made)} requires the stream 'next_value' without 'value'; list both"
        )
    return made


def verify(made: object, base: type, label: str) -> None:
    """Rejects an object without the methods of a base class. The object need not inherit from it.

    Raises:
        BrokenPlugin: names the missing methods.
    """
    if missing := [name for name, member in _members(base) if not _fits(made, name, member)]:
        raise BrokenPlugin(
            f"{label}: {type(made).__name__} lacks {', '.join(missing)} of {base.__name__}: "
            f"inherit from agentgym_train.{base.__name__}"
        )


def _require(cls: type, base: type, label: str) -> None:
    """Rejects a class of options without the base class of its kind, or with abstract methods."""
    if not issubclass(cls, base):
        raise BrokenPlugin(
            f"{label}: {cls.__name__} is not a subclass of agentgym_train.{base.__name__}"
        )
    abstract = cls.__abstractmethods__  # type: ignore[attr-defined]
    if missing := [name for kind in cls.__mro__ for name in vars(kind) if name in abstract]:
        raise BrokenPlugin(f"{label}: {cls.__name__} lacks {', '.join(dict.fromkeys(missing))}")


def _members(base: type) -> list[tuple[str, Any]]:
    """Returns the public members of a base class and of its bases, in their order."""
    found = {
        name: member
        for kind in reversed(base.__mro__[:-1])
        for name, member in vars(kind).items()
        if name[0] != "_"
    }
    return list(found.items())


def _fits(made: object, name: str, member: Any) -> bool:
    return hasattr(made, name) and (not inspect.isfunction(member) or callable(getattr(made, name)))


def resolved(config: S) -> S:
    """Returns the configuration with every option of its plugins written out."""
    config = replace(config, tracker=_tables(TRACKER, config.tracker))
    if not isinstance(config, Config):
        return config
    algorithm = _corrected(config.algorithm, ahead=bool(config.rollout.ahead))
    return replace(
        config,
        algorithm=options(algorithm, make_algorithm(algorithm)),
        curriculum=(
            _curriculum(config.curriculum)
            if config.curriculum or not all(e.curriculum for e in config.envs)
            else {}
        ),
        envs=tuple(
            replace(
                env,
                curriculum=env.curriculum and _curriculum(env.curriculum, f"{table}.curriculum"),
            )
            for table, env in zip(_sections("env", len(config.envs)), config.envs, strict=True)
        ),
        generator=options(config.generator, make(GENERATOR, config.generator)),
        source=options(config.source, make(SOURCE, config.source)),
        scorer=_tables(SCORER, config.scorer),
    )


def _corrected(algorithm: Mapping[str, Any], *, ahead: bool) -> dict[str, Any]:
    """Returns an algorithm's options; ahead, the importance weights are on unless they are set."""
    has_cap = hasattr(make_algorithm(algorithm), "importance_cap")
    return ({"importance_cap": AHEAD_CAP} if ahead and has_cap else {}) | dict(algorithm)


def _curriculum(table: Mapping[str, Any], section: str = CURRICULUM.section) -> dict[str, Any]:
    return options(table, make(replace(CURRICULUM, section=section), table))


def _tables(kind: Kind[Any], tables: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    named = zip(_sections(kind.section, len(tables)), tables, strict=True)
    return [options(table, make(replace(kind, section=section), table)) for section, table in named]


def _sections(section: str, count: int) -> list[str]:
    """Returns the names of a section's tables in messages, numbered if there are several."""
    return [f"{section}.{number}" for number in range(count)] if count > 1 else [section] * count


def options(section: Mapping[str, Any], made: Any) -> dict[str, Any]:
    """Returns a section with all options of its plugin, defaults included, as plain data.

    Options with the value None are left out, since TOML cannot express None.
    """
    names = {f.name for f in fields(made) if f.init}
    plain: dict[str, Any] = pydantic.TypeAdapter(type(made)).dump_python(
        made, mode="json", include=names
    )
    return {"name": section["name"], **without_none(plain)}


def code(config: Settings) -> dict[str, str]:
    """Returns a checksum of the file of each plugin that is named by its place.

    The place is "module:Class" or "./file.py:Class". A registered plugin has a version instead.
    """
    resolved(config)
    found = {}
    for name in _names(tree(config)):
        if name in _by_place and (file := inspect.getsourcefile(_by_place[name])):
            found[name] = hashlib.blake2b(Path(file).read_bytes()).hexdigest()
    return found


def _names(value: Any) -> Iterator[str]:
    """Yields the names in nested tables."""
    for table in value if isinstance(value, list) else [value]:
        if isinstance(table, Mapping):
            yield str(table.get("name"))
            for each in table.values():
                yield from _names(each)


def title(plugin: object) -> str:
    """Returns the name of a plugin's object for messages.

    It is the registered name and the distribution, or "module:Class" or "./file.py:Class". The
    object is the plugin's options, or was built by them in the same module.
    """
    module = type(plugin).__module__
    places = [name for name, cls in _by_place.items() if module == cls.__module__]
    for name in sorted(places, key=lambda name: _by_place[name] is not type(plugin)):
        return name
    found = [
        one for kind in KINDS for one in discover(kind.group).values() if module == _module(one)
    ]
    for one in sorted(found, key=lambda one: one.load() is not type(plugin)):
        return _title(one)
    return type(plugin).__name__


def culprit(error: BaseException) -> str | None:
    """Returns the third-party plugin in whose code an error was raised, or None."""
    modules = [
        frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    theirs = [
        found
        for kind in KINDS
        for found in discover(kind.group).values()
        if distribution(found) != OURS
    ]
    places = {cls.__module__: name for name, cls in _by_place.items()}
    for module in reversed(modules):
        if module in places:
            return places[module]
        near = [
            found
            for found in theirs
            if _module(found).partition(".")[0] == module.partition(".")[0]
        ]
        for found in sorted(near, key=lambda found: _module(found) != module):
            return _title(found)
    return None


def _title(plugin: Plugin) -> str:
    return f"{plugin.name} of {distribution(plugin)}"


def _module(plugin: Plugin) -> str:
    return plugin.target.partition(":")[0]
