import itertools
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_envs.evaluate import metrics, tables


def row(task="a", success=True, score=None, attempt=0, family="F", scenario="s", turns=(False,), end="terminated", suite=""):
    named = {"suite": suite, "scenario": scenario, "family": family, "task_id": task, "attempt": attempt, "settings": "x"}
    played = [{"invalid": wrong} for wrong in turns]
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    score = float(success) if score is None else score
    return {
        "row": "episode",
        **named,
        "difficulty": 1,
        "success": success,
        "score": score,
        "end": end,
        "turns": played,
        "usage": usage,
    }


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962)],
)
def test_wilsons_interval_has_the_textbooks_values(successes, n, low, high):
    assert metrics.wilson(successes, n) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_draws_with_a_success(case):
    n, c, k = case
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert metrics.pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_the_bootstrap_is_numpys_and_the_same_every_time():
    values = [0.0, 0.25, 0.5, 1.0, 1.0, 0.0, 0.75, 0.5] * 5
    found = metrics.bootstrap(values)
    assert found == metrics.bootstrap(values)
    draws = np.random.default_rng(1).choice(values, size=(20000, len(values))).mean(axis=1)
    assert found == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])), abs=0.02)


def test_the_sign_test_by_hand():
    assert metrics.sign_test(9, 1) == pytest.approx(2 * (1 + 10) / 1024)
    assert metrics.sign_test(3, 3) == 1.0
    assert metrics.sign_test(0, 0) == 1.0


def test_means_are_over_tasks_and_not_over_episodes():
    """Task a succeeds in one of four attempts, task b in its only one."""
    rows = [row("a", attempt == 0, attempt=attempt) for attempt in range(4)] + [row("b", True)]
    found = metrics.summarise(rows)
    assert (found.tasks, found.attempts, found.success) == (2, 4, 0.625)
    assert found.interval == metrics.bootstrap([0.25, 1.0])
    assert found.pass_at == {1: 0.625}, "no more attempts than every task has"
    assert metrics.summarise(rows[:4]).pass_at == {1: 0.25, 2: 0.5, 3: 0.75, 4: 1.0}


def test_the_papers_measures_are_of_scores():
    rows = [row("a", False, 0.3, attempt=n) for n in range(2)] + [row("b", False, 0.0, attempt=n) for n in range(2)]
    found = metrics.summarise(rows)
    assert (found.success, found.score, found.any_score) == (0.0, 0.15, 0.5)
    assert found.pass_at[2] == 0.0, "a score above 0 is no success"


def test_rates_by_hand():
    rows = [row("a", turns=(True, False, False)), row("b", False, turns=(True,), end="truncated")]
    found = metrics.summarise(rows)
    assert (found.turns, found.invalid, found.truncated) == (2.0, 0.5, 0.5)
    assert (found.prompt_tokens, found.completion_tokens) == (10, 2)
    assert found.interval == metrics.wilson(1, 2)


def test_two_runs_are_compared_on_the_tasks_that_both_played():
    first = [row("a", False), row("b", True), row("c", False), row("only first", True)]
    second = [row("a", True), row("b", True), row("c", True), row("only second", False)]
    found = metrics.compare(first, second)
    assert (found.tasks, found.better, found.worse) == (3, 2, 0)
    assert found.difference == pytest.approx(2 / 3)
    assert found.p == 0.5
    assert metrics.compare(first[:1], second[1:2]) is None


def test_a_table_has_families_scenarios_and_both_averages():
    rows = [row("a", True, family="GoTo", scenario="babyai"), row("b", False, family="GoTo", scenario="babyai")]
    rows += [row("c", True, family="Pickup", scenario="babyai"), row("d", False, family="Depth 1", scenario="textcraft")]
    assert {line["name"]: float(line["success"]) for line in tables.results(rows).lines} == {
        "GoTo": 0.5,
        "Pickup": 1.0,
        "Depth 1": 0.0,
        "all of babyai": 0.667,
        "all of textcraft": 0.0,
        "mean of families": 0.5,
        "mean of scenarios": 0.333,
    }
    beside = tables.published(rows)
    assert beside.lines[0] == {"who": "this run", "textcraft": "0.0", "babyai": "66.7"}
    assert beside.lines[3]["babyai"] == "96.7"


def test_faults_are_counted_and_score_nothing():
    fault = {**row("b"), "row": "fault", "fault": "environment"}
    (line,) = tables.results([row("a", False), fault, fault]).lines
    assert (line["tasks"], line["success"], line["faults"]) == ("1", "0.000", "2")


def test_an_episode_that_was_played_twice_counts_once_with_its_last_line():
    (line,) = tables.results([row("a", False), row("a", True)]).lines
    assert (line["tasks"], line["success"]) == ("1", "1.000")


def test_difficulties_of_a_single_family():
    rows = [{**row(f"t{n}", n > 2), "difficulty": n % 2} for n in range(6)]
    assert [line["name"] for line in tables.results(rows).lines] == ["difficulty 0", "difficulty 1", "F"]
    assert fmean(float(line["success"]) for line in tables.results(rows).lines[:2]) == pytest.approx(0.5)
