"""Environments and a generator with simulated time, so the time of a collection is known."""

from scripted import ScriptedGenerator

from agentgym_envs.errors import EnvRaised
from agentgym_envs.pool import PoolResult


class Clock:
    """Simulated time that passes only in ``wait``."""

    now = 0.0

    def wait(self, until):
        self.now = max(self.now, until)


class TimedPool:
    """Parallel environments with ``seconds`` per step and episodes of ``length`` steps.

    The first step of each row in ``failing`` fails once.
    """

    def __init__(self, clock, seconds, length, failing=()):
        self.clock, self.seconds, self.length, self.failing = clock, seconds, length, set(failing)
        self.due, self.steps, self.answered = {}, {}, []

    def reset(self, row, *, seed, options):
        self.steps[row], self.due[row] = 0, self.clock.now

    def send(self, row, action):
        self.steps[row], self.due[row] = self.steps[row] + 1, self.clock.now + self.seconds[row]

    def recv(self, *, timeout=None):
        if not self.due:
            return []
        earliest = min(self.due.values())
        self.clock.wait(earliest if timeout is None else min(earliest, self.clock.now + timeout))
        rows = [row for row, due in self.due.items() if due <= self.clock.now]
        for row in rows:
            del self.due[row]
            self.answered.append((self.clock.now, row))
        return [self.result(row, done=self.steps[row] == self.length) for row in rows]

    def result(self, row, *, done):
        if row in self.failing and self.steps[row] == 1:
            self.failing.remove(row)
            return PoolResult(row, error=EnvRaised("broken on purpose"))
        return PoolResult(row, observation="x", terminated=done, reward=float(done), info={})


class TimedGenerator(ScriptedGenerator):
    """Takes one second per sample, one sample after another, in the background."""

    in_background = True

    def __init__(self, clock):
        super().__init__(lambda row, turn: "x")
        self.clock, self.due, self.free = clock, {}, 0.0

    def session(self, seeds, sampling):
        self.inner = super().session(seeds, sampling)
        return self

    def submit(self, row, ids):
        assert row not in self.due
        self.due[row] = self.free = max(self.clock.now, self.free) + 1

    def poll(self, timeout=None):
        if not self.due:
            return {}
        earliest = min(self.due.values())
        self.clock.wait(earliest if timeout is None else min(earliest, self.clock.now + timeout))
        done = [row for row, due in self.due.items() if due <= self.clock.now]
        for row in done:
            del self.due[row]
        return {row: self.inner.sample(row) for row in done}

    def restart(self, row):
        self.inner.restart(row)

    def finish(self, row):
        self.inner.finish(row)
