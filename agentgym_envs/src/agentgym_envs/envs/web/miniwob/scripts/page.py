"""The interface of the scripts to a page, and the table of scripts."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from agentgym_envs.envs.web.look import ShownElement, elements, find
from agentgym_envs.envs.web.steps import filling


class ScriptPage:
    """The page that a script acts on."""

    def __init__(self, env: Any):
        self._env = env

    @property
    def name(self) -> str:
        """Name of the page, such as "click-button"."""
        return str(self._env.task.data["name"])

    @property
    def text(self) -> str:
        """The last observation, without the lines of the instruction."""
        return str(self._env.shown)

    @property
    def goal(self) -> str:
        """The instruction."""
        return str(self._env.goal)

    @property
    def quoted(self) -> list[str]:
        """The texts that the instruction quotes."""
        return re.findall(r'"([^"]*)"', self.goal)

    def all(self, role: str) -> list[ShownElement]:
        """Returns the elements with a role."""
        return [e for e in elements(self.text) if e.role == role]

    def click(self, name: str | None = None, **where: Any) -> str:
        """Returns a click on an element: see :func:`agentgym_envs.envs.web.look.find`."""
        return f"click [{find(self.text, name, **where).id}]"

    def fill(
        self, text: str, name: str | None = None, role: str = "textbox", **where: Any
    ) -> Iterator[str]:
        """Yields the actions that replace the text of a field."""
        yield from filling(find(self.text, name, role=role, **where), text)

    def check(self, name: str) -> Iterator[str]:
        """Yields the click that ticks a box, unless it is already ticked."""
        box = find(self.text, name, role="checkbox")
        if "checked: true" not in box.properties:
            yield f"click [{box.id}]"

    def ask(self, expression: str, *arguments: Any) -> Any:
        """Evaluates JavaScript in the page; with arguments, it calls a function."""
        if arguments:
            expression = f"({expression})({', '.join(map(json.dumps, arguments))})"
        return self._env.session.tab.evaluate(expression)


PageScript = Callable[[ScriptPage], Iterator[str]]
SCRIPTS: dict[str, PageScript] = {}


def script(*names: str) -> Callable[[PageScript], PageScript]:
    """Registers the solution of some pages."""

    def add(function: PageScript) -> PageScript:
        SCRIPTS.update(dict.fromkeys(names, function))
        return function

    return add
