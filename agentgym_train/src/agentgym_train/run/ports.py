"""A free TCP port of a machine.

A plain script too, which ``ssh`` runs on other machines. It needs nothing but Python.
"""

import random
import socket
import sys
from contextlib import suppress

PORTS = range(20000, 30000)


def free_port() -> int:
    """Returns a TCP port that nothing listens on at the moment.

    It lies below those that the system gives to outgoing connections, one of which might take it
    before the launcher does.
    """
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("", port))
            return port
    raise OSError(f"all ports from {PORTS[0]} to {PORTS[-1]} are taken")


if __name__ == "__main__":
    sys.stdout.write(str(free_port()))
