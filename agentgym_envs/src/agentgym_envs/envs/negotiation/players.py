"""Scripted players of Negotiation. Both know the values of both sides; their opponent does not."""

import random
from typing import Protocol

from agentgym_envs.envs.negotiation.tasks import TOTAL, Bundle, DivisionScenario, written

CONCEDES_IN = 3
"""Turns in which a conceder's level falls from everything to its Nash share.

A greedy proposal of the other side adds one turn.
"""
PATIENCE = 2
"""Number of greedy proposals that a conceder tolerates."""


class Bargaining(Protocol):
    """The part of a game that its players read.

    See :class:`agentgym_envs.envs.negotiation.game.Negotiation`.
    """

    seats: tuple[str, ...]
    scenario: DivisionScenario
    offer: Bundle | None
    history: list[tuple[str, Bundle | None]]

    def nash_share(self, seat: str) -> Bundle:
        """Returns the part of a seat in the Nash bargaining solution."""

    def worth(self, seat: str, bundle: Bundle) -> int:
        """Returns the worth of a bundle to a seat."""


def propose(bundle: Bundle) -> str:
    """Returns the proposal to keep a bundle."""
    return f"propose: {written(bundle)}"


def fair(game: Bargaining, seat: str, rng: random.Random) -> str:
    """Accepts an offer with at least the value of its Nash share, else proposes that share."""
    share = game.nash_share(seat)
    if game.offer is not None and game.worth(seat, game.offer) >= game.worth(seat, share):
        return "accept"
    return propose(share)


def conceder(game: Bargaining, seat: str, rng: random.Random) -> str:
    """Asks for less from turn to turn.

    Its proposals always leave the other side less than that side's Nash share.
    In the end it accepts its Nash share. The other side has to find the good deal and propose it.
    """
    level = _level(game, seat, rng)
    if game.offer is not None and game.worth(seat, game.offer) >= level:
        return "accept"
    return propose(_demand(game, seat, level, rng))


def greedy_proposals(game: Bargaining, seat: str) -> int:
    """Returns the number of proposals that left a seat less than half its Nash value."""
    share = game.worth(seat, game.nash_share(seat))
    kept = [bundle for speaker, bundle in game.history if speaker != seat and bundle is not None]
    return sum(2 * game.worth(seat, game.scenario.rest(bundle)) < share for bundle in kept)


def _level(game: Bargaining, seat: str, rng: random.Random) -> float:
    """Returns the value from which a conceder accepts an offer.

    The level falls by random steps. After too many greedy proposals it is above every offer.
    """
    greedy = greedy_proposals(game, seat)
    turn = sum(speaker == seat for speaker, _ in game.history) - greedy
    share = game.worth(seat, game.nash_share(seat))
    if greedy > PATIENCE:
        return TOTAL + 1
    left = (
        1 - (turn + rng.uniform(-1, 1)) / CONCEDES_IN
        if 0 < turn < CONCEDES_IN
        else float(turn <= 0)
    )
    asked = [
        game.worth(seat, bundle)
        for speaker, bundle in game.history
        if speaker == seat and bundle is not None
    ]
    return min(share + (TOTAL - share) * left, *asked, TOTAL)


def _demand(game: Bargaining, seat: str, level: float, rng: random.Random) -> Bundle:
    """Returns the smallest demand that reaches the level, a random one of several.

    It leaves the other side less than that side's Nash share.
    """
    if level > TOTAL:
        return game.scenario.counts
    (other,) = (s for s in game.seats if s != seat)
    limit = game.worth(other, game.nash_share(other))
    bundles = [
        b for b in game.scenario.divisions if game.worth(other, game.scenario.rest(b)) < limit
    ]
    asked = [(worth, b) for b in bundles if (worth := game.worth(seat, b)) >= level]
    cheapest = min(worth for worth, _ in asked)
    return rng.choice([b for worth, b in asked if worth == cheapest])
