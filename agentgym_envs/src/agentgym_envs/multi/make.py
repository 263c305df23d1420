"""Makes a registered game."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from agentgym_envs import registry
from agentgym_envs.core import require_methods
from agentgym_envs.errors import AgentGymError, BrokenPlugin, EnvRaised, UnknownName, not_taken
from agentgym_envs.multi.game import TextGame
from agentgym_envs.plugins import ENVIRONMENTS, discover


def make_game(game_id: str, **kwargs: Any) -> TextGame:
    """Makes a game.

    Args:
        game_id: a registered id, or another form of :func:`agentgym_envs.registry.spec`.
        **kwargs: for its constructor.

    Raises:
        UnknownName: no such game.
        BrokenPlugin: it cannot be imported, or is no game.
        ArgumentError: a keyword that it does not take.
        EnvRaised: its constructor raised.
    """
    return game_beside(game_id, kwargs, ())


def game_beside(game_id: str, kwargs: Mapping[str, Any], others: Iterable[str]) -> TextGame:
    """Makes a game for a constructor that has more keywords.

    Args:
        game_id: a registered id, or another form of :func:`agentgym_envs.registry.spec`.
        kwargs: for the game's constructor.
        others: the other keywords, which the error for an unknown keyword lists too.

    Raises:
        AgentGymError: see :func:`make_game`.
    """
    name = registry.spec(game_id).id
    if not registry.has_seats(game_id):
        found = discover(ENVIRONMENTS).items()
        raise UnknownName("game", name, [key for key, plugin in found if registry.is_game(plugin)])
    kind = registry.author_class(game_id)
    if not (inspect.isclass(kind) and issubclass(kind, TextGame)):
        raise BrokenPlugin(
            f"{registry.named(game_id)} is registered as a game and is no TextGame: {kind!r}"
        )
    require_methods(kind, "agentgym_envs.TextGame")
    known = _keywords(kind)
    if known is not None and (unknown := sorted(kwargs.keys() - known)):
        raise not_taken(name, unknown[0], known.union(others))
    try:
        return kind(**kwargs)
    except AgentGymError:
        raise
    except (Exception, SystemExit) as error:
        raise EnvRaised.of(registry.named(game_id), error) from error


def _keywords(kind: type) -> set[str] | None:
    """Returns the keywords of a class's constructor, or None if it takes any."""
    parameters = inspect.signature(kind).parameters
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters.values()) else set(parameters)
