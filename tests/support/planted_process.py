"""Environments with one planted bug each in their effects on the process.

The import of this module registers them.
"""

import ctypes
import datetime
import locale
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import suppress

import gymnasium
import numpy as np
from breaches import COUNTER, Count

KEPT = []  # leaked objects


class Threaded(Count):
    """Starts a thread for each episode; the thread outlives the episode."""

    def begin(self, task, rng):
        threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
        return super().begin(task, rng)


class Opening(Count):
    """Opens a file for each environment and never closes it."""

    def begin(self, task, rng):
        if not hasattr(self, "log"):
            self.log = os.open(os.devnull, os.O_RDONLY)
        return super().begin(task, rng)


class Listening(Count):
    """Opens a socket for each environment and never closes it."""

    def begin(self, task, rng):
        if not hasattr(self, "server"):
            self.server = socket.socket()
            KEPT.append(self.server)
        return super().begin(task, rng)


class Scratching(Count):
    """Leaves a temporary file for each episode."""

    def begin(self, task, rng):
        os.close(tempfile.mkstemp(prefix="scratch-")[0])
        return super().begin(task, rng)


class Daemonic(Count):
    """Starts a process that is not a child of this one."""

    def begin(self, task, rng):
        if not KEPT or KEPT[-1] != "daemon":
            subprocess.run(["sh", "-c", "sleep 15 >/dev/null 2>&1 &"], check=True)
            KEPT.append("daemon")
        return super().begin(task, rng)


class Forward(Count):
    """The constructor starts a process."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.server = subprocess.Popen(["sleep", "9"])

    def close(self):
        self.server.kill()
        self.server.wait()


class Running(Count):
    """The constructor starts a thread."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.ending = threading.Event()
        threading.Thread(target=self.ending.wait, name="server").start()

    def close(self):
        self.ending.set()


class Printing(Count):
    def act(self, action):
        print("acting")  # noqa: T201
        return super().act(action)


class Complaining(Count):
    def begin(self, task, rng):
        sys.stderr.write("slow today\n")
        return super().begin(task, rng)


class PrintingInC(Count):
    """Prints from C, as a simulator does."""

    def begin(self, task, rng):
        ctypes.CDLL(None).puts(b"Simulator 1.0")
        return super().begin(task, rng)


class PrintingFromAChild(Count):
    def begin(self, task, rng):
        if not hasattr(self, "number"):
            subprocess.run(["echo", "Simulator 1.0"], check=True)
        return super().begin(task, rng)


class Reporting(Count):
    """Logs and warns, which is allowed."""

    def begin(self, task, rng):
        if not hasattr(self, "number"):
            logging.getLogger(__name__).warning("begins")
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.warn("begins", stacklevel=1)
        return super().begin(task, rng)


class Asking(Count):
    """Reads from the terminal."""

    def begin(self, task, rng):
        input()
        return super().begin(task, rng)


class Connecting(Count):
    """Looks for a new version and continues without a network."""

    def begin(self, task, rng):
        with suppress(OSError):
            socket.create_connection(("updates.invalid", 80), timeout=0.1)
        return super().begin(task, rng)


class Dialing(Count):
    """Uses a numeric address, without a name look-up."""

    def begin(self, task, rng):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line, suppress(OSError):
            line.sendto(b"hello", ("192.0.2.1", 9))
        return super().begin(task, rng)


class Seeding(Count):
    """Seeds the global generator, and is therefore deterministic."""

    def begin(self, task, rng):
        random.seed(task.data["n"])
        text, goal = super().begin(task, rng)
        return f"{text} {random.random()}", goal


class Drawing(Count):
    """Draws from the global generator in a step that changes no transcript."""

    def act(self, action):
        return (
            super().act(action)._replace(score=0.0 * random.random())
            if action == "undo"
            else super().act(action)
        )


class Numeric(Count):
    def begin(self, task, rng):
        np.random.seed(task.data["n"])
        return super().begin(task, rng)


class Classwide(Count):
    """Keeps the state of an episode in its class."""

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        type(self).number = text
        del self.number
        return text, goal


class Pooled(Count):
    """Keeps the state of an episode in an object that two environments share."""

    state: dict[str, bool] = {}

    def begin(self, task, rng):
        self.state["looked"] = False
        return super().begin(task, rng)

    def act(self, action):
        self.state["looked"] |= action == "look"
        outcome = super().act(action)
        return outcome._replace(text=f"{outcome.text} {self.state['looked']}")


class Zoned(Count):
    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return (
            (
                f"{text} {time.strftime('%H', time.gmtime(0))}"
                f" {time.strftime('%H:%M', time.localtime(0))}"
            ),
            goal,
        )


