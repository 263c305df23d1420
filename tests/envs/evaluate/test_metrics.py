import itertools
import math
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_envs.evaluate import metrics, tables


def row(
    task="a",
    success=True,
    score=None,
    attempt=0,
    family="F",
    scenario="s",
    turns=(False,),
    end="terminated",
    suite="",
):
    named = {
        "suite": suite,
        "scenario": scenario,
        "family": family,
        "task_id": task,
        "attempt": attempt,
        "settings": "x",
    }
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
    [
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
    ],
)
def test_wilsons_interval_has_the_textbooks_values(successes, n, low, high):
    assert metrics.wilson(successes, n) == pytest.approx((low, high), abs=1e-4)


@given(
    st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))
)
def test_pass_at_k_is_the_share_of_draws_with_a_success(case):
    n, c, k = case
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert metrics.pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))


@given(
    st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))
)
def test_pass_hat_k_is_the_share_of_draws_without_a_failure(case):
    n, c, k = case
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert metrics.pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_pass_hat_k_of_a_run_by_hand():
    """Of 3 attempts one task has 3 successes, one 2 and one none; a fourth was tried once."""
    solved = {"a": (1, 1, 1), "b": (1, 0, 1), "c": (0, 0, 0), "d": (1,)}
    rows = [
        row(task, bool(success), attempt=n)
        for task, attempts in solved.items()
        for n, success in enumerate(attempts)
    ]
    summary = metrics.summarise(rows)
    expected = {1: (1 + 2 / 3 + 0) / 3, 2: (1 + 1 / 3 + 0) / 3, 3: 1 / 3}
    assert summary.pass_all == pytest.approx(expected)
    line = tables.results(rows).lines[0]
    assert (line["all"], line["pass"], line["k"]) == pytest.approx((1 / 3, 2 / 3, 3))
    assert ("all", "Pass^k") in tables.results(rows).columns
    assert "all" not in tables.results([row("a")]).lines[0]


def mid_p_limit(successes, n, tail):
    """The share at which more successes, and half of as many, have this chance."""

    def more(share):
        chance = [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
        return sum(chance[successes + 1 :]) + chance[successes] / 2

    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if more(middle) < tail else (low, middle)
    return low


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 20), (6, 6), (97, 100)])
def test_solved_and_failed_tasks_have_the_mid_p_interval(successes, n):
    found = metrics.mean_interval([[1.0] * successes + [0.0] * (n - successes)])
    exact = mid_p_limit(successes, n, 0.025), mid_p_limit(successes, n, 0.975)
    assert found == pytest.approx(exact, abs=0.01)


def test_all_solved_and_one_failure_by_hand():
    """0.05 to the power of 1/6 is 0.607: six tasks, all solved, have the chance 0.025 of it."""
    assert metrics.mean_interval([[1.0] * 6]) == (pytest.approx(0.607, abs=0.01), 1.0)
    low, high = metrics.mean_interval([[1.0] * 5 + [0.75]])
    assert low < 0.607
    assert 0.97 < high < 1.0


def test_many_fractional_tasks_have_the_normal_interval():
    """By hand: the standard deviation of 0, 1/4, 1/2, 3/4 and 1 is 0.3536, divided by √400."""
    low, high = metrics.mean_interval([[0.0, 0.25, 0.5, 0.75, 1.0] * 80])
    assert (low, high) == pytest.approx((0.5 - 1.96 * 0.01768, 0.5 + 1.96 * 0.01768), abs=0.003)


SHARES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
GROUPS = st.lists(st.lists(SHARES, min_size=1, max_size=6), min_size=1, max_size=4)


@given(GROUPS, st.data())
def test_a_worse_result_moves_neither_end_up(groups, data):
    low, high = metrics.mean_interval(groups)
    group = data.draw(st.integers(0, len(groups) - 1))
    task = data.draw(st.integers(0, len(groups[group]) - 1))
    worse = [list(values) for values in groups]
    worse[group][task] = data.draw(st.floats(0, groups[group][task]))
    after = metrics.mean_interval(worse)
    assert after.low <= low
    assert after.high <= high


