"""``agentgym serve`` with other limits, from the variable ``SERVED_LIMITS``."""

import ast
import os

from agentgym_envs.cli import app
from agentgym_envs.serve import command
from agentgym_envs.serve.limits import Limits

given = ast.literal_eval(os.environ["SERVED_LIMITS"])
command.Limits = lambda **options: Limits(**{**options, **given})
app()
