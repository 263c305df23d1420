"""Games of several seats: played by agents against each other, as PettingZoo environments, or from one seat with Gymnasium."""

from agentgym_envs.multi.game import TextGame

__all__ = ["TextGame"]
