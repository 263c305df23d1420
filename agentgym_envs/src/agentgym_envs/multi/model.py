"""A model behind an OpenAI-compatible server: a player of a seat, or another part of a task."""

import asyncio
import os
import random
from concurrent.futures import ThreadPoolExecutor

from agentgym_envs.models.client import ChatClient, ChatMessage
from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.wrappers.formats import PlainFormat
from agentgym_envs.wrappers.responses import FormatError


class ModelPlayer:
    """Asks the model at ``OPENAI_BASE_URL`` with its whole conversation.

    What follows its thought is its action; a thought that does not end leaves nothing to say.

    Args:
        rules: the system prompt.
        model: its name at the server.

    Raises:
        ArgumentError: no key in ``OPENAI_API_KEY``, though the server is on another machine.
        ContextExceeded: its conversation is too long for the model.
        ProviderError: the server failed, which is a failure of the environment that it plays in,
            and no loss of anybody's.
    """

    def __init__(self, rules: str, model: str):
        base_url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
        self._endpoint = ModelEndpoint(model=model, base_url=base_url, api_key_env="OPENAI_API_KEY")
        self._endpoint.key()  # raises now if the key is missing
        self._format = PlainFormat({})
        self._rules: ChatMessage = {"role": "system", "content": rules}
        self._messages: list[ChatMessage] = []

    def __call__(self, seen: str, rng: random.Random) -> str:
        """Returns an action for the unseen text."""
        self._messages.append({"role": "user", "content": seen})
        with ThreadPoolExecutor(1) as thread:  # the caller can have a running event loop
            answer = thread.submit(asyncio.run, self._ask()).result()
        self._messages.append({"role": "assistant", "content": answer})
        try:
            return self._format.parse(answer)
        except FormatError:
            return ""

    async def _ask(self) -> str:
        async with ChatClient(self._endpoint) as client:
            return (await client.complete([self._rules, *self._messages])).text
