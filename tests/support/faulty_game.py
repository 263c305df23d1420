"""A game with a fault: ``faulty_game:support/FaultyNim-v0``."""

import gymnasium

from agentgym_envs.multi.env import SeatsEnv


class FaultyNim(SeatsEnv):
    """Both seats of Nim; the action "raise" raises an error."""

    def __init__(self, **kwargs):
        super().__init__(game="foreign/Nim-v0", seats="all", **kwargs)

    def act(self, action):
        if action == "raise":
            raise RuntimeError("broken on purpose")
        return super().act(action)


gymnasium.register("support/FaultyNim-v0", FaultyNim)
