"""Registers all environment entry points, built-in and of plugins, with Gymnasium.

An entry point holds everything that must be known before the import:

    "you/Echo-v0" = "you_echo:EchoEnv [voice, horizon-40]"

These are the id, the class, the extra of the distribution that the class needs, and the step limit
(``max_episode_steps``). If the distribution has no such extra, it is one of agentgym-envs. With the
option ``game`` the class is a :class:`agentgym_envs.multi.TextGame`, and the id makes an
environment of one or more of its seats. An entry point with the option ``placeholder`` gives way to
another distribution's of the same id.

Three forms of an id need no entry point. ``module:id`` imports a module that registers the id with
Gymnasium. ``module:Class`` and ``./file.py:Class`` name a class, whose step limit is
``DEFAULT_HORIZON``. The module can be in the working directory.
"""

import inspect
import re
from contextlib import suppress
from functools import partial
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from types import ModuleType
from typing import Any, NoReturn

import gymnasium
from gymnasium.envs.registration import EnvSpec

from agentgym_envs import plugins
from agentgym_envs.errors import (
    AgentGymError,
    ArgumentError,
    BrokenPlugin,
    EnvRaised,
    UnknownName,
    message_of,
    not_taken,
    pip_command,
)
from agentgym_envs.plugins import ENVIRONMENTS, PLACEHOLDER, Plugin, discover

OURS = "agentgym-envs"
DEFAULT_HORIZON = 50  # max_episode_steps of an entry point without a horizon
_ID = re.compile(r"[\w-]+/[\w.-]+-v\d+")
_HORIZON, _GAME = "horizon-", "game"
_SEATS = "agentgym_envs.multi.env:SeatsEnv"  # turns a game into an environment


def register_all() -> None:
    """Registers every environment with Gymnasium, without importing it.

    A wrong entry point does not stop the registration of the others.
    """
    for env_id, plugin in discover(ENVIRONMENTS).items():
        if env_id in gymnasium.registry:
            continue
        wrong = _misdeclared(plugin)
        with suppress(gymnasium.error.Error):  # Gymnasium rejects this id: fault() reports it
            gymnasium.register(
                env_id,
                entry_point=partial(_refuse, wrong) if wrong else _maker(plugin),
                kwargs={"game": env_id} if is_game(plugin) else {},
                max_episode_steps=None if wrong else _horizon(plugin),
                # make_vec does not pass the id, so a module-level __getattr__ turns it into a
                # constructor.
                vector_entry_point=f"agentgym_envs.vector:{env_id}",
            )


def fault(plugin: Plugin) -> AgentGymError | None:
    """Returns the error in an environment's registration, or None. Imports nothing."""
    if wrong := _misdeclared(plugin):
        return wrong
    taken = gymnasium.registry.get(plugin.name)
    if (
        taken is None
        or taken.entry_point != _maker(plugin)
        or (is_game(plugin) and taken.kwargs != {"game": plugin.name})
    ):
        holder = f"{taken.entry_point} has" if taken else "Gymnasium does not take"
        return BrokenPlugin(
            f"{plugins.distribution(plugin)} registers {plugin.name!r}, an id that {holder}"
        )
    return None


def spec(env_id: str) -> EnvSpec:
    """Returns the spec of an environment.

    Args:
        env_id: a registered id, "module:id", "module:Class" or "./file.py:Class".

    Raises:
        UnknownName: no such id or class; the message lists the known ones and the nearest.
        ArgumentError: a file without a class.
        DuplicateName: two distributions register it.
        BrokenPlugin: its registration is wrong, the module named does not import, or the object is
            not a class of an environment.
    """
    source, _, name = env_id.rpartition(":")
    if source:
        try:
            module = plugins.import_source(source)
        except (Exception, SystemExit) as error:
            who = f"{env_id}: module {source!r} fails to import"
            raise plugins.broken_import(who, source, error) from error
        if names_class(env_id):
            return _spec_of_class(module, name)
    if name.endswith(".py"):
        raise ArgumentError(f"{env_id!r} names no class; write {env_id}:Class")
    plugin = discover(ENVIRONMENTS).get(name)
    if plugin and (wrong := fault(plugin)):
        raise wrong
    try:
        return gymnasium.spec(name)
    except gymnasium.error.Error as error:
        known = (_registered_by(source) if source else ()) or discover(ENVIRONMENTS)
        raise UnknownName("environment", env_id, known) from error


