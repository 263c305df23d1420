"""Carries out actions on a page."""

import time
from collections.abc import Callable, Mapping, Sequence

from agentgym_envs.envs.web.actions import BadAction, WebAction
from agentgym_envs.envs.web.connection import CommandRefused
from agentgym_envs.envs.web.keys import ENTER, strokes
from agentgym_envs.envs.web.session import BrowserSession
from agentgym_envs.envs.web.settle import settle
from agentgym_envs.envs.web.tab import VIEWPORT, BrowserTab, script

STEADY_LOOK = 20  # milliseconds between two looks at the element
STEADY_WAIT = 1.0  # seconds that a click waits for an element that moves away from the pointer
LEFT = {"button": "left", "clickCount": 1}
Point = tuple[float, float]


def perform(session: BrowserSession, action: WebAction) -> None:
    """Carries out an action other than ``stop`` and waits until the page has settled.

    Raises:
        BadAction: this page does not allow the action; the page has not changed.
    """
    session.start()
    DO[action.name](session, action)
    settle(session)


def _node(tab: BrowserTab, action: WebAction) -> int:
    node = tab.node(action.target)
    if node is None:
        raise BadAction(f"there is no element [{action.target}] on this page")
    return node


def _point(
    session: BrowserSession, action: WebAction, across: float = 0.5
) -> tuple[Point, str, str]:
    """Scrolls an element into view and chooses a point to click.

    If another element covers the preferred point, a point near an edge is used.

    Args:
        session: the session with the page.
        action: contains the element's id.
        across: preferred place within the element's width, from the left; at half of its height.

    Returns:
        The point, the kind of element that a click there would meet, and the element as an object
        of the page.
    """
    tab = session.tab
    node = _node(tab, action)
    wanted = ("DOM.scrollIntoViewIfNeeded", "DOM.getContentQuads", "DOM.resolveNode")
    numbers = [tab.send(method, backendNodeId=node) for method in wanted]
    try:
        _, shape, found = [tab.connection.result(number) for number in numbers]
    except CommandRefused as error:
        raise BadAction(
            f"element [{action.target}] is not on the page any more, or has no place on it"
        ) from error
    if not shape["quads"]:
        raise BadAction(f"element [{action.target}] has no place on the page")
    xs, ys = shape["quads"][0][0::2], shape["quads"][0][1::2]
    points = [
        (min(xs) + x * (max(xs) - min(xs)), min(ys) + y * (max(ys) - min(ys)))
        for x, y in ((across, 0.5), (0.1, 0.5), (0.9, 0.5), (0.5, 0.1), (0.5, 0.9))
    ]
    element = found["object"]["objectId"]
    met = _meets(tab, element, points)
    best = next((i for i, what in enumerate(met) if what != "another"), 0)
    return points[best], met[best], element


def _meets(tab: BrowserTab, element: str, points: Sequence[Point]) -> list[str]:
    """Returns the kinds of elements that clicks at some points would meet.

    The kind is "gone" without the element, and "unknown" if the page does not allow the question.
    """
    try:
        met = tab.call_on(element, script("meets.js"), points)
    except CommandRefused:
        met = ["gone"] * len(points)
    return met if isinstance(met, list) and len(met) == len(points) else ["unknown"] * len(points)


def move(tab: BrowserTab, point: Point) -> None:
    """Moves the pointer and waits until the page has received the event.

    Pointer and key events take another way to the page than other commands.
    """
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=point[0], y=point[1])


def _click(session: BrowserSession, action: WebAction, across: float = 0.5) -> None:
    """Clicks as a person does: moves the pointer, waits for the page, presses the button."""
    point, before, element = _point(session, action, across)
    tab, end = session.tab, time.monotonic() + STEADY_WAIT
    move(tab, point)
    settle(session, looks=1)
    while _meets(tab, element, [point])[0] not in (before, "gone") and time.monotonic() < end:
        settle(session, looks=1, passing=STEADY_LOOK)
    _press_button(tab, point)


