"""Messages between a pool and its workers: packed requests and parsed answers."""

import os
from typing import Any

from agentgym_envs.errors import ArgumentError, EnvRaised, shown
from agentgym_envs.pool.handle import PoolRequest
from agentgym_envs.pool.result import FAILURES, REFUSALS, ForwardedResult, PoolResult
from agentgym_envs.pool.wire import BadMessage, numbered, pack


def packed(message: dict[str, Any], what: str) -> bytes:
    """Returns a message as bytes.

    Args:
        message: the content.
        what: the name of the content in an error.

    Raises:
        ArgumentError: the message is not JSON-able.
    """
    try:
        return pack(message, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(f"{what} cannot be sent: {error}") from error


def _plain(value: object) -> str:
    """Returns a path object as a string.

    Raises:
        TypeError: the value is not a path.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else None
    if not isinstance(path, str):
        raise TypeError(f"{shown(value)} must be a string, number, list or dictionary")
    return path


def check_positive(**numbers: float | None) -> None:
    """Rejects numbers that are not positive; None stands for a default.

    Raises:
        ArgumentError: a number is not positive; the message has all of them.
    """
    if not all(number is None or number > 0 for number in numbers.values()):
        given = ", ".join(f"{name}={number}" for name, number in numbers.items())
        raise ArgumentError(f"{given}: all must be positive")


def check_limit(limit: object) -> None:
    """Rejects a ``max_episode_steps`` that Gymnasium accepts although it makes no sense.

    Raises:
        ArgumentError: the limit is not a whole number from 1, -1 or None.
    """
    if limit is not None and limit != -1 and not (type(limit) is int and limit >= 1):
        raise ArgumentError(
            f"max_episode_steps={limit!r}: must be a whole number from 1, or -1 for no limit"
        )


def answer_of(number: int, result: PoolResult) -> bytes:
    """Returns the packed answer of a host; :func:`parse_result` reads it."""
    if isinstance(result, ForwardedResult):
        return numbered(number, result.rest)
    if result.error is None:
        fields = {k: v for k, v in vars(result).items() if k not in ("index", "error")}
        return pack({"id": number, **fields})
    kind, cause = type(result.error).__name__, type(result.error.__cause__).__name__
    return pack({"id": number, "error": str(result.error), "kind": kind, "refusal": cause})


def _failure(
    index: int, *, error: str, refusal: str | None, kind: str = EnvRaised.__name__
) -> PoolResult:
    if kind not in FAILURES:
        raise TypeError(f"the failure {shown(kind)}")
    failure = FAILURES[kind](error)
    failure.__cause__ = REFUSALS[refusal](error) if refusal in REFUSALS else None
    return PoolResult(index, error=failure)


def parse_result(request: PoolRequest | None, answer: dict[str, Any]) -> PoolResult:
    """Returns the result of a worker's answer to its current request.

    Raises:
        BadMessage: the answer belongs to another request or has another form.
    """
    number = answer.pop("id", None)
    if request is None or number != request.id:
        raise BadMessage("an answer to nothing that was asked")
    try:
        return (
            _failure(request.index, **answer)
            if "error" in answer
            else PoolResult(request.index, **answer)
        )
    except TypeError as error:
        raise BadMessage(f"an answer of another form: {error}") from error
