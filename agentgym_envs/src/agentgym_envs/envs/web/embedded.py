"""Web sites that the environment's process answers itself: no server, no network.

This module is the whole interface of a distribution that adds sites; the guide "Add a web site"
has an example. A site is a :class:`SiteHost`, which answers requests and keeps the state of one
episode, and a class of :class:`EmbeddedEnv` with the tasks. The other names are for plans of the
oracle (``click``, ``fill``, …), for evaluators and for answers.

A task's ``data`` has these keys:

- ``start_url``: the address where the episode begins.
- ``intent``: the task's text, which the agent sees as ``OBJECTIVE``.
- ``eval``: the evaluators in WebArena's form, with ``sql:`` locators and the check ``answer``.
- ``changes``: the changes of the state that the task wants, in a form that the host compares.
- ``oracle``: the plan, a list of steps.
"""

import io
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from agentgym_envs.core import Outcome
from agentgym_envs.envs.web.actions import INSTRUCTIONS, WebAction
from agentgym_envs.envs.web.answer_matching import accepts
from agentgym_envs.envs.web.env import WebEnv
from agentgym_envs.envs.web.evaluators import EvaluationInput, evaluate
from agentgym_envs.envs.web.look import NotShown
from agentgym_envs.envs.web.proxy import ProxyReply, ProxyRequest
from agentgym_envs.envs.web.session import BrowserSession
from agentgym_envs.envs.web.steps import (
    Step,
    actions_of,
    back,
    choose,
    click,
    fill,
    goto,
    search,
    stop,
)
from agentgym_envs.errors import TaskError
from agentgym_envs.tasks import Task

__all__ = [
    "LONGEST",
    "EmbeddedEnv",
    "EvaluationInput",
    "NotShown",
    "ProxyReply",
    "ProxyRequest",
    "SiteHost",
    "Step",
    "accepts",
    "back",
    "choose",
    "click",
    "evaluate",
    "fill",
    "goto",
    "search",
    "solved",
    "stop",
    "wsgi_reply",
]

LONGEST = 200
"""Limit of an answer in characters; a longer one could list guesses."""


class SiteHost(ABC):
    """The sites of one episode, and their state."""

    @abstractmethod
    def serve(self, request: ProxyRequest) -> ProxyReply | bool:
        """Answers a request; False for an address that is not of these sites."""

    @abstractmethod
    def restore(self) -> None:
        """Discards all changes: the state is that of the start of every episode."""

    def cookies(self) -> list[dict[str, Any]]:
        """Returns Playwright's cookies of the people who are signed in at the start."""
        return []

    def query(self, locator: str) -> str:
        """Answers ``tables:query`` of a ``sql:`` locator or of an answer's ``among``, a row a line.

        Raises:
            TaskError: these sites have no databases.
        """
        raise TaskError(f"these sites have no databases, which {locator!r} asks")

    def side_effects(self, wanted: Mapping[str, Any]) -> list[str]:
        """Returns a line for each part of the state that differs from the wanted changes."""
        return []


class EmbeddedEnv(WebEnv):
    """Base class of environments on sites that this process answers.

    A subclass has the tasks (``make_tasks``) and the sites (:meth:`make_host`).

    Args:
        **kwargs: see :class:`agentgym_envs.envs.web.env.WebEnv`.
    """

    instructions = f"{INSTRUCTIONS}\nAn answer of more than {LONGEST} characters is wrong."

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.host: SiteHost | None = None

    @abstractmethod
    def make_host(self) -> SiteHost:
        """Returns the sites; the first reset calls this."""

    def serve(self, request: ProxyRequest) -> ProxyReply | bool:
        """Answers from this episode's sites; all other addresses are refused."""
        assert self.host is not None
        return self.host.serve(request)

    def open(self, task: Task, rng: random.Random, session: BrowserSession) -> str:
        """Restores the sites, signs in, opens the start page."""
        if self.host is None:
            self.host = self.make_host()
        with session.proxy.lock:  # a request of the last episode can still be open
            self.host.restore()
        session.add_cookies(self.host.cookies())
        session.open(task.data["start_url"])
        return str(task.data["intent"])

    def judge(self, action: WebAction, session: BrowserSession) -> Outcome:
        """Applies the evaluators and compares the state when the agent stops."""
        if action.name != "stop":
            return Outcome("", 0.0)
        assert self.task is not None
        assert self.host is not None
        scene = EvaluationInput(session.page, session.another_tab, self.host.query)
        right = solved(self.task.data, action.text, scene)
        effects = self.host.side_effects(self.task.data["changes"])
        success = right and not effects
        return Outcome(
            "", float(success), done=True, success=success, extra={"side_effects": effects}
        )

    def oracle(self) -> Iterator[str]:
        """Yields the actions of the task's plan."""
        assert self.task is not None
        for step in self.task.data["oracle"]:
            yield from actions_of(step, lambda: self._text)

    def close(self) -> None:
        """Closes the tabs and restores the sites."""
        super().close()
        if (host := getattr(self, "host", None)) is not None:
            host.restore()


def solved(task: Mapping[str, Any], answer: str, scene: EvaluationInput) -> bool:
    """Returns whether a task is solved: all of its evaluators agree.

    If the task asks for an answer, a long list of guesses does not count.
    """
    short = "string_match" not in task["eval"]["eval_types"] or len(answer.strip()) <= LONGEST
    return short and evaluate(task, answer, scene).success


def wsgi_reply(application: Any, request: ProxyRequest, **environ: Any) -> ProxyReply:
    """Returns the answer of a WSGI application, such as Flask's, to a request of the browser.

    Args:
        application: the application.
        request: the request.
        **environ: further entries of the WSGI environment, such as the episode's state.
    """
    from werkzeug.test import EnvironBuilder, run_wsgi_app

    url = urlsplit(request.url)
    built = EnvironBuilder(
        path=url.path or "/",
        base_url=f"http://{url.netloc}",
        query_string=url.query,
        method=request.method,
        headers=list(request.headers.items()),
        input_stream=io.BytesIO(request.body),
    ).get_environ()
    built |= {"CONTENT_LENGTH": str(len(request.body)), **environ}
    content, status, headers = run_wsgi_app(application, built, buffered=True)
    return ProxyReply(int(status.split()[0]), dict(headers), b"".join(content))
