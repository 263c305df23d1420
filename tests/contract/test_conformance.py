"""Built-in environments pass the kit that plugin authors run, and the kit catches each kind of breach."""

import itertools
import random

import gymnasium
import pytest

from agentgym_envs import Outcome, Task, TaskSet, TextEnv
from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing import check_text_env


@pytest.mark.parametrize("env_id", ["agentgym/Maze-v0", "agentgym/TextCraft-v0"])
def test_embedded_environments_conform(env_id):
    assert len(check_text_env(env_id)) == 10


@pytest.mark.slow
def test_textworld_conforms():
    pytest.importorskip("textworld")
    assert len(check_text_env("agentgym/TWCoinCollector-v0", level=1)) == 10


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
        return ("", "")[0] + " ".join({f"word{i}" for i in range(20)}), "goal"


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


COUNTER = itertools.count()
BREACHES = {
    Overlapping: "share no task",
    Raising: "No action raises",
    Unseeded: "same seed and actions",
    HashOrdered: "same seed and actions",
    Lazy: "oracle",
    Echoing: "No action raises",
    OverScoring: "score",
    Undying: "after the end",
}
for cls in (Count, *BREACHES):
    gymnasium.register(f"contract/{cls.__name__}-v0", entry_point=f"test_conformance:{cls.__name__}", max_episode_steps=20)


@pytest.fixture(autouse=True)
def importable(monkeypatch, request):
    monkeypatch.syspath_prepend(str(request.path.parent))


def test_a_correct_environment_passes():
    assert len(check_text_env("test_conformance:contract/Count-v0")) == 10


@pytest.mark.parametrize(("cls", "what"), BREACHES.items())
def test_every_breach_is_caught(cls, what):
    with pytest.raises(ConformanceError, match=what):
        check_text_env(f"test_conformance:contract/{cls.__name__}-v0")


def test_the_episode_generator_is_not_the_global_one():
    random.seed(1)
    state = random.getstate()
    for env_id in ("agentgym/Maze-v0", "agentgym/TextCraft-v0"):
        gymnasium.make(env_id).reset(seed=3)
    assert random.getstate() == state
