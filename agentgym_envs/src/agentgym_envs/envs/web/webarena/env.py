"""``agentgym/WebArena-v0``: WebArena (Zhou et al., 2024) on sites that the user hosts."""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agentgym_envs.core import Outcome
from agentgym_envs.envs.web.actions import Action
from agentgym_envs.envs.web.env import WebEnv
from agentgym_envs.envs.web.evaluators import Judge, Scene, evaluate
from agentgym_envs.envs.web.proxy import Reply, Request
from agentgym_envs.envs.web.session import Session
from agentgym_envs.envs.web.webarena.config import read_tasks, resolve, site_urls, task_set
from agentgym_envs.envs.web.webarena.helpers import make_helpers
from agentgym_envs.errors import TaskError
from agentgym_envs.tasks import Task, TaskSet


class WebArenaEnv(WebEnv):
    """Carries out WebArena's tasks. The sites' addresses come from the environment variables that WebArena uses.

    Args:
        config: WebArena's ``test.raw.json``, or a folder with a task a file; the variable ``WEBARENA_CONFIG`` without it.
        logins: folder that the tasks' ``storage_state`` paths are relative to.
        judge: decides ``fuzzy_match``, as WebArena's GPT-4 does; without one, a normalised match does, and ``info`` says so.
        **kwargs: see :class:`agentgym_envs.envs.web.env.WebEnv`.

    Raises:
        TaskError: there is no configuration, or it cannot be read.
    """

    def __init__(
        self,
        *,
        config: str | os.PathLike[str] | None = None,
        logins: str | os.PathLike[str] = ".",
        judge: Judge | None = None,
        **kwargs: Any,
    ):
        self._tasks, self._logins, self._judge = read_tasks(config), Path(logins), judge
        self.urls = site_urls()
        super().__init__(**kwargs)
        self._allowed = {_place(url) for url in self.urls.values()}
        self._state: Path | None = None

    def make_tasks(self) -> TaskSet:
        """Returns the configuration's tasks."""
        return task_set(self._tasks)

    def serve(self, request: Request) -> Reply | bool:
        """Lets requests to the sites pass."""
        return _place(request.url) in self._allowed

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Opens new tabs with the task's logins."""
        state = task.data.get("storage_state")
        self._state = self._logins / state if state else None
        if self._state is not None and not self._state.is_file():
            raise TaskError(f"task {task.id} needs the login {self._state}: make it with WebArena's auto_login.py, or set logins=")
        if self.session is not None:
            self.close()
        return super().begin(task, rng)

    def make_session(self) -> Session:
        """Returns tabs that are logged in."""
        assert self._chromium is not None
        return Session(self._chromium, self.serve, self.timeout, self._state)

    def open(self, task: Task, rng: random.Random, session: Session) -> str:
        """Opens the start pages, a tab each, and shows the first."""
        place = task.data.get("geolocation")
        if place:
            session.context.grant_permissions(["geolocation"])
            session.context.set_geolocation(place)
        addresses = task.data["start_url"].split(" |AND| ")
        for number, url in enumerate(addresses):
            if number:
                session.open_tab()
            session.open(resolve(url, self.urls))
            session.settle()
        session.tab = session.tabs[0]
        session.tab.call("Page.bringToFront")
        return str(task.data["intent"])

    def judge(self, action: Action, session: Session) -> Outcome:
        """Applies the evaluators once the agent stops."""
        if action.name != "stop":
            return Outcome("", 0.0)
        assert self.task is not None
        helpers = make_helpers(self.urls, session.context.request)
        scene = Scene(session.page, lambda url: resolve(url, self.urls), helpers=helpers, judge=self._judge)
        verdict = evaluate(self.task.data, action.text, scene)
        extra = {"judged_by": verdict.judged_by} if verdict.judged_by else {}
        return Outcome("", float(verdict.success), done=True, success=verdict.success, extra=extra)

    def oracle(self) -> Iterator[str]:
        """Yields nothing: WebArena publishes no solutions."""
        yield from ()


def _place(url: str) -> tuple[str | None, int]:
    """Returns an address's host and port."""
    split = urlsplit(url)
    return split.hostname, split.port or (443 if split.scheme == "https" else 80)
