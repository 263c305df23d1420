"""Hosts of a pool on the nodes of a Ray cluster (extra ``ray``).

Ray places the hosts and starts lost ones again. The steps go through the pool's own connections.
"""

import os
import secrets
import socket
import threading
from contextlib import suppress
from typing import Any

from agentgym_envs.errors import ArgumentError, MissingExtra, message_of
from agentgym_envs.pool.greeting import CONNECT_TIMEOUT, parse_address
from agentgym_envs.pool.host import HostServer
from agentgym_envs.pool.messages import check_positive

try:
    import ray
    from ray.exceptions import RayError
except ImportError as error:
    raise MissingExtra("RayHosts", "ray") from error

LOOK = 5.0  # seconds between two looks at the addresses


class HostActor:
    """A Ray actor with a host. Its threads answer, whatever the environments do.

    Args:
        token: the host's password.
    """

    def __init__(self, token: str):
        node = ray.util.get_node_ip_address()
        family = socket.AF_INET6 if ":" in node else socket.AF_INET
        listener = socket.create_server((node, 0), family=family)
        shown = f"[{node}]" if ":" in node else node
        self._address = f"{shown}:{listener.getsockname()[1]}"
        threading.Thread(target=HostServer(listener, token).serve, daemon=True).start()

    def address(self) -> str:
        """Returns the host's address."""
        return self._address


class RayHosts:
    """Runs hosts on the nodes of a running Ray cluster until the ``with`` block ends.

    The cluster is that of ``ray.init``, or else the one that ``RAY_ADDRESS`` or Ray finds.

    Args:
        hosts: number of hosts. Ray spreads them over the nodes.
        cpus: CPUs that Ray reserves for each host. ``workers=`` of a pool sets the number of
            processes, by default one per core of the node.
        start_timeout: time limit for placing all hosts, in seconds.

    Raises:
        MissingExtra: Ray is not installed; the import of this module raises it.
        ArgumentError: no cluster is running, or it does not start the hosts in time.
    """

    addresses: list[str]
    """Addresses for ``EnvPool(hosts=…)``. An entry changes if Ray starts a host elsewhere."""

    def __init__(self, hosts: int, *, cpus: int = 1, start_timeout: float = 300.0):
        check_positive(hosts=hosts, cpus=cpus, start_timeout=start_timeout)
        self.token = secrets.token_urlsafe()
        self._connected = not ray.is_initialized()
        if self._connected:
            _join()
        self._actors: list[Any] = []
        self._closing = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        try:
            self.addresses = self._place(hosts, cpus, start_timeout)
            self._watcher.start()
        except BaseException:
            self.close()
            raise

    def _place(self, hosts: int, cpus: int, start_timeout: float) -> list[str]:
        """Starts the hosts; returns their addresses."""
        options = {"num_cpus": cpus, "max_restarts": -1, "scheduling_strategy": "SPREAD"}
        actor = ray.remote(**options)(HostActor)
        self._actors = [actor.remote(self.token) for _ in range(hosts)]
        asked = [actor.address.remote() for actor in self._actors]
        try:
            ready, left = ray.wait(asked, num_returns=hosts, timeout=start_timeout)
            if not left:
                return list(ray.get(asked))
        except RayError as error:
            why = message_of(error).rstrip().rpartition("\n")[2]  # below the actor's traceback
            raise ArgumentError(f"Ray did not start a host: {why}") from error
        raise ArgumentError(
            f"hosts={hosts}, cpus={cpus}: Ray started {len(ready)} of the hosts in"
            f" {start_timeout:g} s: use fewer hosts or CPUs, or add nodes to the cluster"
        )

    def _watch(self) -> None:
        """Notes the new addresses of hosts that Ray has started again."""
        while not self._closing.wait(LOOK):
            for slot, actor in enumerate(self._actors):
                # After ray.shutdown, a call would start a cluster.
                if self._closing.is_set() or not ray.is_initialized():
                    return
                with suppress(RayError):  # it restarts, or its node is busy
                    self.addresses[slot] = ray.get(actor.address.remote(), timeout=LOOK)

    def close(self) -> None:
        """Ends the hosts with all environments. A second call does nothing."""
        self._closing.set()
        if self._watcher.is_alive():
            self._watcher.join()
        if ray.is_initialized():  # else ray.kill would start a cluster
            for actor in self._actors:
                ray.kill(actor)
            if self._connected:
                ray.shutdown()
        self._actors, self._connected = [], False

    def __enter__(self) -> "RayHosts":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _join() -> None:
    """Connects to the cluster that ``RAY_ADDRESS`` names or Ray finds on this machine.

    Raises:
        ArgumentError: there is none.
    """
    named = os.environ.get("RAY_ADDRESS", "")
    try:
        if ":" in named and "/" not in named:  # else Ray tries for minutes
            socket.create_connection(parse_address(named), CONNECT_TIMEOUT).close()
        ray.init(address="auto")
    except OSError as error:
        raise ArgumentError(
            f"no Ray cluster at RAY_ADDRESS={named!r} ({message_of(error)}): set it to the address"
            " of a cluster, or call ray.init first"
        ) from error
