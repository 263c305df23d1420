"""``rollout.ahead``: the next step is collected while the policy learns."""

import threading
import time
from concurrent.futures import CancelledError
from contextlib import closing
from types import SimpleNamespace

import actor_critic
import pytest
import small_run
import tiny
import torch
from raised import raises
from trainers import make

from agentgym_envs.pool import EnvDescription
from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.data.types import Call, EpisodeFailure, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError
from agentgym_train.protocols import StepPlan
from agentgym_train.reporting import metrics
from agentgym_train.rollout.pipeline import (
    CollectedStep,
    RolloutPipeline,
    StepCollection,
    TrainingEnv,
)

AHEAD = {name: section for name, section in small_run.HASH.items() if name != "model"} | {
    "rollout": {"ahead": 1},
    "run": {"steps": 3, "save_every": 9},
}


class Noted:
    """A collection and a generator that note the calls."""

    def __init__(self):
        self.calls = []

    def start(self, step):
        self.calls += ["start", str(step)]

    def finish(self):
        self.calls.append("finish")
        return []

    def load(self):
        self.calls.append("load")

    def sleep(self):
        self.calls.append("sleep")

    def wake(self):
        self.calls.append("wake")


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        (False, "start {} finish sleep learn wake load " * 6),
        (
            True,
            "start {} finish start {} learn finish load start {} learn finish learn load " * 2,
        ),
    ],
)
def test_the_order_of_six_steps_with_a_pause_after_every_third_one(ahead, expected):
    """Ahead nothing sleeps, and nothing is collected in a pause."""
    noted = Noted()
    pipeline = RolloutPipeline(noted, noted, noted.load, ahead=ahead)
    for step in range(6):
        pipeline.collect(step)
        pipeline.begin_update(step, pause=step % 3 == 2)
        noted.calls.append("learn")
        pipeline.end_update()
    assert noted.calls == expected.format(*range(6)).split()


class Env:
    """An environment whose collection calls a function."""

    def __init__(self, work):
        self.work = work

    def plan(self, step):
        return StepPlan(step, step, [])

    def collect(self, plan):
        return self.work(plan)


def collected(plan):
    failure = EpisodeFailure("", 0, 0, threading.current_thread().name, given_up=False)
    return CollectedStep(plan, [], [failure])


def test_environments_side_by_side_are_collected_at_the_same_time():
    """The barrier opens only if both wait at it."""
    barrier = threading.Barrier(2, timeout=10)

    def meet(step):
        barrier.wait()
        return collected(step)

    collection = StepCollection([Env(meet), Env(meet)], beside=False, side_by_side=True)
    collection.start(7)
    assert [part.plan.horizon for part in collection.finish()] == [7, 7]


@pytest.mark.parametrize(("beside", "name"), [(False, "MainThread"), (True, "collection")])
def test_otherwise_one_follows_the_other_in_one_thread(beside, name):
    playing, most = [], []

    def play(step):
        playing.append(step)
        time.sleep(0.02)
        most.append(len(playing))
        playing.remove(step)
        return collected(step)

    collection = StepCollection([Env(play)] * 3, beside=beside, side_by_side=False)
    collection.start(2)
    assert [part.failures[0].error for part in collection.finish()] == [name] * 3
    assert most == [1, 1, 1]


def test_an_error_of_one_environment_is_raised_while_another_one_is_still_played():
    going_on = threading.Event()

    def fail(step):
        raise ConfigError("no task")

    collection = StepCollection(
        [Env(lambda step: going_on.wait(30)), Env(fail)], beside=True, side_by_side=True
    )
    collection.start(0)
    began = time.monotonic()
    with pytest.raises(ConfigError, match="no task"):
        collection.finish()
    assert time.monotonic() - began < 10
    going_on.set()


