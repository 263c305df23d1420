"""One correct environment and one breach of the contract each; importing this module registers them."""

import itertools
import os
from pathlib import Path

import gymnasium

from agentgym_envs import Outcome, Task, TaskSet, TextEnv

COUNTER = itertools.count()


class Count(TextEnv):
    """Says a number; the agent must say it back. Correct until a subclass breaks it."""

    instructions = "Say the number."

    def make_tasks(self):
        return TaskSet(Task(id=f"{s}-{n}", split=s, data={"n": n}) for s in ("train", "dev", "test") for n in range(8))

    def begin(self, task, rng):
        self.number = str(task.data["n"])
        return self.number, "say it"

    def act(self, action):
        done = action == self.number
        return Outcome("yes" if done else "no", float(done), done=done, success=done, invalid=not action.isdigit())

    def actions(self):
        return [str(n) for n in range(8)]

    def oracle(self):
        yield self.number


class Overlapping(Count):
    def make_tasks(self):
        tasks = super().make_tasks()
        tasks._ids["test"] = tasks._ids["train"]
        return tasks


class Raising(Count):
    def act(self, action):
        return super().act(action) if len(action) < 1000 else 1 / 0


class Unseeded(Count):
    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} {next(COUNTER)}", goal


class HashOrdered(Count):
    def begin(self, task, rng):
        _, goal = super().begin(task, rng)
        return " ".join({f"word{i}" for i in range(20)}), goal


class Lazy(Count):
    def oracle(self):
        yield "give up"


class Echoing(Count):
    def act(self, action):
        return super().act(action)._replace(text=action)


class OverScoring(Count):
    def act(self, action):
        return super().act(action)._replace(score=2.0)


class Undying(Count):
    def step(self, action):
        self._over = False
        return super().step(action) if self.task else ("", 0.0, False, False, {})


class Littering(Count):
    def begin(self, task, rng):
        Path(f"litter-{next(COUNTER)}").touch()
        return super().begin(task, rng)


class Haunted(Count):
    def begin(self, task, rng):
        os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "3")
        return super().begin(task, rng)


class Endless(Count):
    def oracle(self):
        while True:
            yield self.number


BREACHES = {
    Littering: "no file",
    Haunted: "no process",
    Endless: "oracle",
    Overlapping: "share no task",
    Raising: "No action",
    Unseeded: "non-deterministic",
    HashOrdered: "same seed and actions",
    Lazy: "oracle",
    Echoing: "No action",
    OverScoring: "score",
    Undying: "after the end",
}
for cls in (Count, *BREACHES):
    gymnasium.register(f"contract/{cls.__name__}-v0", entry_point=f"breaches:{cls.__name__}", max_episode_steps=20)
