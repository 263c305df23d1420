"""``agentgym/WebArena-v1``: WebArena (Zhou et al., 2024) on sites that the user hosts."""

import functools
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agentgym_envs.core import Outcome
from agentgym_envs.envs.web.actions import WebAction, parse
from agentgym_envs.envs.web.connection import CommandRefused
from agentgym_envs.envs.web.env import WebEnv
from agentgym_envs.envs.web.evaluators import EvaluationInput, Judge, evaluate
from agentgym_envs.envs.web.proxy import ProxyReply, ProxyRequest
from agentgym_envs.envs.web.session import BrowserSession
from agentgym_envs.envs.web.settle import settle
from agentgym_envs.envs.web.webarena.config import (
    filled,
    read_tasks,
    site_urls,
    task_set,
    to_local,
    to_public,
)
from agentgym_envs.envs.web.webarena.early_stop import PastAction, early_stop
from agentgym_envs.envs.web.webarena.helpers import make_helpers
from agentgym_envs.envs.web.webarena.login import ACCOUNTS, address, log_in, sites_of
from agentgym_envs.envs.web.webarena.reset import full_reset
from agentgym_envs.errors import ArgumentError, EnvRaised, TaskError
from agentgym_envs.tasks import Task, TaskSet


class WebArenaEnv(WebEnv):
    """WebArena's tasks on servers that you host.

    The sites' addresses come from the environment variables that WebArena uses.

    Args:
        config: WebArena's ``test.raw.json``, a folder with one task per file, or "libwebarena" for
            the tasks of this package; by default the variable ``WEBARENA_CONFIG``.
        urls: addresses of the sites by name, such as ``{"shopping": "http://shop.example:7770"}``.
            They override the environment variables ``SHOPPING`` or ``WA_SHOPPING``.
        logins: base folder of the tasks' ``storage_state`` paths. It contains ``.auth``, which
            ``agentgym webarena login`` writes. None: each episode signs in through the sites'
            pages.
        reset: brings the servers back to their first state before each episode: a function of the
            task, or the address of a reset server (see :func:`full_reset`).
        judge: decides questions without a rule, as WebArena's GPT-4 does. None: a normalised match
            decides, and ``info`` says so.
        more_hosts: additional hosts that pages can reach, ``host`` or ``host:port``, such as the
            map's tiles, search and routes.
        parsing_failures: number of consecutive parsing failures that end an episode; no limit by
            default, three in WebArena's ``run.py``.
        repeated_actions: number of equal consecutive actions, or of typings into one field, that
            end an episode; the defaults are as above.
        pause: seconds from an action to its observation. A page that is opened to be judged gets
            1.5 times as long.
        viewport: show only the part of the page in view, as WebArena does; False for the whole
            page.
        **kwargs: see :class:`agentgym_envs.envs.web.env.WebEnv`; ``split`` can also be "all".

    Raises:
        TaskError: the configuration is missing or cannot be read.
        ArgumentError: a host or a number is invalid.
    """

    def __init__(
        self,
        *,
        config: str | os.PathLike[str] | None = None,
        urls: Mapping[str, str] | None = None,
        logins: str | os.PathLike[str] | None = ".",
        reset: Callable[[Mapping[str, Any]], object] | str | None = None,
        judge: Judge | None = None,
        more_hosts: Iterable[str] | str = (),
        parsing_failures: int | None = None,
        repeated_actions: int | None = None,
        pause: float = 2.0,
        viewport: bool = True,
        **kwargs: Any,
    ):
        for name, number in (
            ("parsing_failures", parsing_failures),
            ("repeated_actions", repeated_actions),
        ):
            if number is not None and number < 1:
                raise ArgumentError(
                    f"{name}={number} ends every episode at once: give 1 or more, or None for no"
                    " limit"
                )
        self._tasks, self._judge = read_tasks(config), judge
        self._logins = None if logins is None else Path(logins)
        self._reset = functools.partial(_ask_for_reset, reset) if isinstance(reset, str) else reset
        self.urls = site_urls(urls)
        if not 0 <= pause <= 60:
            raise ArgumentError(f"pause={pause!r} must be 0 to 60 seconds")
        self.tick = round(1000 * pause)
        super().__init__(viewport=viewport, **kwargs)
        more = [more_hosts] if isinstance(more_hosts, str) else more_hosts
        named = [_host(host) for host in more]
        self._allowed = {_place(url) for url in self.urls.values()}
        self._allowed |= {(host, port or usual) for host, port in named for usual in (80, 443)}
        self._limits = parsing_failures, repeated_actions
        self._acted: list[PastAction] = []
        self._config: dict[str, Any] = {}
        self._state: Path | None = None
        self._before = ""

    def make_tasks(self) -> TaskSet:
        """Returns the configuration's tasks."""
        return task_set(self._tasks)

    def serve(self, request: ProxyRequest) -> ProxyReply | bool:
        """Allows requests to the sites."""
        return _place(request.url) in self._allowed

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Opens new tabs with the task's logins."""
        self._config, self._acted = filled(task.data, self.urls), []
        state = self._config.get("storage_state")
        self._state = self._logins / state if state and self._logins is not None else None
        if self._state is not None and not self._state.is_file():
            raise TaskError(
                f"task {task.id} needs the login {self._state}: run `agentgym webarena login`, set"
                f" logins= to the folder in which {state} lies, or set logins=None to sign in"
                " through the pages"
            )
        if self._reset is not None:
            self._reset(self._config)
        if self.session is not None:
            self.session.close()
            self.session = None
        return super().begin(task, rng)

    def make_session(self) -> BrowserSession:
        """Returns tabs that are signed in."""
        assert self._chromium is not None
        session = BrowserSession(self._chromium, self.serve, self.timeout, state=self._state)
        state = self._config.get("storage_state")
        if state and self._logins is None:
            with session.deadline():
                for site in sites_of(state):
                    log_in(session.page, address(site, self.urls), ACCOUNTS[site])
        return session

    def open(self, task: Task, rng: random.Random, session: BrowserSession) -> str:
        """Opens the start pages, each in one tab, and shows the first."""
        place = self._config.get("geolocation")
        if place:
            session.context.grant_permissions(["geolocation"])
            session.context.set_geolocation(place)
        for number, url in enumerate(self._config["start_url"].split(" |AND| ")):
            if number:
                session.open_tab()
            self._open_start(url, session)
        session.focus(session.tabs[0])
        return str(self._config["intent"])

    def _open_start(self, url: str, session: BrowserSession) -> None:
        """Opens a start page.

        Raises:
            EnvRaised: the page does not open; the message gives the reason.
        """
        if not self.serve(ProxyRequest("GET", url, {}, b"")):
            names = ", ".join(sorted(self.urls)) or "none"
            raise EnvRaised(
                f"the start page {url} is on none of the sites whose addresses are set ({names}):"
                " set its address, or add more_hosts="
            )
        try:
            session.open(url)
            settle(session)
        except CommandRefused as error:
            raise EnvRaised(f"the start page does not open: {error}") from error

    def apply(self, action: WebAction, trouble: str, *, label: str) -> Outcome:
        """Carries out an action and records the address that it was meant for."""
        assert self.session is not None
        self._before = self.session.tab.url
        return super().apply(action, trouble, label=label)

    def read(self, action: str) -> WebAction:
        """Reads an action with the sites' public names."""
        parsed = parse(to_local(action, self.urls))
        if parsed.name == "goto" and "://" not in parsed.text:
            return parsed._replace(text=to_local(f"http://{parsed.text}", self.urls))
        return parsed

    def shown_url(self, url: str) -> str:
        """Writes an address with the sites' public names."""
        return to_public(url, self.urls)

    def patience(self, action: WebAction) -> float:
        """Adds time for the pages that are opened to be judged."""
        if action.name != "stop" and not any(self._limits):
            return self.timeout
        opened = [
            target
            for target in self._config["eval"].get("program_html") or ()
            if target["url"] != "last"
        ]
        return self.timeout * (1 + len(opened))

    def judge(self, action: WebAction, session: BrowserSession) -> Outcome:
        """Applies the evaluators when the agent stops or is stopped early."""
        self._acted.append(PastAction(action, self._before))
        given_up = "" if action.name == "stop" else early_stop(self._acted, *self._limits)
        if action.name != "stop" and not given_up:
            return Outcome("", 0.0)
        helpers = make_helpers(self.urls, session.context.request)
        scene = EvaluationInput(
            session.page,
            session.another_tab,
            helpers=helpers,
            judge=self._judge,
            idle=1.5 * self.tick,
        )
        verdict = evaluate(self._config, "" if given_up else action.text, scene)
        extra = {"judged_by": verdict.judged_by, "early_stop": given_up}
        shown = {key: value for key, value in extra.items() if value}
        return Outcome("", float(verdict.success), done=True, success=verdict.success, extra=shown)

    def oracle(self) -> Iterator[str]:
        """Yields nothing: WebArena publishes no solutions."""
        yield from ()


def _ask_for_reset(url: str, task: Mapping[str, Any]) -> None:
    full_reset(url)


def _place(url: str) -> tuple[str | None, int]:
    """Returns an address's host and port."""
    split = urlsplit(url)
    return split.hostname, split.port or (443 if split.scheme == "https" else 80)


def _host(text: str) -> tuple[str, int | None]:
    """Returns the host, and the port if the text names one."""
    named = urlsplit(f"//{text}")
    if not named.hostname or any(c in text for c in "/ @"):
        raise ArgumentError(
            f"more_hosts={text!r} is not a host: write it without http:// and without a path, such"
            " as tiles.example:8080"
        )
    return named.hostname, named.port
