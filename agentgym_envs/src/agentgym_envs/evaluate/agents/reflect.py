"""Self-reflection: a failed attempt leaves a lesson for the next attempt at the task.

Source: Reflexion, Shinn et al., arXiv 2303.11366.
"""

from typing import Any

from agentgym_envs.evaluate.agents.base import Ending, Opening
from agentgym_envs.evaluate.agents.chat import React, spoken
from agentgym_envs.models.endpoint import Message

QUESTION = (
    "The attempt is over and the task was not solved. The last observation"
    " was:\n{observation}\n\nWhat went wrong, and what should be done differently in the next"
    " attempt at this task? Answer in two or three sentences of plain text, this once without any"
    " other form."
)


class Reflect(React):
    """ReAct with lessons; useful from the second attempt on."""

    async def start(self, opening: Opening) -> None:
        """Says the rules and the lessons."""
        await super().start(opening)
        lessons = [f"- {lesson}" for lesson in opening.memory if lesson]
        if lessons:
            rules = self.messages[0]["content"]
            learned = "\n".join(["Lessons from earlier attempts at this task:", *lessons])
            self.messages[0] = {"role": "system", "content": f"{rules}\n\n{learned}"}

    async def end(self, ending: Ending) -> Any:
        """Asks the model for the lesson of a failure."""
        if ending.success:
            return None
        question: Message = {
            "role": "user",
            "content": QUESTION.format(observation=ending.observation),
        }
        return spoken(await self.ask(question)) or None
