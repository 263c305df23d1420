"""Players of the opponents' seats.

They are chosen by name, so they fit into an environment's keywords.
"""

import random
from collections.abc import Callable
from functools import partial

from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.multi.game import TextGame

SeatPolicy = Callable[[str, random.Random], str]
"""Returns an action for the unseen text of its seat. It can be pickled if the game can."""
MODEL = "model:"


def make_player(game: TextGame, seat: str, name: str) -> SeatPolicy:
    """Returns a player for a seat.

    Args:
        game: of which it may see all that a scripted player needs.
        seat: its own.
        name: "random", "oracle", a key of ``game.players``, or "model:NAME".

    Raises:
        ArgumentError: it is no name.
        UnknownName: no such player.
    """
    known = ["random", "oracle", f"{MODEL}NAME", *game.players]
    if not isinstance(name, str):
        raise ArgumentError(f"opponents={name!r}: name a player: {', '.join(known)}")
    if name == "random":
        return partial(_random, game, seat)
    if name == "oracle":
        return partial(_oracle, game, seat)
    if name in game.players:
        return partial(_scripted, name, game, seat)
    if name.startswith(MODEL):
        from agentgym_envs.multi.model import ModelPlayer

        return ModelPlayer(game.instructions, name.removeprefix(MODEL))
    raise UnknownName("player", name, known)


def _random(game: TextGame, seat: str, seen: str, rng: random.Random) -> str:
    return rng.choice(game.actions(seat))


def _oracle(game: TextGame, seat: str, seen: str, rng: random.Random) -> str:
    return game.oracle(seat)


def _scripted(name: str, game: TextGame, seat: str, seen: str, rng: random.Random) -> str:
    return game.players[name](game, seat, rng)
