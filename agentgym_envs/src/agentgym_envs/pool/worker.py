"""The process behind :class:`agentgym_envs.pool.EnvPool`: ``python -m agentgym_envs.pool.worker SOCKET BOARD``.

It is a program of its own rather than a ``multiprocessing`` child: no fork of a process that has torch threads, and no
second run of the user's script. When the socket closes, also because the parent was killed, it ends at once.

The board is eight bytes that both processes see: the id of the last request that was begun. It stays when this process dies.
"""

import json
import math
import mmap
import os
import queue
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import gymnasium

from agentgym_envs import cache, plugins, registry
from agentgym_envs.core import TextEnv
from agentgym_envs.errors import AgentGymError, EnvRaised, message_of
from agentgym_envs.pool.result import REFUSALS
from agentgym_envs.pool.wire import Inbox, pack
from agentgym_envs.wrappers import ActionFormat

GRACE = 3.0  # seconds to close the environments after the socket has closed
CHUNK = 2**16

Requests = queue.SimpleQueue[dict[str, Any] | None]


class Worlds:
    """The environments of one worker, by their index in the pool."""

    def __init__(self, setup: dict[str, Any]):
        self._setup = setup
        self._envs: dict[int, gymnasium.Env[str, str]] = {}
        self._oracles: dict[int, Iterator[str]] = {}

    def answer(self, request: dict[str, Any]) -> bytes:
        """Returns the packed answer to a request; a failure is an answer too."""
        number, index = request["id"], request["index"]
        try:
            answer = getattr(self, request["do"])(**{k: v for k, v in request.items() if k not in ("id", "do")})
            if wrong := _not_finite(answer):
                raise EnvRaised(f"{registry.named(self._setup['id'])}: {wrong}")
            try:
                return pack({"id": number, **answer})
            except (TypeError, ValueError, RecursionError) as error:
                raise EnvRaised(f"{registry.named(self._setup['id'])}: {_unsendable(answer['info'])}") from error
        except BaseException as error:  # also sys.exit(): whatever leaves an environment is its failure alone
            self._drop(index)
            return pack({"id": number, **_told(self._setup["id"], request["do"], error)})

    def reset(self, *, index: int, seed: int | None, options: dict[str, Any] | None) -> dict[str, Any]:
        """Starts an episode; makes the environment if it is not there."""
        env = self._made(index)
        self._oracles.pop(index, None)
        observation, info = env.reset(seed=seed, options=options)
        return _answer(observation, 0.0, False, False, info)

    def describe(self, *, index: int) -> dict[str, Any]:
        """Says what the environment is; makes it if it is not there."""
        env = self._made(index)
        inner: Any = env.unwrapped
        text_env = isinstance(inner, TextEnv)
        task_ids = getattr(inner, "task_ids", None)
        described = {
            "instructions": getattr(env if isinstance(env, ActionFormat) else inner, "instructions", ""),
            "task_ids": None if task_ids is None else list(task_ids),
            "difficulties": [inner.task_set.difficulty(i) for i in inner.task_ids] if text_env else None,
            "tools": dict(getattr(inner, "tools", {})),
            "seats": list(getattr(inner, "seats", ())) if text_env else [],
            "text_env": text_env,
        }
        return _answer("", 0.0, False, False, described)

    def step(self, *, index: int, action: str) -> dict[str, Any]:
        """Takes a step."""
        return _answer(*self._env(index).step(action))

    def bare(self, *, index: int, action: str) -> dict[str, Any]:
        """Takes a step with an action that the format has yet to write; also answers how it did."""
        env = self._env(index)
        written = env.format.render(action) if isinstance(env, ActionFormat) else action
        return {**_answer(*env.step(written)), "action": written}

    def oracle(self, *, index: int) -> dict[str, Any]:
        """Takes the step that the oracle says, if it says one."""
        if index not in self._oracles:
            inner: Any = self._env(index).unwrapped
            self._oracles[index] = inner.oracle()
        action = next(self._oracles[index], None)
        return {} if action is None else self.bare(index=index, action=action)

    def close(self) -> None:
        """Closes all environments."""
        for index in list(self._envs):
            self._drop(index)

    def _made(self, index: int) -> gymnasium.Env[str, str]:
        if index not in self._envs:
            self._envs[index] = registry.make(self._setup["id"], **self._setup["kwargs"])
            if self._setup["action_format"] is not None:
                self._envs[index] = ActionFormat(self._envs[index], self._setup["action_format"])
        return self._envs[index]

    def _env(self, index: int) -> gymnasium.Env[str, str]:
        if index not in self._envs:
            raise gymnasium.error.ResetNeeded(f"environment {index} was never reset, or failed since")
        return self._envs[index]

    def _drop(self, index: int) -> None:
        self._oracles.pop(index, None)
        if (env := self._envs.pop(index, None)) is not None:
            try:
                env.close()
            except BaseException:
                traceback.print_exc()  # an environment that cannot even close must not take its neighbours along


