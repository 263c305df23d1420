"""Ids of function calls, each of which a conversation has once."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentgym_envs.models.answers import ModelReply


def with_ids(reply: ModelReply, used: Collection[str]) -> ModelReply:
    """Returns a reply whose calls have unique ids.

    Some servers give no ids, the same one to all calls, or the same ones in every reply; others
    refuse such a conversation. The other ids stay as they are. The replayed parts get the new ids
    too, because the results must match them.

    Args:
        reply: of a model.
        used: ids of all calls of the conversation.
    """
    taken, ids = set(used), list[str]()
    for call in reply.tool_calls:
        ids.append(call.id if call.id and call.id not in taken else _new(taken))
        taken.add(ids[-1])
    if ids == [call.id for call in reply.tool_calls]:
        return reply
    calls = (replace(call, id=name) for call, name in zip(reply.tool_calls, ids, strict=True))
    return replace(reply, tool_calls=tuple(calls), replay=_renamed(reply.replay, ids))


def _new(taken: Collection[str]) -> str:
    """Returns an id of nine letters and digits, the only form that Mistral's server takes."""
    number = len(taken) + 1
    while (name := f"call{number:05}") in taken:
        number += 1
    return name


def _renamed(replay: Mapping[str, Any] | None, ids: Sequence[str]) -> Mapping[str, Any] | None:
    """Returns the replayed parts of a reply with other ids, in the order of its calls."""
    if replay is None or "parts" not in replay:
        return replay
    left = iter(ids)
    return {**replay, "parts": [_part(part, left) for part in replay["parts"]]}


def _part(part: Mapping[str, Any], ids: Iterator[str]) -> Mapping[str, Any]:
    if part.get("type") == "tool_use":  # Anthropic
        return {**part, "id": next(ids)}
    if part.get("type") == "function_call":  # Responses
        return {**part, "call_id": next(ids)}
    if call := part.get("function_call"):  # Google, which matches calls without ids by their order
        name = next(ids)
        return {**part, "function_call": {**call, "id": name}} if call.get("id") else part
    return part
