"""A source that turns conversations of a JSON Lines file into episodes."""

import json
from dataclasses import dataclass
from pathlib import Path

from agentgym_envs.pool import EnvDescription
from agentgym_train import (
    Chat,
    Config,
    ConfigError,
    Group,
    Name,
    RunContext,
    Source,
    SourcePlugin,
    StepPlan,
    Trajectory,
    Turn,
)

Exchange = tuple[str, str]
"""A message of the user and the answer of the assistant."""


@dataclass(frozen=True, kw_only=True)
class Messages(SourcePlugin):
    """Options of the source; the file has one conversation per line."""

    file: Name

    def check(self, config: Config, training: EnvDescription) -> None:
        """Reads the file.

        Raises:
            ConfigError: see ``conversations``.
        """
        self.conversations()

    def group_sizes(self, config: Config) -> set[int]:
        """Returns 1, because conversations are not compared."""
        return {1}

    def build(self, context: RunContext) -> "MessagesSource":
        """Tokenizes the conversations."""
        return MessagesSource(
            context,
            [_trajectory(c, number, context.chat) for number, c in enumerate(self.conversations())],
        )

    def conversations(self) -> list[list[Exchange]]:
        """Returns the conversations of the file.

        Raises:
            ConfigError: the file cannot be read or is empty, or a line is not a conversation. The
                message names the line.
        """
        try:
            lines = Path(self.file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"source.file={self.file!r} cannot be read: {error}") from error
        if not lines:
            raise ConfigError(f"source.file={self.file!r} holds no conversation")
        return [
            _exchanges(line, f"line {number} of {self.file}")
            for number, line in enumerate(lines, 1)
        ]


class MessagesSource(Source):
    """Cycles through the conversations in their order."""

    def __init__(self, context: RunContext, episodes: list[Trajectory]):
        self._episodes, self._context = episodes, context

    def next(self, plan: StepPlan) -> list[Group]:
        """Returns the conversations of this process for a step."""
        first, count = plan.step * len(self._context.groups), len(self._episodes)
        units = {
            number: self._episodes[(first + place) % count]
            for number, place in self._context.mine.items()
            if number in plan.groups
        }
        return [Group(number, [episode], from_dataset=True) for number, episode in units.items()]


def _exchanges(line: str, where: str) -> list[Exchange]:
    try:
        messages = [(m["role"], m["content"]) for m in json.loads(line)["messages"]]
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(
            f"{where} has no messages with role and content: {line[:40]!r}"
        ) from error
    pairs = list(zip(messages[::2], messages[1::2], strict=False))
    roles = [role for role, _ in messages]
    if (
        not pairs
        or roles != ["user", "assistant"] * len(pairs)
        or not all(isinstance(text, str) for _, text in messages)
    ):
        raise ConfigError(
            f"{where}: texts of user and assistant must alternate and end with the assistant, not"
            f" {roles}"
        )
    return [(asked, answered) for (_, asked), (_, answered) in pairs]


def _trajectory(conversation: list[Exchange], number: int, chat: Chat) -> Trajectory:
    turns: list[Turn] = []
    for asked, answered in conversation:
        ids = chat.between(turns[-1].action_ids, asked) if turns else chat.opening(asked)
        action = chat.response(answered)
        turns.append(Turn(asked, ids, action, [0.0] * len(action), action=answered))
    return Trajectory(f"conversation {number}", 0, turns, score=1.0, success=True)
