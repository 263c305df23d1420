"""``agentgym/WebSites-v1``: five web sites of our own in the shared browser.

No server and no network is needed.
"""

import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from typing import Any

from agentgym_envs.core import Outcome
from agentgym_envs.envs.web.actions import INSTRUCTIONS, WebAction
from agentgym_envs.envs.web.env import WebEnv
from agentgym_envs.envs.web.evaluators import EvaluationInput, evaluate
from agentgym_envs.envs.web.proxy import ProxyReply, ProxyRequest
from agentgym_envs.envs.web.session import BrowserSession
from agentgym_envs.envs.web.sites.changes import side_effects
from agentgym_envs.envs.web.steps import actions_of
from agentgym_envs.errors import MissingExtra
from agentgym_envs.tasks import Task, TaskSet

LONGEST = 200  # limit of an answer in characters; the longest correct answer has 60


def solved(task: Mapping[str, Any], answer: str, scene: EvaluationInput) -> bool:
    """Returns whether a task is solved: all of its evaluators agree.

    If the task asks for an answer, a long list of guesses does not count.
    """
    short = "string_match" not in task["eval"]["eval_types"] or len(answer.strip()) <= LONGEST
    return short and evaluate(task, answer, scene).success


class WebSitesEnv(WebEnv):
    """Tasks on a shop, a forum, a code host and a map.

    The agent finds, opens or changes something. The shop has pages of an admin.

    Args:
        **kwargs: see :class:`agentgym_envs.envs.web.env.WebEnv`.
    """

    clock = datetime(2026, 6, 15, 12, tzinfo=UTC)
    tick = 2000  # WebArena waits for two seconds after each action

    instructions = f"{INSTRUCTIONS}\nAn answer of more than {LONGEST} characters is wrong."

    def __init__(self, **kwargs: Any):
        if find_spec("flask") is None:
            raise MissingExtra(type(self).__name__, "web")
        super().__init__(**kwargs)
        self._host: Any = None

    def make_tasks(self) -> TaskSet:
        """Returns the tasks of the files."""
        return _tasks()

    def serve(self, request: ProxyRequest) -> ProxyReply | bool:
        """Answers from this episode's sites; all other addresses are refused."""
        answer: ProxyReply | bool = self._host.serve(request)
        return answer

    def open(self, task: Task, rng: random.Random, session: BrowserSession) -> str:
        """Resets the databases, signs in at all sites, opens the start page."""
        if self._host is None:
            from agentgym_envs.envs.web.sites.host import Host

            self._host = Host()
        with session.proxy.lock:  # a request of the last episode can still be open
            self._host.restore()
        session.add_cookies(self._host.cookies())
        session.open(task.data["start_url"])
        return str(task.data["intent"])

    def judge(self, action: WebAction, session: BrowserSession) -> Outcome:
        """Applies the evaluators when the agent stops."""
        if action.name != "stop":
            return Outcome("", 0.0)
        assert self.task is not None
        right = solved(
            self.task.data,
            action.text,
            EvaluationInput(session.page, session.another_tab, self._query),
        )
        effects = side_effects(self._host.changes(), self.task.data["changes"])
        success = right and not effects
        return Outcome(
            "", float(success), done=True, success=success, extra={"side_effects": effects}
        )

    def _query(self, locator: str) -> str:
        tables, _, sql = locator.partition(":")
        return "\n".join(
            " | ".join(map(str, row)) for row in self._host.database(tables).execute(sql)
        )

    def oracle(self) -> Iterator[str]:
        """Yields the actions of the task's plan."""
        assert self.task is not None
        for step in self.task.data["oracle"]:
            yield from actions_of(step, lambda: self._text)

    def close(self) -> None:
        """Closes the tabs and the databases."""
        super().close()
        if getattr(self, "_host", None) is not None:
            self._host.restore()


@cache
def _tasks() -> TaskSet:
    from agentgym_envs.envs.web.sites.tasks.load import load

    return TaskSet(
        Task(id=t["name"], split=t["split"], difficulty=t["steps"], data=t) for t in load()
    )
