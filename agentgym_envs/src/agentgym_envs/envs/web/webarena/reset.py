"""Resets WebArena's servers through a reset server such as BrowserGym's."""

import time
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from agentgym_envs.errors import EnvRaised, EnvTimeout

READY = "Ready for duty!"
RUNNING = 418  # status of the server during a reset


def full_reset(url: str, *, wait: float = 900.0, pause: float = 5.0) -> None:
    """Asks a server for a reset and waits until it is done.

    Args:
        url: base address. ``/reset`` starts a reset, and ``/status`` answers "Ready for duty!"
            after it.
        wait: limit of a reset in seconds.
        pause: seconds between two requests of the status.

    Raises:
        EnvRaised: the server does not answer, or answers with an error.
        EnvTimeout: the reset takes too long.
    """
    base, end = url.rstrip("/"), time.monotonic() + wait
    _asked(f"{base}/reset", may_run=True)
    while (answer := _asked(f"{base}/status")) != READY:
        if time.monotonic() > end:
            raise EnvTimeout(
                f"the reset of {base} took longer than {wait:g} s; the last status was"
                f" {answer[:100]!r}"
            )
        time.sleep(pause)


def _asked(url: str, *, may_run: bool = False) -> str:
    try:
        with urlopen(url, timeout=60) as answer:
            return str(answer.read().decode("utf-8", "replace")).strip()
    except HTTPError as error:
        if may_run and error.code == RUNNING:
            return ""
        raise EnvRaised(f"the reset server answered {url} with status {error.code}") from error
    except (URLError, OSError) as error:
        raise EnvRaised(
            f"the reset server does not answer at {url}: {getattr(error, 'reason', error)}"
        ) from error
