"""A plain Gymnasium environment that lists its actions.

``gym.make("listed_env:support/Listed-v0")``
"""

import gymnasium
from faulty_envs import FaultyEnv


class ListedEnv(FaultyEnv):
    """Lists one action with ``admissible``; ``fault`` occurs at step ``at``."""

    def __init__(self, *, admissible=False, **kwargs):
        super().__init__(**kwargs)
        self.info = {"admissible_actions": ["go"]} if admissible else {}

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        return observation, info | self.info

    def step(self, action):
        *result, info = super().step(action)
        return *result, info | self.info


gymnasium.register("support/Listed-v0", entry_point="listed_env:ListedEnv", max_episode_steps=100)
