"""Values that name no task or split are rejected.

The error has one line, with the value and the remedy.
"""

import numpy as np
import pytest

from agentgym_envs import plugins, registry
from agentgym_envs.errors import AgentGymError, ArgumentError, TaskError, UnknownName, shown
from agentgym_envs.evaluate import baselines
from agentgym_envs.evaluate.plan import plan
from agentgym_envs.pool import EnvPool
from agentgym_envs.tasks import Task, TaskSet
from agentgym_envs.vector import TextVectorEnv

# Have tasks only with files of the user's.
CONFIGURED = {
    "agentgym/TextWorld-v0",
    "agentgym/WebArena-v1",
}
IDS = sorted(
    name
    for name in plugins.discover(plugins.ENVIRONMENTS)
    if name.startswith("agentgym/") and name not in CONFIGURED
)
NO_IDS = ["", 5, False, ["a"], [], ("a",), {"a": 1}, b"a", 1.5, "\ud800", np.array([["a"], ["b"]])]
NO_TASKS = [*NO_IDS, "no such task", "x" * 10**5]
NO_SPLITS = [None, 5, ["test"], b"test", "", "tset", "\ud800"]
NO_PATTERNS = [5, [5], [None], b"test", [["a"]], [], "", "\ud800", ["no such task"]]


def refused(kinds, value, call):
    """Calls, and checks the error: its type, its value, one line, a remedy."""
    with pytest.raises(AgentGymError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) in kinds, message
    assert shown(value) in message
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    assert len(message) < 700
    hints = (
        "looks like",
        "Did you mean",
        "Known:",
        "such as",
        "name one by",
        "must be",
        "has numbers below",
    )
    assert any(hint in message for hint in hints), message


@pytest.mark.parametrize("env_id", IDS)
def test_what_names_no_task_is_refused(env_id):
    env = registry.make(env_id)
    for value in NO_TASKS:
        refused({TaskError}, value, lambda value=value: env.reset(options={"task_id": value}))
        refused({TaskError}, value, lambda value=value: env.unwrapped.task_set.get(value))
    for value in (5, "task", ["task_id"], b"x"):
        refused({ArgumentError}, value, lambda value=value: env.reset(options=value))
    env.close()


@pytest.mark.parametrize("env_id", IDS)
def test_what_names_no_split_or_no_tasks_of_it_is_refused(env_id):
    for value in NO_SPLITS:
        refused({UnknownName}, value, lambda value=value: registry.make(env_id, split=value))
    for value in NO_PATTERNS:
        refused(
            {ArgumentError, TaskError},
            value,
            lambda value=value: registry.make(env_id, split="test", tasks=value),
        )


@pytest.mark.parametrize("form", ["make_parallel", "make_aec"])
def test_pettingzoo_forms_refuse_the_same(form):
    from agentgym_envs.multi import zoo

    make = getattr(zoo, form)
    env = make("agentgym/Connect4-v1")
    for value in NO_TASKS:
        refused({TaskError}, value, lambda value=value: env.reset(options={"task_id": value}))
    refused({ArgumentError}, 5, lambda: env.reset(options=5))
    for value in NO_SPLITS:
        refused({UnknownName}, value, lambda value=value: make("agentgym/Connect4-v1", split=value))
    for value in NO_PATTERNS:
        refused(
            {ArgumentError, TaskError},
            value,
            lambda value=value: make("agentgym/Connect4-v1", tasks=value),
        )


def test_no_task_named_leaves_the_choice_to_the_seed():
    env = registry.make("agentgym/Maze-v1")
    drawn = env.reset(seed=3)[1]["task_id"]
    for options in (None, {}, {"task_id": None}):
        assert env.reset(seed=3, options=options)[1]["task_id"] == drawn


def test_a_refused_reset_changes_nothing():
    env = registry.make("agentgym/Maze-v1")
    env.reset(seed=3)
    following = env.reset()[1]["task_id"]
    env.reset(seed=3)
    with pytest.raises(TaskError):
        env.reset(seed=8, options={"task_id": ""})
    assert env.reset()[1]["task_id"] == following


def test_tasks_of_a_plugin_are_refused_before_its_own_code_sees_them():
    class Endless(TaskSet):
        def get(self, task_id):
            return Task(
                id=task_id, split="train", data={"number": int(task_id.partition("-")[2] or 0)}
            )

    for value in NO_IDS:
        refused(
            {TaskError},
            value,
            lambda value=value: Endless([]).start(0, (), named=value, filtered=True),
        )


def test_pools_and_vector_environments_refuse_the_same():
    with EnvPool("agentgym/Maze-v1", 1) as pool:
        sent = [value for value in NO_TASKS if not isinstance(value, bytes | np.ndarray | tuple)]
        for value in sent:
            pool.reset(0, options={"task_id": value})
            (result,) = pool.recv()
            refused({TaskError}, value, result.check)
        refused({ArgumentError}, b"a", lambda: pool.reset(0, options={"task_id": b"a"}))
    vector = TextVectorEnv("agentgym/Maze-v1", 2, workers=1)
    for value in (5, "", "\ud800"):
        refused({TaskError}, value, lambda value=value: vector.reset(options={"task_id": value}))
        refused(
            {TaskError}, value, lambda value=value: vector.reset(options={"task_id": [None, value]})
        )
    refused({ArgumentError}, 5, lambda: vector.reset(options=5))
    vector.close()


def test_evaluation_and_baselines_refuse_the_same():
    for value in NO_PATTERNS[:5]:
        refused({ArgumentError}, value, lambda value=value: plan("agentgym/Maze-v1", tasks=value))
        refused(
            {ArgumentError},
            value,
            lambda value=value: baselines.play("agentgym/Maze-v1", "oracle", task_ids=value),
        )
    refused({TaskError}, [], lambda: plan("agentgym/Maze-v1", tasks=[]))
    refused({TaskError}, "", lambda: baselines.play("agentgym/Maze-v1", "oracle", task_ids=[""]))
    with pytest.raises(ArgumentError, match="is a suite with fixed tasks"):
        plan("agentgym-rl", tasks=[])


def test_one_pattern_needs_no_list():
    items, _ = plan("agentgym/Maze-v1", tasks="*-test-3")
    assert {item.task_id.rpartition("-")[2] for item in items} == {"3"}
    (episode,) = baselines.play("agentgym/Maze-v1", "oracle", task_ids=items[0].task_id)
    assert (episode.task_id, episode.success) == (items[0].task_id, True)
