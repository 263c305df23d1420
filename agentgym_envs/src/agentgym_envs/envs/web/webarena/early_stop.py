"""When WebArena gives an agent up: it cannot be understood, or does the same again and again (``early_stop`` of its ``run.py``)."""

from collections.abc import Sequence
from typing import NamedTuple

from agentgym_envs.envs.web.actions import Action


class Done(NamedTuple):
    """An action, "none" if it was not understood, and the address of the page that it was meant for."""

    action: Action
    url: str


def early_stop(done: Sequence[Done], failures: int | None, repeats: int | None) -> str:
    """Returns why an episode ends before its time; empty if it goes on.

    Args:
        done: all actions of the episode.
        failures: in a row to be understood; None for any number.
        repeats: of the same action in a row, or of typing into the same field at any time; None for
            any number.
    """
    if failures and [d.action.name for d in done[-failures:]] == ["none"] * failures:
        return f"{failures} actions in a row were not understood"
    if not repeats or len(done) < repeats:
        return ""
    same = [_what(d) == _what(done[-1]) for d in done]
    if done[-1].action.name == "type":
        return f"the same field was typed into {repeats} times" if sum(same) >= repeats else ""
    return f"the same action was repeated {repeats} times" if all(same[-repeats:]) else ""


def _what(done: Done) -> tuple[object, ...]:
    """Returns what WebArena compares of an action: not what is typed.

    An element is known by its id and its page.
    """
    name, target, text, _ = done.action
    if name in ("click", "hover", "type"):
        return name, target, done.url
    return (name, target, text, done.url) if name == "select" else (name, target, text)
