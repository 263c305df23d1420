"""The lines by kind of task and by difficulty of a single family."""

import pytest
from compared import result

from agentgym_envs.evaluate import tables
from agentgym_envs.evaluate.grouping import kind_of, ranges
from agentgym_envs.evaluate.plan import plan


def rows(*tasks):
    return [result(task, 1, difficulty=difficulty) for task, difficulty in tasks]


def names(found):
    return [line["name"] for line in tables.results(found).lines]


def test_twenty_household_tasks_have_lines_by_kind_and_three_by_difficulty():
    items, _ = plan("agentgym/Household-v0", episodes=20)
    found = names(rows(*((item.task_id, item.difficulty) for item in items)))
    kinds = [name for name in found[:-1] if not name.startswith("difficulty")]
    assert kinds == sorted({item.task_id.partition("-")[0] for item in items})
    assert len(kinds) == 6
    assert len(found) == 6 + 3 + 1


def test_each_task_is_in_one_line_of_a_grouping():
    found = tables.results(rows(*((f"{'ab'[n % 2]}-{n}", n * n % 17) for n in range(30)))).lines
    for kind in ("kind", "difficulty"):
        lines = [line for line in found if line["kind"] == kind]
        assert sum(int(line["tasks"]) for line in lines) == 30
        assert len(lines) == {"kind": 2, "difficulty": 3}[kind]


@pytest.mark.parametrize(
    ("ids", "kinds"),
    [
        (
            [f"{name}-{n}" for name in ("hop1-country", "hop2-year") for n in range(4)],
            "hop1-country",
        ),
        ([f"depth{d}-{thing}" for d in (1, 2) for thing in ("oak", "red_bed", "pot")], "depth1"),
        (
            [f"valid/{k}-Mug-None-Desk-308/trial_{n}" for k in ("cool", "heat") for n in range(3)],
            "cool",
        ),
        ([f"seed-{n}" for n in range(9)], None),
        ([f"game-{n}" for n in range(9)], None),
        ([f"{n}" for n in range(9)], None),
        ([f"{n}.1-{n}.2" for n in range(9)], None),
        ([f"level{n}-{n}" for n in range(40)], None),
    ],
)
def test_a_kind_is_read_from_the_ids(ids, kinds):
    tell = kind_of([{"task_id": task_id} for task_id in ids])
    assert (tell and tell(ids[0])) == kinds


def test_kinds_that_are_difficulties_have_one_line_each():
    found = rows(*((f"depth{n % 3}-x{n}", n % 3) for n in range(12)))
    assert names(found) == ["difficulty 0", "difficulty 1", "difficulty 2", "Maze"]


def test_ranges_hold_about_equally_many_tasks():
    levels = [1] * 10 + [2, 3, 4, 5, 6, 7, 8, 9]
    assert ranges(levels) == [(1, 3), (4, 9)], "half of the tasks have difficulty 1"
    assert ranges([]) == []
    assert ranges([5] * 4) == [(5, 5)]
