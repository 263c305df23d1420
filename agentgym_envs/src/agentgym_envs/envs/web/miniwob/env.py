"""``agentgym/MiniWoB-v1``: MiniWoB++ (Liu et al., 2018) in the shared browser.

Episodes are reset within their page.
"""

import json
import mimetypes
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from agentgym_envs.core import Outcome
from agentgym_envs.envs.web.actions import WebAction
from agentgym_envs.envs.web.env import WebEnv
from agentgym_envs.envs.web.miniwob.scripts import SCRIPTS, ScriptPage
from agentgym_envs.envs.web.miniwob.tasks import miniwob_tasks
from agentgym_envs.envs.web.proxy import ProxyReply, ProxyRequest
from agentgym_envs.envs.web.session import BrowserSession
from agentgym_envs.envs.web.settle import settle
from agentgym_envs.envs.web.tab import BrowserTab
from agentgym_envs.errors import ArgumentError, MissingExtra
from agentgym_envs.tasks import Task, TaskSet

ORIGIN = "http://miniwob.test"
REWARDS = ("binary", "raw", "decayed")
# Milliseconds of the page's clock that an action takes; the clock stands still while the agent
# thinks.
TICK = 500
# Milliseconds of the page's clock before the first observation: stock-market has one price in each.
FIRST = 100
START = """(seed, limit) => {
  core.EPISODE_MAX_TIME = limit;
  document.activeElement?.blur();
  Math.seedrandom(seed);
  core.startEpisodeReal();
  const said = core.getUtterance();
  return said.utterance || said;
}"""
# Pages whose own reset keeps something of the episode before. The test of resets found them, or
# upstream's registration names them.
LEFTOVERS = frozenset(
    (
        "book-flight",
        "book-flight-nodelay",
        "choose-date",
        "choose-date-easy",
        "choose-date-medium",
        "choose-date-nodelay",
        "click-pie",
        "click-pie-nodelay",
        "drag-cube",
        "order-food",
        "phone-book",
        "scroll-text",
        "scroll-text-2",
        "search-engine",
        "social-media",
        "social-media-all",
        "social-media-some",
        "stock-market",
        "use-autocomplete",
        "use-autocomplete-nodelay",
        "use-colorwheel",
        "use-colorwheel-2",
        "use-spinner",
    )
)
QUIET = """document.head.append(Object.assign(document.createElement('style'), {
  textContent: '#reward-display, #click-canvas, #sync-task-cover { display: none !important }'
}))"""


class MiniWoBEnv(WebEnv):
    """The agent follows an instruction on a small page.

    Args:
        reward: "binary": 1 for a page's full reward, else 0; "raw": the page's own reward, partial
            rewards included; "decayed": the raw reward times the remaining part of the page's ten
            seconds, where an action takes half a second. Negative rewards count as 0.
        **kwargs: see :class:`agentgym_envs.envs.web.env.WebEnv`.
    """

    clock = datetime(2024, 6, 3, 12, tzinfo=UTC)
    paced = False  # pages stay loaded and stand still: most of a step is the wait for a frame

    def __init__(self, *, reward: str = "binary", **kwargs: Any):
        if find_spec("miniwob") is None:
            raise MissingExtra(type(self).__name__, "web")
        if reward not in REWARDS:
            raise ArgumentError(f"reward={reward!r} is not one of {', '.join(REWARDS)}")
        super().__init__(**kwargs)
        self._reward = reward

    def make_tasks(self) -> TaskSet:
        """Returns 125 pages by 100 seeds."""
        return _tasks()

    def serve(self, request: ProxyRequest) -> ProxyReply | bool:
        """Serves upstream's files and refuses all other requests."""
        url = urlsplit(request.url)
        file = (_folder() / unquote(url.path).lstrip("/")).resolve()
        if (
            f"{url.scheme}://{url.netloc}" != ORIGIN
            or not file.is_relative_to(_folder())
            or not file.is_file()
        ):
            return False
        kind = mimetypes.guess_type(file.name)[0] or "text/plain"
        # The pages do not state their character encoding.
        if kind.startswith("text/") or kind.endswith("javascript"):
            kind += "; charset=utf-8"
        return ProxyReply(200, {"content-type": kind}, file.read_bytes())

    def open(self, task: Task, rng: random.Random, session: BrowserSession) -> str:
        """Begins an episode within the page; loads the page unless an earlier episode did."""
        name = task.data["name"]
        url = f"{ORIGIN}/miniwob/{name}.html"
        known = session.keep("" if name in LEFTOVERS else name)
        if not known or name in LEFTOVERS or session.tab.url != url:
            session.open(url)
            settle(session, looks=1)
            session.tab.evaluate(QUIET)
        limit = "core.EPISODE_MAX_TIME" if self._reward == "decayed" else "2 ** 31 - 1"
        begun = session.tab.send_expression(
            f"({START})({json.dumps(str(task.data['seed']))}, {limit})"
        )
        session.tab.advance(FIRST)
        return str(session.tab.value_of(begun))

    def before_look(self, tab: BrowserTab) -> None:
        """Names icons, colours and shapes, which the accessibility tree leaves out."""
        tab.post("Runtime.evaluate", expression=_label())

    def judge(self, action: WebAction, session: BrowserSession) -> Outcome:
        """Reads the page's reward after the clock has moved on."""
        if action.name == "stop":
            return Outcome("", 0.0, done=True)
        done, raw, decayed = session.tab.advance(
            TICK, "[WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL, WOB_REWARD_GLOBAL]"
        )
        score = {"binary": float(raw == 1), "raw": max(0.0, raw), "decayed": max(0.0, decayed)}[
            self._reward
        ]
        return Outcome("", score if done else 0.0, done=done, success=done and raw == 1)

    def oracle(self) -> Iterator[str]:
        """Yields the actions of the page's script; the README lists the pages without a script."""
        assert self.task is not None
        script = SCRIPTS.get(self.task.data["name"])
        for action in script(ScriptPage(self)) if script else ():
            yield action
            if self._over:
                return

    @property
    def shown(self) -> str:
        """The last observation."""
        return self._text

    @property
    def goal(self) -> str:
        """The page's instruction."""
        return self._goal


@cache
def _folder() -> Path:
    import miniwob

    return Path(miniwob.__file__).parent / "html"


@cache
def _label() -> str:
    return (Path(__file__).parent / "label.js").read_text(encoding="utf-8")


@cache
def _tasks() -> TaskSet:
    return miniwob_tasks()
