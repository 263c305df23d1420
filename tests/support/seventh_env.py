"""Environments that fail in every seventh step of their process.

The import of this module registers them.
"""

import gymnasium

from agentgym_envs.envs.maze.env import MazeEnv
from agentgym_envs.spaces import Unicode

STEPS = 3


class SeventhEnv(gymnasium.Env):
    """Ends after ``STEPS`` steps; each one earns the action's length modulo 5."""

    metadata = {"render_modes": []}
    steps = 0
    """Of all environments of the process."""

    def __init__(self, *, every=7):
        self.observation_space = self.action_space = Unicode()
        self.every = every

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.turn = 0
        return f"seed {seed}", {}

    def step(self, action):
        self.turn += 1
        SeventhEnv.steps += 1
        if SeventhEnv.steps % self.every == 0:
            raise RuntimeError("a seventh step")
        return f"turn {self.turn}", float(len(action) % 5), self.turn == STEPS, False, {}


class SeventhMaze(MazeEnv):
    """A maze."""

    steps = 0

    def step(self, action):
        SeventhMaze.steps += 1
        if SeventhMaze.steps % 7 == 0:
            raise RuntimeError("a seventh step")
        return super().step(action)


class RestlessEnv(SeventhEnv):
    """Fails in the first reset and every second step; observations have the number of resets."""

    resets = 0

    def __init__(self):
        super().__init__(every=2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        RestlessEnv.resets += 1
        if RestlessEnv.resets == 1:
            raise RuntimeError("a first reset")
        return f"reset {RestlessEnv.resets}", {}


gymnasium.register("support/Restless-v0", entry_point="seventh_env:RestlessEnv")
gymnasium.register("support/SeventhMaze-v0", entry_point="seventh_env:SeventhMaze")
gymnasium.register("support/Seventh-v0", entry_point="seventh_env:SeventhEnv")
