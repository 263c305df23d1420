"""Scripted players of Negotiation. Both know what things are worth to the other side; the player opposite does not."""

import random
from typing import Protocol

from agentgym_envs.envs.negotiation.tasks import TOTAL, Bundle, Scenario, written

CONCEDES_IN = 3
"""Turns in which a conceder's level falls from everything to its Nash share; a greedy proposal costs one turn more."""
PATIENCE = 2
"""Greedy proposals after which a conceder still bargains."""


class Bargaining(Protocol):
    """The part of a game that its players read: see :class:`agentgym_envs.envs.negotiation.game.Negotiation`."""

    seats: tuple[str, ...]
    scenario: Scenario
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
    """Accepts an offer that is worth at least its Nash share to it, and else proposes that share."""
    share = game.nash_share(seat)
    if game.offer is not None and game.worth(seat, game.offer) >= game.worth(seat, share):
        return "accept"
    return propose(share)


def conceder(game: Bargaining, seat: str, rng: random.Random) -> str:
    """Asks for less from turn to turn, always for more than its Nash share, which it would accept in the end.

    The other side has to find the good deal and propose it: an offer of the conceder never holds the other side's Nash share.
    """
    level = _level(game, seat, rng)
    if game.offer is not None and game.worth(seat, game.offer) >= level:
        return "accept"
    return propose(_demand(game, seat, level, rng))


def greedy_proposals(game: Bargaining, seat: str) -> int:
    """Returns the number of proposals that left a seat less than half of its Nash share's worth."""
    share = game.worth(seat, game.nash_share(seat))
    kept = [bundle for speaker, bundle in game.history if speaker != seat and bundle is not None]
    return sum(2 * game.worth(seat, game.scenario.rest(bundle)) < share for bundle in kept)


def _level(game: Bargaining, seat: str, rng: random.Random) -> float:
    """Returns the worth from which a conceder accepts: it falls by uneven steps; after too much greed no deal is worth it."""
    greedy = greedy_proposals(game, seat)
    turn = sum(speaker == seat for speaker, _ in game.history) - greedy
    share = game.worth(seat, game.nash_share(seat))
    if greedy > PATIENCE:
        return TOTAL + 1
    left = 1 - (turn + rng.uniform(-1, 1)) / CONCEDES_IN if 0 < turn < CONCEDES_IN else float(turn <= 0)
    asked = [game.worth(seat, bundle) for speaker, bundle in game.history if speaker == seat and bundle is not None]
    return min(share + (TOTAL - share) * left, *asked, TOTAL)


def _demand(game: Bargaining, seat: str, level: float, rng: random.Random) -> Bundle:
    """Returns the least that is worth the level and leaves the other side less than its Nash share; of several any."""
    if level > TOTAL:
        return game.scenario.counts
    (other,) = (s for s in game.seats if s != seat)
    most = game.worth(other, game.nash_share(other))
    modest = [b for b in game.scenario.divisions if game.worth(other, game.scenario.rest(b)) < most]
    asked = [(worth, b) for b in modest if (worth := game.worth(seat, b)) >= level]
    least = min(worth for worth, _ in asked)
    return rng.choice([b for worth, b in asked if worth == least])