@given(GROUPS)
def test_no_result_is_more_certain_than_all_solved(groups):
    low, high = metrics.mean_interval(groups)
    best = metrics.mean_interval([[1.0] * len(values) for values in groups])
    assert high - low >= best.high - best.low - 0.02
    assert low <= fmean(map(fmean, groups)) <= high


@given(GROUPS, st.randoms())
def test_the_order_of_tasks_and_families_does_not_matter(groups, rng):
    mixed = [rng.sample(values, len(values)) for values in rng.sample(groups, len(groups))]
    assert metrics.mean_interval(mixed) == metrics.mean_interval(groups)


def test_the_two_ends_are_as_far_out():
    values = [0.1, 0.27, 0.5, 1.0, 0.93, 0.0, 0.71, 0.5]
    low, high = metrics.mean_interval([values])
    other = metrics.mean_interval([[1 - value for value in values]])
    assert other == pytest.approx((1 - high, 1 - low), abs=0.02)


def test_each_family_counts_the_same():
    """One family of two tasks and one of 40: the few tasks make the interval wide."""
    low, high = metrics.mean_interval([[1.0, 0.0], [0.0, 1.0] * 20])
    assert high - low > 1.5 * (2 * 0.155)  # the width of 40 tasks
    assert fmean([low, high]) == pytest.approx(0.5, abs=0.03)


def test_the_sign_test_by_hand():
    assert metrics.sign_test(9, 1) == pytest.approx(2 * (1 + 10) / 1024)
    assert metrics.sign_test(3, 3) == 1.0
    assert metrics.sign_test(0, 0) == 1.0


def test_means_are_over_tasks_and_not_over_episodes():
    """Task a succeeds in one of four attempts, task b in its only one."""
    rows = [row("a", attempt == 0, attempt=attempt) for attempt in range(4)] + [row("b", True)]
    found = metrics.summarise(rows)
    assert (found.tasks, found.attempts, found.success) == (2, 4, 0.625)
    assert found.interval == metrics.mean_interval([[0.25, 1.0]])
    assert found.pass_at == {1: 0.25, 2: 0.5, 3: 0.75, 4: 1.0}, "task b has no four attempts"
    assert metrics.summarise(rows[:4]).pass_at == found.pass_at


def test_the_tasks_of_an_interrupted_run_have_different_numbers_of_attempts():
    """Tasks a and b have two attempts, one of which succeeds.

    Tasks c to f have one attempt, which fails with a score above 0.
    """
    rows = [row(task, n == 0, attempt=n) for task in "ab" for n in range(2)] + [
        row(task, False, 0.5) for task in "cdef"
    ]
    found = metrics.summarise(rows)
    assert (found.tasks, found.fewest, found.attempts) == (6, 1, 2)
    assert (found.pass_at, found.any_score) == ({1: 0.5, 2: 1.0}, 1.0)
    table = tables.results(rows)
    assert [(line["tasks"], line["pass"], line["k"], line["any"]) for line in table.lines] == [
        ("6×1–2", 1.0, 2, 1.0)
    ]
    assert [note.partition(";")[0] for note in table.notes] == ["4 of 6 tasks have fewer attempts"]
    assert tables.results([row(task, attempt=n) for task in "ab" for n in range(2)]).notes == []


def test_a_difference_that_is_the_same_on_all_tasks_has_an_interval():
    """Twice the mid-p interval of three successes in three tasks: 0.05 ** (1 / 3) = 0.368."""
    first, second = [[row(task, success) for task in "abc"] for success in (False, True)]
    found = metrics.compare(first, second)
    assert found.interval == (pytest.approx(2 * 0.368 - 1, abs=0.02), 1.0)
    assert tables.pairings([("one", first), ("two", second)]).lines[0]["95 %"].endswith("to +1.00")
    same = metrics.compare(first, first).interval
    assert same.low < -0.2
    assert same.high > 0.2


