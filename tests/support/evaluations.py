"""Evaluations with a scripted model."""

import asyncio
from dataclasses import dataclass, field
from functools import cache

from agentgym_envs.agents import load
from agentgym_envs.agents.base import AgentFactory
from agentgym_envs.evaluate.budget import UsageBudget
from agentgym_envs.evaluate.plan import plan
from agentgym_envs.evaluate.record import RunRecord
from agentgym_envs.evaluate.runner import EvalRunner, RunLimits
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.models.answers import ModelReply, TokenUsage

MAZE = "agentgym/Maze-v1"


@dataclass
class Model:
    """Answers with a function of the messages, which can return an error; counts open requests."""

    answer: object = lambda messages: "go north"
    delay: float = 0.0
    asked: list = field(default_factory=list)
    open: int = 0
    most: int = 0
    max_context: int | None = None

    async def complete(self, messages, *, tools=None, sample=""):
        self.asked.append([dict(m) for m in messages])
        self.open += 1
        self.most = max(self.most, self.open)
        await asyncio.sleep(self.delay)
        self.open -= 1
        answer = self.answer(messages)
        if isinstance(answer, Exception):
            raise answer
        return ModelReply(text=answer, usage=TokenUsage(100, 10), cost=0.25)

    async def greet(self, tools=None):
        answer = self.answer([{"role": "system"}, {"role": "user", "content": "hello"}])
        if isinstance(answer, Exception):
            raise answer
        return ModelReply(text=answer)


def evaluate(
    tmp_path, items, agent="chat", *, client=None, budget=None, horizon=3, options=None, **limits
):
    factory = agent if isinstance(agent, AgentFactory) else load(agent, options)
    settings = RunSettings(
        agent=factory.name, format=factory.format, horizon=horizon, options=factory.options
    )
    opened = RunRecord(tmp_path / "run", settings)
    limits = RunLimits(**{"concurrency": 4, "workers": 1, **limits})
    runner = EvalRunner(
        settings=settings,
        factory=factory,
        record=opened,
        limits=limits,
        client=client,
        budget=budget or UsageBudget(),
    )
    try:
        asyncio.run(runner.run(items))
    finally:
        opened.close()
    return runner


def mazes(count, attempts=1, **kwargs):
    """Returns items of mazes; the plan of each choice of keywords is cached."""
    return list(_planned(count, attempts, tuple(kwargs.items())))


@cache
def _planned(count, attempts, kwargs):
    return plan(MAZE, episodes=count, attempts=attempts, kwargs=dict(kwargs))[0]
