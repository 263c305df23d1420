"""Scripted solutions: one generator per page.

Each script reads the observation before every action, as an agent does. It asks the page for visual
facts, such as the number of a drawing's corners.
"""

from agentgym_envs.envs.web.miniwob.scripts import apps, basics, forms, shapes
from agentgym_envs.envs.web.miniwob.scripts.page import SCRIPTS, ScriptPage

__all__ = ["SCRIPTS", "ScriptPage", "apps", "basics", "forms", "shapes"]
