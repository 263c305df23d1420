"""``agentgym serve`` with other limits, from the variable ``SERVED_LIMITS``."""

import ast
import os

from agentgym_envs.cli import app
from agentgym_envs.serve import command
from agentgym_envs.serve.limits import ServerLimits

given = ast.literal_eval(os.environ["SERVED_LIMITS"])
command.ServerLimits = lambda **options: ServerLimits(**{**options, **given})
app()