def test_a_curriculum_decides_before_the_collection_and_not_during_it(tmp_path):
    """The curriculum gets another state in the meantime."""
    env = TrainingEnv(
        configuration.load(small_run.write(tmp_path, curriculum={"name": "responsive"})),
        EnvDescription("", ["a"], [1], {}, text_env=True),
        tiny.tokenizer(tiny.CHATML),
        range(1),
    )
    turns = [4]
    env.curriculum = SimpleNamespace(
        horizon=lambda step: turns[0], difficulties=lambda step: (turns[0], 9)
    )
    with closing(env.open(Distributed(), tiny, GRPO())) as source:
        asked = []
        source.next = asked.append
        plan = env.plan(5)
        turns[0] = 6
        assert env.collect(plan).plan.horizon == 4
        assert asked == [StepPlan(5, 4, range(1), (4, 9))]
        assert env.plan(6) == StepPlan(6, 6, range(1), (6, 9))


def run(home, steps, **options):
    """Runs to a step; returns the metrics and all weights."""
    rows = []
    options = AHEAD | {"run": {"steps": steps, "save_every": 2}} | options
    with closing(make(home, options)) as trainer:
        trainer.train(lambda row, groups: rows.append(row), lambda step: None)
        weights = actor_critic.full_parameters(trainer.engine)
    measured = {"time": {"collect", "update"}}
    assert all(row["time"].keys() == measured["time"] for row in rows)
    return [{k: v for k, v in row.items() if k not in metrics.MEASURED} for row in rows], weights


@pytest.mark.full
def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path):
    """Each step has two updates. The curriculum adds a turn with each step that it sees.

    After the checkpoints of steps 2 and 4 a step begins with the newest weights, and with all
    metrics.
    """
    rows, weights = run(tmp_path / "whole", 5)
    assert [row["off_policy"] for row in rows] == [0, 2, 0, 2, 0]
    assert [row["horizon"] for row in rows] == [1, 1, 3, 3, 5]
    assert all(row["grad_norm"] > 0 for row in rows)
    early, _ = run(tmp_path / "parts", 2)
    late, ours = run(tmp_path / "parts", 5)
    assert early + late == rows
    assert all(torch.equal(weight, weights[name]) for name, weight in ours.items())


def test_weights_are_one_step_old(tmp_path):
    rows, _ = run(tmp_path / "ahead", 2)
    assert [row["off_policy"] for row in rows] == [0, 2]
    in_turns, _ = run(tmp_path / "turns", 2, rollout={"ahead": 0})
    assert in_turns[0]["return"] == rows[0]["return"]
    assert in_turns[1] != rows[1]
    assert in_turns[1]["off_policy"] == 0


def pool(trainer):
    return trainer.envs[0].source._pool


def interrupted(trainer, monkeypatch, when):
    """Trains until Ctrl-C in the update of the first step; returns the seconds that its end took.

    Args:
        when: is waited for before Ctrl-C.
    """
    times = []

    def interrupt(step, groups):
        when()
        times.append(time.monotonic())
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer, "update", interrupt)
    with pytest.raises(KeyboardInterrupt):
        trainer.train(lambda row, groups: None, lambda step: None)
    assert pool(trainer).pids() == []
    return time.monotonic() - times[0]


def before_second(trainer, monkeypatch, work):
    """Calls a function before the collection of the second step starts."""
    collection = trainer.pipeline._collection
    start = collection.start
    monkeypatch.setattr(collection, "start", lambda step: (work() if step else None, start(step)))


def collecting():
    return [t for t in threading.enumerate() if t.name == "collection"]


def ended():
    end = time.monotonic() + 10
    while collecting() and time.monotonic() < end:
        time.sleep(0.01)
    return not collecting()


def test_ctrl_c_ends_a_collection_that_waits_for_an_environment(tmp_path, monkeypatch):
    """The environment hangs for an hour in the second step, and its limit is a minute."""
    marker = tmp_path / "hangs"
    kwargs = {"fault": "hang", "at": 1, "length": 3, "marker": str(marker)}
    env = {"id": "faulty_envs:support/Faulty-v0", "groups": 2, "group_size": 2, "workers": 1}
    marker.touch()
    with closing(make(tmp_path, AHEAD | {"env": env | {"kwargs": kwargs}})) as trainer:
        before_second(trainer, monkeypatch, marker.unlink)

        def hanging():
            end = time.monotonic() + 20
            while not marker.exists() and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(0.2)  # the collector waits for the response

        assert interrupted(trainer, monkeypatch, hanging) < 15
        assert ended()
        (future,) = trainer.pipeline._collection._running
        assert isinstance(future.exception(), CancelledError), "it never used a closed pool"


