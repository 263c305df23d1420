"""Two "machines": network namespaces of this one, joined by a cable. They need root.

    machines.py NAMESPACE KILL ARGUMENT…

As a script, it runs ``agentgym-train ARGUMENT…`` in a namespace. KILL is a key of
``interrupted.KILLS``, where SIGKILL ends the last process of the run, or ``-``.
"""

import ctypes
import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import interrupted

from agentgym_train import cli

ADDRESSES = ("10.87.34.1", "10.87.34.2")
DEVICE = "cable"
MEETING = {
    "MASTER_ADDR": ADDRESSES[0],
    "MASTER_PORT": "29400",  # all ports of a new machine are free
    "GLOO_SOCKET_IFNAME": DEVICE,
}
CLONE_NEWNET = 0x40000000


def ip(*arguments):
    """Runs the program ip; returns its output."""
    command = ["ip", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def listening(name):
    """Returns the IPv4 addresses of a machine at which programs wait, as in /proc/net/tcp."""
    table = ip("netns", "exec", name, "cat", "/proc/net/tcp", "/proc/net/tcp6")
    rows = [line.split() for line in table.splitlines()]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A"}


@contextmanager
def two():
    """Yields the namespaces of two machines."""
    names = [f"agentgym-{os.getpid()}-{number}" for number in range(2)]
    with ExitStack() as stack:
        for name in names:
            ip("netns", "add", name)
            stack.callback(ip, "netns", "del", name)
        ends = [["name", DEVICE, "netns", name] for name in names]
        ip("link", "add", *ends[0], "type", "veth", "peer", *ends[1])
        for name, address in zip(names, ADDRESSES, strict=True):
            ip("-n", name, "address", "add", f"{address}/24", "dev", DEVICE)
            for device in (DEVICE, "lo"):
                ip("-n", name, "link", "set", device, "up")
        yield names


def torchrun(number, processes):
    """Returns the beginning of a command that starts processes on one of two machines."""
    options = {
        "nnodes": 2,
        "node-rank": number,
        "nproc-per-node": processes,
        "master-addr": MEETING["MASTER_ADDR"],
        "master-port": MEETING["MASTER_PORT"],
    }
    command = [sys.executable, "-m", "torch.distributed.run"]
    return [*command, *(f"--{key}={value}" for key, value in options.items()), __file__]


def enter(namespace):
    with open(f"/run/netns/{namespace}") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")


def main(namespace, kill, *arguments):
    enter(namespace)
    if kill != "-" and int(os.environ["RANK"]) == int(os.environ["WORLD_SIZE"]) - 1:
        interrupted.kill_at(*interrupted.KILLS[kill])
    cli.app(arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
