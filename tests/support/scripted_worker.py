"""A pool worker without a process; it answers before ``send`` returns."""

import json
import os
import socket
from types import SimpleNamespace

NO_PROCESS = 2**30  # larger than any process id


def start():
    """Replaces ``agentgym_envs.pool.handle._start``."""
    worker = Worker()
    stderr = os.fdopen(os.open(os.devnull, os.O_RDONLY), "rb")
    return (
        SimpleNamespace(pid=NO_PROCESS, stderr=stderr, wait=lambda timeout: 7, poll=lambda: None),
        worker,
        worker.board,
        f"{os.devnull}/none",  # it has no folder
    )


class Worker:
    """Counts the steps of each environment; the actions "die" and "hang" cause these faults.

    It is also the pool's end of the connection.
    """

    def __init__(self):
        self.board, self.ours, self.theirs = bytearray(8), *socket.socketpair()
        self.ours.setblocking(False)
        self.stream, self.turns, self.hangs = b"", {}, False
        self.recv, self.fileno = self.ours.recv, self.ours.fileno

    def send(self, data):
        """Sends data, and the worker answers."""
        sent = self.ours.send(data)
        self.stream += bytes(data[:sent])
        while len(self.stream) >= 4 and len(self.stream) >= (
            end := 4 + int.from_bytes(self.stream[:4], "big")
        ):
            message, self.stream = json.loads(self.stream[4:end]), self.stream[end:]
            if "do" in message:  # the first message describes the environments
                self.answer(**message)
        return sent

    def answer(self, *, id, do, index, action="", **_):
        if self.hangs or self.theirs.fileno() < 0:
            return
        self.board[:] = id.to_bytes(8, "big")
        self.hangs = action == "hang"
        self.turns[index] = self.turns[index] + 1 if do == "step" else 0
        if action == "die":
            self.theirs.close()
        elif not self.hangs:
            body = json.dumps({"id": id, "observation": f"turn {self.turns[index]}"}).encode()
            self.theirs.send(len(body).to_bytes(4, "big") + body)

    def close(self):
        self.ours.close()
        self.theirs.close()
