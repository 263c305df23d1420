"""WebArena's action language (Zhou et al., 2024): its forms, and the errors of invalid actions.

Three actions are ours. ``select`` is necessary because the options of a native drop-down list are
not part of the page until the list is open. ``click_at`` and ``type_text`` are for models that see
a picture.
"""

import re
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agentgym_envs.core import echo

LONGEST = 10_000  # characters of an action: parsing time grows with the square of the length
SIGHT: Mapping[tuple[str, bool], str] = MappingProxyType(
    {
        ("tree", False): (
            "You see a web page as its accessibility tree: lines such as [12] link 'Orders', where"
            " 12 is the element's id."
        ),
        ("screenshot", False): "You see a picture of a web page.",
        ("screenshot", True): (
            "You see a picture of a web page. Boxes mark its elements; the number in a box is the"
            " element's id.\nA list names them: lines such as [12] link 'Orders'."
        ),
        ("both", False): (
            "You see a picture of a web page and its accessibility tree: lines such as [12] link"
            " 'Orders', where 12 is the\nelement's id."
        ),
        ("both", True): (
            "You see a picture of a web page and its accessibility tree: lines such as [12] link"
            " 'Orders', where 12 is the\nelement's id. Boxes in the picture mark elements with"
            " their ids."
        ),
    }
)
"""The form of the observation, by ``observation`` and ``marks``."""
BY_ID = """\
click [id]
hover [id]
type [id] [text] [1]: types into the field and presses Enter; with [0] it does not press Enter.
select [id] [option]: chooses an option of a drop-down list."""
BY_PLACE = """\
click_at [x] [y]: clicks on a point of the picture, in pixels from its left and its top edge. \
The picture has 1280 × 720 pixels.
type_text [text]: types where the focus is; click on a field first."""
ALWAYS = """\
press [keys]: a key or a combination, such as Control+a.
scroll [down] or scroll [up]
new_tab, tab_focus [index], close_tab
goto [url], go_back, go_forward
stop [answer]: ends the task; the answer is empty if none was asked for, \
and N/A if the task cannot be done."""


def instructions(observation: str = "tree", marks: bool = False) -> str:
    """Returns the rules for an observation; actions that it does not support are left out.

    Args:
        observation: "tree", "screenshot" or "both".
        marks: boxes with ids are drawn into the picture.
    """
    ways = [BY_ID] * ids_shown(observation, marks) + [BY_PLACE] * (observation != "tree")
    return "\n".join(
        [SIGHT[observation, marks], "Answer with one action and nothing else:", *ways, ALWAYS]
    )


def ids_shown(observation: str, marks: bool) -> bool:
    """Returns whether an agent sees the ids of elements."""
    return observation != "screenshot" or marks


INSTRUCTIONS = instructions()
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
TOOLS_BY_PLACE: Mapping[str, str] = MappingProxyType(
    {"click_at": "click_at [{x}] [{y}]", "type_text": "type_text [{text}]"}
)


def tools(observation: str, marks: bool) -> dict[str, str]:
    """Returns the tools for an observation: a template of the action by the tool's name."""
    own = {
        name: form
        for name, form in TOOLS.items()
        if ids_shown(observation, marks) or "{id}" not in form
    }
    return {**TOOLS_BY_PLACE, **own} if observation != "tree" else own


class WebAction(NamedTuple):
    """A parsed action.

    Attributes:
        name: a key of ``TOOLS`` or ``TOOLS_BY_PLACE``.
        target: an element's id, or a tab's index.
        text: the text, option, key, address or answer; the direction of a scroll; the two
            coordinates of a click.
        enter: press Enter after typing.
    """

    name: str
    target: int = 0
    text: str = ""
    enter: bool = False


class BadAction(ValueError):
    """The text is not an action; the message gives the reason."""


