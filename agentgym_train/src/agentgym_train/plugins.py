"""The trainer's entry-point groups; discovery and errors are those of ``agentgym_envs.plugins``."""

import inspect
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pydantic

from agentgym_envs.errors import AgentGymError, BrokenPlugin
from agentgym_envs.plugins import Plugin, discover, distribution, load
from agentgym_train.config import Config, Settings, build, without_none
from agentgym_train.errors import ConfigError

if TYPE_CHECKING:
    from agentgym_train import protocols

T = TypeVar("T")
S = TypeVar("S", bound=Settings)
OURS = "agentgym-train"


@dataclass(frozen=True)
class Kind(Generic[T]):
    """What plugins of an entry-point group are.

    Attributes:
        section: of the configuration that names one.
        group: of entry points.
        protocol: its name in ``protocols``, which imports torch: listing plugins does not need that.
        many: a configuration has any number of them, in ``[[section]]`` tables.
    """

    section: str
    group: str
    protocol: str
    many: bool = False


ALGORITHM: "Kind[protocols.Algorithm]" = Kind("algorithm", "agentgym_train.algorithms", "Algorithm")
CURRICULUM: "Kind[protocols.Curriculum]" = Kind("curriculum", "agentgym_train.curricula", "Curriculum")
GENERATOR: "Kind[protocols.GeneratorPlugin]" = Kind("generator", "agentgym_train.generators", "GeneratorPlugin")
SOURCE: "Kind[protocols.SourcePlugin]" = Kind("source", "agentgym_train.sources", "SourcePlugin")
SCORER: "Kind[protocols.ScorerPlugin]" = Kind("scorer", "agentgym_train.scorers", "ScorerPlugin", many=True)
TRACKER: "Kind[protocols.Tracker]" = Kind("tracker", "agentgym_train.trackers", "Tracker", many=True)
KINDS: tuple[Kind[Any], ...] = (ALGORITHM, CURRICULUM, GENERATOR, SOURCE, SCORER, TRACKER)


def make(kind: Kind[T], options: Mapping[str, Any]) -> T:
    """Builds the plugin that a configuration section describes.

    Args:
        kind: of which kind.
        options: its ``name`` and its own options.

    Raises:
        UnknownName: no such plugin.
        ConfigError: an option that it does not have, or a value that it cannot have.
        BrokenPlugin: it does not import, is no dataclass, cannot be made, or lacks methods.
    """
    from agentgym_train import protocols

    rest = dict(options)
    name = rest.pop("name", None)
    if not isinstance(name, str):
        known = ", ".join(discover(kind.group))
        raise ConfigError(f"configuration key '{kind.section}.name' must be one of {known}, not {name!r}")
    cls = load(kind.group, name)
    who = _title(discover(kind.group)[name])
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise BrokenPlugin(f"{who}: {cls!r} is no dataclass, whose fields would be its options")
    try:
        made: Any = build(cls, rest, section=kind.section)
    except AgentGymError:
        raise
    except Exception as error:
        raise BrokenPlugin(f"{who} cannot be made: {error!r}") from error
    verify(made, getattr(protocols, kind.protocol), who)
    checked: T = made
    return checked


def make_parts(
    kind: Kind[T], tables: Sequence[Mapping[str, Any]], *, whole: type, called: str
) -> tuple[tuple[T, ...], tuple[dict[str, Any], ...]]:
    """Builds the plugins that another of their kind is made of.

    Args:
        kind: of which kind.
        tables: such as that of a plugin alone.
        whole: what is made of them, and may not be one of them.
        called: what messages call it.

    Returns:
        The plugins, and their tables with every option written out.

    Raises:
        AgentGymError: as :func:`make`, with the part's number, or a part that is such a whole itself.
    """
    key = f"{kind.section}.parts"
    made = tuple(make(replace(kind, section=f"{key}.{number}"), table) for number, table in enumerate(tables))
    if any(isinstance(part, whole) for part in made):
        raise ConfigError(f"configuration key {key!r}: a part is {called} itself: list its parts in its place")
    return made, tuple(options(table, part) for table, part in zip(tables, made, strict=True))


