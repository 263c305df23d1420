"""A worker process of :class:`agentgym_envs.pool.EnvPool`.

Its command is ``python -m agentgym_envs.pool.worker SOCKET BOARD FOLDER``.

It is a separate program, not a ``multiprocessing`` child. So no process with torch threads is
forked, and the user's script does not run a second time. The worker ends when the socket closes,
also if the parent was killed.

The board is eight bytes of shared memory: the id of the last request that the worker began. The
parent can still read it after the worker has died.

The folder is the worker's temporary folder (``TMPDIR``). The parent removes it after the worker's
end, and so does a worker that outlives its parent.
"""

import ast
import json
import math
import mmap
import os
import shutil
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import gymnasium

from agentgym_envs import cache, descendants, plugins, registry
from agentgym_envs.core import TextEnv
from agentgym_envs.errors import AgentGymError, EnvRaised, UnknownName, message_of
from agentgym_envs.pool.result import REFUSALS
from agentgym_envs.pool.wire import MessageInbox, literal, pack
from agentgym_envs.wrappers import ActionFormat

GRACE = 3.0  # seconds in which the environments can close after the socket has closed
CHUNK = 2**16


class WorkerEnvs:
    """The environments of one worker, by their index in the pool."""

    def __init__(self, setup: dict[str, Any]):
        self._setup = setup
        self._envs: dict[int, gymnasium.Env[str, str]] = {}
        self._oracles: dict[int, Iterator[str]] = {}

    def answer(self, request: dict[str, Any]) -> bytes:
        """Returns the packed answer to a request, which can be a failure."""
        number, index = request["id"], request["index"]
        try:
            answer = getattr(self, request["do"])(
                **{k: v for k, v in request.items() if k not in ("id", "do")}
            )
            if wrong := _not_finite(answer):
                raise EnvRaised(f"{registry.named(self._setup['id'])}: {wrong}")
            try:
                return pack({"id": number, **answer})
            except (TypeError, ValueError, RecursionError) as error:
                raise EnvRaised(
                    f"{registry.named(self._setup['id'])}: {_unsendable(answer['info'])}"
                ) from error
        except (
            BaseException
        ) as error:  # also sys.exit(): any exception fails this environment alone
            self._drop(index)
            return pack({"id": number, **_error_answer(self._setup["id"], request["do"], error)})

    def reset(
        self,
        *,
        index: int,
        seed: int | None,
        options: dict[str, Any] | None,
        keywords: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Starts an episode; creates the environment if it does not exist."""
        env = self._made(index, keywords)
        self._oracles.pop(index, None)
        observation, info = env.reset(seed=seed, options=options)
        return _answer(observation, 0.0, False, False, info)

    def describe(self, *, index: int) -> dict[str, Any]:
        """Describes the environment; creates it if it does not exist."""
        env = self._made(index)
        inner: Any = env.unwrapped
        text_env = isinstance(inner, TextEnv)
        task_ids = getattr(inner, "task_ids", None)
        described = {
            "rules": getattr(inner, "instructions", ""),
            "format_rules": env.format.describe() if isinstance(env, ActionFormat) else "",
            "task_ids": None if task_ids is None else list(task_ids),
            "difficulties": (
                [inner.task_set.difficulty(i) for i in inner.task_ids] if text_env else None
            ),
            "tools": dict(getattr(inner, "tools", {})),
            "seats": list(getattr(inner, "seats", ())) if text_env else [],
            "text_env": text_env,
        }
        return _answer("", 0.0, False, False, described)

    def call(self, *, index: int, name: str, arguments: str) -> dict[str, Any]:
        """Returns the value of an attribute, or of a call if it is a function."""
        env = self._made(index)
        try:
            args, keywords = ast.literal_eval(arguments)
            found = env.get_wrapper_attr(name)
            info = {"value": literal(found(*args, **keywords) if callable(found) else found)}
        except Exception as error:
            info = {"raised": type(error).__name__, "message": message_of(error)}
        return _answer("", 0.0, False, False, info)

    def step(self, *, index: int, action: str) -> dict[str, Any]:
        """Takes a step."""
        return _answer(*self._env(index).step(action))

    def bare(self, *, index: int, action: str) -> dict[str, Any]:
        """Writes an action in the pool's format and takes a step; the answer has both."""
        env = self._env(index)
        written = env.format.render(action) if isinstance(env, ActionFormat) else action
        return {**_answer(*env.step(written)), "action": written}

    def oracle(self, *, index: int) -> dict[str, Any]:
        """Takes the oracle's next step; the answer is empty if the oracle has no more actions."""
        if index not in self._oracles:
            inner: Any = self._env(index).unwrapped
            self._oracles[index] = inner.oracle()
        action = next(self._oracles[index], None)
        return {} if action is None else self.bare(index=index, action=action)

    def drop(self, *, index: int) -> dict[str, Any]:
        """Closes an environment, if it exists."""
        self._drop(index)
        return {}

    def close(self) -> None:
        """Closes all environments."""
        for index in list(self._envs):
            self._drop(index)

    def _made(self, index: int, keywords: dict[str, Any] | None = None) -> gymnasium.Env[str, str]:
        if index not in self._envs:
            given = {**self._setup["kwargs"], **(keywords or {})}
            self._envs[index] = registry.make(self._setup["id"], **given)
            if self._setup["action_format"] is not None:
                self._envs[index] = ActionFormat(self._envs[index], self._setup["action_format"])
        return self._envs[index]

    def _env(self, index: int) -> gymnasium.Env[str, str]:
        if index not in self._envs:
            raise gymnasium.error.ResetNeeded(
                f"environment {index} was never reset, or failed since"
            )
        return self._envs[index]

    def _drop(self, index: int) -> None:
        self._oracles.pop(index, None)
        if (env := self._envs.pop(index, None)) is not None:
            try:
                env.close()
            except BaseException:
                # an error while closing must not affect the other environments
                traceback.print_exc()


def serve(connection: socket.socket, board: mmap.mmap, folder: str) -> None:
    """Answers requests until the socket closes, then removes the worker's temporary folder."""
    requests = _requests(connection)
    setup = next(requests, None)
    if setup is None:
        return
    descendants.mark(folder)
    threading.Thread(target=_end_late, args=(connection, folder), daemon=True).start()
    if setup["path"]:
        sys.path += setup["path"]  # last, so that nothing there shadows an installed module
        plugins.discover.cache_clear()
        registry.register_all()
    worlds = WorkerEnvs(setup)
    for request in requests:
        board[:] = request["id"].to_bytes(len(board), "big")
        try:
            connection.sendall(worlds.answer(request))
        except OSError:
            break
    worlds.close()
    shutil.rmtree(folder, ignore_errors=True)


def _requests(connection: socket.socket) -> Iterator[dict[str, Any]]:
    """Yields the messages that arrive, until the socket closes."""
    inbox = MessageInbox()
    with suppress(OSError):  # the same as a closed socket
        while data := connection.recv(CHUNK):
            yield from inbox.feed(data)


def _end_late(connection: socket.socket, folder: str) -> None:
    """Ends the process group soon after the socket has closed: an environment can hang."""
    descendants.hung_up(connection.fileno())
    threading.Event().wait(GRACE)
    cache.discard_drafts()
    descendants.kill([folder])
    shutil.rmtree(folder, ignore_errors=True)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _answer(
    observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any
) -> dict[str, Any]:
    if not isinstance(observation, str) or not isinstance(info, dict):
        raise TypeError(
            f"an observation is a str and an info a dict, not {type(observation).__name__} and"
            f" {type(info).__name__}"
        )
    decided = {"terminated": bool(terminated), "truncated": bool(truncated)}
    return {"observation": observation, "reward": float(reward), **decided, "info": info}


def _not_finite(answer: dict[str, Any]) -> str | None:
    """Returns an error message for the first reward or score that is infinite or NaN, or None."""
    info = answer.get("info", {})
    numbers = {"reward": answer.get("reward"), "info['score']": info.get("score")}
    for key in ("rewards", "scores"):  # of several seats
        each = info.get(key)
        numbers |= (
            {f"info[{key!r}][{seat!r}]": one for seat, one in each.items()}
            if isinstance(each, dict)
            else {}
        )
    wrong = {
        name: number
        for name, number in numbers.items()
        if isinstance(number, float) and not math.isfinite(number)
    }
    return next(
        (f"{name} must be a finite number, not {number}" for name, number in wrong.items()), None
    )


def _unsendable(info: dict[str, Any]) -> str:
    """Returns an error message for the first key of an info that has no JSON form."""
    for key, value in info.items():
        try:
            json.dumps({key: value})
        except (TypeError, ValueError, RecursionError) as error:
            return f"info[{key!r}] must be JSON-able: {error}"
    return "an answer that is too long to be sent"


def _error_answer(env_id: str, request: str, error: BaseException) -> dict[str, Any]:
    """Returns the answer for an error: the message, and the class of an argument error."""
    message = message_of(error)
    beginning = request in ("reset", "describe")
    refusal = _refusal(error) if beginning else None
    named = message.startswith((env_id, env_id.rpartition(":")[2]))
    if not (isinstance(error, AgentGymError) and named):
        subject = registry.named(env_id)
        message = (
            f"{subject}: {message}"
            if beginning and isinstance(error, AgentGymError)
            else str(EnvRaised.of(subject, error))
        )
    return {"error": message, "refusal": refusal}


def _refusal(error: BaseException) -> str | None:
    """Returns the name in ``REFUSALS`` of an error of the caller, or None."""
    if isinstance(error, UnknownName):  # a split that does not exist
        return "ArgumentError"
    return next((name for name, kind in REFUSALS.items() if isinstance(error, kind)), None)


if __name__ == "__main__":
    # Ctrl-C is for the parent, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # prints of environments must not reach the parent's standard output
    parent = socket.socket(fileno=int(sys.argv[1]))
    parent.set_inheritable(False)
    serve(parent, mmap.mmap(int(sys.argv[2]), 8), sys.argv[3])
    if descendants.hung_up(2, 0.0) and os.getpgrp() == os.getpid():
        # The parent is dead. Otherwise it ends what environments have left behind.
        descendants.kill([sys.argv[3]])
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(os.getpid(), signal.SIGTERM)
