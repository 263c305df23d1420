"""Entry points, which register environments, algorithms, curricula and generators.

Listing never imports a plugin. Built-ins use the same entry-point groups as third-party packages.
An object in a module or a file can also be named by its place, without a registration.
"""

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

from agentgym_envs.errors import (
    AgentGymError,
    ArgumentError,
    BrokenPlugin,
    DuplicateName,
    UnknownName,
    hint,
    raised,
    some,
)
from agentgym_envs.processes import append_folder

log = logging.getLogger(__name__)

ENVIRONMENTS = "agentgym_envs.environments"
PLACEHOLDER = "placeholder"
"""The option of an entry point that gives way to another distribution's of the same name."""
_VALUE = re.compile(r"([\w.]+):([\w.]+)\s*(?:\[([^\]]*)\])?")  # module:Class [options]


class Plugin(NamedTuple):
    """A registered plugin.

    Attributes:
        name: its name, unique in its group.
        points: the entry points with this name. More than one is an installation error.
    """

    name: str
    points: tuple[EntryPoint, ...]

    @property
    def target(self) -> str:
        """``module:Class``."""
        return self.points[0].value.partition("[")[0].strip()

    @property
    def options(self) -> list[str]:
        """The options in brackets behind the target."""
        found = _VALUE.fullmatch(self.points[0].value)
        return [o.strip() for o in (found[3] or "").split(",") if o.strip()] if found else []

    def fault(self) -> AgentGymError | None:
        """Returns the error in the registration, or None."""
        if len(self.points) > 1:
            return DuplicateName(
                f"{self.name!r} is registered by both {distribution(self)}: uninstall one of them"
            )
        if not _VALUE.fullmatch(self.points[0].value):
            value = self.points[0].value
            return BrokenPlugin(
                f"{distribution(self)} registers {self.name!r} as {value!r}, which is not"
                " 'module:Class'"
            )
        return None

    def load(self) -> Any:
        """Imports the plugin.

        Raises:
            DuplicateName: several distributions register the name.
            BrokenPlugin: the import fails; the message names the distribution.
        """
        if wrong := self.fault():
            raise wrong
        return imported(f"{self.name} of {distribution(self)} fails to import", self.target)


@cache
def discover(group: str) -> dict[str, Plugin]:
    """Returns all plugins of a group by name, sorted.

    Nothing is imported. An error in a plugin's registration shows up when the plugin is used.
    """
    claims: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for point in _points(group):
        claims.setdefault(point.name, {}).setdefault((point.value, _owner(point)), point)
    found = {name: tuple(points.values()) for name, points in sorted(claims.items())}
    return {name: Plugin(name, _preferred(points)) for name, points in found.items()}


def _preferred(points: tuple[EntryPoint, ...]) -> tuple[EntryPoint, ...]:
    """Leaves out placeholders unless there is nothing else."""
    own = [point for point in points if PLACEHOLDER not in Plugin(point.name, (point,)).options]
    return tuple(own) or points


def load(group: str, name: str, who: str = "") -> Any:
    """Imports the plugin with a name.

    Args:
        group: the entry-point group.
        name: a name of the group, "module:name" or "./file.py:name".
        who: begins the message of an error in the module or the file.

    Raises:
        UnknownName: no such plugin; the message lists the known names and the nearest.
        DuplicateName: several distributions register the name.
        ArgumentError: a file or a module without a name in it.
        BrokenPlugin: the import fails; the message names the distribution, the module or the file.
    """
    found = discover(group)
    if name in found:
        return found[name].load()
    kind = group.rpartition(".")[2].removesuffix("s").replace("curricula", "curriculum")
    if not is_place(name):
        raise UnknownName(kind, name, found)
    who, (source, _, path) = who or f"{kind} {name!r}", name.rpartition(":")
    if not (source and path):
        raise ArgumentError(f"{who} is not of the form module:name or ./file.py:name")
    return imported(who, name, import_source)


def absolute(name: str, folder: str | os.PathLike[str] = "") -> str:
    """Returns "./file.py:name" with the absolute path of the file; other names as they are.

    Args:
        name: any name of a plugin.
        folder: a relative path begins here; by default at the working directory.
    """
    source, _, path = name.rpartition(":")
    if not source.endswith(".py"):
        return name
    return f"{os.path.abspath(os.path.join(folder, os.path.expanduser(source)))}:{path}"