def make(env_id: str, **kwargs: Any) -> gymnasium.Env[str, str]:
    """Makes an environment, as ``gymnasium.make`` does, but with one-line errors.

    Raises:
        UnknownName: no such id; the message lists the known ids and the nearest.
        BrokenPlugin: it cannot be imported, or lacks a method.
        ArgumentError: a keyword that the environment does not take.
        EnvRaised: its constructor raised.
    """
    _creator(env_id)
    try:
        return gymnasium.make(spec(env_id), **kwargs)
    except AgentGymError:
        raise
    except (Exception, SystemExit) as error:
        raise _failure(env_id, kwargs, error) from error


def names_class(env_id: str) -> bool:
    """Returns whether an id has the form "module:Class" or "./file.py:Class"."""
    source, _, name = env_id.rpartition(":")
    return bool(source) and name.isidentifier() and name not in gymnasium.registry


def author_class(env_id: str) -> Any:
    """Imports the class behind an id; for a game it is the game's class.

    Raises:
        AgentGymError: see :func:`spec`; or the class cannot be imported.
    """
    plugin = discover(ENVIRONMENTS).get(spec(env_id).id)
    if plugin:
        return plugin.load()
    source, _, name = env_id.rpartition(":")
    if names_class(env_id):
        return getattr(plugins.import_source(source), name)
    return _creator(env_id)


def is_game(plugin: Plugin) -> bool:
    """Returns whether an entry point is a game of several seats."""
    return _GAME in plugin.options


def has_seats(env_id: str) -> bool:
    """Returns whether an id is a game of several seats.

    Raises:
        AgentGymError: see :func:`spec`.
    """
    return spec(env_id).entry_point == _SEATS


def takes(env_id: str, keyword: str) -> bool:
    """Returns whether an environment's constructor has a keyword.

    Raises:
        UnknownName: no such id.
        BrokenPlugin: it cannot be imported.
    """
    parameters = inspect.signature(_creator(env_id)).parameters
    return keyword in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def render_modes(env_id: str) -> list[str]:
    """Returns the render modes in the metadata of an environment's class.

    Raises:
        UnknownName: no such id.
        BrokenPlugin: it cannot be imported.
    """
    return list(getattr(_creator(env_id), "metadata", {}).get("render_modes", ()))


def named(env_id: str) -> str:
    """Returns an id and its distribution, as the subject of an error message.

    A "module:" prefix of the id is left out.
    """
    name = env_id.rpartition(":")[2]
    plugin = discover(ENVIRONMENTS).get(name)
    return f"{name} of {plugins.distribution(plugin)}" if plugin else name


def extras(plugin: Plugin) -> list[str]:
    """Returns the extras that an environment needs, of :func:`provider`."""
    return [
        option
        for option in plugin.options
        if option not in (_GAME, PLACEHOLDER) and not option.startswith(_HORIZON)
    ]


def provider(plugin: Plugin) -> str:
    """Returns the distribution whose extras an environment needs.

    It is the environment's own, or agentgym-envs if its own has no such extra.
    """
    own = plugin.points[0].dist
    has_all = all(_packages_of(own, extra) for extra in extras(plugin))
    return plugins.distribution(plugin) if has_all else OURS


def requirements(plugin: Plugin) -> dict[str, list[str]]:
    """Returns the packages that an environment needs beside its distribution, by extra."""
    names = extras(plugin)
    ours = names and provider(plugin) == OURS
    package = distribution(OURS) if ours else plugin.points[0].dist
    return {extra: _packages_of(package, extra) for extra in names}


def _packages_of(package: Distribution | None, extra: str) -> list[str]:
    """Returns the packages that an extra of a distribution installs."""
    marker = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
    requires = (package.requires if package else None) or []
    return [re.split(r"[^\w.-]", r, maxsplit=1)[0] for r in requires if marker.search(r)]


def missing_extra(plugin: Plugin) -> str | None:
    """Returns the extra of an environment whose packages are missing, or None."""
    found = requirements(plugin).items()
    return next((extra for extra, names in found if not all(map(_installed, names))), None)


def install_command(plugin: Plugin) -> str | None:
    """Returns the command that installs an environment's missing packages, or None."""
    extra = missing_extra(plugin)
    return None if extra is None else pip_command(extra, provider(plugin))


