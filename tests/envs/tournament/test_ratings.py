"""Ratings against closed forms, hand-worked strengths and the likelihood equations."""

import math

import numpy as np
import pytest

from agentgym_envs.tournament.ratings import bradley_terry, elo, ratings, wins


def random_wins(players, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(1, 20, (players, players)) * (1 - np.eye(players))


@pytest.mark.parametrize(("won", "lost"), [(7, 3), (1, 1), (2, 9), (0.5, 40)])
def test_two_players_have_the_odds_of_their_games(won, lost):
    theta = bradley_terry(np.array([[0.0, won], [lost, 0.0]]))
    assert theta[0] - theta[1] == pytest.approx(math.log(won / lost), abs=1e-7)
    rated = elo(np.array([[0.0, won], [lost, 0.0]]))
    assert rated[0] - rated[1] == pytest.approx(
        400 * math.log10((won + 0.5) / (lost + 0.5)), abs=1e-5
    )
    assert rated.mean() == pytest.approx(1000)


def test_strengths_by_hand():
    """Strengths 1, 2 and 4 expect 10 to 20, 10 to 20 and 6 to 24 in 30 games."""
    theta = bradley_terry(np.array([[0, 10, 6], [20, 0, 10], [24, 20, 0]], dtype=float))
    assert np.exp(theta - theta[0]) == pytest.approx([1, 2, 4], abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_each_wins_as_much_as_expected_which_is_the_maximum(seed):
    """The derivative of the log likelihood by each strength is its wins minus expected wins."""
    won = random_wins(6, seed)
    theta = bradley_terry(won)
    chance = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
    assert ((won + won.T) * chance).sum(1) == pytest.approx(won.sum(1), abs=1e-6)
    assert theta.mean() == pytest.approx(0, abs=1e-9)


def test_many_at_a_time_are_as_one_at_a_time():
    many = np.stack([random_wins(4, seed) for seed in range(6)])
    assert bradley_terry(many) == pytest.approx(
        np.stack([bradley_terry(w) for w in many]), abs=1e-6
    )


def test_who_wins_everything_has_a_finite_rating_that_grows_with_the_games():
    few, many = (ratings(np.tile([[0.0, 2.0], [0.0, 0.0]], (n, 1, 1))) for n in (3, 30))
    assert few[0].elo - few[1].elo == pytest.approx(400 * math.log10(6.5 / 0.5), abs=1e-5)
    assert many[0].elo > few[0].elo


def test_intervals_are_over_tasks():
    """Of two tasks, a quarter of all resamplings are the one twice, and a quarter the other."""
    tasks = np.array([[[0, 2], [0, 0]], [[0, 0], [2, 0]]], dtype=float)
    first, second = ratings(tasks)
    assert first.elo == second.elo == pytest.approx(1000)
    assert first.interval == pytest.approx((elo(2 * tasks[1])[0], elo(2 * tasks[0])[0]))
    assert ratings(tasks) == [first, second], "the same every time"


@pytest.mark.parametrize("tasks", [1, 3])
def test_there_is_no_interval_where_resampling_learns_nothing(tasks):
    """3–0 three times says little about the spread, and nothing that a resampling could show."""
    sweep = np.tile([[0.0, 1.0], [0.0, 0.0]], (tasks, 1, 1))
    assert [rating.interval for rating in ratings(sweep)] == [None, None]
    symmetric = np.array(
        [[[0, 1, 2], [1, 0, 1], [0, 1, 0]], [[0, 1, 0], [1, 0, 1], [2, 1, 0]]], dtype=float
    )
    assert [rating.interval is None for rating in ratings(symmetric)] == [False, True, False], (
        "only for whom nothing varies"
    )


def test_there_is_no_interval_for_who_wins_or_loses_all_though_the_others_vary():
    """Player 0 beats all others, 3 loses to all others, 1 and 2 share their games.

    Only 1 and 2 have intervals.
    """
    wins_TPP = np.triu(np.ones((6, 4, 4)), 1)
    wins_TPP[::2, 1, 2], wins_TPP[::2, 2, 1] = 0, 1
    found = ratings(wins_TPP)
    assert [rating.interval is None for rating in found] == [True, False, False, True]
    assert found[0].elo > found[1].elo > found[3].elo
    assert found[1].elo == pytest.approx(found[2].elo)


def test_wins_of_games():
    counted = wins([(0, 0, 1, 1.0), (0, 1, 0, 0.5), (1, 2, 0, 0.0)], tasks=2, players=3)
    assert counted[0].tolist() == [[0, 1.5, 0], [0.5, 0, 0], [0, 0, 0]]
    assert counted[1].tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
