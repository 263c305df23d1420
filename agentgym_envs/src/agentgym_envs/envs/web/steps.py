"""An oracle's plan: steps that name elements of a page, and the actions that carry them out."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from agentgym_envs.envs.web.look import ShownElement, find

Step = Sequence[Any]
"""``[verb, role, name, text, {"after": …, "nth": …}]``; JSON-able.

``goto`` and ``stop`` have a text only. ``back`` has no further item.
"""


def click(name: str, role: str = "link", **where: Any) -> Step:
    """Clicks an element, unless it is a button whose menu is already open."""
    return ["click", role, name, "", where]


def fill(name: str, text: Any, role: str = "textbox", *, enter: bool = False, **where: Any) -> Step:
    """Replaces the text of a field."""
    return ["enter" if enter else "fill", role, name, str(text), where]


def choose(name: str, option: str, **where: Any) -> Step:
    """Chooses an option of a drop-down list."""
    return ["select", "combobox", name, option, where]


def search(words: str) -> Step:
    """Uses the search field in the header."""
    return fill("Search", words, "searchbox", enter=True)


def goto(url: str) -> Step:
    """Opens an address."""
    return ["goto", url]


def back() -> Step:
    """Returns to the page before."""
    return ["back"]


def stop(answer: Any = "") -> Step:
    """Ends the task."""
    return ["stop", str(answer)]


def actions_of(step: Step, text: Callable[[], str]) -> Iterator[str]:
    """Yields the actions of a step; ``text`` returns the current observation.

    Raises:
        NotShown: the element is not on the page.
    """
    verb = step[0]
    if verb == "back":
        yield "go_back"
        return
    if verb in ("goto", "stop"):
        yield f"{verb} [{step[1]}]"
        return
    _, role, name, content, where = step
    element: ShownElement = find(text(), name, role=role, **where)
    if verb == "click":
        if not (role == "button" and "expanded: True" in element.properties):
            yield f"click [{element.id}]"
    elif verb == "select":
        yield f"select [{element.id}] [{content}]"
    else:
        yield from filling(element, content, enter=verb == "enter")


def filling(field: ShownElement, text: str, *, enter: bool = False) -> Iterator[str]:
    """Yields the actions that replace the text of a field."""
    if field.text:
        yield f"click [{field.id}]"
        yield "press [Control+a]"
        yield "press [Delete]"
    yield f"type [{field.id}] [{text}] [{int(enter)}]"
