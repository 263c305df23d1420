"""Runs a command on the first of two machines, which reach each other by ssh.

    unshare --mount python over_ssh.py FOLDER NAMESPACE NAMESPACE COMMAND…

The machines are namespaces of ``machines.two()``; their names are "one" and "two". Each has an
OpenSSH server. The keys and the names are seen by this process and its children only, since they
are mounted over the user's own. FOLDER holds them.
"""

import os
import subprocess
import sys
from pathlib import Path

import machines

NAMES = ("one", "two")


def mount(source, target):
    subprocess.run(["mount", "--bind", source, target], check=True)


def key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path.with_suffix(".pub").read_text()


def main(folder, first, second, *command):
    folder = Path(folder)
    user, servers = folder / "user", Path("/run/sshd")
    user.mkdir(mode=0o700)
    host = key(folder / "host")
    (user / "authorized_keys").write_text(key(user / "id_ed25519"))
    (user / "known_hosts").write_text("".join(f"{name} {host}" for name in NAMES))
    known = zip(machines.ADDRESSES, NAMES, strict=True)
    (folder / "hosts").write_text("".join(f"{address} {name}\n" for address, name in known))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    for target in (Path.home() / ".ssh", servers):  # sshd refuses to start without the second
        target.mkdir(mode=0o755, exist_ok=True)
    mount(user, Path.home() / ".ssh")
    mount(folder / "hosts", "/etc/hosts")
    options = [f"HostKey={folder / 'host'}", "PidFile=none", "StrictModes=no", "UsePAM=no"]
    options += ["PasswordAuthentication=no", "PermitRootLogin=yes"]
    server = ["/usr/sbin/sshd", "-D", "-f", "/dev/null", *(f"-o{each}" for each in options)]
    started = [subprocess.Popen(["ip", "netns", "exec", name, *server]) for name in (first, second)]
    try:
        for name in NAMES:
            wait = f"until ssh -oBatchMode=yes {name} true; do sleep 0.1; done"
            inside = ["ip", "netns", "exec", first, "sh", "-c", wait]
            subprocess.run(inside, check=True, stderr=subprocess.DEVNULL, timeout=30)
        sys.exit(subprocess.call(["ip", "netns", "exec", first, *command]))
    finally:
        for each in started:
            each.kill()


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = machines.DEVICE
    main(*sys.argv[1:])