def _press_button(tab: BrowserTab, point: Point) -> None:
    tab.post(
        "Input.dispatchMouseEvent", type="mousePressed", x=point[0], y=point[1], buttons=1, **LEFT
    )
    tab.call(
        "Input.dispatchMouseEvent", type="mouseReleased", x=point[0], y=point[1], buttons=0, **LEFT
    )


def _click_at(session: BrowserSession, action: WebAction) -> None:
    x, y = map(int, action.text.split())
    width, height = VIEWPORT["width"], VIEWPORT["height"]
    if not (0 <= x < width and 0 <= y < height):
        raise BadAction(
            f"click_at [{x}] [{y}] is outside of the window: x must be 0 to {width - 1}, y 0 to"
            f" {height - 1}"
        )
    move(session.tab, (x, y))
    settle(session, looks=1)
    _press_button(session.tab, (x, y))


def _hover(session: BrowserSession, action: WebAction) -> None:
    move(session.tab, _point(session, action)[0])


def _type(session: BrowserSession, action: WebAction) -> None:
    _click(session, action, across=0.2)  # the right end of a field can be a button
    _type_text(session, action)


def _type_text(session: BrowserSession, action: WebAction) -> None:
    tab = session.tab
    numbers = [
        tab.send(method, **params) for method, params in strokes(action.text + ENTER * action.enter)
    ]
    for number in numbers:
        tab.connection.result(number)


def _select(session: BrowserSession, action: WebAction) -> None:
    node = _node(session.tab, action)
    try:
        trouble = session.tab.call_on_node(node, script("select.js"), action.text)
    except CommandRefused as error:
        raise BadAction(f"element [{action.target}] is not on the page any more") from error
    if trouble:
        raise BadAction(f"element [{action.target}] {trouble}")


def _press(session: BrowserSession, action: WebAction) -> None:
    from playwright.sync_api import Error

    keyboard = session.page.keyboard
    try:
        keyboard.press(action.text)
    except Error as error:
        if not session.chromium.alive:
            raise
        raise BadAction(
            f"{action.text!r} is no key or combination of keys, such as Enter, Control+a or"
            " PageDown"
        ) from error


def _scroll(session: BrowserSession, action: WebAction) -> None:
    session.tab.evaluate(
        f"window.scrollBy(0, {1 if action.text == 'down' else -1} * window.innerHeight)"
    )


def _new_tab(session: BrowserSession, action: WebAction) -> None:
    session.open_tab()


def _tab_focus(session: BrowserSession, action: WebAction) -> None:
    if action.target >= len(session.tabs):
        raise BadAction(f"there is no tab {action.target}: the last is {len(session.tabs) - 1}")
    session.focus(session.tabs[action.target])


def _close_tab(session: BrowserSession, action: WebAction) -> None:
    tab = session.tab
    if len(session.tabs) == 1:
        session.open_tab()
    session.close_tab(tab)


def _goto(session: BrowserSession, action: WebAction) -> None:
    url = action.text if "://" in action.text else f"http://{action.text}"
    if not url.startswith(("http://", "https://")):
        raise BadAction(f"goto opens http and https addresses only, not {url[:200]!r}")
    try:
        session.open(url)
    except CommandRefused as error:
        raise BadAction(str(error)) from error


def _go(session: BrowserSession, by: int) -> None:
    tab = session.tab
    history = tab.call("Page.getNavigationHistory")
    index = history["currentIndex"] + by
    if not 0 <= index < len(history["entries"]):
        raise BadAction(f"there is no page to go {'back' if by < 0 else 'forward'} to")
    tab.call("Page.navigateToHistoryEntry", entryId=history["entries"][index]["id"])


DO: Mapping[str, Callable[[BrowserSession, WebAction], None]] = {
    "click": _click,
    "click_at": _click_at,
    "type_text": _type_text,
    "hover": _hover,
    "type": _type,
    "select": _select,
    "press": _press,
    "scroll": _scroll,
    "new_tab": _new_tab,
    "tab_focus": _tab_focus,
    "close_tab": _close_tab,
    "goto": _goto,
    "go_back": lambda session, action: _go(session, -1),
    "go_forward": lambda session, action: _go(session, 1),
}
