"""Shifts the clock of this process, as Python code reads it.

The shift cannot be undone; only short-lived subprocesses use it.
"""

import datetime
import time
from typing import Any


def shift(seconds: float) -> None:
    """Shifts the present of ``time`` and ``datetime``; time differences stay the same."""
    now, now_ns, strftime = time.time, time.time_ns, time.strftime
    time.time = lambda: now() + seconds
    time.time_ns = lambda: now_ns() + int(seconds * 1e9)
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _from_present(getattr(time, name)))
    time.strftime = lambda form, when=None: strftime(form, when or time.localtime())
    for kind in (datetime.datetime, datetime.date):
        setattr(datetime, kind.__name__, _shifted(kind))


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
