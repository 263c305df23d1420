"""Games of several seats.

Agents play them against each other, as PettingZoo environments, or from one seat with Gymnasium.
"""

from agentgym_envs.multi.game import TextGame
from agentgym_envs.multi.make import make_game

__all__ = ["TextGame", "make_game"]
