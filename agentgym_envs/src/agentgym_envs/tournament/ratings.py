"""Bradley-Terry ratings of players (Bradley and Terry, 1952), on the scale of Elo's ratings.

Shapes: T tasks, R resamplings, P players. ``wins[..., i, j]`` are the wins of i against j; a draw
is half a win for each.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentgym_envs.evaluate.metrics import LEVEL, RESAMPLES, ConfidenceInterval

CENTRE = 1000.0  # mean of all players
SCALE = 400 / math.log(10)  # 400 points are odds of ten to one
# Prior wins per pair and side: one drawn game keeps the rating of an undefeated player finite.
PRIOR = 0.5
CLOSE = 1e-9
SAME = 1e-3  # points; intervals up to this width count as a single value
MOST = 10_000  # largest number of iterations

Array = NDArray[np.floating[Any]]


class Rating(NamedTuple):
    """The rating of a player."""

    elo: float
    interval: ConfidenceInterval | None
    """None if the player has won or lost all games, or if all resamplings give the same rating.

    With one task all resamplings are the same.
    """


def ratings(wins_TPP: Array, *, seed: int = 0) -> list[Rating]:
    """Returns each player's rating with a percentile interval of a bootstrap over tasks.

    Args:
        wins_TPP: wins by task.
        seed: seed of the resampling.
    """
    tasks = len(wins_TPP)
    counts_RT = np.random.default_rng(seed).multinomial(
        tasks, np.full(tasks, 1 / tasks), size=RESAMPLES
    )
    elos_P, elos_RP = elo(wins_TPP.sum(0)), elo(np.einsum("rt,tij->rij", counts_RT, wins_TPP))
    tail = (1 - LEVEL) / 2
    lows_P, highs_P = np.quantile(elos_RP, [tail, 1 - tail], axis=0)
    all_PP = wins_TPP.sum(0)
    apart_P = (highs_P - lows_P > SAME) & (all_PP.sum(0) > 0) & (all_PP.sum(1) > 0)
    bounds = zip(lows_P, highs_P, apart_P, strict=True)
    intervals = [
        ConfidenceInterval(float(low), float(high)) if apart else None
        for low, high, apart in bounds
    ]
    return [
        Rating(float(rating), interval) for rating, interval in zip(elos_P, intervals, strict=True)
    ]


def elo(wins_PP: Array) -> Array:
    """Returns the maximum-likelihood ratings, with one more drawn game per pair.

    Any leading shape is allowed.
    """
    players = wins_PP.shape[-1]
    return CENTRE + SCALE * bradley_terry(wins_PP + PRIOR * (1 - np.eye(players)))


def bradley_terry(wins_PP: Array) -> Array:
    """Returns the maximum-likelihood log strengths with mean 0; any leading shape.

    The algorithm is Newman's iteration (2023). i beats j with the probability
    ``p[i] / (p[i] + p[j])``. Every player needs a win and a loss against
    the others.
    """
    p: Array = np.ones(wins_PP.shape[:-1])
    for _ in range(MOST):
        before = p.copy()
        for i in range(p.shape[-1]):  # sequential updates: simultaneous ones oscillate
            sums = p[..., i, None] + p
            p[..., i] = (wins_PP[..., i, :] * p / sums).sum(-1) / (wins_PP[..., :, i] / sums).sum(
                -1
            )
        p /= np.exp(np.log(p).mean(-1, keepdims=True))
        if np.abs(p / before - 1).max() < CLOSE:
            return np.asarray(np.log(p))
    raise AssertionError(
        f"the fit did not converge in {MOST} iterations; a player may have only wins or losses"
    )


def wins(games: Sequence[tuple[int, int, int, float]], *, tasks: int, players: int) -> Array:
    """Returns ``wins_TPP`` of games.

    Args:
        games: task, player, opponent, and the player's result: 1, ½ or 0.
        tasks: number of tasks.
        players: number of players.
    """
    wins_TPP = np.zeros((tasks, players, players))
    for task, one, other, won in games:
        wins_TPP[task, one, other] += won
        wins_TPP[task, other, one] += 1 - won
    return wins_TPP
