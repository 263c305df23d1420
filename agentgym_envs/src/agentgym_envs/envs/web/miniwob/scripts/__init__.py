"""Scripted solutions, one generator a page: each reads the observation before every action, as an agent does.

What an agent would have to see (how many corners a drawing has) is asked of the page.
"""

from agentgym_envs.envs.web.miniwob.scripts import apps, basics, forms, shapes
from agentgym_envs.envs.web.miniwob.scripts.page import SCRIPTS, Page

__all__ = ["SCRIPTS", "Page", "apps", "basics", "forms", "shapes"]
