import pytest
from compared import result, turn

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.record import EpisodeRows
from agentgym_envs.feedback.pairs import pairs
from agentgym_envs.feedback.record import standing
from agentgym_envs.feedback.session import JudgingSession


def session(tasks=3, seed=0, file=None, *, turned=False):
    one = [result(f"t-{i}", [turn(1, response="of one")]) for i in range(tasks)]
    two = [result(f"t-{i}", [turn(1, response="of two")]) for i in range(tasks)]
    runs = [("one", one), ("two", two)]
    return JudgingSession(
        pairs(runs[::-1] if turned else runs, str), file or EpisodeRows(), seed=seed
    )


def first(side):
    return side["turns"][0]["response"]


def test_whatever_side_it_is_on_the_better_one_is_recorded_for_its_run():
    file, on_left = EpisodeRows(), []
    going = session(40, file=file)
    state = going.state("kim")
    while state.question:
        better = "left" if first(state.question.left) == "of two" else "right"
        on_left.append(better == "left")
        state = going.judge("kim", state.question.number, better, "")
    assert 10 < sum(on_left) < 30  # of 40
    assert [row["choice"] for row in file.rows] == ["b"] * 40
    assert {first(row["b"]) for row in file.rows} == {"of two"}


def test_sides_follow_from_the_seed_and_the_pair():
    def on_the_left(seed):
        going, found = session(20, seed), []
        while question := going.state("kim").question:
            found.append(first(question.left))
            going.judge("kim", question.number, "tie", "")
        return found

    assert on_the_left(0) == on_the_left(0)
    assert on_the_left(0) != on_the_left(1)


def test_nothing_shown_tells_the_run_or_the_result():
    question = session().state("kim").question
    assert question.left.keys() == question.right.keys() == {"end", "last", "turns"}
    assert question.left["turns"][0].keys() == {"observation", "response", "action", "invalid"}


def test_each_annotator_judges_all_and_goes_on_where_they_stopped():
    file = EpisodeRows()
    for number in (0, 1):
        session(file=file).judge("kim", number, "tie", "")
    again = session(file=file, seed=1)
    assert [
        (s.done, s.total, s.question.number) for s in (again.state("kim"), again.state("lee"))
    ] == [(2, 3, 2), (0, 3, 0)]
    done = again.judge("kim", 2, "neither", "both lost")
    assert (done.done, done.question) == (3, None)
    assert (file.rows[-1]["choice"], file.rows[-1]["comment"]) == ("neither", "both lost")


def test_a_judgement_that_comes_twice_or_late_counts_once():
    file = EpisodeRows()
    going = session(file=file)
    going.judge("kim", 0, "tie", "")
    assert going.judge("kim", 0, "left", "").question.number == 1
    assert going.judge("kim", 2, "left", "").question.number == 1
    assert [row["choice"] for row in file.rows] == ["tie"]


def test_undo_brings_the_pair_back_with_what_was_said_and_only_ones_own():
    file = EpisodeRows()
    going = session(file=file)
    going.judge("kim", 0, "left", "")
    going.judge("kim", 1, "right", "closer")
    going.judge("lee", 0, "tie", "")
    question = going.undo("kim").question
    assert (question.number, question.choice, question.comment) == (1, "right", "closer")
    assert going.undo("kim").question.choice == "left"
    assert going.undo("kim").done == 0
    assert [row["annotator"] for row in standing(file.rows)] == ["lee"]
    assert going.state("lee").done == 1


def test_comparisons_of_other_pairs_in_the_file_are_let_be():
    file = EpisodeRows()
    other = session(9, file=file)
    for number in range(9):
        other.judge("kim", number, "left" if number % 2 else "right", "")
    going = session(3, file=file)
    assert (going.state("kim").done, going.state("kim").question) == (3, None)
    assert going.undo("kim").question.number == 2
    assert len(standing(file.rows)) == 8


def test_runs_named_in_the_other_order_are_the_same_pairs_on_the_same_sides():
    file = EpisodeRows()
    kim, lee = session(20, file=file), session(20, file=file, turned=True)
    for name, going in (("kim", kim), ("lee", lee)):
        while question := going.state(name).question:
            going.judge(
                name, question.number, "left" if first(question.left) == "of two" else "right", ""
            )
    assert "of kim, lee on 20 pairs: 1.00" in lee.state("lee").agreement
    assert lee.state("kim").question is kim.state("lee").question is None
    assert {first(row[row["choice"]]) for row in standing(file.rows)} == {"of two"}
    shown = [
        (question.number, first(question.left))
        for question in (kim.undo("lee").question, lee.undo("kim").question)
    ]
    assert shown[0] == shown[1]


def test_what_is_taken_back_comes_again_as_it_was_chosen_whatever_order_it_was_written_in():
    for choice in ("left", "right"):
        file = EpisodeRows()
        session(1, file=file).judge("kim", 0, choice, "")
        row = file.rows.pop()
        file.add(
            {**row, "a": row["b"], "b": row["a"], "choice": {"a": "b", "b": "a"}[row["choice"]]}
        )
        for turned in (False, True):
            going = session(1, file=file, turned=turned)
            assert going.undo("kim").question.choice == choice
            going.judge("kim", 0, choice, "")


def test_agreement_is_of_these_pairs():
    going = session()
    for name in ("kim", "lee"):
        assert going.judge(name, 0, "tie", "").agreement.startswith(
            "agreement: no pair" if name == "kim" else "agreement of kim, lee on 1"
        )


@pytest.mark.parametrize(
    ("name", "choice"), [("", "tie"), (" ", "tie"), ("k" * 81, "tie"), ("kim", "a"), ("kim", "")]
)
def test_what_is_no_judgement_is_refused(name, choice):
    file = EpisodeRows()
    with pytest.raises(ArgumentError, match=r"annotator=|choice="):
        session(file=file).judge(name, 0, choice, "")
    assert file.rows == []
