"""Baseline agents: random play and the oracle."""

import random
from collections.abc import Mapping
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.agents.base import ASK_ORACLE, Agent, Opening
from agentgym_envs.tasks import stable_hash


class Random(Agent):
    """Uniformly random admissible actions; the same in every run."""

    format = None
    lists_actions = True

    def start(self, opening: Opening) -> None:
        """Seeds the random generator by task, seat and attempt."""
        self._rng = random.Random(stable_hash(opening.task_id + opening.seat) + opening.attempt)

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Returns a random action."""
        listed: list[str] = info.get("admissible_actions") or []
        if not listed:
            raise ArgumentError(
                "the environment lists no admissible actions, which random play needs"
            )
        return self._rng.choice(listed)


class Oracle(Agent):
    """Plays the environment's solution."""

    format = None

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks the environment's oracle."""
        return ASK_ORACLE
