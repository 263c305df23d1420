"""A free port for processes to meet at."""

import socket


def free_port() -> int:
    """Returns a TCP port that nothing listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
