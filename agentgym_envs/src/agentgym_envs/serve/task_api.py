"""The Task API of OpenEnv: the splits of an environment, and their tasks."""

import asyncio
from collections.abc import Sequence
from typing import Any

from agentgym_envs.errors import shown
from agentgym_envs.serve.app import Handler, HttpRoute
from agentgym_envs.serve.http import HttpRequest, whole_number
from agentgym_envs.serve.refusal import RefusedRequest
from agentgym_envs.serve.sessions import EnvSessions

TYPES = {"train": "train", "dev": "validation", "test": "test"}
"""OpenEnv's names of the splits."""


class TaskApi:
    """The tasks of one environment.

    Args:
        sessions: the environment.
    """

    def __init__(self, sessions: EnvSessions):
        self._sessions = sessions
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._listing = asyncio.Lock()

    def routes(self) -> dict[str, HttpRoute]:
        """Returns the routes by the last part of their path."""
        posted: dict[str, Handler] = {
            "tasks": self._all,
            "num_tasks": self._count,
            "task": self._one,
            "task_range": self._range,
        }
        return {
            "splits": HttpRoute("openenv", {"GET": self._splits}),
            **{name: HttpRoute("openenv", {"POST": handler}) for name, handler in posted.items()},
        }

    async def pick(self, split: object, index: int) -> dict[str, Any]:
        """Returns the task at a place of a split.

        Raises:
            RefusedRequest: no such split or task.
        """
        tasks = await self._list(split)
        if index >= len(tasks):
            raise RefusedRequest(
                400, f"index: there is no task {index}, only 0 to {len(tasks) - 1}"
            )
        return tasks[index]

    async def _splits(self, request: HttpRequest) -> list[dict[str, str]]:
        self._check()
        return [{"name": name, "type": kind} for name, kind in TYPES.items()]

    async def _all(self, request: HttpRequest) -> dict[str, Any]:
        tasks = await self._list(request.fields().get("split"))
        return {"tasks": tasks, "env_name": self._sessions.name}

    async def _count(self, request: HttpRequest) -> dict[str, int]:
        return {"num_tasks": len(await self._list(request.fields().get("split")))}

    async def _one(self, request: HttpRequest) -> dict[str, Any]:
        fields = request.fields()
        return {"task": await self.pick(fields.get("split"), whole_number(fields, "index"))}

    async def _range(self, request: HttpRequest) -> dict[str, Any]:
        fields = request.fields()
        start, stop = (
            None if fields.get(name) is None else whole_number(fields, name)
            for name in ("start", "stop")
        )
        return {"tasks": (await self._list(fields.get("split")))[start:stop]}

    def _check(self) -> None:
        if self._sessions.description.task_ids is None:
            raise RefusedRequest(
                501, f"{self._sessions.name}: this environment has no list of tasks"
            )

    async def _list(self, split: object) -> list[dict[str, Any]]:
        """Returns the tasks of a split; they are listed once."""
        self._check()
        if not isinstance(split, str) or split not in TYPES:
            raise RefusedRequest(400, f"split: must be train, dev or test, not {shown(split)}")
        async with self._listing:
            if split not in self._lists:
                found = await self._sessions.describe(split)
                task_ids = found.task_ids or []
                levels: Sequence[int | None] = found.difficulties or [None] * len(task_ids)
                self._lists[split] = [
                    {"task_id": task_id, "index": index, "difficulty": level}
                    for index, (task_id, level) in enumerate(zip(task_ids, levels, strict=True))
                ]
        return self._lists[split]
