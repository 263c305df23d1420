"""The trainer's entry-point groups; discovery and errors are those of ``agentgym_envs.plugins``."""

import inspect
import traceback
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import pydantic

from agentgym_envs.errors import AgentGymError, BrokenPlugin
from agentgym_envs.plugins import Plugin, discover, distribution, load
from agentgym_train.config import Config, build
from agentgym_train.errors import ConfigError

if TYPE_CHECKING:  # they import torch, which listing plugins does not need
    from agentgym_train.protocols import Algorithm, Curriculum, GeneratorPlugin

GROUPS = {
    "algorithm": "agentgym_train.algorithms",
    "curriculum": "agentgym_train.curricula",
    "generator": "agentgym_train.generators",
}
OURS = "agentgym-train"


def make_algorithm(options: Mapping[str, Any]) -> "Algorithm":
    """Builds the algorithm that a configuration section describes.

    Raises:
        UnknownName: no such plugin.
        ConfigError: an option that it does not have, or a value that it cannot have.
        BrokenPlugin: it does not import, is no dataclass, cannot be made, or lacks methods.
    """
    from agentgym_train.protocols import STREAMS, Algorithm

    made: Algorithm = _make("algorithm", options, Algorithm)
    if unknown := sorted(set(made.needs) - STREAMS.keys()):
        raise BrokenPlugin(f"{title(made)} needs the stream {unknown[0]!r}, which nobody fills; there are: {', '.join(STREAMS)}")
    return made


def make_curriculum(options: Mapping[str, Any]) -> "Curriculum":
    """Builds the curriculum that a configuration section describes; raises as :func:`make_algorithm`."""
    from agentgym_train.protocols import Curriculum

    made: Curriculum = _make("curriculum", options, Curriculum)
    return made


def make_generator(options: Mapping[str, Any]) -> "GeneratorPlugin":
    """Builds the generator's options that a configuration section describes; raises as :func:`make_algorithm`."""
    from agentgym_train.protocols import GeneratorPlugin

    made: GeneratorPlugin = _make("generator", options, GeneratorPlugin)
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


def resolved(config: Config) -> Config:
    """Returns the configuration with every option of its plugins written out."""
    return replace(
        config,
        algorithm=_options(config.algorithm, make_algorithm(config.algorithm)),
        curriculum=_options(config.curriculum, make_curriculum(config.curriculum)),
        generator=_options(config.generator, make_generator(config.generator)),
    )


def title(plugin: object) -> str:
    """Returns what messages call a plugin's instance: its registered name and its distribution."""
    for group in GROUPS.values():
        for found in discover(group).values():
            if type(plugin).__module__.startswith(_module(found)) and found.load() is type(plugin):
                return _title(found)
    return type(plugin).__name__


def culprit(error: BaseException) -> str | None:
    """Returns the third-party plugin in whose code an error was raised, or None."""
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    theirs = [found for group in GROUPS.values() for found in discover(group).values() if distribution(found) != OURS]
    for module in reversed(modules):
        near = [found for found in theirs if _module(found).partition(".")[0] == module.partition(".")[0]]
        for found in sorted(near, key=lambda found: _module(found) != module):
            return _title(found)
    return None


def _make(kind: str, options: Mapping[str, Any], protocol: type) -> Any:
    rest = dict(options)
    name = rest.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError(f"configuration key '{kind}.name' must be one of {', '.join(discover(GROUPS[kind]))}, not {name!r}")
    cls = load(GROUPS[kind], name)
    who = _title(discover(GROUPS[kind])[name])
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise BrokenPlugin(f"{who}: {cls!r} is no dataclass, whose fields would be its options")
    try:
        made = build(cls, rest, section=kind)
    except AgentGymError:
        raise
    except Exception as error:
        raise BrokenPlugin(f"{who} cannot be made: {error!r}") from error
    verify(made, protocol, who)
    return made


def _title(plugin: Plugin) -> str:
    return f"{plugin.name} of {distribution(plugin)}"


def _module(plugin: Plugin) -> str:
    return plugin.target.partition(":")[0]


def _options(section: Mapping[str, Any], made: Any) -> dict[str, Any]:
    """Returns a section with all options of its plugin, defaults included, as plain data."""
    names = {f.name for f in fields(made) if f.init}
    plain: dict[str, Any] = pydantic.TypeAdapter(type(made)).dump_python(made, mode="json", include=names)
    return {"name": section["name"], **plain}
