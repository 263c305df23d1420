"""The trainer's entry-point groups; discovery and errors are those of ``agentgym_envs.plugins``."""

from collections.abc import Mapping
from typing import Any

from agentgym_envs import plugins
from agentgym_train.config import build
from agentgym_train.errors import ConfigError

GROUPS = {
    "algorithm": "agentgym_train.algorithms",
    "curriculum": "agentgym_train.curricula",
    "generator": "agentgym_train.generators",
}


def make(kind: str, options: Mapping[str, Any]) -> Any:
    """Builds the plugin that ``options["name"]`` names from the remaining options.

    Args:
        kind: "algorithm", "curriculum" or "generator".
        options: a configuration section.

    Raises:
        UnknownName: no such plugin.
        ConfigError: an option that it does not have, or a value of the wrong type.
    """
    rest = dict(options)
    name = rest.pop("name", None)
    if not isinstance(name, str):
        known = ", ".join(plugins.discover(GROUPS[kind]))
        raise ConfigError(f"configuration key '{kind}.name' must be one of {known}, not {name!r}")
    cls = plugins.load(GROUPS[kind], name)
    return build(cls, rest, section=kind)
