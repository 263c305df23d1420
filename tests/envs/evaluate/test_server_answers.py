"""``agentgym eval`` with servers that say no: each answer has one outcome, and no run dies of it.

The table is ``tests/support/server_answers.jsonl``.
"""

from functools import cache
from statistics import fmean

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from server_answers import ANSWERS, HERE, OUTCOMES, STEPS, Seen, play
from some import full

from agentgym_envs.evaluate import tables


def apis(number, whole):
    """Returns the APIs of an answer; by default, one of several that gateways pass it on to."""
    found = [api for api in ANSWERS[number].apis if api in HERE]
    return found if whole or ANSWERS[number].api != "any" else [found[number % len(found)]]


RUNS = {
    whole: {
        (agent, api): [
            answer
            for number, answer in enumerate(ANSWERS)
            if answer.agent == agent and api in apis(number, whole)
        ]
        for agent in ("chat", "function")
        for api in HERE
    }
    for whole in (False, True)
}


def task(number):
    return f"task-{number:03}"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Plays all answers of an agent and an API in one run: each is a task's second one."""

    @cache
    def run(agent, api, whole):
        met = {task(n): answer for n, answer in enumerate(RUNS[whole][agent, api])}
        folder = tmp_path_factory.mktemp("answers") / "out"
        return play(folder, api, agent, len(met), lambda name, n: met[name] if n == 1 else None)

    return run


@pytest.mark.parametrize(
    ("agent", "api", "whole"),
    [
        pytest.param(agent, api, api != place, marks=[pytest.mark.full] * (api != place))
        for agent, place in (("chat", "chat"), ("function", "anthropic"))
        for api in HERE
    ],
)
def test_a_run_goes_on_to_its_end_and_says_what_is_missing(agent, api, whole, run):
    played, met = run(agent, api, whole), RUNS[whole][agent, api]
    assert "Traceback" not in played.output
    assert sorted(played.seen()) == [task(n) for n in range(len(met))], played.output
    rejected = sum(answer.expect == "rejected" for answer in met)
    assert played.status == bool(rejected)
    assert not rejected or f"{rejected} episode" in played.output


@pytest.mark.parametrize("whole", [False, *full(True)])
@pytest.mark.parametrize("number", range(len(ANSWERS)), ids=[answer.name for answer in ANSWERS])
def test_an_answer_has_its_outcome_on_each_api(number, whole, run):
    answer, places = ANSWERS[number], apis(number, whole)
    if not places:
        pytest.skip("the extra of its API is not installed")
    wanted, found = expected(iter([None, answer])), {}
    for api in places:
        played = run(answer.agent, api, whole)
        name = task(RUNS[whole][answer.agent, api].index(answer))
        lines = [row for row in played.rows if row["task_id"] == name]
        found[api] = (played.seen().get(name), played.asked[name])
        if wanted.cause != "terminated":
            error = lines[0].get("error", "")
            assert f"answered {answer.status}:" in error or (error and answer.status == 200)
    requests = len(wanted.turns) + (not answer.outcome.turn)
    assert found == dict.fromkeys(places, (wanted, requests))


def test_a_rejected_episode_is_played_by_the_next_run(tmp_path):
    rejected = next(answer for answer in ANSWERS if answer.expect == "rejected")
    folder = tmp_path / "out"
    met = {task(1): rejected}
    first = play(folder, "chat", "chat", 3, lambda name, n: met.get(name) if n else None)
    assert (first.status, first.asked[task(1)]) == (1, 2)
    second = play(folder, "chat", "chat", 3, lambda name, n: None)
    assert (second.status, second.asked) == (0, {task(1): STEPS})


SEQUENCES = st.sampled_from([key for key, answers in RUNS[True].items() if answers]).flatmap(
    lambda key: st.tuples(st.just(key), st.lists(st.sampled_from(RUNS[True][key]), max_size=7))
)


@given(SEQUENCES)
@settings(max_examples=12, phases=[Phase.generate])  # a failing sequence is short
def test_any_sequence_of_answers_leaves_a_complete_record(tmp_path_factory, drawn):
    """They follow one good reply. Seven are too few to end a run."""
    ((agent, api), answers), count = drawn, 4
    left = iter([None, *answers])
    folder = tmp_path_factory.mktemp("sequence") / "out"
    played = play(folder, api, agent, count, lambda name, n: next(left, None))
    left = iter([None, *answers])
    wanted = {task(n): expected(left) for n in range(count)}
    assert played.seen() == wanted
    scores = [seen.score for seen in wanted.values() if seen.score is not None]
    assert played.status == (len(scores) < count)
    line = tables.results(played.rows).lines[-1]
    assert int(line.get("tasks", 0)) == len(scores)
    if scores:
        assert line["success"] == pytest.approx(fmean(score == 1.0 for score in scores))
        assert line["score"] == pytest.approx(fmean(scores))


def expected(answers):
    """Returns the episode of a model whose answers these are; None and all later ones are good."""
    turns, shortened = [], False
    while (valid := turns.count("valid")) < STEPS:
        expect = answer.expect if (answer := next(answers, None)) else "played"
        if shortened and expect in ("shortened", "rejected"):
            expect = "context"  # the first complaint holds
        if expect == "rejected":
            return Seen(expect, ["valid"] * len(turns), None)
        turn, end = OUTCOMES[expect].turn, OUTCOMES[expect].end
        if end:
            return Seen(end, turns, valid / STEPS)
        shortened = expect == "shortened" or (shortened and not turn)
        turns += [turn] if turn else []
    return Seen("terminated", turns, 1.0)