def test_means_over_families_and_scenarios_have_intervals_and_pass_at_k():
    rows = [
        row(f"{family}{n}", n < solved and attempt == 0, attempt=attempt, family=family, scenario=s)
        for family, s, solved in (("A", "s", 4), ("B", "s", 2), ("C", "t", 0))
        for n in range(4)
        for attempt in range(2)
    ]
    lines = {line["name"]: line for line in tables.results(rows).lines}
    families = [[0.5] * 4, [0.5, 0.5, 0, 0], [0] * 4]
    mean = lines["mean of 3 families"]
    assert (mean["low"], mean["high"]) == metrics.mean_interval(families)
    assert (mean["pass"], mean["k"], mean["any"]) == (0.5, 2, 0.5)  # of 1, 1/2 and 0
    assert mean["all"] == 0.0  # every second attempt fails
    mean = lines["mean of 2 scenarios"]
    scenarios = [families[0] + families[1], families[2]]
    assert (mean["low"], mean["high"]) == metrics.mean_interval(scenarios)
    assert mean["pass"] == pytest.approx(0.375)  # of 3/4 and 0


def test_pass_at_k_of_a_mean_is_at_the_attempts_that_all_families_have():
    rows = [row("a", n == 0, attempt=n, family="A") for n in range(4)]
    rows += [row("b", n == 0, attempt=n, family="B") for n in range(2)]
    mean = tables.results(rows).lines[-1]
    assert (mean["pass"], mean["all"], mean["k"]) == (0.75, 0.0, 2)  # of 1/2 and 1, of 0 and 0
    assert "any" not in mean
    assert "pass" not in tables.results([*rows, row("c", family="C")]).lines[-1]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf"), None])
def test_a_score_that_is_no_number_counts_as_0_and_is_told(score):
    rows = [
        row("a", True, 1.0),
        row("b", False, 0.5),
        {**row("c", False), "score": score},
        {**row("d", False), "score": score},
    ]
    table = tables.results(rows)
    assert [line["score"] for line in table.lines] == [0.375]
    assert table.notes == ["2 episodes have no finite score and count as 0"]
    assert tables.results(rows[:3]).notes == ["1 episode has no finite score and counts as 0"]
    twice = [*rows, *({**r, "attempt": 1} for r in rows)]
    assert metrics.summarise(twice).any_score == 0.5


def test_the_papers_measures_are_of_scores():
    rows = [row("a", False, 0.3, attempt=n) for n in range(2)] + [
        row("b", False, 0.0, attempt=n) for n in range(2)
    ]
    found = metrics.summarise(rows)
    assert (found.success, found.score, found.any_score) == (0.0, 0.15, 0.5)
    assert found.pass_at[2] == 0.0, "a score above 0 is no success"


def test_rates_by_hand():
    rows = [row("a", turns=(True, False, False)), row("b", False, turns=(True,), end="truncated")]
    found = metrics.summarise(rows)
    assert (found.turns, found.invalid, found.truncated) == (2.0, 0.5, 0.5)
    assert (found.prompt_tokens, found.completion_tokens) == (10, 2)
    assert found.interval == metrics.mean_interval([[1.0, 0.0]])
    assert metrics.summarise([row("a", end="context"), row("b")]).truncated == 0.5, (
        "a context that was spent cuts too"
    )


def test_two_runs_are_compared_on_the_tasks_that_both_played():
    first = [row("a", False), row("b", True), row("c", False), row("only first", True)]
    second = [row("a", True), row("b", True), row("c", True), row("only second", False)]
    found = metrics.compare(first, second)
    assert (found.tasks, found.better, found.worse) == (3, 2, 0)
    assert found.difference == pytest.approx(2 / 3)
    assert found.p == 0.5
    assert metrics.compare(first[:1], second[1:2]) is None


