"""Environments that fail on purpose, registered by importing this module: ``gym.make("faulty_envs:support/Faulty-v0")``."""

import os
import time
from pathlib import Path

import gymnasium

from agentgym_envs.spaces import Unicode


class FaultyEnv(gymnasium.Env):
    """Counts steps. The actions "raise", "hang" and "die" do so; so does ``fault`` at step ``at`` until ``marker`` exists."""

    metadata = {"render_modes": []}

    def __init__(self, *, length=5, fault=None, at=2, marker=None, seeds=None):
        self.observation_space = self.action_space = Unicode()
        self.length, self.fault, self.at, self.seeds = length, fault, at, seeds
        self.marker = Path(marker) if marker else None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seed, self.turn = seed, 0
        return f"seed {seed}", {}

    def step(self, action):
        self.turn += 1
        concerned = self.seeds is None or self.seed in self.seeds
        if self.fault and self.turn == self.at and concerned and not (self.marker and self.marker.exists()):
            if self.marker:
                self.marker.touch()
            self.fail(self.fault)
        self.fail(action)
        done = self.turn >= self.length
        return f"turn {self.turn}", float(done), done, False, {"success": done}

    def fail(self, how):
        if how == "raise":
            raise RuntimeError("broken on purpose")
        if how == "hang":
            time.sleep(3600)
        if how == "die":
            os._exit(7)


class SlowEnv(FaultyEnv):
    """Takes ``delay`` seconds in every step of an odd seed."""

    def __init__(self, *, delay=0.3, **kwargs):
        super().__init__(**kwargs)
        self.delay = delay

    def step(self, action):
        if self.seed % 2:
            time.sleep(self.delay)
        return super().step(action)


gymnasium.register("support/Faulty-v0", entry_point="faulty_envs:FaultyEnv", max_episode_steps=100)
gymnasium.register("support/Slow-v0", entry_point="faulty_envs:SlowEnv", max_episode_steps=100)
