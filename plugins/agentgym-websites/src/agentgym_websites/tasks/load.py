"""Reads the task files, without the templates that produced them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from agentgym_websites.site import ORIGINS

FOLDER = Path(__file__).parent


@cache
def load() -> list[dict[str, Any]]:
    """Returns the tasks of the files, in the order of the sites."""
    return [
        task
        for name in ORIGINS
        for task in json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    ]
