"""The base class of web environments: the browser, WebArena's observation and actions, failures."""

import base64
import os
import random
import re
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gymnasium.error import ResetNeeded

from agentgym_envs.core import Outcome, TextEnv, echo
from agentgym_envs.envs.web import actions
from agentgym_envs.envs.web.actions import BadAction, WebAction
from agentgym_envs.envs.web.chromium import BrowserOptions, SharedBrowser, process
from agentgym_envs.envs.web.hands import perform
from agentgym_envs.envs.web.picture import draw, pixels
from agentgym_envs.envs.web.proxy import ProxyReply, ProxyRequest
from agentgym_envs.envs.web.session import BrowserSession
from agentgym_envs.envs.web.settle import settle
from agentgym_envs.envs.web.tab import VIEWPORT, BrowserTab
from agentgym_envs.envs.web.tree import cut
from agentgym_envs.errors import ArgumentError, EnvFailure, MissingExtra
from agentgym_envs.tasks import Task

OBSERVATIONS = ("tree", "screenshot", "both")
CLICKED = frozenset(
    (
        "link",
        "button",
        "checkbox",
        "radio",
        "tab",
        "menuitem",
        "switch",
        "treeitem",
        "StaticText",
        "generic",
    )
)
ON_ELEMENT = frozenset(("click", "hover", "type", "select"))
TYPED = frozenset(("textbox", "searchbox", "spinbutton"))


