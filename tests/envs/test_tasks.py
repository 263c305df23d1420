import random

from raised import raises

from agentgym_envs.errors import TaskError, UnknownName
from agentgym_envs.tasks import Task, TaskSet, select, split_of, stable_hash

TASKS = TaskSet(
    [
        Task(id=f"{level}-{n}", split="train" if n < 4 else "test")
        for level in ("easy", "hard")
        for n in range(6)
    ]
)


def test_globs_narrow_a_split():
    assert select(TASKS, "test", "easy-*") == ("easy-4", "easy-5")
    assert select(TASKS, "train", ["easy-1", "hard-[23]"]) == ("easy-1", "hard-2", "hard-3")


def test_wrong_names_say_what_is_right():
    with raises(UnknownName, "'test'"):
        select(TASKS, "tset", None)
    with raises(TaskError, "['nothing-*']", "'train'", "'easy-0'"):
        select(TASKS, "train", "nothing-*")
    with raises(TaskError, "'dev'"):
        select(TASKS, "dev", None)
    with raises(TaskError, "'hard-5'"):
        TASKS.get("hard-55")
    with raises(TaskError, "'a'"):
        TaskSet([Task(id="a", split="train")] * 2)


def test_hashes_are_pinned():
    # blake2b of b"textcraft", first 8 bytes, big-endian, without the last bit: splits must never
    # move.
    assert stable_hash("textcraft") == 5065729375819434455
    counts = {
        s: sum(split_of(str(i)) == s for i in range(10_000)) for s in ("train", "dev", "test")
    }
    assert abs(counts["dev"] - 1000) < 150
    assert abs(counts["test"] - 1000) < 150


def test_drawing_reaches_every_task():
    rng = random.Random(0)
    ids = TASKS.ids("train")
    assert {TASKS.draw(rng, ids, filtered=False) for _ in range(500)} == set(ids)
