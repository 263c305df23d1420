"""WebArena's early stop (``early_stop`` of its ``run.py``).

It ends an episode whose actions are not understood or are repeated.
"""

from collections.abc import Sequence
from typing import NamedTuple

from agentgym_envs.envs.web.actions import WebAction


class PastAction(NamedTuple):
    """An action of the episode.

    Attributes:
        action: the action; its name is "none" if the text was not understood.
        url: address of the page that it was meant for.
    """

    action: WebAction
    url: str


def early_stop(done: Sequence[PastAction], failures: int | None, repeats: int | None) -> str:
    """Returns the reason to end an episode early; empty if the episode goes on.

    Args:
        done: all actions of the episode.
        failures: limit of consecutive actions that were not understood; None for no limit.
        repeats: limit of equal consecutive actions, or of typings into the same field at any time;
            None for no limit.
    """
    if failures and [d.action.name for d in done[-failures:]] == ["none"] * failures:
        return f"{failures} actions in a row were not understood"
    if not repeats or len(done) < repeats:
        return ""
    same = [_what(d) == _what(done[-1]) for d in done]
    if done[-1].action.name == "type":
        return f"the same field was typed into {repeats} times" if sum(same) >= repeats else ""
    return f"the same action was repeated {repeats} times" if all(same[-repeats:]) else ""


def _what(done: PastAction) -> tuple[object, ...]:
    """Returns the parts of an action that WebArena compares; the typed text is not one.

    An element is identified by its id and its page.
    """
    name, target, text, _ = done.action
    if name in ("click", "hover", "type"):
        return name, target, done.url
    return (name, target, text, done.url) if name == "select" else (name, target, text)