class WebEnv(TextEnv):
    """Base class of environments in a browser.

    Args:
        viewport: show only the part of the page in view, as a person sees it; by default the whole
            page.
        max_length: limit of the accessibility tree in characters; a cut is marked.
        history: number of previous actions that are shown.
        browser: path or name of the browser's program; by default Playwright's own, or the system's
            Chromium or Chrome.
        headed: show the window.
        timeout: seconds in which a page must answer an action.
        observation: "tree", "screenshot" or "both". ``info["screenshot"]`` has the picture, as a
            ``data:`` address of a PNG file.
        marks: draw numbered boxes over the elements of the picture; the numbers are the ids that
            actions take.
        screenshots: folder for a picture of every observation, ``<task>-<turn>.png``; none by
            default.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.

    Raises:
        ArgumentError: ``viewport`` is a size, but the window always has WebArena's size; or
            ``observation`` or ``marks`` has an invalid value.
        MissingExtra: Playwright is not installed, or Pillow, which marks and arrays of pixels need.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}

    clock: datetime | None = None
    """The fixed time of the pages' clock, which only actions move; None: the real time."""
    tick = 0
    """Milliseconds of the page's clock that an action takes.

    The agent sees the page after all of the page's timers within this time.
    """
    paced = True
    """Whether the browser draws at most sixty frames a second: see :class:`BrowserOptions`."""

    instructions = actions.INSTRUCTIONS
    tools = actions.TOOLS

    def __init__(
        self,
        *,
        viewport: bool = False,
        max_length: int = 15_000,
        history: int = 1,
        browser: str | None = None,
        headed: bool = False,
        timeout: float = 30.0,
        observation: str = "tree",
        marks: bool = False,
        screenshots: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ):
        if find_spec("playwright") is None:
            raise MissingExtra(type(self).__name__, "web")
        if not isinstance(viewport, bool):
            raise ArgumentError(
                f"viewport={viewport!r} must be True, to show what is in view of a window of"
                f" {VIEWPORT['width']} × {VIEWPORT['height']} pixels, or False, to show the whole"
                " page"
            )
        if observation not in OBSERVATIONS:
            raise ArgumentError(
                f"observation={observation!r} must be one of {', '.join(OBSERVATIONS)}"
            )
        if marks and observation == "tree":
            raise ArgumentError(
                'marks=True needs a picture to draw on; set observation="screenshot" or'
                ' observation="both"'
            )
        super().__init__(**kwargs)
        if (marks or self.render_mode == "rgb_array") and find_spec("PIL") is None:
            raise MissingExtra("a picture with marks or as an array", "web")
        self.observation, self.marks, self._picture = observation, bool(marks), b""
        if observation != "tree":
            rules = actions.instructions(observation, self.marks)
            self.instructions = self.instructions.replace(actions.INSTRUCTIONS, rules)  # type: ignore[misc]
            self.tools = actions.tools(observation, self.marks)  # type: ignore[misc]
        self.viewport, self.max_length, self.history, self.timeout = (
            viewport,
            max_length,
            history,
            timeout,
        )
        self._pictures = None if screenshots is None else Path(screenshots)
        self._setting = BrowserOptions(browser, headed, paced=headed or self.paced)
        self._chromium: SharedBrowser | None = None
        self.session: BrowserSession | None = None
        self._done: list[str] = []

    @abstractmethod
    def serve(self, request: ProxyRequest) -> ProxyReply | bool:
        """Answers a request of a page, or returns whether the request may leave the machine."""

    @abstractmethod
    def open(self, task: Task, rng: random.Random, session: BrowserSession) -> str:
        """Shows the task's first page; returns the goal."""

    @abstractmethod
    def judge(self, action: WebAction, session: BrowserSession) -> Outcome:
        """Judges the state after an action; ``text`` is filled in afterwards."""

    def read(self, action: str) -> WebAction:
        """Reads an action.

        Raises:
            BadAction: the text is not an action; the message gives the reason.
        """
        return actions.parse(action)

    def pass_time(self, session: BrowserSession) -> None:
        """Lets the time of an action pass on the page, and waits for the requests that follow."""
        if self.tick:
            settle(session, looks=1, passing=self.tick)

    def shown_url(self, url: str) -> str:
        """Returns an address as the agent sees it."""
        return url

    def patience(self, action: WebAction) -> float:
        """Returns the time limit in seconds of an action and its judgement."""
        return self.timeout

    def before_look(self, tab: BrowserTab) -> None:
        """Prepares the page before it is read; nothing by default."""

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Opens the task's page in this environment's tabs."""
        self._done = []
        with self._kept_clean():
            session = self._running()
            with session.deadline(self.timeout):
                session.begin()
                goal = self.open(task, rng, session)
                settle(session)
                self.pass_time(session)
                session.tab.forget()
                return self._observation(goal, ""), goal

    @contextmanager
    def _kept_clean(self) -> Iterator[None]:
        """Closes the tabs after a failure: the next episode gets new ones."""
        try:
            yield
        except EnvFailure:
            self._over = True
            self.close()
            raise

    def act(self, action: str) -> Outcome:
        """Carries out a WebArena action."""
        parsed, trouble = WebAction("none"), ""
        try:
            parsed = self.read(action)
        except BadAction as error:
            trouble = str(error)
        return self.apply(parsed, trouble, label=echo(action))

    def refuse(self, text: str) -> Outcome:
        """Handles an action that was not understood: the page is shown with the reason."""
        return self.apply(WebAction("none"), text, label="none")

    def apply(self, action: WebAction, trouble: str, *, label: str) -> Outcome:
        """Carries out an action that was read.

        Args:
            action: the action; its name is "none" if the text was not understood.
            trouble: the error in the text; empty if there is none.
            label: text for the next observation's previous action, if the action was not for an
                element.
        """
        session = self.session
        assert session is not None
        with self._kept_clean(), session.deadline(self.patience(action)):
            if action.name not in ("none", "stop"):
                try:
                    perform(session, action)
                    self.pass_time(session)
                except BadAction as error:
                    trouble = str(error)
            verdict = self.judge(action, session)
            self._done.append(self._named(action) or label)
            text = self._observation(self._goal, trouble)
        extra = {
            "blocked": dict(sorted(session.blocked.items())),
            "url": session.tab.url,
            **(verdict.extra or {}),
        }
        if session.effects.files:
            extra["downloads"] = [str(file) for file in session.effects.files]
        return verdict._replace(text=text, invalid=bool(trouble), extra=extra)

    def _named(self, action: WebAction) -> str:
        """Returns an action with the line of its element, as WebArena repeats it.

        Without an element, the result is "".
        """
        line = (
            re.search(rf"^\t*\[{action.target}\] (.+)$", self._text, re.M)
            if action.name in ON_ELEMENT
            else None
        )
        if line is None:
            return ""
        text = (
            f" [{' '.join(action.text.splitlines())}]" if action.name in ("type", "select") else ""
        )
        return (
            f"{action.name} [{action.target}]{text} where [{action.target}] is"
            f" {' '.join(line[1].split())}"
        )

    def _observation(self, goal: str, trouble: str) -> str:
        session = self.session
        assert session is not None
        self.before_look(session.tab)
        body = self._seen(session)
        if self._pictures is not None and self.task is not None:
            (self._pictures / f"{self.task.id}-{len(self._done)}.png").write_bytes(
                self._picture or session.screenshot()
            )
        tabs = [
            f"Tab {i}{' (current)' * (tab is session.tab)}: {tab.title}"
            for i, tab in enumerate(session.tabs)
        ]
        before = "; ".join(self._done[-self.history :]) if self.history and self._done else "None"
        parts = [" | ".join(tabs), "", *([body, ""] if body else [])]
        parts += [
            f"URL: {self.shown_url(session.tab.url)}",
            f"OBJECTIVE: {goal}",
            f"PREVIOUS ACTION: {before}",
        ]
        parts += [f"{note.kind}: {self.shown_url(note.text)}" for note in session.take_notes()]
        return "\n".join(parts + ([f"ERROR: {trouble}"] if trouble else []))

    def _seen(self, session: BrowserSession) -> str:
        """Takes the picture if requested; returns the tree or the list of marked elements."""
        number = (
            session.tab.begin_tree() if actions.ids_shown(self.observation, self.marks) else None
        )
        self._picture = session.screenshot() if self.observation != "tree" else b""
        if number is None:
            return ""
        nodes = session.tab.nodes(number)
        tree = (
            session.tab.tree(nodes, whole=not self.viewport)
            if self.observation != "screenshot"
            else ""
        )
        marks = session.tab.marks(nodes) if self.marks else []
        if self.marks:
            self._picture = draw(self._picture, marks)
        return cut(
            tree or "\n".join(f"[{mark.number}] {mark.text}" for mark in marks), self.max_length
        )

    def _info(self, outcome: Outcome) -> dict[str, Any]:
        picture = base64.b64encode(self._picture).decode()
        return super()._info(outcome) | (
            {"screenshot": f"data:image/png;base64,{picture}"} if picture else {}
        )

    def render(self) -> Any:
        """Renders the last observation: as text in mode "ansi", as a picture in mode "rgb_array".

        The picture shows the part of the page in view.
        """
        if self.render_mode != "rgb_array":
            return super().render()
        if self.session is None:
            raise ResetNeeded("there is no page to render: call reset()")
        return pixels(self._picture or self.session.screenshot())

    def actions(self) -> list[str]:
        """Returns actions on the elements that the observation shows.

        The texts to type are those that the goal quotes.
        """
        words = re.findall(r'"([^"\n]+)"', self._goal) or ["hello"]
        found, chooser = [], ""
        for number, role, rest in re.findall(r"^\t*\[(\d+)\] (\w+) (.*)$", self._text, re.M):
            if role in CLICKED:
                found.append(f"click [{number}]")
            elif role in TYPED:
                found += [f"type [{number}] [{word}] [0]" for word in words]
            elif role in ("combobox", "listbox"):
                chooser = number
            elif role == "option" and chooser:
                found.append(f"select [{chooser}] [{rest[1:].partition(rest[0])[0]}]")
        return [*found, "scroll [down]", "scroll [up]", "press [Enter]"]

    def _running(self) -> BrowserSession:
        """Returns this environment's session, in a running browser."""
        if self._chromium is None or not self._chromium.alive:
            self.close()
            self._chromium = process.take(self._setting)
        if self.session is None:
            self.session = self.make_session()
        return self.session

    def make_session(self) -> BrowserSession:
        """Returns new tabs in the browser."""
        assert self._chromium is not None
        return BrowserSession(self._chromium, self.serve, self.timeout, clock=self.clock)

    def close(self) -> None:
        """Closes the tabs; the browser ends with the last environment that uses it."""
        session, chromium = getattr(self, "session", None), getattr(self, "_chromium", None)
        self.session = self._chromium = None
        if session is not None:
            session.close()
        if chromium is not None:
            process.give_back(chromium)
