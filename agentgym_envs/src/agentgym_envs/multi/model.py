"""A model behind an OpenAI-compatible server in a seat."""

import asyncio
import os
import random

from agentgym_envs.evaluate.client import Client, Message
from agentgym_envs.evaluate.endpoint import Endpoint
from agentgym_envs.multi.game import TextGame


class ModelPlayer:
    """Asks the model at ``OPENAI_BASE_URL`` with the whole conversation of its seat; what it answers is its action.

    Args:
        game: whose rules it is told.
        model: its name at the server.

    Raises:
        ProviderError: the server failed, which is a failure of the environment that it plays in, and no loss of anybody's.
    """

    def __init__(self, game: TextGame, model: str):
        base_url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
        self._endpoint = Endpoint(model=model, base_url=base_url, api_key_env="OPENAI_API_KEY")
        self._rules: Message = {"role": "system", "content": game.instructions}
        self._messages: list[Message] = []

    def __call__(self, seen: str, rng: random.Random) -> str:
        """Answers what its seat newly sees."""
        self._messages.append({"role": "user", "content": seen})
        answer = asyncio.run(self._ask())
        self._messages.append({"role": "assistant", "content": answer})
        return answer

    async def _ask(self) -> str:
        async with Client(self._endpoint) as client:
            return (await client.complete([self._rules, *self._messages])).text
