"""``agentgym/WebSites-v1`` where agentgym-websites, which has the environment, is not installed."""

from typing import Any

from agentgym_envs.envs.web.env import WebEnv
from agentgym_envs.errors import MissingExtra


class WebSitesEnv(WebEnv):
    """Tasks on a shop, a forum, a code host and a map.

    Raises:
        MissingExtra: always; the extra ``web`` installs the environment.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> "WebSitesEnv":
        """Raises before the methods are looked for, which the class does not have."""
        raise MissingExtra("agentgym/WebSites-v1", "web")
