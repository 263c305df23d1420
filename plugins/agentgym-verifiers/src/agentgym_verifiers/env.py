"""The env: plays one episode per task in a pool of environments."""

import json
from dataclasses import dataclass
from typing import Any

import verifiers.v1 as vf

from agentgym_envs.pool import PoolResult, SharedPool
from agentgym_envs.scores import above
from agentgym_verifiers.taskset import AgentGymData, AgentGymTask


class AgentGymEnvConfig(vf.EnvConfig):
    """The options ``--env.…``."""

    # verifiers' own default is a machine in a cloud, which the harness does not use.
    player: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})
    """The model that plays."""


@dataclass
class Outcome:
    """The turns played so far."""

    total: float = 0.0
    """The sum of rewards."""
    score: float = 0.0
    success: bool = False
    turns: int = 0
    invalid: int = 0
    """Actions that the environment did not understand."""
    end: str = "limit"
    """"terminated" or "truncated" by the environment; "limit" of verifiers or of the context."""

    def add(self, result: PoolResult) -> None:
        """Adds the result of an action."""
        info: dict[str, Any] = result.info or {}
        self.total += result.reward
        self.score = float(info.get("score", self.total))
        self.success = bool(info.get("success", result.terminated and above(self.total, 0.0)))
        self.turns += 1
        self.invalid += bool(info.get("invalid"))
        if result.terminated or result.truncated:
            self.end = "terminated" if result.terminated else "truncated"

    def record(self, trace: vf.Trace) -> None:
        """Gives the trace its reward, the score, and its metrics."""
        trace.record_reward("score", self.score)
        trace.record_metrics(
            {"success": self.success, "turns": self.turns, "invalid": self.invalid}
        )
        trace.info["end"] = self.end


class AgentGymEnv(vf.Env[AgentGymEnvConfig]):
    """Plays episodes. A failure of the environment or of the model's server is never a reward."""

    async def start(self) -> None:
        """Prepares the pools; each starts with its first episode."""
        self._pools: dict[str, SharedPool] = {}

    async def stop(self) -> None:
        """Ends the environments."""
        for pool in self._pools.values():
            await pool.close()

    async def run(self, task: AgentGymTask, agents: vf.Agents) -> None:
        """Plays the episode of a task until it ends or the model has no room for more.

        Raises:
            EnvFailure: the environment failed.
            RuntimeError: the model's server failed.
        """
        outcome = Outcome()
        async with self._pool(task.data).environment() as (pool, number):
            result = _checked(await pool.reset(number, **task.data.start))
            async with agents.player.interaction(task) as interaction:
                while not (result.terminated or result.truncated):
                    reply = await interaction.turn(result.observation)
                    if reply.terminated:
                        break
                    result = _checked(await pool.send(number, reply.last_reply))
                    outcome.add(result)
                error = interaction.trace.last_error
                if error is None:
                    outcome.record(interaction.trace)
        if error is not None:  # a failed turn looks like one at a limit
            raise RuntimeError(f"the model's server failed: {error.message}")

    def _pool(self, data: AgentGymData) -> SharedPool:
        key = json.dumps([data.env_id, data.kwargs, data.action_format], sort_keys=True)
        if key not in self._pools:
            self._pools[key] = SharedPool(
                data.env_id, action_format=data.action_format, **data.kwargs
            )
        return self._pools[key]


def _checked(result: PoolResult) -> PoolResult:
    result.check()
    return result
