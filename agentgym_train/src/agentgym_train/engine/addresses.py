"""The addresses on which the processes of a run listen.

On one machine, that is the loopback. Over several machines, it is the address at which they meet.
"""

import errno
import logging
import socket
from collections.abc import Mapping, MutableMapping
from ipaddress import ip_address

LOOPBACK = "127.0.0.1"
# Number of processes on this machine: from torchrun, DeepSpeed's launcher and srun. With several
# machines, srun's value has another form, such as "2(x4)".
LOCAL_SIZES = ("LOCAL_WORLD_SIZE", "LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE")

log = logging.getLogger(__name__)


def on_one_machine(variables: Mapping[str, str]) -> bool:
    """Whether all processes of a run are on this machine.

    Args:
        variables: of a launcher.
    """
    local = next((variables[name] for name in LOCAL_SIZES if name in variables), None)
    return local == variables["WORLD_SIZE"] or is_loopback(variables["MASTER_ADDR"])


def stay_inside(variables: MutableMapping[str, str]) -> None:
    """Lets gloo and NCCL listen on the loopback, unless the user names another device."""
    names = {name for _, name in socket.if_nameindex()}
    if device := next((name for name in ("lo", "lo0") if name in names), None):
        for library in ("GLOO", "NCCL"):
            variables.setdefault(f"{library}_SOCKET_IFNAME", device)


def is_loopback(address: str) -> bool:
    """Whether an address, and not only its meaning on this machine, is the loopback."""
    try:
        return address == "localhost" or ip_address(address).is_loopback
    except ValueError:  # a name
        return False


def listen(address: str, port: int) -> socket.socket:
    """Returns a socket that listens on an address of this machine alone.

    It listens on all addresses if the address is that of a proxy, such as a service of Kubernetes,
    or if a machine knows its own name as the loopback.

    Args:
        address: an address or name by which the other processes reach this one.
        port: 0: any.

    Raises:
        OSError: the name is unknown, or the port is taken.
    """
    for family, *_, place in socket.getaddrinfo(address, port, type=socket.SOCK_STREAM):
        if is_loopback(str(place[0])) and not is_loopback(address):
            continue
        try:
            return socket.create_server(place, family=family)
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
    log.warning(
        "MASTER_ADDR=%s is not an address of this machine's networks: process 0 listens on all"
        " addresses. Set MASTER_ADDR to the address that the other machines reach",
        address,
    )
    return socket.create_server(("", port))
