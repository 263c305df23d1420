"""WebArena's configuration: which sites there are, where, and the tasks of its files."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentgym_envs.errors import TaskError
from agentgym_envs.tasks import SPLITS, Task, TaskSet, split_of

SITES = ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "MAP", "WIKIPEDIA", "HOMEPAGE")
"""The environment variables that hold the sites' addresses; a task's file writes ``__SHOPPING__``."""
CONFIG = "WEBARENA_CONFIG"


def site_urls(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns the addresses that are set, by name, without a slash at the end."""
    return {name: environ[name].rstrip("/") for name in SITES if environ.get(name)}


def read_tasks(path: str | os.PathLike[str] | None, environ: Mapping[str, str] = os.environ) -> list[dict[str, Any]]:
    """Reads a file that holds an array of tasks (``test.raw.json``), or a folder with a task a file.

    Raises:
        TaskError: no such file, or it does not hold tasks.
    """
    named = path or environ.get(CONFIG)
    if not named:
        raise TaskError(f"WebArena's tasks are not part of this package: give config=, or set {CONFIG} to its test.raw.json")
    place = Path(named)
    files = sorted(place.glob("*.json")) if place.is_dir() else [place]
    try:
        found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    except (OSError, ValueError) as error:
        raise TaskError(f"{named} cannot be read as WebArena's tasks: {error}") from error
    tasks = [task for part in found for task in (part if isinstance(part, list) else [part])]
    wanting = [k for k in ("task_id", "sites", "start_url", "intent", "eval") if any(k not in task for task in tasks)]
    if not tasks or wanting:
        raise TaskError(f"{named} holds no tasks" if not tasks else f"a task in {named} has no {wanting[0]!r}")
    return tasks


def filled(task: Mapping[str, Any], urls: Mapping[str, str]) -> dict[str, Any]:
    """Returns a task with the sites' addresses, wherever it names one: also in what a page must hold.

    Raises:
        TaskError: the address of a site is not set.
    """
    text = json.dumps(task)
    for name in SITES:
        if f"__{name}__" in text:
            if name not in urls:
                raise TaskError(f"task {task['task_id']} needs the address of a site: set the environment variable {name}")
            text = text.replace(f"__{name}__", urls[name])
    return dict(json.loads(text))


class WebArenaTasks(TaskSet):
    """Tasks of which one may also ask for all: ``split="all"``, in the order of the file."""

    splits = (*SPLITS, "all")

    def ids(self, split: str) -> tuple[str, ...]:
        """Returns the ids of a split, or of all."""
        return tuple(self._by_id) if split == "all" else super().ids(split)


def task_set(tasks: list[dict[str, Any]]) -> TaskSet:
    """Returns the tasks; WebArena has no splits, so that a template's number decides: a template is in one split only.

    An id is the sites and WebArena's ``task_id``: ``shopping-21``, ``gitlab+reddit-552``.
    """
    return WebArenaTasks(
        Task(
            id=f"{'+'.join(t['sites'])}-{t['task_id']}",
            split=split_of(f"webarena {t.get('intent_template_id', t['task_id'])}"),
            difficulty=len(t["sites"]),
            data=t,
        )
        for t in tasks
    )
