"""The sessions of a results folder: date, command and versions of each start.

``settings.json`` lists them under ``"sessions"``. A start that plays no episode is not listed::

    {"date": "2026-11-24T19:30:00+00:00", "command": "agentgym eval agentgym/Maze-v1 --model m",
     "versions": {"agentgym-envs": "0.9.0", "minigrid": "3.0.0"}, "python": "3.12.3",
     "base_url": "http://127.0.0.1:8000/v1", "served": ["m-2026-11"]}

``served`` has the names by which the server's replies call the model.
"""

import os
import platform
import re
import shlex
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from agentgym_envs import plugins, registry
from agentgym_envs.models.endpoint import ModelEndpoint

SessionEntry = dict[str, Any]
OURS = "agentgym-envs"
# The value behind the name of a secret: --set password=…, --send api_key=…
_SECRET = re.compile(r"((?:api_?key|password|passwd|secret|access_?token|auth)\w*=).+", re.I | re.S)


def session(
    env_ids: Iterable[str], arguments: Sequence[str], endpoints: Sequence[ModelEndpoint] = ()
) -> SessionEntry:
    """Describes a session that starts now.

    Args:
        env_ids: the environments to play.
        arguments: of the command ``agentgym``.
        endpoints: the models.
    """
    used = {OURS, *_packages(env_ids), *(endpoint.family.package for endpoint in endpoints)}
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["agentgym", *without_secrets(arguments, endpoints)]),
        "versions": {name: found for name in sorted(used) if (found := _version(name))},
        "python": platform.python_version(),
    }


def without_secrets(arguments: Sequence[str], endpoints: Iterable[ModelEndpoint]) -> list[str]:
    """Returns arguments without values that look like secrets, and without the models' keys."""
    hidden = [_SECRET.sub(r"\1…", argument) for argument in arguments]
    for endpoint in endpoints:
        key = os.environ.get(endpoint.api_key_env, "").strip()
        if len(key) >= 8:
            hidden = [argument.replace(key, "…") for argument in hidden]
    return hidden


def version_of(one: SessionEntry) -> str:
    """Returns the version of agentgym-envs that played a session."""
    return str(one.get("versions", {}).get(OURS, "of an unknown version"))


def played_by(sessions: Sequence[SessionEntry]) -> str:
    """Returns the version of agentgym-envs that played the latest of the sessions."""
    return version_of(sessions[-1] if sessions else {})


def _packages(env_ids: Iterable[str]) -> set[str]:
    """Returns the distributions of environments, and the packages of their extras."""
    known = plugins.discover(plugins.ENVIRONMENTS)
    used = [known[name] for name in {i.rpartition(":")[2] for i in env_ids} if name in known]
    return {
        name
        for plugin in used
        for names in ([plugins.distribution(plugin)], *registry.requirements(plugin).values())
        for name in names
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
