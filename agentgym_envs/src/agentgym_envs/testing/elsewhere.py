"""Makes this process see another time and another machine, as Python code reads them.

The change cannot be undone; only short-lived subprocesses use it.
"""

import datetime
import os
import socket
import time
from typing import Any

HOST = "localhost"  # a name that every machine resolves


def shift(seconds: float) -> None:
    """Shifts all clocks of ``time`` and ``datetime``; time differences stay the same."""
    strftime, read_clock = time.strftime, time.clock_gettime
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, _later(getattr(time, name), seconds))
        setattr(time, f"{name}_ns", _later(getattr(time, f"{name}_ns"), int(seconds * 1e9)))
    time.clock_gettime = lambda clock: read_clock(clock) + seconds
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _from_present(getattr(time, name)))
    time.strftime = lambda form, when=None: strftime(form, when or time.localtime())
    for kind in (datetime.datetime, datetime.date):
        setattr(datetime, kind.__name__, _shifted(kind))


def move() -> None:
    """Changes the name of the machine and the number of its CPUs."""
    cpus = 1 if os.cpu_count() != 1 else 8
    for name in ("cpu_count", "process_cpu_count"):  # the second one is new in Python 3.13
        if hasattr(os, name):
            setattr(os, name, lambda: cpus)
    if hasattr(os, "sched_getaffinity"):  # Linux
        os.sched_getaffinity = lambda pid: set(range(cpus))
    socket.gethostname = lambda: HOST
    uname = os.uname
    os.uname = lambda: type(uname())((*uname()[:1], HOST, *uname()[2:]))


def _later(read: Any, more: float) -> Any:
    return lambda: read() + more


def _from_present(read: Any) -> Any:
    return lambda when=None: read(time.time() if when is None else when)


def _shifted(kind: Any) -> Any:
    """Returns a subclass of ``kind`` that takes the present from ``time.time``.

    Instances of ``kind`` also count as instances of the subclass.
    """

    class Like(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, kind)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, kind)

    def now(zone: datetime.tzinfo | None = None) -> Any:
        return kind.fromtimestamp(time.time(), zone)

    present = {
        "now": staticmethod(lambda tz=None: now(tz)),
        "utcnow": staticmethod(lambda: now(datetime.timezone.utc).replace(tzinfo=None)),  # noqa: UP017
        "today": staticmethod(lambda: kind.fromtimestamp(time.time())),
        "__module__": kind.__module__,
    }
    return Like(kind.__name__, (kind,), present)
