"""A plain Gymnasium environment with a different reward for every action.

The import of this module registers it.
"""

import hashlib

import gymnasium

from agentgym_envs.spaces import Unicode


class HashEnv(gymnasium.Env):
    """The reward is a hash of the action, so every sample provides a signal.

    An episode has ``length`` to ``length + 2`` turns.
    """

    metadata = {"render_modes": []}

    def __init__(self, *, length=4):
        self.observation_space = self.action_space = Unicode()
        self.length = length

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.turn, self.more, self.word = 0, seed % 3, ["north", "east", "south", "west"][seed % 4]
        return f"Exits: {self.word}", {}

    def step(self, action):
        self.turn += 1
        reward = (
            int.from_bytes(
                hashlib.blake2b(f"{self.word} {action}".encode(), digest_size=2).digest(), "big"
            )
            / 2**16
        )
        return f"Here: {self.turn}", reward, self.turn >= self.length + self.more, False, {}


gymnasium.register("support/Hash-v0", entry_point="hash_env:HashEnv", max_episode_steps=20)