def is_place(name: str) -> bool:
    """Returns whether a name is of the form "module:name" or "./file.py:name", not registered."""
    return ":" in name or name.endswith(".py")


def imported(who: str, target: str, importer: Callable[[str], ModuleType] = import_module) -> Any:
    """Imports the object of ``module:name``.

    Args:
        who: begins the message of an error.
        target: the module and the object's name, or names with dots between.
        importer: imports the module; :func:`import_source` finds the user's own.

    Raises:
        BrokenPlugin: the module does not import, or lacks the object.
    """
    module, _, path = target.rpartition(":")
    try:
        found: Any = importer(module)
    except (Exception, SystemExit) as error:
        raise broken_import(who, module, error) from error
    home = getattr(found, "__name__", module)
    for name in path.split("."):
        if not hasattr(found, name):
            members = getattr(found, "__dict__", {}).items()  # getattr could run code
            own = [key for key, value in members if _is_own(key, value, home)]
            raise BrokenPlugin(
                f"{who}: {module} has no attribute {name!r}.{hint(name, own)} It has: {some(own)}."
            )
        found = getattr(found, name)
    return found


def broken_import(who: str, module: str, error: BaseException) -> BrokenPlugin:
    """Returns the error for a module that does not import.

    Args:
        who: begins the message.
        module: the module.
        error: the exception of the import.
    """
    if isinstance(error, BrokenPlugin):
        return BrokenPlugin(f"{who}: {error}")
    missing = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
    if not (missing and f"{module}.".startswith(f"{missing}.")):
        return BrokenPlugin(f"{who}: {raised(error)}")
    parent, _, last = module.rpartition(".")
    folders = getattr(sys.modules.get(parent), "__path__", [os.getcwd()])
    near = hint(last, [found.name for found in iter_modules(folders)])
    return BrokenPlugin(
        f"{who}: No module named {module!r} in {os.getcwd()} or in an installed package.{near}"
    )


def _is_own(name: str, value: Any, module: str) -> bool:
    """Returns whether a user can mean an object: public, callable, and not imported."""
    return name[0] != "_" and callable(value) and getattr(value, "__module__", module) == module


def import_source(source: str) -> ModuleType:
    """Imports the part before the colon of ``module:name`` or ``./file.py:name``.

    The module can be in the working directory. A module of the standard library or of an installed
    package has precedence. A relative path begins at the working directory; ``~`` is the home.

    Raises:
        BrokenPlugin: the file does not exist, or another module has its name.
        Exception: anything that the module raises.
    """
    named_file = source.endswith(".py")
    place = os.path.abspath(os.path.expanduser(source))
    folder, file = os.path.split(place) if named_file else (os.getcwd(), "")
    if named_file and not os.path.isfile(place):
        near = hint(file, [path.name for path in Path(folder).glob("*.py")])
        relative = not os.path.isabs(os.path.expanduser(source))
        where = f" in {os.getcwd()!r}" if relative else ""
        raise BrokenPlugin(f"there is no file {source!r}{where}.{near or ' Correct the path.'}")
    append_folder(folder)
    append_folder(os.getcwd())
    invalidate_caches()
    module = import_module(file.removesuffix(".py") or source)
    found = getattr(module, "__file__", None) or ""
    if named_file and os.path.realpath(found) != os.path.realpath(place):
        raise BrokenPlugin(
            f"{source!r} has the name of another module, {found or module!r}; rename the file"
        )
    return module


def distribution(plugin: Plugin) -> str:
    """Returns the name of a plugin's distribution, or the names of all that register it."""
    return " and ".join(_owner(p) for p in plugin.points)


def _points(group: str) -> Iterator[EntryPoint]:
    """Yields the entry points of a group.

    One package with unreadable metadata makes ``importlib.metadata.entry_points`` raise for all.
    This function skips such a package with a warning.
    """
    seen: set[str] = set()
    for package in distributions():
        try:
            points = package.entry_points.select(group=group)
            name = re.sub(r"[-_.]+", "-", _name(package)).lower() if points else ""
        except Exception as error:
            log.warning(
                "%s is left out: its metadata cannot be read: %r",
                getattr(package, "_path", package),
                error,
            )
            continue
        # A package can appear twice (installed, on the path): use the first.
        if points and name not in seen:
            seen.add(name)
            yield from points


def _owner(point: EntryPoint) -> str:
    return _name(point.dist) if point.dist is not None else "an unknown distribution"


@cache
def _name(package: Distribution) -> str:
    return package.name  # parses all of its metadata
