"""Registers all environment entry points, ours and the plugins', with Gymnasium. The entry point is the only table.

    "you/Echo-v0" = "you_echo:EchoEnv [voice, horizon-40]"

says all that must be known before anything is imported: the id, the class, the extra of the distribution that it needs, and its
step limit (``max_episode_steps``). With ``game`` among the options the class is a :class:`agentgym_envs.multi.TextGame`, and the id
makes an environment of one or more of its seats.
"""

import inspect
import re
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any, NoReturn

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator

from agentgym_envs import plugins
from agentgym_envs.errors import AgentGymError, ArgumentError, BrokenPlugin, EnvRaised, UnknownName, message_of, pip_command
from agentgym_envs.plugins import ENVIRONMENTS, Plugin, discover

DEFAULT_HORIZON = 50  # max_episode_steps of an entry point that does not say
_ID = re.compile(r"[\w-]+/[\w.-]+-v\d+")
_HORIZON, _GAME = "horizon-", "game"
_SEATS = "agentgym_envs.multi.env:SeatsEnv"  # what makes an environment of a game


def register_all() -> None:
    """Registers every environment with Gymnasium; imports none of them, and none keeps the others from being there."""
    for env_id, plugin in discover(ENVIRONMENTS).items():
        if env_id in gymnasium.registry:
            continue
        wrong = _misdeclared(plugin)
        with suppress(gymnasium.error.Error):  # Gymnasium cannot hold such an id: fault() says so
            gymnasium.register(
                env_id,
                entry_point=partial(_refuse, wrong) if wrong else _maker(plugin),
                kwargs={"game": env_id} if is_game(plugin) else {},
                max_episode_steps=None if wrong else _horizon(plugin),
                # A module-level __getattr__ turns the id into a constructor: make_vec does not say which id it makes.
                vector_entry_point=f"agentgym_envs.vector:{env_id}",
            )


def fault(plugin: Plugin) -> AgentGymError | None:
    """Returns what is wrong with how an environment is registered, or None; imports nothing."""
    if wrong := _misdeclared(plugin):
        return wrong
    taken = gymnasium.registry.get(plugin.name)
    if taken is None or taken.entry_point != _maker(plugin) or (is_game(plugin) and taken.kwargs != {"game": plugin.name}):
        holder = f"{taken.entry_point} has" if taken else "Gymnasium does not take"
        return BrokenPlugin(f"{plugins.distribution(plugin)} registers {plugin.name!r}, an id that {holder}")
    return None


def spec(env_id: str) -> EnvSpec:
    """Returns the spec of a registered id, also in the form "module:id".

    Raises:
        UnknownName: no such id; says what exists and the nearest.
        DuplicateName: two distributions register it.
        BrokenPlugin: its registration is wrong, or the module named does not import.
    """
    module, _, name = env_id.rpartition(":")
    if module:
        try:
            import_module(module)
        except (Exception, SystemExit) as error:
            raise BrokenPlugin(f"{env_id}: module {module!r} fails to import: {error!r}") from error
    plugin = discover(ENVIRONMENTS).get(name)
    if plugin and (wrong := fault(plugin)):
        raise wrong
    try:
        return gymnasium.spec(name)
    except gymnasium.error.Error as error:
        raise UnknownName("environment", env_id, discover(ENVIRONMENTS)) from error


def make(env_id: str, **kwargs: Any) -> gymnasium.Env[str, str]:
    """Makes an environment, as ``gymnasium.make`` does, with errors of one line.

    Raises:
        UnknownName: no such id; says what exists and the nearest.
        BrokenPlugin: it cannot be imported, or lacks a method.
        ArgumentError: a keyword that the environment does not take.
        EnvRaised: its constructor raised.
    """
    _creator(env_id)
    try:
        return gymnasium.make(env_id, **kwargs)
    except AgentGymError:
        raise
    except (Exception, SystemExit) as error:
        raise _failure(env_id, kwargs, error) from error


def is_game(plugin: Plugin) -> bool:
    """Says whether an entry point is a game of several seats."""
    return _GAME in plugin.options


def takes(env_id: str, keyword: str) -> bool:
    """Says whether an environment's constructor has a keyword.

    Raises:
        UnknownName: no such id.
        BrokenPlugin: it cannot be imported.
    """
    parameters = inspect.signature(_creator(env_id)).parameters
    return keyword in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def named(env_id: str) -> str:
    """Returns an id, without the module to import, and the distribution that it comes from: the subject of an error."""
    name = env_id.rpartition(":")[2]
    plugin = discover(ENVIRONMENTS).get(name)
    return f"{name} of {plugins.distribution(plugin)}" if plugin else name


def install_command(plugin: Plugin) -> str | None:
    """Returns the command that installs what an environment needs and is not there, or None."""
    package = plugin.points[0].dist
    requires = (package.requires if package else None) or []
    for extra in (o for o in plugin.options if o != _GAME and not o.startswith(_HORIZON)):
        marker = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
        names = [re.split(r"[^\w.-]", r, maxsplit=1)[0] for r in requires if marker.search(r)]
        if not all(map(_installed, names)):
            return pip_command(extra, plugins.distribution(plugin))
    return None


def _misdeclared(plugin: Plugin) -> AgentGymError | None:
    """Returns what is wrong with an entry point itself."""
    if wrong := plugin.fault():
        return wrong
    if wrong_id := _wrong_id(plugin):  # the distribution is read for an error alone: its metadata are parsed anew each time
        return BrokenPlugin(f"{plugins.distribution(plugin)} registers {plugin.name!r}{wrong_id}")
    return None


def _wrong_id(plugin: Plugin) -> str:
    """Says what is wrong with an entry point's id or its horizon; empty if nothing is."""
    if not _ID.fullmatch(plugin.name):
        return ", which is no id: one is like 'you/Name-v0'"
    horizons = [o for o in plugin.options if o.startswith(_HORIZON)]
    if len(horizons) > 1:
        return f" with two horizons: {', '.join(horizons)}"
    wrong = next((o for o in horizons if not re.fullmatch(r"[1-9]\d*", o.removeprefix(_HORIZON))), None)
    return f" with {wrong!r}: a horizon is a positive whole number" if wrong else ""


def _maker(plugin: Plugin) -> str:
    return _SEATS if is_game(plugin) else plugin.target


def _horizon(plugin: Plugin) -> int:
    given = [int(o.removeprefix(_HORIZON)) for o in plugin.options if o.startswith(_HORIZON)]
    return given[0] if given else DEFAULT_HORIZON


def _creator(env_id: str) -> Any:
    """Imports what makes an environment."""
    point = spec(env_id).entry_point
    try:
        return load_env_creator(point) if isinstance(point, str) else point
    except (Exception, SystemExit) as error:
        raise BrokenPlugin(f"{named(env_id)} fails to import: {error!r}") from error


def _failure(env_id: str, kwargs: dict[str, Any], error: BaseException) -> AgentGymError:
    """Says whose fault it is that a constructor raised: the caller's, if it does not know one of the keywords."""
    cause = error.__cause__ if isinstance(error, TypeError) and error.__cause__ else error  # Gymnasium raises it a second time
    unknown = re.search(r"unexpected keyword argument '(\w+)'", message_of(cause))
    if unknown and unknown[1] in kwargs:
        return ArgumentError(f"{env_id} does not take {unknown[1]!r}")
    return EnvRaised.of(named(env_id), cause)


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _refuse(wrong: AgentGymError, **kwargs: Any) -> NoReturn:
    """Stands for an environment whose registration is wrong."""
    raise wrong