def make_algorithm(options: Mapping[str, Any]) -> "protocols.Algorithm":
    """Builds an algorithm; raises as :func:`make` does, and BrokenPlugin for a stream that nobody fills."""
    from agentgym_train.protocols import STREAMS

    made = make(ALGORITHM, options)
    if unknown := sorted(set(made.needs) - STREAMS.keys()):
        raise BrokenPlugin(f"{title(made)} needs the stream {unknown[0]!r}, which nobody fills; there are: {', '.join(STREAMS)}")
    return made


def verify(made: object, protocol: type, who: str) -> None:
    """Refuses an object that lacks what a protocol asks for; a method that is only inherited from the protocol is lacking.

    Raises:
        BrokenPlugin: names what is missing.
    """
    methods = {name: member for name, member in vars(protocol).items() if inspect.isfunction(member) and name[0] != "_"}
    own = {name for name, member in methods.items() if getattr(type(made), name, member) is not member}
    missing = [name for name in methods if name not in own or not callable(getattr(made, name))]
    promised = [*inspect.get_annotations(protocol), *(n for n, member in vars(protocol).items() if isinstance(member, property))]
    missing += [name for name in promised if not hasattr(made, name)]
    if missing:
        raise BrokenPlugin(f"{who}: {type(made).__name__} lacks {', '.join(missing)} of the protocol {protocol.__name__}")


def resolved(config: S) -> S:
    """Returns the configuration with every option of its plugins written out."""
    config = replace(config, tracker=_tables(TRACKER, config.tracker))
    if not isinstance(config, Config):
        return config
    return replace(
        config,
        algorithm=options(config.algorithm, make_algorithm(config.algorithm)),
        curriculum=_curriculum(config.curriculum) if config.curriculum or not all(e.curriculum for e in config.envs) else {},
        envs=tuple(
            replace(env, curriculum=env.curriculum and _curriculum(env.curriculum, f"{table}.curriculum"))
            for table, env in zip(_sections("env", len(config.envs)), config.envs, strict=True)
        ),
        generator=options(config.generator, make(GENERATOR, config.generator)),
        source=options(config.source, make(SOURCE, config.source)),
        scorer=_tables(SCORER, config.scorer),
    )


def _curriculum(table: Mapping[str, Any], section: str = CURRICULUM.section) -> dict[str, Any]:
    return options(table, make(replace(CURRICULUM, section=section), table))


def _tables(kind: Kind[Any], tables: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    named = zip(_sections(kind.section, len(tables)), tables, strict=True)
    return [options(table, make(replace(kind, section=section), table)) for section, table in named]


def _sections(section: str, count: int) -> list[str]:
    """Returns what messages call tables of a section: with their number where there are several."""
    return [f"{section}.{number}" for number in range(count)] if count > 1 else [section] * count


def options(section: Mapping[str, Any], made: Any) -> dict[str, Any]:
    """Returns a section with every option of its plugin, defaults too, as plain data without None, for which TOML has no word."""
    names = {f.name for f in fields(made) if f.init}
    plain: dict[str, Any] = pydantic.TypeAdapter(type(made)).dump_python(made, mode="json", include=names)
    return {"name": section["name"], **without_none(plain)}


def title(plugin: object) -> str:
    """Returns what messages call a plugin's instance: its registered name and its distribution."""
    for kind in KINDS:
        for found in discover(kind.group).values():
            if type(plugin).__module__.startswith(_module(found)) and found.load() is type(plugin):
                return _title(found)
    return type(plugin).__name__


def culprit(error: BaseException) -> str | None:
    """Returns the third-party plugin in whose code an error was raised, or None."""
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    theirs = [found for kind in KINDS for found in discover(kind.group).values() if distribution(found) != OURS]
    for module in reversed(modules):
        near = [found for found in theirs if _module(found).partition(".")[0] == module.partition(".")[0]]
        for found in sorted(near, key=lambda found: _module(found) != module):
            return _title(found)
    return None


def _title(plugin: Plugin) -> str:
    return f"{plugin.name} of {distribution(plugin)}"


def _module(plugin: Plugin) -> str:
    return plugin.target.partition(":")[0]
