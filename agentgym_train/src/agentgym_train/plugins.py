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
from agentgym_envs.plugins import Plugin, discover, distribution, is_place, load
from agentgym_train import protocols
from agentgym_train.config import SharedSettings, build, tree, without_none
from agentgym_train.config.schema import PLUGIN_GROUPS, load_agent
from agentgym_train.errors import ConfigError

T = TypeVar("T")
S = TypeVar("S", bound=SharedSettings)
OURS = "agentgym-train"
AHEAD_CAP = 2.0
"""Default of ``algorithm.importance_cap`` with ``rollout.ahead``: that of Yao et al. (2025)."""


@dataclass(frozen=True)
class PluginKind(Generic[T]):
    """A kind of plugin: one entry-point group.

    Attributes:
        section: the configuration section that names a plugin of this kind.
        group: the entry-point group.
        base: the base class of its plugins.
        many: a configuration can have any number of them, in ``[[section]]`` tables.
    """

    section: str
    group: str
    base: type[T]
    many: bool = False


def _kind(section: str, base: Any, *, many: bool = False) -> PluginKind[Any]:
    return PluginKind(section, PLUGIN_GROUPS[section], base, many)


ALGORITHM: PluginKind[protocols.Algorithm] = _kind("algorithm", protocols.Algorithm)
CURRICULUM: PluginKind[protocols.Curriculum] = _kind("curriculum", protocols.Curriculum)
GENERATOR: PluginKind[protocols.Generator] = _kind("generator", protocols.Generator)
SOURCE: PluginKind[protocols.Source] = _kind("source", protocols.Source)
SCORER: PluginKind[protocols.Scorer] = _kind("scorer", protocols.Scorer, many=True)
TRACKER: PluginKind[protocols.Tracker] = _kind("tracker", protocols.Tracker, many=True)
KINDS: tuple[PluginKind[Any], ...] = (ALGORITHM, CURRICULUM, GENERATOR, SOURCE, SCORER, TRACKER)
_by_place: dict[str, Any] = {}
"""The plugins that were chosen by "module:Class" or "./file.py:Class"."""


@dataclass(frozen=True)
class NoOptions:
    """The options of a plugin that has none."""


@dataclass(frozen=True)
class ChosenPlugin(Generic[T]):
    """A plugin with the options of a configuration; :func:`make` makes it."""

    kind: PluginKind[T]
    cls: type[T]
    options: Any
    """An object of :func:`options_class`."""
    label: str
    """The name of the plugin in messages."""

    def check(self, *parts: Any) -> None:
        """Raises an error if the plugin cannot work; see the method of its class."""
        self.cls.check(self.options, *parts)  # type: ignore[attr-defined]

    def build(self, *parts: Any) -> T:
        """Builds the object of a run.

        Raises:
            BrokenPlugin: the object lacks methods.
        """
        built: T = self.cls.build(self.options, *parts)  # type: ignore[attr-defined]
        verify(built, self.kind.base, self.label)
        return built


def make(kind: PluginKind[T], options: Mapping[str, Any]) -> ChosenPlugin[T]:
    """Loads the plugin that a configuration section names, and reads its options.

    Args:
        kind: the kind of plugin.
        options: the plugin's ``name`` and its options. The name is registered, "module:Class" or
            "./file.py:Class".

    Raises:
        UnknownName: no plugin has this name.
        ArgumentError: a file or a module without a class.
        ConfigError: an option is unknown, or has an invalid value.
        BrokenPlugin: the plugin does not import, is no plugin of this kind, or lacks methods; or
            its options cannot be created.
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
    _require(cls, kind.base, label)
    if found is None and not cls.__module__.startswith("agentgym_train."):
        _by_place[name] = cls
    try:
        made: Any = build(options_class(cls), rest, section=kind.section)
    except AgentGymError:
        raise
    except Exception as error:
        raise BrokenPlugin(f"{label} cannot be made: {error!r}") from error
    return ChosenPlugin(kind, cls, made, label)


def make_object(kind: PluginKind[T], options: Mapping[str, Any], *parts: Any) -> T:
    """Does :func:`make` and then :meth:`ChosenPlugin.build`."""
    return make(kind, options).build(*parts)


def options_class(cls: Any) -> type:
    """Returns the dataclass of a plugin's options: its ``Options``, or the plugin itself."""
    if cls.Options is not None:
        nested: type = cls.Options
        return nested
    own: type = cls
    return own if is_dataclass(cls) else NoOptions


def make_parts(
    kind: PluginKind[T], tables: Sequence[Mapping[str, Any]], *, whole: type, called: str
) -> tuple[tuple[ChosenPlugin[T], ...], tuple[dict[str, Any], ...]]:
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
    if any(part.cls is whole for part in made):
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
    made = make_object(ALGORITHM, options)
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