@pytest.mark.full
def test_ctrl_c_does_not_wait_long_for_a_generator(tmp_path, monkeypatch):
    with closing(make(tmp_path, AHEAD)) as trainer:
        inside, goes_on = threading.Event(), threading.Event()
        session = trainer.generator.session

        def slow(*args):
            made = session(*args)
            poll = made.poll

            def waiting(timeout=None):
                if second:
                    inside.set()
                    goes_on.wait(60)
                return poll(timeout)

            made.poll = waiting
            return made

        second = []
        before_second(trainer, monkeypatch, lambda: second.append(1))
        monkeypatch.setattr(trainer.generator, "session", slow)
        assert interrupted(trainer, monkeypatch, lambda: inside.wait(20)) < 15
        goes_on.set()
        assert ended(), "the thread ends with its next call of the pool"
        assert pool(trainer).pids() == []


def test_an_error_in_the_thread_ends_the_run_and_leaves_nothing(tmp_path, monkeypatch):
    with closing(make(tmp_path, AHEAD)) as trainer:
        curriculum, seen = trainer.envs[0].curriculum, []
        observe = curriculum.observe
        monkeypatch.setattr(curriculum, "observe", lambda m: (seen.append(m), observe(m)))
        chat = trainer.envs[0].chat

        def broken(*args):
            if seen or trainer.engine.steps:
                raise ZeroDivisionError("in the template")
            return opening(*args)

        opening = chat.opening
        monkeypatch.setattr(chat, "opening", broken)
        rows = []
        with pytest.raises(ZeroDivisionError, match="in the template"):
            trainer.train(lambda row, groups: rows.append(row), lambda step: None)
        assert 1 <= len(rows) <= 2
        assert pool(trainer).pids() == []
        assert ended()


@pytest.mark.parametrize(
    ("algorithm", "cap"),
    [
        ({"name": "grpo"}, 2.0),
        ({"name": "ppo"}, 2.0),
        ({"name": "grpo", "importance_cap": 0.0}, 0.0),
        ({"name": "grpo", "importance_cap": 5.0}, 5.0),
        ({"name": "sft"}, None),
    ],
)
def test_importance_weights_are_on_unless_the_file_says_otherwise(tmp_path, algorithm, cap):
    path = small_run.write(tmp_path, algorithm=algorithm)
    ahead, in_turns = (
        plugins.resolved(configuration.load(path, [f"rollout.ahead={ahead}"])) for ahead in (1, 0)
    )
    assert ahead.algorithm.get("importance_cap") == cap
    assert plugins.resolved(ahead) == ahead
    assert in_turns.algorithm.get("importance_cap", 0.0) == algorithm.get("importance_cap", 0.0)


def test_a_trainer_of_an_unresolved_configuration_has_them_too(tmp_path):
    with closing(make(tmp_path, AHEAD)) as trainer:
        assert trainer.required_streams == {"old"}


def test_the_engine_cannot_sleep_while_the_generator_works(tmp_path):
    path = small_run.write(tmp_path, rollout={"ahead": 1}, engine={"sleep": True})
    with raises(ConfigError, "rollout.ahead=1", "engine.sleep=true"):
        configuration.load(path)


def test_episodes_from_a_file_have_no_staleness():
    turn = Turn("seen", [Call([1], [7, 7], [0.0, 0.0])])
    groups = [Group(0, [Trajectory("a", 0, [turn])], from_dataset=True)]
    sums = metrics.totals(groups, Distributed(), version=9)
    assert metrics.means(sums | metrics.failed([]))["off_policy"] == 0
