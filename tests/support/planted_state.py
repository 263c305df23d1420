"""Environments with one planted bug each in shared state, surroundings, seeds or growth.

The import of this module registers them.
"""

import base64
import gc
import getpass
import logging
import os
import random
import socket
import sys
import threading
import time
from pathlib import Path

import gymnasium
from breaches import Count

KEPT = []  # leaked objects
OPEN = set()  # environments that another one closes


class ClosingAll(Count):
    """Close also ends the episodes of other environments."""

    def begin(self, task, rng):
        OPEN.add(id(self))
        return super().begin(task, rng)

    def act(self, action):
        return super().act(action)._replace(**({} if id(self) in OPEN else {"text": "closed"}))

    def close(self):
        OPEN.clear()


class ClosingOlder(ClosingAll):
    """Close fails the episodes of environments that are younger."""

    made = 0

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        ClosingOlder.made += 1
        self.age = ClosingOlder.made

    def begin(self, task, rng):
        OPEN.add((self.age, id(self)))
        return Count.begin(self, task, rng)

    def act(self, action):
        return Count.act(self, action) if (self.age, id(self)) in OPEN else 1 / 0

    def close(self):
        OPEN.difference_update([pair for pair in OPEN if pair[0] > self.age])


class Showing(Count):
    """Subclasses show something of their surroundings."""

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} {self.surroundings()}", goal


class AtHome(Showing):
    def surroundings(self):
        return Path.home().name


class Owned(Showing):
    def surroundings(self):
        return getpass.getuser()


class Parallel(Showing):
    def surroundings(self):
        return os.cpu_count()


class Pinned(Showing):
    def surroundings(self):
        return len(os.sched_getaffinity(0))


class Hosted(Showing):
    def surroundings(self):
        return socket.gethostname()


class SinceBoot(Showing):
    def surroundings(self):
        return int(time.monotonic()) // 86400


class SinceBootByNumber(Showing):
    def surroundings(self):
        return int(time.clock_gettime(time.CLOCK_MONOTONIC)) // 86400


class Asserting(Showing):
    def surroundings(self):
        return __debug__


class SmallSeeds(Count):
    """Seeds of 2³¹ and more raise."""

    def reset(self, *, seed=None, options=None):
        seed is None or seed.to_bytes(4, "big", signed=True)
        return super().reset(seed=seed, options=options)


class UnsignedSeeds(Count):
    """Seeds of 2⁶⁴ and more raise."""

    def reset(self, *, seed=None, options=None):
        seed is None or seed.to_bytes(8, "big")
        return super().reset(seed=seed, options=options)


class FloatSeeds(Count):
    """Seeds raise that are no floats."""

    def reset(self, *, seed=None, options=None):
        random.Random(None if seed is None else float(seed))
        return super().reset(seed=seed, options=options)


class Changing(Count):
    """Subclasses change the state of the process."""

    def begin(self, task, rng):
        self.change()
        return super().begin(task, rng)


class Exporting(Changing):
    def change(self):
        os.environ["SIMULATOR"] = "1"


class Finding(Changing):
    def change(self):
        sys.path.append("/simulator")


class Masking(Changing):
    def change(self):
        os.umask(0o007)


class Collecting(Changing):
    def change(self):
        gc.disable()


class Quiet(Changing):
    def change(self):
        logging.disable(logging.CRITICAL)


class Excepting(Changing):
    def change(self):
        sys.excepthook = print


class Tracing(Changing):
    def change(self):
        threading.setprofile(lambda *event: None)


class Remembering(Count):
    """Keeps every episode."""

    def begin(self, task, rng):
        KEPT.append([f"{len(KEPT)} {n}" for n in range(20)])
        return super().begin(task, rng)


class Hoarding(Count):
    """Keeps a large object of every turn."""

    def act(self, action):
        KEPT.append(bytes(2000))
        return super().act(action)


class Rereading(Count):
    """Copies the whole history in every turn."""

    def begin(self, task, rng):
        self.history = []
        return super().begin(task, rng)

    def act(self, action):
        self.history.append(action)
        base64.b64encode("".join(self.history * 500).encode(errors="replace"))
        return super().act(action)


class Dozing(Rereading):
    """Waits longer in every turn."""

    def act(self, action):
        self.history.append(action)
        time.sleep(5e-5 * len(self.history))
        return Count.act(self, action)


PLANTED = {
    ClosingAll: "beside another environment that was closed, .* became .* close only what",
    ClosingOlder: "after an older environment was closed, .*ZeroDivisionError.* close only what",
    AtHome: "played with PYTHONHASHSEED=0, another HOME, .* may depend on the seed",
    Owned: "played with PYTHONHASHSEED=0, (USER|LOGNAME)=kit, .* became ",
    Parallel: "another host name and number of CPUs, .* became ",
    Pinned: "another host name and number of CPUs, .* became ",
    Hosted: "another host name and number of CPUs, .* became ",
    SinceBoot: "PYTHONHASHSEED=0, at another time, .* became ",
    SinceBootByNumber: "PYTHONHASHSEED=0, at another time, .* became ",
    Asserting: "played with PYTHONHASHSEED=0, PYTHONOPTIMIZE=1, .* became ",
    SmallSeeds: r"reset\(seed=2147483648\) raises OverflowError.* any integer from 0",
    UnsignedSeeds: r"reset\(seed=18446744073709551616\) raises OverflowError",
    FloatSeeds: r"reset\(seed=10\*\*400\) raises OverflowError",
    Exporting: "the environment variables changed.*SIMULATOR.* restore it",
    Finding: r"sys.path changed.* restore it",
    Masking: r"the umask changed: \d+ became 7\. The whole process",
    Collecting: r"the garbage collector \(gc\) changed.*enabled",
    Quiet: "logging changed.*disabled",
    Excepting: "sys.excepthook changed",
    Tracing: "the trace and profile functions of threads changed",
    Remembering: r"equal episodes take \d+ more bytes, .* Drop",
    Hoarding: r"equal episodes take \d+ more bytes, .* Drop",
    Rereading: "turns take longer and longer.* must not",
    Dozing: "turns take longer and longer.* must not",
}
for cls in PLANTED:
    gymnasium.register(
        f"state/{cls.__name__}-v0",
        entry_point=f"planted_state:{cls.__name__}",
        max_episode_steps=20,
    )