def test_a_table_has_families_scenarios_and_both_averages():
    rows = [
        row("a", True, family="GoTo", scenario="babyai"),
        row("b", False, family="GoTo", scenario="babyai"),
    ]
    rows += [
        row("c", True, family="Pickup", scenario="babyai"),
        row("d", False, family="Depth 1", scenario="textcraft"),
    ]
    assert {line["name"]: line["success"] for line in tables.results(rows).lines} == {
        "GoTo": 0.5,
        "Pickup": 1.0,
        "Depth 1": 0.0,
        "all of babyai": pytest.approx(2 / 3),
        "all of textcraft": 0.0,
        "mean of 3 families": 0.5,
        "mean of 2 scenarios": pytest.approx(1 / 3),
    }
    beside = tables.published([("one", rows), ("two", rows[:2])])
    assert beside.lines[:2] == [
        {"who": "one", "textcraft": "0.000", "babyai": "0.667"},
        {"who": "two", "babyai": "0.500"},
    ]
    assert beside.lines[4]["babyai"] == "0.967"
    assert {line["source"] for line in beside.lines[2:]} == {"arXiv 2509.08755"}


def test_published_figures_are_those_of_the_scenarios_that_were_played():
    table = tables.published([("this run", [row("a", True, scenario="shop")])])
    assert [key for key, _ in table.columns] == ["who", "shop", "source"]
    assert {(line["source"], line["shop"]) for line in table.lines[1:]} == {
        ("arXiv 2210.03629", "0.400"),
        *(("arXiv 2505.10978", figure) for figure in ("0.237", "0.195", "0.661", "0.728")),
    }
    assert tables.published([("this run", [row("a", True, scenario="maze")])]) is None


def fault(task="b", error="EnvTimeout: no answer", **changes):
    return {
        **row(task, **changes),
        "row": "fault",
        "fault": "environment",
        "error": error,
        "try": 1,
        "turns": 2,
    }


def test_families_stand_in_the_order_of_their_suite():
    names = ["NQ", "TriviaQA", "HotpotQA", "MuSiQue"]
    rows = [row(family=name, scenario="search", suite="agentgym-rl") for name in reversed(names)]
    assert [
        line["name"] for line in tables.results(rows).lines if line["kind"] == "family"
    ] == names


def test_faults_are_counted_and_score_nothing():
    (line,) = tables.results([row("a", False), fault(), fault()]).lines
    assert (line["tasks"], line["success"], line["faults"]) == ("1", 0.0, 2)


def test_a_family_that_has_only_faults_keeps_its_line():
    rows = [
        row("a", True, family="A"),
        row("b", False, family="B"),
        fault(family="C"),
        fault(family="C"),
    ]
    lines = {line["name"]: line for line in tables.results(rows).lines}
    assert list(lines) == ["A", "B", "C", "mean of 2 of 3 families"]
    assert lines["C"] == {
        "kind": "family",
        "name": "C",
        "scenario": "s",
        "family": "C",
        "tasks": "0",
        "faults": 2,
    }
    assert lines["mean of 2 of 3 families"]["success"] == 0.5
    apart = [row("a", True), fault(family="C", scenario="t")]
    names = [
        "F",
        "C",
        "all of s",
        "all of t",
        "mean of 1 of 2 families",
        "mean of 1 of 2 scenarios",
    ]
    assert [line["name"] for line in tables.results(apart).lines] == names


def test_the_commonest_errors_are_told():
    rows = [
        fault(error=error)
        for error in ["slow"] * 3 + ["two\nlines"] * 2 + ["x" * 500] * 2 + ["rare", "rarer"]
    ]
    table = tables.results(rows)
    assert [line["name"] for line in table.lines] == ["F"]
    assert table.notes == [
        "3 faults, environment: slow",
        "2 faults, environment: two lines",
        f"2 faults, environment: {'x' * 127}…",
        "2 faults with other errors",
    ]


def test_runs_without_a_common_task_are_told():
    table = tables.pairings(
        [("one", [row("a")]), ("two", [row("b")]), ("three", [row("a", False)])]
    )
    assert [line["runs"] for line in table.lines] == ["three − one"]
    assert table.notes == ["two and one have no task in common"]
    assert tables.pairings([("one", [row("a")])]) is None


