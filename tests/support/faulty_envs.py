"""Environments that fail on purpose: ``gym.make("faulty_envs:support/Faulty-v0")``.

The import of this module registers them.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path

import gymnasium
import numpy as np

from agentgym_envs import Outcome, Task, TaskSet, TextEnv, cache
from agentgym_envs.errors import ArgumentError
from agentgym_envs.spaces import Unicode


class FaultyEnv(gymnasium.Env):
    """Counts steps and fails on request.

    The actions "raise", "hang", "die" and others cause the fault of that name. ``fault`` occurs at
    step ``at`` while the file ``marker`` does not exist.
    """

    metadata = {"render_modes": []}
    seats = 4  # not a game: a plain environment can have any attribute

    def __init__(self, *, length=5, fault=None, at=2, marker=None, seeds=None, construct=None):
        if construct:
            self.fail(construct)
        self.observation_space = self.action_space = Unicode()
        self.length, self.fault, self.at, self.seeds = length, fault, at, seeds
        self.marker = Path(marker) if marker else None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seed, self.turn = seed, 0
        return f"seed {seed}", {}

    def step(self, action):
        self.turn += 1
        concerned = self.seeds is None or self.seed in self.seeds
        if (
            self.fault
            and self.turn == self.at
            and concerned
            and not (self.marker and self.marker.exists())
        ):
            if self.marker:
                self.marker.touch()
            self.fail(self.fault)
        self.fail(action)
        done = self.turn >= self.length
        return f"turn {self.turn}", float(done), done, False, {"success": done}

    def fail(self, how):
        sys.stderr.write(f"about to {how[:20]}\n")
        if how == "raise":
            raise RuntimeError("broken on purpose")
        if how == "hang":
            time.sleep(3600)
        if how == "die":
            os._exit(7)
        if how == "litter":
            tempfile.mkstemp()
        if how == "exit":
            sys.exit("leaving")
        if how == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if how == "linger":  # closes the connection before the process ends
            socket.socket(fileno=int(sys.argv[1])).shutdown(socket.SHUT_RDWR)
            time.sleep(0.5)
            os._exit(9)
        if how == "orphan":  # a child holds the connection open, as a forked simulator does
            if os.fork():
                os._exit(8)
            time.sleep(10)
            os._exit(0)
        if how == "garbage":
            os.write(int(sys.argv[1]), b"\xff" * 50)
        if how == "lie":
            os.write(int(sys.argv[1]), b"\0\0\0\x0b" + b'{"id": 999}')


class MuteError(Exception):
    """Raises when it is converted to text."""

    def __str__(self):
        raise RuntimeError("no words")


class MuteArgumentError(MuteError, ArgumentError):
    """The same, as an error of this project."""


class OddEnv(FaultyEnv):
    """Returns the odd info, reward or observation that the action names."""

    def step(self, action):
        super().step("")
        what, _, detail = action.partition(" ")
        if what == "hold":  # sleeps in C and blocks all other threads
            ctypes.PyDLL(None).usleep(int(float(detail) * 1e6))
        if what == "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            ctypes.PyDLL(None).usleep(60_000_000)
        if what == "later":
            threading.Timer(0.3, os._exit, [6]).start()
        if what in ("die", "hang"):
            self.fail(what)
        if what == "mute":
            raise MuteArgumentError if detail else MuteError
        if what == "print":
            sys.stdout.write("noise" * 100)
            sys.stdout.flush()
            subprocess.run(["echo", "more noise"], check=True)
        if what == "build":
            with cache.build_once(Path(detail)):
                time.sleep(3600)
        odd = float(detail) if what in ("reward", "score", "seat") else 0.5
        infos = {
            "score": {"score": odd},
            "seat": {"rewards": {"a": 0.0, "b": odd}},
            "set": {"fine": 1, "bad": {1}},
        }
        infos |= {"numpy": {"count": np.int64(3)}, "key": {(1, 2): 3}, "none": None, "loop": {}}
        infos["loop"]["self"] = infos["loop"]
        modules = " ".join(
            str(import_module(name).__file__) for name in ("queue", "random", "sched")
        )
        shown = {"length": str(len(action)), "echo": detail, "modules": modules, "bytes": b"x"}
        if what == "spawn":
            away = detail == "away"  # from the worker's process group
            child = subprocess.Popen(["sleep", "60"], start_new_session=away)
            shown["spawn"] = str(child.pid)
        reward = np.float32(odd if what == "reward" else 0.5)
        return (
            shown.get(what, f"turn {self.turn}"),
            reward,
            np.bool_(False),
            np.bool_(False),
            infos.get(what, {}),
        )


class InfoEnv(FaultyEnv):
    """Returns infos of every type, some only at the end; the length of an episode is random."""

    def reset(self, *, seed=None, options=None):
        shown, _ = super().reset(seed=seed)
        self.length = int(self.np_random.integers(1, 4))
        return shown, {
            "options": str(options),
            "start": True,
            "nested": {"length": self.length, "deep": {"x": 0.5}},
        }

    def step(self, action):
        *rest, done, cut, _ = super().step(action)
        info = {
            "turn": self.turn,
            "half": self.turn / 2,
            "words": [action],
            "none": None,
            "nested": {"deep": {"x": 1.5}},
        }
        return *rest, done, cut, {**info, **({"last": action, "score": 1.0} if done else {})}


class TroubleEnv(TextEnv):
    """A text environment that fails in its second turn."""

    def __init__(self, *, trouble=None, **kwargs):
        super().__init__(**kwargs)
        self.trouble = trouble

    def make_tasks(self):
        return TaskSet(
            Task(id=f"{split}-{n}", split=split)
            for split in ("train", "dev", "test")
            for n in range(3)
        )

    def begin(self, task, rng):
        self.turns = 0
        return "go", "arrive"

    def act(self, action):
        self.turns += 1
        if self.turns > 1:
            FaultyEnv.fail(self, self.trouble or "go on")
        return Outcome("on", 0.0)

    def actions(self):
        return ["on"]

    def oracle(self):
        yield "on"
        if self.trouble:
            yield "on"


class OraclelessEnv(TroubleEnv):
    """A text environment whose oracle has no action."""

    def act(self, action):
        return Outcome("on", 0.0)

    def oracle(self):
        yield from ()


class UnsplitEnv(TroubleEnv):
    """A text environment without the required keyword ``split``."""

    def __init__(self):
        super().__init__()


class SlowStartEnv(FaultyEnv):
    """Takes ``delay`` seconds for its first reset, or for each reset."""

    def __init__(self, *, delay, each=False, **kwargs):
        super().__init__(**kwargs)
        self.delay, self.each = delay, each

    def reset(self, *, seed=None, options=None):
        time.sleep(self.delay)
        self.delay = self.delay if self.each else 0
        return super().reset(seed=seed, options=options)


class SlowEnv(FaultyEnv):
    """Takes ``delay`` seconds for every step of an odd seed."""

    def __init__(self, *, delay=0.3, **kwargs):
        super().__init__(**kwargs)
        self.delay = delay

    def step(self, action):
        if self.seed % 2:
            time.sleep(self.delay)
        return super().step(action)


gymnasium.register("support/Faulty-v0", entry_point="faulty_envs:FaultyEnv", max_episode_steps=100)
gymnasium.register("support/Odd-v0", entry_point="faulty_envs:OddEnv", max_episode_steps=100)
gymnasium.register("support/Info-v0", entry_point="faulty_envs:InfoEnv", max_episode_steps=2)
gymnasium.register("support/Trouble-v0", entry_point="faulty_envs:TroubleEnv", max_episode_steps=5)
gymnasium.register(
    "support/Oracleless-v0", entry_point="faulty_envs:OraclelessEnv", max_episode_steps=5
)
gymnasium.register("support/Unsplit-v0", entry_point="faulty_envs:UnsplitEnv", max_episode_steps=5)
gymnasium.register(
    "support/SlowStart-v0", entry_point="faulty_envs:SlowStartEnv", max_episode_steps=100
)
gymnasium.register("support/Slow-v0", entry_point="faulty_envs:SlowEnv", max_episode_steps=100)