def parse(text: str) -> WebAction:
    """Reads one action, as WebArena's ``create_id_based_action`` does.

    Text behind a complete action is ignored.

    Raises:
        BadAction: the text is not an action; the message gives the reason.
    """
    if len(text) > LONGEST:
        raise BadAction(
            f"{echo(text)!r} is no action: it has {len(text):,} characters, and one has {LONGEST:,}"
            " at most"
        )
    stripped = text.strip()
    name = (
        stripped.partition("[")[0].strip() if "[" in stripped else next(iter(stripped.split()), "")
    )
    form = _FORMS.get(name)
    if form is None:
        raise BadAction(
            f"{echo(text)!r} is no action: it must begin with one of {', '.join(_FORMS)}"
        )
    pattern, build, usage = form
    if name == "type" and not stripped.endswith(("[0]", "[1]")):
        stripped += " [1]"
    match = re.search(pattern, stripped)
    if match is None:
        raise BadAction(f"{echo(text)!r} is not of the form {usage}")
    return build(name, *match.groups())


def key_names(keys: str) -> str:
    """Returns a key or a combination by the browser's names.

    >>> key_names("ctrl+A")
    'Control+A'
    """
    return "+".join(_KEYS.get(key.lower(), key) for key in keys.split("+"))


# Selects all and copies, as on the machines of WebArena's authors.
_META = "Meta" if sys.platform == "darwin" else "Control"
_NAMED = (
    "Alt ArrowDown ArrowLeft ArrowRight ArrowUp Backquote Backslash Backspace CapsLock Control"
    " Delete End Enter Equal Escape Home Insert Minus PageDown PageUp Shift Space Tab F1 F2 F3 F4"
    " F5 F6 F7 F8 F9 F10 F11 F12"
)
_KEYS = {name.lower(): name for name in _NAMED.split()} | {
    "meta": _META,
    "cmd": _META,
    "command": _META,
}
_KEYS |= {"ctrl": "Control", "esc": "Escape", "return": "Enter", "del": "Delete"}
_ID = r" ?\[(\d{1,18})\]"
_TEXT = r" ?\[(.+)\]"  # up to the last bracket of the line
_Form = tuple[str, Callable[..., WebAction], str]
_FORMS: dict[str, _Form] = {
    "click": (f"click{_ID}", lambda name, i: WebAction(name, int(i)), "click [id]"),
    "hover": (f"hover{_ID}", lambda name, i: WebAction(name, int(i)), "hover [id]"),
    "type": (
        rf"type{_ID}{_TEXT} ?\[(\d+)\]",
        lambda name, i, text, enter: WebAction(name, int(i), text, enter == "1"),
        "type [id] [text] [0 or 1], on one line, with a text that is not empty",
    ),
    "select": (
        f"select{_ID}{_TEXT}",
        lambda name, i, text: WebAction(name, int(i), text),
        "select [id] [option]",
    ),
    "click_at": (
        r"click_at ?\[(-?\d{1,6})\] ?\[(-?\d{1,6})\]",
        lambda name, x, y: WebAction(name, text=f"{int(x)} {int(y)}"),
        "click_at [x] [y], in whole pixels",
    ),
    "type_text": (
        f"type_text{_TEXT}",
        lambda name, text: WebAction(name, text=text),
        "type_text [text], on one line",
    ),
    "press": (
        f"press{_TEXT}",
        lambda name, keys: WebAction(name, text=key_names(keys)),
        "press [keys]",
    ),
    "scroll": (
        r"scroll ?\[?(up|down)\]?",
        lambda name, way: WebAction(name, text=way),
        "scroll [up] or scroll [down]",
    ),
    "new_tab": ("", lambda name: WebAction(name), "new_tab"),
    "tab_focus": (f"tab_focus{_ID}", lambda name, i: WebAction(name, int(i)), "tab_focus [index]"),
    "close_tab": ("", lambda name: WebAction(name), "close_tab"),
    "goto": (f"goto{_TEXT}", lambda name, url: WebAction(name, text=url), "goto [url]"),
    "go_back": ("", lambda name: WebAction(name), "go_back"),
    "go_forward": ("", lambda name: WebAction(name), "go_forward"),
    # The first answer on one line, as in WebArena; otherwise an answer of several lines.
    "stop": (
        r"^(?s:.*?)stop ?\[(.+)\]|^stop ?\[((?s:[^\]].*))\]|",
        lambda name, line, lines: WebAction(name, text=line or lines or ""),
        "stop [answer]",
    ),
}
