"""A wrapper that parses the agent's response and passes the action to the environment."""

from typing import Any

import gymnasium

from agentgym_envs.core import InvalidResponse, TextEnv
from agentgym_envs.errors import UnknownName
from agentgym_envs.wrappers.formats import FORMATS, ResponseFormat
from agentgym_envs.wrappers.responses import FormatError


class ActionFormat(gymnasium.Wrapper[str, str, str, str], gymnasium.utils.RecordConstructorArgs):
    r"""Takes responses in a format instead of bare actions.

    A malformed response uses up a turn: the observation has the reason and ``info["invalid"]`` is
    true. A plain Gymnasium environment gets an empty action instead.

    Args:
        env: a text environment, or any whose actions are strings.
        name: "plain", "react", "tags" or "function".

    Raises:
        UnknownName: no such format.

    >>> import agentgym_envs
    >>> env = ActionFormat(gymnasium.make("agentgym/TextCraft-v2"), "react")
    >>> _ = env.reset(seed=1)
    >>> observation, *_ = env.step("Thought: What do I have?\nAction: inventory")
    >>> observation
    'Inventory: You are not carrying anything.'
    """

    def __init__(self, env: gymnasium.Env[str, str], name: str):
        # For gymnasium.make(wrapped.spec).
        gymnasium.utils.RecordConstructorArgs.__init__(self, name=name)
        super().__init__(env)
        if name not in FORMATS:
            raise UnknownName("action format", name, FORMATS)
        world: Any = env.unwrapped
        self.format: ResponseFormat = FORMATS[name](getattr(world, "tools", {}))
        self.instructions: str = "\n\n".join(
            filter(None, (getattr(world, "instructions", ""), self.format.describe()))
        )
        """The environment's rules and the format's, as a system prompt."""

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Parses a response and applies its action.

        Args:
            action: the agent's whole response.

        Returns:
            The result of the environment's step.
        """
        try:
            return self.env.step(self.format.parse(action))
        except FormatError as error:
            return self.env.step(
                InvalidResponse(error) if isinstance(self.unwrapped, TextEnv) else ""
            )
