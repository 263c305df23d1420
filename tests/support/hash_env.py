"""A plain Gymnasium environment in which every action earns something else; importing this module registers it."""

import hashlib

import gymnasium

from agentgym_envs.spaces import Unicode


class HashEnv(gymnasium.Env):
    """``length`` turns or up to two more; an action earns a hash of it: whatever a model says, there is something to learn."""

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
        reward = int.from_bytes(hashlib.blake2b(f"{self.word} {action}".encode(), digest_size=2).digest(), "big") / 2**16
        return f"Here: {self.turn}", reward, self.turn >= self.length + self.more, False, {}


gymnasium.register("support/Hash-v0", entry_point="hash_env:HashEnv", max_episode_steps=20)