def _spec_of_class(module: ModuleType, name: str) -> EnvSpec:
    """Returns the spec of a class that is not registered."""
    from agentgym_envs.core import TextEnv
    from agentgym_envs.multi.game import TextGame

    found, env_id = getattr(module, name, None), f"{module.__name__}:{name}"
    if found is None:
        classes = [
            key
            for key, value in vars(module).items()
            if inspect.isclass(value)
            and issubclass(value, TextEnv | TextGame)
            and value.__module__ == module.__name__
        ]
        raise UnknownName(f"environment of {module.__name__}", name, classes)
    if not (inspect.isclass(found) and issubclass(found, gymnasium.Env | TextGame)):
        raise BrokenPlugin(f"{env_id} is neither a TextEnv nor a TextGame: {found!r}")
    game = issubclass(found, TextGame)
    return EnvSpec(
        env_id,
        entry_point=_SEATS if game else env_id,
        kwargs={"game": env_id} if game else {},
        max_episode_steps=DEFAULT_HORIZON,
        vector_entry_point=f"agentgym_envs.vector:{module.__name__}/{name}",
    )


def _misdeclared(plugin: Plugin) -> AgentGymError | None:
    """Returns the error in an entry point's name or value, or None."""
    if wrong := plugin.fault():
        return wrong
    if wrong_id := _wrong_id(plugin):  # reading the distribution is slow, so only an error does it
        return BrokenPlugin(f"{plugins.distribution(plugin)} registers {plugin.name!r}{wrong_id}")
    return None


def _wrong_id(plugin: Plugin) -> str:
    """Returns the error in an entry point's id or horizon; empty if both are right."""
    if not _ID.fullmatch(plugin.name):
        return ", which is no id: one is like 'you/Name-v0'"
    horizons = [o for o in plugin.options if o.startswith(_HORIZON)]
    if len(horizons) > 1:
        return f" with two horizons: {', '.join(horizons)}"
    wrong = next(
        (o for o in horizons if not re.fullmatch(r"[1-9]\d*", o.removeprefix(_HORIZON))), None
    )
    return f" with {wrong!r}: a horizon is a positive whole number" if wrong else ""


def _maker(plugin: Plugin) -> str:
    return _SEATS if is_game(plugin) else plugin.target


def _horizon(plugin: Plugin) -> int:
    given = [int(o.removeprefix(_HORIZON)) for o in plugin.options if o.startswith(_HORIZON)]
    return given[0] if given else DEFAULT_HORIZON


def _creator(env_id: str) -> Any:
    """Imports the constructor of an environment."""
    point = spec(env_id).entry_point
    if not isinstance(point, str):
        return point
    return plugins.imported(f"{named(env_id)} fails to import", point)


def _registered_by(module: str) -> list[str]:
    """Returns the ids that a module, or another one of its package, has registered."""
    package = module.partition(".")[0]
    points = {env_id: spec.entry_point for env_id, spec in gymnasium.registry.items()}
    places = {
        i: p if isinstance(p, str) else getattr(p, "__module__", "") for i, p in points.items()
    }
    return [i for i, place in places.items() if re.split("[.:]", place)[0] == package]


def _keywords(creator: Any) -> set[str]:
    """Returns the keywords of a constructor, those that it passes to base classes included."""
    kinds = creator.__mro__ if inspect.isclass(creator) else ()
    names = set[str]()
    for function in [vars(kind)["__init__"] for kind in kinds if "__init__" in vars(kind)] or [
        creator
    ]:
        parameters = inspect.signature(function).parameters.values()
        names |= {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    return names - {"self"}


def _failure(env_id: str, kwargs: dict[str, Any], error: BaseException) -> AgentGymError:
    """Returns the error for a constructor that raised.

    An unknown keyword is the caller's error; any other exception is the environment's.
    """
    # Gymnasium raises a TypeError a second time.
    cause = error.__cause__ if isinstance(error, TypeError) and error.__cause__ else error
    unknown = re.search(r"unexpected keyword argument '(\w+)'", message_of(cause))
    if unknown and unknown[1] in kwargs:
        return not_taken(env_id, unknown[1], _keywords(_creator(env_id)))
    return EnvRaised.of(named(env_id), cause)


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _refuse(wrong: AgentGymError, **kwargs: Any) -> NoReturn:
    """Replaces the constructor of an environment whose registration is wrong."""
    raise wrong
