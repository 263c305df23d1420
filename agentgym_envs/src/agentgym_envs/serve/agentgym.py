"""The AgentGym protocol (Xi et al., 2024): create, reset, step, observation and close.

Every answer with a result has the status 200. Steps queue; only ``create`` is refused when all
sessions are taken. An error has the status 4xx or 5xx, never the reward 0.
"""

from collections.abc import Callable, Iterable
from typing import Any

from agentgym_envs.errors import shown
from agentgym_envs.pool import PoolResult
from agentgym_envs.serve.app import Handler, HttpRoute, ServedProtocol
from agentgym_envs.serve.family import ServedFamily
from agentgym_envs.serve.http import HttpRequest, whole_number
from agentgym_envs.serve.refusal import RefusedRequest
from agentgym_envs.serve.sessions import ClientSession, EnvSessions


class AgentGymProtocol(ServedProtocol):
    """Serves families under their names, and a single family also at the root.

    Args:
        families: the sessions of each family.
    """

    def __init__(self, families: Iterable[tuple[ServedFamily, EnvSessions]]):
        self._families = list(families)

    def routes(self) -> dict[str, HttpRoute]:
        """Returns the routes of all families."""
        found: dict[str, HttpRoute] = {}
        for family, sessions in self._families:
            for name, route in FamilyRoutes(family, sessions).routes().items():
                found[f"/{family.name}/{name}"] = route
                if len(self._families) == 1:
                    found[f"/{name}"] = route
        return found


class FamilyRoutes:
    """The paths of one family.

    Args:
        family: fields and wording.
        sessions: the sessions.
    """

    def __init__(self, family: ServedFamily, sessions: EnvSessions):
        self._family, self._sessions = family, sessions

    def routes(self) -> dict[str, HttpRoute]:
        """Returns the routes by the last part of their path."""
        handlers: dict[str, tuple[str, Handler]] = {
            "create": ("POST", self._create),
            "reset": ("POST", self._reset),
            "step": ("POST", self._step),
            "close": ("POST", self._close),
            "observation": ("GET", self._observation),
            **{name: ("GET", self._page(page)) for name, page in self._family.pages().items()},
        }
        return {
            name: HttpRoute("agentgym", {method: handler}, creates=name == "create")
            for name, (method, handler) in handlers.items()
        }

    async def _create(self, request: HttpRequest) -> Any:
        self._family.check_create(request.fields())
        session = self._sessions.open()
        if not self._family.begins:
            return self._family.created(session.number, "")
        try:
            await self._sessions.reset(session, task_id=self._family.task_id(0))
        except BaseException:
            await self._sessions.close(session)
            raise
        return self._family.created(session.number, self._family.begun_text(session.last()))

    async def _reset(self, request: HttpRequest) -> Any:
        fields = request.fields()
        session = self._session(fields)
        index = whole_number(fields, self._family.index, default=0)
        task_id = self._family.task_id(index)
        result = await self._sessions.reset(
            session,
            task_id=task_id,
            seed=self._family.seed(index),
            keywords=self._family.keywords,
        )
        return self._family.begun(result)

    async def _step(self, request: HttpRequest) -> Any:
        fields = request.fields()
        session = self._session(fields)
        result = await self._sessions.step(session, self._family.action(fields.get("action")))
        return self._family.stepped(result)

    async def _observation(self, request: HttpRequest) -> str:
        session = self._queried(request)
        result = session.last()
        return (
            self._family.stepped_text(result) if session.steps else self._family.begun_text(result)
        )

    def _page(self, page: Callable[[PoolResult | None], Any]) -> Handler:
        async def answer(request: HttpRequest) -> Any:
            return page(self._queried(request).result)

        return answer

    async def _close(self, request: HttpRequest) -> bool:
        await self._sessions.close(self._session(request.fields()))
        return True

    def _queried(self, request: HttpRequest) -> ClientSession:
        return self._session({self._family.key: _number(request.query(self._family.key))})

    def _session(self, fields: dict[str, Any]) -> ClientSession:
        key = self._family.key
        if key not in fields:
            raise RefusedRequest(400, f"{key}: the field is missing; create returns it")
        return self._sessions.get(fields[key], key)


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() and len(text) < 20 else shown(text)
