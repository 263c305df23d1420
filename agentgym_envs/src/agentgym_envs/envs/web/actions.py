"""WebArena's action language (Zhou et al., 2024): what an agent may write, and what is wrong with what it wrote.

``select`` is our one extension: a native drop-down list has no page element for its options until it is open.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agentgym_envs.core import echo

INSTRUCTIONS = """\
You see a web page as its accessibility tree: lines such as [12] link 'Orders', where 12 is the element's id.
Answer with one action and nothing else:
click [id]
hover [id]
type [id] [text] [1]: types into the field and presses Enter; with [0] it does not press Enter.
select [id] [option]: chooses an option of a drop-down list.
press [keys]: a key or a combination, such as Control+a.
scroll [down] or scroll [up]
new_tab, tab_focus [index], close_tab
goto [url], go_back, go_forward
stop [answer]: ends the task; the answer is empty if none was asked for, and N/A if the task cannot be done."""

TOOLS: Mapping[str, str] = MappingProxyType(
    {
        "click": "click [{id}]",
        "hover": "hover [{id}]",
        "type": "type [{id}] [{text}] [{press_enter}]",
        "select": "select [{id}] [{option}]",
        "press": "press [{keys}]",
        "scroll": "scroll [{direction}]",
        "new_tab": "new_tab",
        "tab_focus": "tab_focus [{index}]",
        "close_tab": "close_tab",
        "goto": "goto [{url}]",
        "go_back": "go_back",
        "go_forward": "go_forward",
        "stop": "stop [{answer}]",
    }
)


class Action(NamedTuple):
    """A parsed action.

    Attributes:
        name: a key of ``TOOLS``.
        target: an element's id, or a tab's index.
        text: what to type, choose, press, open or answer; the direction of a scroll.
        enter: press Enter after typing.
    """

    name: str
    target: int = 0
    text: str = ""
    enter: bool = False


class BadAction(ValueError):
    """The text is no action; the message says why."""


def parse(text: str) -> Action:
    """Reads one action.

    Raises:
        BadAction: what is wrong with it.
    """
    stripped = text.strip()
    name = re.match(r"[a-z_]*", stripped)
    assert name is not None
    form = _FORMS.get(name.group())
    if form is None:
        raise BadAction(f"{echo(text)!r} is no action: it must begin with one of {', '.join(_FORMS)}")
    pattern, build, usage = form
    match = re.fullmatch(pattern, stripped[name.end() :].strip(), re.DOTALL)
    if match is None:
        raise BadAction(f"{echo(text)!r} is not of the form {usage}")
    return build(name.group(), *match.groups())


_ID = r"\[\s*(\d{1,9})\s*\]"
_TEXT = r"\[(.*)\]"
_Form = tuple[str, Callable[..., Action], str]
_FORMS: dict[str, _Form] = {
    "click": (_ID, lambda name, i: Action(name, int(i)), "click [id]"),
    "hover": (_ID, lambda name, i: Action(name, int(i)), "hover [id]"),
    "type": (
        _ID + r"\s*\[(.*?)\]\s*(?:\[\s*([01])\s*\])?",
        lambda name, i, text, enter: Action(name, int(i), text, enter != "0"),
        "type [id] [text] [0 or 1]",
    ),
    "select": (_ID + r"\s*" + _TEXT, lambda name, i, text: Action(name, int(i), text), "select [id] [option]"),
    "press": (r"\[([^\[\]]{1,40})\]", lambda name, keys: Action(name, text=keys.strip()), "press [keys]"),
    "scroll": (
        r"\[\s*(?:direction=)?(up|down)\s*\]",
        lambda name, way: Action(name, text=way),
        "scroll [up] or scroll [down]",
    ),
    "new_tab": (r"", lambda name: Action(name), "new_tab"),
    "tab_focus": (_ID, lambda name, i: Action(name, int(i)), "tab_focus [index]"),
    "close_tab": (r"", lambda name: Action(name), "close_tab"),
    "goto": (r"\[\s*(\S+)\s*\]", lambda name, url: Action(name, text=url), "goto [url]"),
    "go_back": (r"", lambda name: Action(name), "go_back"),
    "go_forward": (r"", lambda name: Action(name), "go_forward"),
    "stop": (rf"(?:{_TEXT})?", lambda name, answer: Action(name, text=(answer or "").strip()), "stop [answer]"),
}
