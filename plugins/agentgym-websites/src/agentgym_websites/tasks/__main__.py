"""Writes the task files from the templates: ``python -m agentgym_websites.tasks``."""

import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from agentgym_envs.envs.web.embedded import NotShown, accepts
from agentgym_envs.errors import TaskError
from agentgym_websites.changes import Changes
from agentgym_websites.host import Host
from agentgym_websites.plain import PlainBrowser
from agentgym_websites.site import ORIGINS
from agentgym_websites.tasks.load import FOLDER
from agentgym_websites.tasks.template import TEMPLATES, Made, Template, World

MODULES = (
    "shop", "shop_change", "shop_compare", "admin", "admin_change", "admin_compare", "admin_pages", "forum", "forum_change", "forum_compare", "code", "code_change", "code_history",
    "code_compare", "code_build", "map", "map_change", "map_streets", "map_compare", "across",
)  # fmt: skip
"""The templates, in the order of their numbers."""
for _module in MODULES:
    import_module(f"agentgym_websites.tasks.{_module}")

INSTANCES = 11  # per template: eight for training, one for development, two for tests
ALIKE = 4  # limit of a template's instances with the same answer
TRIES = 5_000  # limit of candidates from a maker that never ends


def worded(text: str) -> str:
    """Returns a task's text without doubled articles and with a noun for the category fuel."""
    text = re.sub(r"\b[Tt]he (?=The |An? )", "", text)
    return re.sub(r"(?<!category )\bfuel\b(?=[ ,])", "fuel station", text)


def revealed(made: Made, intent: str, world: World) -> bool:
    """Returns whether a task's text would itself be accepted as the answer."""
    return accepts(made.eval["reference_answers"]["answer"], intent, intent, world.answer)


def instances(t: Template, world: World) -> Iterator[tuple[str, Made]]:
    """Yields a template's instances with their texts.

    All texts differ. At most ``ALIKE`` instances have the same answer. No task's text contains its
    answer.
    """
    seen, answers = set[str](), Counter[str]()
    for made in islice(t.maker(world, random.Random(t.name)), TRIES):
        intent = worded(t.intent.format(**made.values))
        answer = made.steps[-1][1] if t.kind == "find" else ""
        if intent in seen or answers[answer] >= ALIKE or (answer and revealed(made, intent, world)):
            continue
        seen.add(intent)
        answers[answer] += bool(answer)
        yield intent, made
        if len(seen) == INSTANCES:
            break


def changes(host: Host, t: Template, made: Made) -> dict[str, Changes]:
    """Returns the changes that an instance's plan makes: the only ones that the task allows.

    Raises:
        TaskError: the plan changes nothing, or a page lacks an element that a step needs.
    """
    host.restore()
    try:
        PlainBrowser(host).play(ORIGINS[t.sites[0]], made.steps)
    except NotShown as error:
        raise TaskError(f"{t.name}: {error}") from None
    if not (found := host.changes()):
        raise TaskError(f"{t.name}: the plan changes nothing")
    return found


def make_tasks() -> list[dict[str, Any]]:
    """Returns all tasks in WebArena's form.

    Our own keys ``name``, ``split``, ``kind``, ``steps``, ``changes`` and ``oracle`` are added.
    """
    world, tasks, host = World(), list[dict[str, Any]](), Host()
    for number, t in enumerate(TEMPLATES):
        for instance, (intent, made) in enumerate(instances(t, world)):
            tasks.append(
                {
                    "task_id": len(tasks),
                    "sites": list(t.sites),
                    "require_login": True,
                    "storage_state": None,
                    "start_url": ORIGINS[t.sites[0]],
                    "geolocation": None,
                    "intent_template": t.intent,
                    "instantiation_dict": dict(made.values),
                    "intent": intent,
                    "require_reset": False,
                    "eval": made.eval,
                    "intent_template_id": number,
                    "name": f"{t.name}-{instance}",
                    "split": "train"
                    if instance < INSTANCES - 3
                    else "dev"
                    if instance == INSTANCES - 3
                    else "test",
                    "kind": t.kind,
                    "steps": len(made.steps),
                    "changes": changes(host, t, made) if t.kind == "change" else {},
                    "oracle": made.steps,
                }
            )
    return tasks


def write(folder: Path, tasks: list[dict[str, Any]]) -> int:
    """Writes a file for each site, an array with one task per line; returns the number of tasks.

    Raises:
        TaskError: the existing files hold more tasks; they are not changed.
    """
    there = sum(len(json.loads(file.read_text(encoding="utf-8"))) for file in folder.glob("*.json"))
    if len(tasks) < there:
        raise TaskError(
            f"the templates make {len(tasks)} tasks and {folder} holds {there}: remove its *.json to have fewer"
        )
    for name in ORIGINS:
        lines = [json.dumps(t, ensure_ascii=False) for t in tasks if t["sites"][0] == name]
        new = folder / f"{name}.json.new"
        new.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
        os.replace(new, folder / f"{name}.json")
    return len(tasks)


if __name__ == "__main__":
    try:
        typer.echo(f"{write(FOLDER, make_tasks())} tasks")
    except TaskError as error:
        raise SystemExit(f"error: {error}") from None