class Timed(Count):
    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} since {int(time.time()) // 86400}", goal


class Dated(Count):
    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} on {datetime.datetime.now(datetime.UTC):%Y-%m-%d}", goal


class Local(Count):
    """Depends on the working folder."""

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} {os.path.basename(os.getcwd())}", goal


class Speaking(Count):
    """Depends on the user's language."""

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return ("Sayı " if os.environ.get("LANG", "").startswith("tr") else "Number ") + text, goal


class Grouped(Count):
    """Depends on the order of a set."""

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} {' '.join({f'word{i}' for i in range(20)})}", goal


class Numbered(Count):
    """Shows its process id."""

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} {os.getpid()}", goal


class Leaving(Count):
    """Exits without an error in another process."""

    def begin(self, task, rng):
        if os.environ.get("PYTHONHASHSEED") == "4242":
            raise SystemExit(0)
        return super().begin(task, rng)


class Moving(Count):
    """Changes the working folder of the process."""

    def begin(self, task, rng):
        os.chdir(tempfile.gettempdir())
        return super().begin(task, rng)


class Translating(Count):
    def begin(self, task, rng):
        locale.setlocale(
            locale.LC_ALL, "C.UTF-8" if locale.setlocale(locale.LC_ALL) == "C" else "C"
        )
        return super().begin(task, rng)


class Deep(Count):
    def begin(self, task, rng):
        sys.setrecursionlimit(sys.getrecursionlimit() + 1)
        return super().begin(task, rng)


class Impatient(Count):
    def begin(self, task, rng):
        socket.setdefaulttimeout(5)
        return super().begin(task, rng)


class Deaf(Count):
    """Ctrl-C no longer stops the program."""

    def begin(self, task, rng):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return super().begin(task, rng)


class ClosingOnce(Count):
    """Fails at the second close."""

    def close(self):
        del self.task_set


class ClosingWhatBegan(Count):
    """Cannot be closed before a reset."""

    def close(self):
        self.number += ""


class Hanging(Count):
    """Never returns from an action that starts with a backslash."""

    def act(self, action):
        while action.startswith("\\"):
            next(COUNTER)
        return super().act(action)


PLANTED = {
    Threaded: r"threads are left after close: \['Thread-",
    Opening: "a second environment left files open: /dev/null",
    Listening: "a second environment left files open: socket",
    Scratching: r"left the temporary files \['scratch-",
    Daemonic: r"processes \[\d+\] are left after close",
    Forward: r"the constructor started the processes \[\d+\]",
    Running: r"the constructor started the threads \['server'\]",
    Printing: r"the environment printed 'acting\\n",
    Complaining: r"the environment printed 'slow today\\n",
    PrintingInC: r"the environment printed 'Simulator 1.0\\n",
    PrintingFromAChild: r"the environment printed 'Simulator 1.0\\n",
    Asking: "EOFError",
    Connecting: r"the environment tried to connect to \['updates.invalid:80'\]",
    Dialing: r"the environment tried to connect to \['192.0.2.1:9'\]",
    Seeding: "the state of random changed",
    Drawing: "the state of random changed",
    Numeric: "the state of numpy.random changed",
    Classwide: "played turn by turn beside another environment",
    Pooled: "played turn by turn beside another environment",
    Zoned: "played with PYTHONHASHSEED=0, TZ=KIT-13:37, .* became ",
    Timed: "played with PYTHONHASHSEED=0, at another time, .* became ",
    Dated: "played with PYTHONHASHSEED=0, at another time, .* became ",
    Local: "played with PYTHONHASHSEED=0, in another folder, .* became ",
    Speaking: "played with PYTHONHASHSEED=0, LANG=tr_TR.UTF-8, .* became ",
    Grouped: "played with PYTHONHASHSEED=4242, .* became ",
    Numbered: "played in two processes alike, .* became ",
    Leaving: "a second process ended with status 0 before it had played",
    Moving: "the working folder changed",
    Translating: "the locale changed",
    Deep: "the recursion limit changed: ",
    Impatient: "the default timeout of sockets changed: ",
    Deaf: "the handlers of SIGINT and SIGTERM changed",
    ClosingOnce: "no attribute 'task_set'",
    ClosingWhatBegan: "AttributeError: .* no attribute 'number'",
}
for cls in (Reporting, Hanging, *PLANTED):
    gymnasium.register(
        f"process/{cls.__name__}-v0",
        entry_point=f"planted_process:{cls.__name__}",
        max_episode_steps=20,
    )
