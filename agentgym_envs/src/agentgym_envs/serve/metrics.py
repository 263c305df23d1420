"""Counts of a server in Prometheus' text format."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping

Labels = Mapping[str, object]


class ServerMetrics:
    """Counts since the start of the server."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        """Requests by protocol and status; a WebSocket message counts as a request."""
        self.seconds = 0.0
        """Sum of the times from the arrival of a request to its answer."""
        self.steps: Counter[str] = Counter()
        self.failures: Counter[tuple[str, str]] = Counter()
        """Failures of environments by id and class."""
        self.expired: Counter[str] = Counter()
        """Sessions that ended because they were idle."""

    def text(self, sessions: Mapping[str, int], limit: int) -> str:
        """Returns all counts.

        Args:
            sessions: the number of open sessions by id.
            limit: the limit of sessions per id.
        """
        return "".join(
            (
                _metric(
                    "requests_total",
                    "counter",
                    "Requests by protocol and HTTP status.",
                    (
                        ({"protocol": protocol, "status": status}, count)
                        for (protocol, status), count in self.requests.items()
                    ),
                ),
                _metric(
                    "request_seconds_total",
                    "counter",
                    "Sum of the times of all requests.",
                    [({}, self.seconds)],
                ),
                _metric("steps_total", "counter", "Steps by environment.", _by_env(self.steps)),
                _metric(
                    "environment_failures_total",
                    "counter",
                    "Failures of environments; none is a reward.",
                    (
                        ({"env": env, "kind": kind}, count)
                        for (env, kind), count in self.failures.items()
                    ),
                ),
                _metric(
                    "sessions_expired_total",
                    "counter",
                    "Sessions that ended because they were idle.",
                    _by_env(self.expired),
                ),
                _metric("sessions", "gauge", "Open sessions.", _by_env(sessions)),
                _metric(
                    "sessions_limit",
                    "gauge",
                    "Largest number of sessions.",
                    _by_env(dict.fromkeys(sessions, limit)),
                ),
                _metric(
                    "cpu_seconds_total",
                    "counter",
                    "CPU time of the server without its workers.",
                    [({}, time.process_time())],
                ),
            )
        )


def _by_env(counts: Mapping[str, int]) -> Iterable[tuple[Labels, float]]:
    return [({"env": env}, count) for env, count in counts.items()]


def _metric(name: str, kind: str, about: str, values: Iterable[tuple[Labels, float]]) -> str:
    lines = [f"# HELP agentgym_{name} {about}", f"# TYPE agentgym_{name} {kind}"]
    for labels, value in values:
        text = ",".join(f'{key}="{label}"' for key, label in labels.items())
        lines.append(f"agentgym_{name}{{{text}}} {value}" if text else f"agentgym_{name} {value}")
    return "\n".join(lines) + "\n"
