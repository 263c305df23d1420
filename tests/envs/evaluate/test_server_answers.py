"""``agentgym eval`` with servers that say no: each answer has one outcome, and no run dies of it.

The table is ``tests/support/server_answers.jsonl``.
"""

import importlib.util
from itertools import groupby
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from server_answers import EXTRAS, STEPS, cases, play

from agentgym_envs.evaluate import tables

CASES = sorted(cases(), key=lambda case: (case.agent, case.api))
RUNS = {
    key: dict(zip((f"task-{n:03}" for n in range(len(CASES))), found, strict=False))
    for key, found in groupby(CASES, key=lambda case: (case.agent, case.api))
}
TASKS = {str(case): task for found in RUNS.values() for task, case in found.items()}
HERE = [key for key in RUNS if key[1] not in EXTRAS or importlib.util.find_spec(EXTRAS[key[1]])]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Plays all cases of an agent and an API in one run: each is a task's second answer."""
    played = {}

    def run(agent, api):
        if api in EXTRAS:
            pytest.importorskip(EXTRAS[api], reason="an extra of agentgym-envs")
        if (agent, api) not in played:
            cases = RUNS[agent, api]
            folder = tmp_path_factory.mktemp("answers") / "out"
            played[agent, api] = play(
                folder, api, agent, len(cases), lambda task, n: cases[task] if n == 1 else None
            )
        return played[agent, api]

    return run


@pytest.mark.parametrize(("agent", "api"), RUNS)
def test_a_run_goes_on_to_its_end(agent, api, run):
    played, met = run(agent, api), RUNS[agent, api]
    assert "Traceback" not in played.output
    assert {row["task_id"] for row in played.rows} == set(met), played.output
    assert len(played.rows) == len(met)
    rejected = sum(case.expect == "rejected" for case in met.values())
    assert played.status == bool(rejected)
    assert not rejected or f"{rejected} episodes" in played.output


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_answer_has_its_outcome(case, run):
    played, task = run(case.agent, case.api), TASKS[str(case)]
    (row,) = (row for row in played.rows if row["task_id"] == task)
    outcome = case.outcome
    valid = 1 if outcome.end else STEPS
    turns = row["turns"]
    assert row["end"] == (outcome.end or "terminated")
    assert played.asked[task] == valid + 1 - outcome.progress
    assert [turn["invalid"] for turn in turns] == [
        False,
        *([True] if outcome.turn and not outcome.progress else []),
        *[False] * (valid - 1),
    ]
    assert [n for n, turn in enumerate(turns) if turn.get("cut")] == [1] * (case.expect == "cut")
    assert (row["success"], row["score"]) == (not outcome.end, pytest.approx(valid / STEPS))
    if case.expect == "rejected":
        assert str(case.status) in row["error"]


SEQUENCES = st.sampled_from(HERE).flatmap(
    lambda key: st.tuples(
        st.just(key), st.lists(st.sampled_from(list(RUNS[key].values())), max_size=7)
    )
)


@given(SEQUENCES)
@settings(max_examples=12, phases=[Phase.generate])  # a failing sequence is short enough
def test_any_sequence_of_answers_leaves_a_complete_record(drawn):
    """After one good reply; seven answers are too few to end a run."""
    ((agent, api), answers), count = drawn, 4
    left = iter([None, *answers])
    with TemporaryDirectory() as folder:
        played = play(Path(folder) / "out", api, agent, count, lambda task, n: next(left, None))
    left = iter([None, *answers])
    wanted = [outcome(left) for _ in range(count)]
    rows = sorted(played.rows, key=lambda row: row["task_id"])
    assert [row["task_id"] for row in rows] == [f"task-{n:03}" for n in range(count)]
    assert [(row["end"], len(row["turns"]), row["score"]) for row in rows] == wanted
    assert played.status == any(end == "rejected" for end, *_ in wanted)
    line = tables.results(played.rows).lines[-1]
    scored = [score for end, _, score in wanted if end != "rejected"]
    assert int(line.get("tasks", 0)) == len(scored)
    if scored:
        assert line["success"] == pytest.approx(fmean(score == 1.0 for score in scored))
        assert line["score"] == pytest.approx(fmean(scored))


def outcome(answers):
    """Returns how an episode ends that takes its answers from an iterator: end, turns, score."""
    turns = valid = 0
    while valid < STEPS:
        case = next(answers, None)
        if case and case.outcome.end:
            return case.outcome.end, turns, valid / STEPS
        turns += case.outcome.turn if case else 1
        valid += case.outcome.progress if case else 1
    return "terminated", turns, 1.0