def _require(cls: Any, base: Any, label: str) -> None:
    """Rejects what is no plugin of a kind, or has abstract methods, or fields without a dataclass.

    A plugin with a ``build`` of its own can return an object of another class.
    """
    if not isinstance(cls, type):
        raise BrokenPlugin(f"{label}: {cls!r} is not a class")
    if not issubclass(cls, base):
        raise BrokenPlugin(
            f"{label}: {cls.__name__} is not a subclass of agentgym_train.{base.__name__}"
        )
    plugin: Any = cls
    if plugin.Options is not None and not is_dataclass(plugin.Options):
        raise BrokenPlugin(f"{label}: {cls.__name__}.Options is not a dataclass")
    own = [
        name
        for name, hint in inspect.get_annotations(cls).items()
        if not (hasattr(base, name) or "ClassVar" in str(hint))
    ]
    if own and plugin.Options is None and "__dataclass_fields__" not in vars(cls):
        raise BrokenPlugin(
            f"{label}: {cls.__name__} has the fields {', '.join(own)} and is not a dataclass; write"
            " @dataclass(frozen=True, kw_only=True) above it"
        )
    if not inspect.ismethod(plugin.build):
        raise BrokenPlugin(
            f"{label}: {cls.__name__}.build is not a class method; it gets the options, and returns"
            f" the {base.__name__}"
        )
    own_build = plugin.build.__func__ is not base.build.__func__
    abstract = () if own_build and options_class(cls) is not cls else plugin.__abstractmethods__
    if missing := [name for kind in cls.__mro__ for name in vars(kind) if name in abstract]:
        raise BrokenPlugin(f"{label}: {cls.__name__} lacks {', '.join(dict.fromkeys(missing))}")


def _members(base: type) -> list[tuple[str, Any]]:
    """Returns the public members of a base class and of its bases, without its class methods."""
    found = {
        name: member
        for kind in reversed(base.__mro__[:-1])
        for name, member in vars(kind).items()
        if name[0] != "_" and name != "Options" and not isinstance(member, classmethod)
    }
    return list(found.items())


def _fits(made: object, name: str, member: Any) -> bool:
    return hasattr(made, name) and (not inspect.isfunction(member) or callable(getattr(made, name)))


def resolved(config: S) -> S:
    """Returns the configuration with every option of its plugins written out."""
    full: dict[str, Any] = {"tracker": _tables(TRACKER, config.tracker)}
    if policy := config.policy:
        agent = str(policy.agent.get("name", ""))
        if is_place(agent):
            _by_place[agent] = load_agent(policy.agent).target
        algorithm = _corrected(policy.algorithm, ahead=bool(policy.rollout.ahead))
        single = bool(policy.curriculum) or not all(env.curriculum for env in policy.envs)
        tables = zip(_sections("env", len(policy.envs)), policy.envs, strict=True)
        full |= {
            "algorithm": options(algorithm, make(ALGORITHM, algorithm)),
            "curriculum": _curriculum(policy.curriculum) if single else {},
            "envs": tuple(
                replace(
                    env,
                    curriculum=env.curriculum
                    and _curriculum(env.curriculum, f"{table}.curriculum"),
                )
                for table, env in tables
            ),
            "generator": options(policy.generator, make(GENERATOR, policy.generator)),
            "source": options(policy.source, make(SOURCE, policy.source)),
            "scorer": _tables(SCORER, policy.scorer),
        }
    return replace(config, **full)


def _corrected(algorithm: Mapping[str, Any], *, ahead: bool) -> dict[str, Any]:
    """Returns an algorithm's options; ahead, the importance weights are on unless they are set."""
    has_cap = hasattr(make_algorithm(algorithm), "importance_cap")
    return ({"importance_cap": AHEAD_CAP} if ahead and has_cap else {}) | dict(algorithm)


def _curriculum(table: Mapping[str, Any], section: str = CURRICULUM.section) -> dict[str, Any]:
    return options(table, make(replace(CURRICULUM, section=section), table))


def _tables(kind: PluginKind[Any], tables: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    named = zip(_sections(kind.section, len(tables)), tables, strict=True)
    return [options(table, make(replace(kind, section=section), table)) for section, table in named]


def _sections(section: str, count: int) -> list[str]:
    """Returns the names of a section's tables in messages, numbered if there are several."""
    return [f"{section}.{number}" for number in range(count)] if count > 1 else [section] * count


def options(section: Mapping[str, Any], plugin: ChosenPlugin[Any]) -> dict[str, Any]:
    """Returns a section with all options of its plugin, defaults included, as plain data.

    Options with the value None are left out, since TOML cannot express None.
    """
    made = plugin.options
    names = {f.name for f in fields(made) if f.init}
    plain: dict[str, Any] = pydantic.TypeAdapter(type(made)).dump_python(
        made, mode="json", include=names
    )
    return {"name": section["name"], **without_none(plain)}


def code(config: SharedSettings) -> dict[str, str]:
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
