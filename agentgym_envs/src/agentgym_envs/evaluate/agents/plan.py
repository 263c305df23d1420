"""Plan, then act: the model writes a plan from the first observation and keeps it in view."""

from collections.abc import Mapping
from typing import Any

from agentgym_envs.evaluate.agents.chat import PICTURE, React, shown, spoken

QUESTION = (
    "First write a short numbered plan that reaches the goal: plain text, this once without any"
    " other form. Do not act yet.\n\n{observation}"
)


class Plan(React):
    """ReAct with a plan (as in Plan-and-Solve, Wang et al., arXiv 2305.04091)."""

    async def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Plans before the first action."""
        if len(self.messages) == 1:
            self.picture = str(info.get(PICTURE) or "")
            question = QUESTION.format(observation=shown(observation, info))
            plan = await self.ask({"role": "user", "content": question})
            rules = self.messages[0]["content"]
            self.messages[0] = {
                "role": "system",
                "content": f"{rules}\n\nYour plan:\n{spoken(plan)}",
            }
        return await super().act(observation, info)
