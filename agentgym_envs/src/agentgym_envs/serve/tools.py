"""An environment as tools: ``reset``, ``act``, the environment's functions and ``end_session``.

A session is an argument of every tool, because a connection of MCP does not last for an episode.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentgym_envs.errors import shown
from agentgym_envs.pool import PoolResult
from agentgym_envs.serve.refusal import RefusedRequest
from agentgym_envs.serve.sessions import ClientSession, EnvSessions
from agentgym_envs.wrappers import FormatError
from agentgym_envs.wrappers.formats import FunctionCallFormat

SESSION = {"type": "integer", "description": "The session's number, which reset returns."}
RESET = {
    "session": {**SESSION, "description": "Number of a session to use again; default: a new one."},
    "task_id": {"type": "string", "description": "The task; default: the seed draws one."},
    "seed": {"type": "integer", "minimum": 0, "description": "Default: random."},
    "split": {"type": "string", "description": "train, dev or test."},
    "tasks": {"type": "array", "items": {"type": "string"}, "description": "Ids or patterns."},
    "admissible": {"type": "boolean", "description": "Whether to list the possible actions."},
}
ACT = {"act": "{action}"}
OWN = ("reset", "end_session")


class ToolAnswer(NamedTuple):
    """The result of a tool."""

    text: str
    """For a model."""
    fields: dict[str, Any]
    """For a program."""


class EnvTools:
    """The tools of one environment.

    Args:
        sessions: the environment's sessions, started.
    """

    def __init__(self, sessions: EnvSessions):
        self._sessions = sessions
        own = {k: v for k, v in sessions.description.tools.items() if k not in OWN}
        self._functions = FunctionCallFormat({**ACT, **own})

    @property
    def instructions(self) -> str:
        """The rules of the environment, and how to begin."""
        return (
            f"{self._sessions.description.instructions}\n\nCall reset first. Pass the session that"
            " it returns to every other call. Call end_session at the end."
        ).lstrip()

    def schemas(self) -> list[dict[str, Any]]:
        """Returns the tools in MCP's form."""
        rules = self._sessions.description.instructions
        return [
            _tool("reset", f"Starts an episode. The rules:\n{rules}", RESET, ()),
            *(self._function(schema["function"]) for schema in self._functions.schema()),
            _tool("end_session", "Ends a session.", {"session": SESSION}, ("session",)),
        ]

    async def call(self, name: object, arguments: object) -> ToolAnswer:
        """Calls a tool.

        Raises:
            RefusedRequest: an unknown tool, wrong arguments, or a failure of the environment.
        """
        if not isinstance(arguments, Mapping):
            raise RefusedRequest(400, f"arguments: must be an object, not {shown(arguments)}")
        given = dict(arguments)
        if name == "reset":
            return await self._reset(given)
        if "session" not in given:
            raise RefusedRequest(400, "session: the argument is missing; reset returns the session")
        session = self._sessions.get(given.pop("session"))
        if name == "end_session":
            await self._sessions.close(session)
            return ToolAnswer(f"Session {session.number} has ended.", {"session": session.number})
        result = await self._sessions.step(session, self._action(name, given))
        return _answer(session, result, result.observation)

    def _action(self, name: object, given: dict[str, Any]) -> object:
        if name == "act" and self._functions.tools["act"] == ACT["act"] and [*given] == ["action"]:
            return given["action"]  # any text, also one that looks like a call
        try:
            return self._functions.parse(json.dumps({"name": name, "arguments": given}))
        except FormatError as error:
            raise RefusedRequest(400, f"name or arguments: {error}") from error

    async def _reset(self, given: dict[str, Any]) -> ToolAnswer:
        task_id, seed = reset_arguments(given)
        number = given.pop("session", None)
        session = self._sessions.open() if number is None else self._sessions.get(number)
        try:
            result = await self._sessions.reset(session, task_id=task_id, seed=seed, keywords=given)
        except BaseException:
            if number is None:
                await self._sessions.close(session)
            raise
        return _answer(session, result, f"Session: {session.number}\n\n{result.observation}")

    def _function(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        parameters = schema["parameters"]
        return _tool(
            schema["name"],
            schema["description"],
            {"session": SESSION, **parameters["properties"]},
            ("session", *parameters["required"]),
        )


def reset_arguments(given: dict[str, Any]) -> tuple[str | None, int | None]:
    """Removes the task and the seed from the arguments of a reset, and returns them.

    Raises:
        RefusedRequest: a value has a wrong type.
    """
    task_id, seed = given.pop("task_id", None), given.pop("seed", None)
    if task_id is not None and not isinstance(task_id, str):
        raise RefusedRequest(400, f"task_id: must be a string, not {shown(task_id)}")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise RefusedRequest(400, f"seed: must be a whole number from 0, not {shown(seed)}")
    return task_id, seed


def _answer(session: ClientSession, result: PoolResult, text: str) -> ToolAnswer:
    info = result.info or {}
    done = result.terminated or result.truncated
    fields: dict[str, Any] = {
        "session": session.number,
        "observation": result.observation,
        "reward": result.reward,
        "done": done,
        "truncated": result.truncated,
        **{key: info[key] for key in ("score", "success", "admissible_actions") if key in info},
    }
    return ToolAnswer(f"{text}\n\nThe episode is over." if done else text, fields)


def _tool(
    name: str, about: str, properties: Mapping[str, Any], required: tuple[str, ...]
) -> dict[str, Any]:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    return {
        "name": name,
        "description": about,
        "inputSchema": {**schema, "additionalProperties": False},
    }
