"""The lines of ``agentgym list``: one per environment, without importing any."""

import textwrap
from collections.abc import Iterator

from agentgym_envs import plugins, registry
from agentgym_envs.describe import first_sentence
from agentgym_envs.errors import pip_command
from agentgym_envs.plugins import Plugin


def listing(width: int) -> Iterator[str]:
    """Yields one line per environment, then the commands that install missing extras.

    A line has the id and a description that ends at a word. A mark before the description says
    that the environment is a game, lacks an extra or is registered wrongly. The errors of wrong
    registrations follow in full.

    Args:
        width: columns of a line.
    """
    found = plugins.discover(plugins.ENVIRONMENTS)
    faults = {name: wrong for name, plugin in found.items() if (wrong := registry.fault(plugin))}
    indent = max(map(len, found)) + 2
    missing: dict[str, set[str]] = {}
    for name, plugin in found.items():
        if name in faults:
            yield f"{name:<{indent}}[broken, see below]"
            continue
        marks = ["game"] if registry.is_game(plugin) else []
        if registry.install_command(plugin):
            marks.append(f"needs {', '.join(registry.extras(plugin))}")
            missing.setdefault(registry.provider(plugin), set()).update(registry.extras(plugin))
        yield f"{name:<{indent}}{_described(plugin, marks, width - indent)}".rstrip()
    for distribution, extras in missing.items():
        yield f"missing extras: {pip_command(','.join(sorted(extras)), distribution)}"
    for wrong in faults.values():
        yield f"broken: {wrong}"


def _described(plugin: Plugin, marks: list[str], width: int) -> str:
    text = " ".join([*(f"[{mark}]" for mark in marks), first_sentence(plugin)])
    return textwrap.shorten(text, max(width, 20), placeholder=" …", break_on_hyphens=False)
