from compared import result, turn

from agentgym_envs.feedback.pairs import instructions, pairs
from agentgym_envs.feedback.record import standing, undo


def sides(found):
    return [(row["task_id"], *((row[s]["run"], row[s]["attempt"]) for s in "ab")) for row in found]


def test_two_runs_meet_where_both_played_the_same_attempt_at_a_task():
    one = [
        result("t", 1),
        result("t", 1, attempt=1),
        result("u", 1),
        result("v", 1),
        {**result("w"), "row": "fault"},
    ]
    two = [
        result("v", 2),
        result("t", 2),
        result("u", 2, family="Other"),
        result("t", 3),
        result("w", 2),
    ]
    found = pairs([("one", one), ("two", two)], lambda env_id: f"rules of {env_id}")
    assert sides(found) == [("t", ("one", 0), ("two", 0)), ("v", ("one", 0), ("two", 0))]
    assert len(found[0]["b"]["turns"]) == 3  # the last line of an episode counts
    assert found[0]["instructions"] == "rules of agentgym/Maze-v1"


def test_attempts_of_one_run_meet_each_other_one_pair_of_each_task_first():
    rows = [
        result(task, turns=attempt + 1, attempt=attempt) for task in "tu" for attempt in range(3)
    ]
    found = sides(pairs([("one", rows)], str))
    assert [(task, a[1], b[1]) for task, a, b in found] == [
        ("t", 0, 1), ("u", 0, 1), ("t", 0, 2), ("u", 0, 2), ("t", 1, 2), ("u", 1, 2),
    ]  # fmt: skip


def test_episodes_that_went_alike_are_not_asked_about():
    one = [result("t"), result("u"), result("v")]
    two = [
        result("t"),
        result("u", last="other"),
        result("v", [turn(1), turn(2, response="so: go 2")]),
    ]
    assert [row["task_id"] for row in pairs([("one", one), ("two", two)], str)] == ["u", "v"]


def test_what_two_agents_did_in_a_game_are_two_pairs():
    seats = [
        [result("t", number, family=f"Nim/player_{seat}") for seat in range(2)] for number in (1, 2)
    ]
    first, second = pairs([("one", seats[0]), ("two", seats[1])], str)
    assert [row["family"] for row in (first, second)] == ["Nim/player_0", "Nim/player_1"]
    judged = [
        {"row": "comparison", "annotator": "kim", **row, "choice": choice}
        for row, choice in ((first, "a"), (second, "b"))
    ]
    assert standing(judged) == judged
    assert standing([*judged, undo(judged[0])]) == judged[1:]


def test_rules_are_those_of_the_environment_made_as_it_was():
    assert "go north" in instructions("agentgym/Maze-v1", {"NQ.questions": "x"})
    assert instructions("agentgym/Maze-v1", {"no_such_keyword": 1}) == ""
    assert instructions("nobody/None-v0", {}) == ""
