"""The global state of this process, which an environment must not change."""

import builtins
import decimal
import faulthandler
import gc
import locale
import logging
import multiprocessing
import os
import pickle
import random
import resource
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

_PATCHED = (builtins, os, random, time)  # modules whose functions are often replaced


def shared_state() -> dict[str, Any]:
    """Returns the global state by name; a mapping as a value has the parts of a state."""
    return {
        "the state of random": random.getstate(),
        "the state of numpy.random": pickle.dumps(np.random.get_state()),
        "the working folder": os.getcwd(),
        "the environment variables": dict(os.environ),
        "the time zone": time.tzname,
        "the locale": locale.setlocale(locale.LC_ALL),
        "the umask": _umask(),
        "the folder for temporary files": tempfile.gettempdir(),
        "the default timeout of sockets": socket.getdefaulttimeout(),
        "the priority": os.getpriority(os.PRIO_PROCESS, 0),
        "the limits of resource": {
            name: resource.getrlimit(getattr(resource, name))
            for name in dir(resource)
            if name.startswith("RLIMIT_")
        },
        **({"the CPUs": os.sched_getaffinity(0)} if hasattr(os, "sched_getaffinity") else {}),
        **_of_signals(),
        **_of_python(),
        **_of_modules(),
    }


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Describes the differences of two states."""
    found = []
    for what in before:
        old, new = before[what], now[what]
        if old == new:
            continue
        if isinstance(old, dict):
            keys = [k for k in old.keys() | new.keys() if old.get(k) != new.get(k)]
            old, new = ({k: part.get(k) for k in sorted(keys)} for part in (old, new))
        shown = f": {old!r} became {new!r}" if len(f"{old!r}{new!r}") < 300 else ""
        found.append(f"{what} changed{shown}")
    return found


def _umask() -> int:
    mask = os.umask(0o077)  # Python can only read the mask by setting it
    os.umask(mask)
    return mask


def _of_signals() -> dict[str, Any]:
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    named = (signal.SIGINT, signal.SIGTERM)
    return {
        "the handlers of SIGINT and SIGTERM": [handlers.pop(number) for number in named],
        "the signal handlers": handlers,
        "the blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, []),
    }


def _of_python() -> dict[str, Any]:
    return {
        "the recursion limit": sys.getrecursionlimit(),
        "the limit of digits": sys.get_int_max_str_digits(),
        "the switch interval of threads": sys.getswitchinterval(),
        "sys.path": list(sys.path),
        "sys.argv": list(sys.argv),
        **{
            f"sys.{name}": getattr(sys, name)
            for name in (
                *("stdin", "stdout", "stderr", "dont_write_bytecode"),
                *("excepthook", "unraisablehook", "displayhook", "breakpointhook"),
            )
        },
        "threading.excepthook": threading.excepthook,
        "the trace and profile functions": (sys.gettrace(), sys.getprofile()),
        "the trace and profile functions of threads": (
            threading.gettrace(),
            threading.getprofile(),
        ),
        "the stack size of threads": threading.stack_size(),
        "faulthandler": faulthandler.is_enabled(),
        "the garbage collector (gc)": {
            "enabled": gc.isenabled(),
            "threshold": gc.get_threshold(),
            "debug": gc.get_debug(),
        },
    }


def _of_modules() -> dict[str, Any]:
    root, context = logging.getLogger(), decimal.getcontext()
    return {
        "logging": {
            "level": root.level,
            "handlers": list(root.handlers),
            "filters": list(root.filters),
            "disabled": (root.disabled, root.manager.disable),
            "classes": (logging.getLoggerClass(), logging.getLogRecordFactory()),
            "raiseExceptions": logging.raiseExceptions,
            "lastResort": logging.lastResort,
        },
        "the filters of warnings": list(warnings.filters),
        "warnings.showwarning": warnings.showwarning,
        "the decimal context": {
            **{n: getattr(context, n) for n in ("prec", "rounding", "Emin", "Emax", "clamp")},
            "traps": [kind.__name__ for kind, set_ in context.traps.items() if set_],
        },
        "the error handling of numpy": np.geterr(),
        "the print options of numpy": np.get_printoptions(),
        "the start method of multiprocessing": (
            multiprocessing.get_start_method(allow_none=True)
            or multiprocessing.get_all_start_methods()[0]  # the default, until the first use
        ),
        **{f"the module {module.__name__}": dict(vars(module)) for module in _PATCHED},
    }
