"""Who plays a seat that is not the caller's: chosen by a name, so that it fits into an environment's keywords."""

import random
from collections.abc import Callable

from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.multi.game import TextGame

Seated = Callable[[str, random.Random], str]
"""Answers what its seat newly sees."""
MODEL = "model:"


def make_player(game: TextGame, seat: str, name: str) -> Seated:
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
        raise ArgumentError(f"others={name!r}: name a player: {', '.join(known)}")
    if name == "random":
        return lambda seen, rng: rng.choice(game.actions(seat))
    if name == "oracle":
        return lambda seen, rng: game.oracle(seat)
    if name in game.players:
        player = game.players[name]
        return lambda seen, rng: player(game, seat, rng)
    if name.startswith(MODEL):
        from agentgym_envs.multi.model import ModelPlayer

        return ModelPlayer(game, name.removeprefix(MODEL))
    raise UnknownName("player", name, known)
