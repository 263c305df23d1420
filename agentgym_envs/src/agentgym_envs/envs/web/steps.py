"""An oracle's plan: steps in terms of what a page shows, turned into actions by reading the observation."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from agentgym_envs.envs.web.look import Element, find

Step = Sequence[Any]
"""``[verb, role, name, text, {"after": …, "nth": …}]``; ``goto`` and ``stop`` have a text only, ``back`` has nothing. JSON-able."""


def click(name: str, role: str = "link", **where: Any) -> Step:
    """Clicks an element, unless it is a button whose menu is open already."""
    return ["click", role, name, "", where]


def fill(name: str, text: Any, role: str = "textbox", *, enter: bool = False, **where: Any) -> Step:
    """Makes a field hold a text."""
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
    element: Element = find(text(), name, role=role, **where)
    if verb == "click":
        if not (role == "button" and "expanded: True" in element.told):
            yield f"click [{element.id}]"
    elif verb == "select":
        yield f"select [{element.id}] [{content}]"
    else:
        yield from filling(element, content, enter=verb == "enter")


def filling(field: Element, text: str, *, enter: bool = False) -> Iterator[str]:
    """Yields the actions that make a field hold a text, whatever it holds now."""
    if field.text:
        yield f"click [{field.id}]"
        yield "press [Control+a]"
        yield "press [Delete]"
    yield f"type [{field.id}] [{text}] [{int(enter)}]"
