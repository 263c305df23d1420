"""Self-correction: a second look at each response before it is sent."""

from agentgym_envs.evaluate.agents.chat import React

QUESTION = (
    "Before this is sent: does the action follow the rules, fit the last observation, and lead"
    " towards the goal? Write the response again in the same form, with another action if another"
    " is better."
)


class Correct(React):
    """ReAct with a second look; the conversation keeps only the second response."""

    async def respond(self) -> str:
        """Asks twice."""
        first = await self.ask()
        return await self.ask(
            {"role": "assistant", "content": first}, {"role": "user", "content": QUESTION}
        )