def serve(connection: socket.socket, board: mmap.mmap) -> None:
    """Answers requests until the socket closes."""
    requests: Requests = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, requests), daemon=True).start()
    setup = requests.get()
    if setup is None:
        return
    if setup["path"]:
        sys.path += setup["path"]  # last, so that nothing there stands in for an installed module
        plugins.discover.cache_clear()
        registry.register_all()
    worlds = Worlds(setup)
    while (request := requests.get()) is not None:
        board[:] = request["id"].to_bytes(len(board), "big")
        try:
            connection.sendall(worlds.answer(request))
        except OSError:
            break
    worlds.close()


def _answer(observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> dict[str, Any]:
    if not isinstance(observation, str) or not isinstance(info, dict):
        raise TypeError(f"an observation is a str and an info a dict, not {type(observation).__name__} and {type(info).__name__}")
    decided = {"terminated": bool(terminated), "truncated": bool(truncated)}
    return {"observation": observation, "reward": float(reward), **decided, "info": info}


def _not_finite(answer: dict[str, Any]) -> str | None:
    """Says which reward or score of an answer is infinite or NaN, if one is."""
    info = answer.get("info", {})
    numbers = {"reward": answer.get("reward"), "info['score']": info.get("score")}
    for key in ("rewards", "scores"):  # of several seats
        each = info.get(key)
        numbers |= {f"info[{key!r}][{seat!r}]": one for seat, one in each.items()} if isinstance(each, dict) else {}
    wrong = {name: number for name, number in numbers.items() if isinstance(number, float) and not math.isfinite(number)}
    return next((f"{name} must be a finite number, not {number}" for name, number in wrong.items()), None)


def _unsendable(info: dict[str, Any]) -> str:
    """Says which key of an info has no JSON form, and why."""
    for key, value in info.items():
        try:
            json.dumps({key: value})
        except (TypeError, ValueError, RecursionError) as error:
            return f"info[{key!r}] must be JSON-able: {error}"
    return "an answer that is too long to be sent"


def _told(env_id: str, request: str, error: BaseException) -> dict[str, Any]:
    """Returns what the parent hears of an error: its message and, where something was asked for that cannot be, its class."""
    message = message_of(error)
    beginning = request in ("reset", "describe")
    refusal = next((name for name, kind in REFUSALS.items() if beginning and isinstance(error, kind)), None)
    if not (isinstance(error, AgentGymError) and message.startswith(env_id.rpartition(":")[2])):
        subject = registry.named(env_id)
        message = f"{subject}: {message}" if beginning and isinstance(error, AgentGymError) else str(EnvRaised.of(subject, error))
    return {"error": message, "refusal": refusal}


def _read(connection: socket.socket, requests: Requests) -> None:
    inbox = Inbox()
    try:
        while data := connection.recv(CHUNK):
            for message in inbox.feed(data):
                requests.put(message)
    except OSError:
        pass  # as good as closed
    requests.put(None)
    # The main thread may hang inside an environment: give it a moment, then leave without it.
    threading.Event().wait(GRACE)
    cache.discard_drafts()
    os._exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process when it wants to
    os.dup2(2, 1)  # what environments print is not for the parent's standard output
    parent = socket.socket(fileno=int(sys.argv[1]))
    parent.set_inheritable(False)
    serve(parent, mmap.mmap(int(sys.argv[2]), 8))
