"""``agentgym/WebSites-v1``: five web sites of our own in the shared browser."""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from agentgym_envs.envs.web.embedded import EmbeddedEnv, SiteHost
from agentgym_envs.tasks import Task, TaskSet


class WebSitesEnv(EmbeddedEnv):
    """Tasks on a shop, a forum, a code host and a map.

    The agent finds, opens or changes something. The shop has pages of an admin.

    Args:
        **kwargs: see :class:`agentgym_envs.envs.web.env.WebEnv`.
    """

    clock = datetime(2026, 6, 15, 12, tzinfo=UTC)
    tick = 2000  # WebArena waits for two seconds after each action

    def make_tasks(self) -> TaskSet:
        """Returns the tasks of the files."""
        return _tasks()

    def make_host(self) -> SiteHost:
        """Returns the five sites."""
        from agentgym_websites.host import Host

        return Host()

    @staticmethod
    def servers(address: str, port: int) -> Any:
        """Serves the sites on ports, for ``agentgym sites``: :class:`agentgym_websites.host.Servers`."""
        from agentgym_websites.host import Servers

        return Servers(address, port)


@cache
def _tasks() -> TaskSet:
    from agentgym_websites.tasks.load import load

    return TaskSet(
        Task(id=t["name"], split=t["split"], difficulty=t["steps"], data=t) for t in load()
    )
