"""Entry points: the one way in which environments, algorithms, curricula and generators become known.

Listing never imports a plugin. Built-ins are registered through the same groups as third-party packages.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from agentgym_envs.errors import BrokenPlugin, DuplicateName, UnknownName

ENVIRONMENTS = "agentgym_envs.environments"


@cache
def discover(group: str) -> dict[str, EntryPoint]:
    """Returns all entry points of a group by name, sorted.

    Raises:
        DuplicateName: two distributions register the same name.
    """
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        other = found.setdefault(point.name, point)
        if (other.value, distribution(other)) != (point.value, distribution(point)):
            raise DuplicateName(
                f"{point.name!r} is registered in {group!r} by both {distribution(other)} and {distribution(point)}: "
                "uninstall one of them"
            )
    return dict(sorted(found.items()))


def load(group: str, name: str) -> Any:
    """Imports what is registered under a name.

    Raises:
        UnknownName: nothing is; says what exists and the nearest name.
        BrokenPlugin: its import fails; names the distribution.
    """
    points = discover(group)
    if name not in points:
        raise UnknownName(group.rpartition(".")[2].removesuffix("s").replace("curricula", "curriculum"), name, points)
    try:
        return points[name].load()
    except Exception as error:
        raise BrokenPlugin(f"plugin {name!r} of distribution {distribution(points[name])} fails to import: {error!r}") from error


def distribution(point: EntryPoint) -> str:
    """Returns the name of the distribution that an entry point comes from."""
    return point.dist.name if point.dist is not None else "an unknown distribution"
