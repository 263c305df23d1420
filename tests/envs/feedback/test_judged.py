from compared import comparison, result, side

from agentgym_envs.feedback.judged import judged
from agentgym_envs.feedback.record import episode


def of(one, two, **changes):
    return comparison(one["task_id"], a=episode("one", one), b=episode("two", two), **changes)


def numbers(told):
    return [(pair["a"]["number"], pair["b"]["number"]) for pair in told["pairs"]]


def test_episodes_are_found_by_what_was_played_whatever_the_folder_is_called_now():
    one, two = (
        [result("t", 1), result("u", 1)],
        [result("t", 2), {**result("u"), "row": "fault"}, result("u", 2)],
    )
    rows = [of(one[0], two[0]), of(one[1], two[2])]
    assert numbers(judged(rows, [("one", one), ("two", two)])) == [(0, 2), (1, 4)]
    assert numbers(judged(rows, [("new name", two), ("other", one)])) == [(3, 0), (4, 2)]
    told = judged(rows, [("two", two)])
    assert numbers(told) == [(None, 0), (None, 2)]
    assert told["notes"][-1] == "2 of 2 pairs have an episode that is in none of these folders"


def test_of_equal_episodes_the_one_in_the_folder_of_that_name_is_meant():
    runs = [("zero", [result("t")]), ("one", [result("t")]), ("two", [result("t", 3)])]
    assert numbers(judged([of(runs[1][1][0], runs[2][1][0])], runs)) == [(1, 2)]


def test_choices_stand_together_by_pair_and_add_up_by_run():
    rows = [
        comparison("t", "a"),
        comparison("u", "b", comment="why"),
        comparison("t", "tie", "lee"),
        comparison("u", "neither", "lee"),
    ]
    rows.append(comparison("t", "b", b=side("one", attempt=1)))
    told = judged(rows, [])
    assert [
        [(c["annotator"], c["choice"], c["comment"]) for c in pair["choices"]]
        for pair in told["pairs"]
    ] == [
        [("kim", "a", ""), ("lee", "tie", "")],
        [("kim", "b", "why"), ("lee", "neither", "")],
        [("kim", "b", "")],
    ]
    assert told["notes"][:3] == [
        "one and two: one is better 1, two is better 1, equally good 1, neither 1",
        "one: earlier attempt 0, later attempt 1, equally good 0, neither 0",
        "agreement of kim, lee on 2 pairs: 0.00, Cohen's κ 0.00",
    ]