def test_the_legend_says_what_each_column_is_a_mean_of():
    """Task a has two attempts with three turns each.

    Task b has one attempt with a single invalid turn.
    """
    rows = [row("a", attempt=n, turns=(False,) * 3) for n in range(2)] + [
        row("b", False, turns=(True,), end="truncated")
    ]
    table = tables.results(rows)
    (line,) = table.lines
    assert line["success"] == 0.5, "a mean over tasks"
    assert line["turns"] == pytest.approx(7 / 3), "a mean over episodes"
    assert line["truncated"] == pytest.approx(1 / 3), "a share of episodes"
    assert line["invalid"] == pytest.approx(1 / 7), "a share of turns"
    legend = " ".join(table.meanings())
    for text in (
        "success: mean over tasks",
        "turns: mean over episodes",
        "tokens: mean over episodes",
        "invalid: share of all turns",
        "truncated: share of episodes",
    ):
        assert text in legend


def test_the_legend_is_about_the_shown_columns_alone():
    """Every column but the names and the number of tasks has a sentence, and no other has."""
    rows = [row("a", attempt=n) for n in range(2)] + [row("b", False, family="G", end="refused")]
    table = tables.results(rows)
    assert {key for key, _ in table.columns} - {"name", "tasks"} <= tables.LEGEND.keys()
    assert [text.partition(":")[0] for text in table.meanings(["success", "pass"])] == [
        "success",
        "Pass@k",
        "A mean of families or scenarios counts each the same.",
    ]
    absent = {"cut replies", "bounds", "not played", "failed", "faults"}
    assert not absent & {text.partition(":")[0] for text in table.meanings()}
    assert " ".join(tables.LEGEND.values()).count("AgentGym-RL") == 1, "the paper is named once"


def test_an_episode_that_was_played_twice_counts_once_with_its_last_line():
    (line,) = tables.results([row("a", False), row("a", True)]).lines
    assert (line["tasks"], line["success"]) == ("1", 1.0)


def test_difficulties_of_a_single_family():
    rows = [{**row(f"t{n}", n > 2), "difficulty": n % 2} for n in range(6)]
    assert [line["name"] for line in tables.results(rows).lines] == [
        "difficulty 0",
        "difficulty 1",
        "F",
    ]
    assert fmean(line["success"] for line in tables.results(rows).lines[:2]) == pytest.approx(0.5)


def test_refused_episodes_count_and_the_figures_without_them_are_told():
    """Task a is solved, b fails, c is refused once and solved once, d is refused."""
    rows = [row("a"), row("b", False), row("c", False, end="refused"), row("c", attempt=1)]
    rows += [row("d", False, end="refused"), row("e", False, end="truncated")]
    table = tables.results(rows)
    (line,) = table.lines
    assert line["success"] == pytest.approx((1 + 0 + 0.5 + 0 + 0) / 5)
    assert line["refused"] == pytest.approx(2 / 6)
    assert line["truncated"] == pytest.approx(1 / 6), "a refusal does not count as a truncation"
    assert ("refused", "refused") in table.columns
    (note,) = (note for note in table.notes if "refused" in note)
    assert note.startswith("2 of 6 episodes refused")
    assert "success 0.500 and score 0.500" in note, "a, b, c's second attempt, and e"
    assert "no episode is left" in " ".join(tables.results(rows[4:5]).notes)
    unrefused = tables.results(rows[:2])
    assert "refused" not in dict(unrefused.columns) | unrefused.lines[0]


def test_episodes_that_were_too_long_for_the_model_are_told_apart_from_those_out_of_turns():
    rows = [row("a"), row("b", False, end="truncated"), row("c", False, end="context")]
    assert not [note for note in tables.results(rows[:2]).notes if "too long" in note]
    (note,) = tables.results(rows).notes
    assert note.startswith("1 of 3 episodes ended")
    assert "turn" not in note
    (note,) = tables.results([*rows, row("d", False, end="context", turns=())]).notes
    assert note.startswith("2 of 4 episodes")
    assert "1 of them before the first turn" in note


def test_replies_that_reached_the_limit_are_counted():
    calls = [{"finish": finish} for finish in ("length", "stop", "stop", "tool_calls")]
    table = tables.results([row("a") | {"calls": calls}, row("b") | {"calls": calls}])
    assert table.lines[0]["cut"] == 0.25
    assert "2 of 8 replies reached --max-tokens" in " ".join(table.notes)
    assert "cut" not in tables.results([row("a") | {"calls": calls[1:]}]).lines[0]
