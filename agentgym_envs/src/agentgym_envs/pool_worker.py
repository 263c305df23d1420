"""The process behind :class:`agentgym_envs.pool.EnvPool`: ``python -m agentgym_envs.pool_worker FD``.

It is a program of its own rather than a ``multiprocessing`` child: no fork of a process that has torch threads, and no
second run of the user's script. When the pipe closes, also because the parent was killed, it ends at once.
"""

import os
import pickle
import queue
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any

import gymnasium

import agentgym_envs  # noqa: F401  registers the ids
from agentgym_envs.wrappers import ActionFormat

GRACE = 3.0  # seconds to close the environments after the pipe has closed


def serve(pipe: Connection) -> None:
    """Answers reset and step requests until the pipe closes."""
    setup = pickle.loads(pipe.recv_bytes())
    requests: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(pipe, requests), daemon=True).start()
    envs: dict[int, gymnasium.Env[str, str]] = {}
    while (request := requests.get()) is not None:
        index = request[1]
        answer: tuple[int, Any, str | None]
        try:
            answer = (index, _apply(setup, envs, request), None)
        except Exception as error:
            broken = envs.pop(index, None)
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(last.filename)}:{last.lineno}"
            answer = (index, None, f"{setup['id']} raised {type(error).__name__} at {where}: {error}")
            if broken is not None:
                _close(broken)
        try:
            pipe.send_bytes(pickle.dumps(answer))
        except OSError:
            break
    for env in envs.values():
        _close(env)


def _apply(setup: dict[str, Any], envs: dict[int, gymnasium.Env[str, str]], request: tuple[Any, ...]) -> tuple[Any, ...]:
    if request[0] == "step":
        return envs[request[1]].step(request[2])
    _, index, seed, options = request
    if index not in envs:
        envs[index] = gymnasium.make(setup["id"], **setup["kwargs"])
        if setup["action_format"] != "plain":
            envs[index] = ActionFormat(envs[index], setup["action_format"])
    observation, info = envs[index].reset(seed=seed, options=options)
    return observation, 0.0, False, False, info


def _read(pipe: Connection, requests: "queue.SimpleQueue[tuple[Any, ...] | None]") -> None:
    try:
        while True:
            requests.put(pickle.loads(pipe.recv_bytes()))
    except (EOFError, OSError):
        requests.put(None)
    # The main thread may hang inside an environment: give it a moment, then leave without it.
    threading.Event().wait(GRACE)
    os._exit(1)


def _close(env: gymnasium.Env[str, str]) -> None:
    try:
        env.close()
    except Exception:
        traceback.print_exc()  # an environment that cannot even close must not take its neighbours along


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
