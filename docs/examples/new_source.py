"""A source that turns conversations of a JSON Lines file into episodes."""

import json
from dataclasses import dataclass
from pathlib import Path

from agentgym_train import Call, ConfigError, Group, Name, Source, Trajectory, Turn


class Messages(Source):
    """Cycles through the conversations in their order, one per group."""

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The file; each line has ``messages`` as OpenAI's format has them."""

        file: Name

    @classmethod
    def check(cls, options, config, training):
        """Reads the file; the trainer calls this method before any work."""
        exchanges(options.file)

    @classmethod
    def group_sizes(cls, options, config):
        """Returns 1: conversations are not compared."""
        return {1}

    def __init__(self, options, context):
        self.context, self.episodes = context, []
        for number, talk in enumerate(exchanges(options.file)):
            turns, chat = [], context.chat
            for asked, answered in talk:
                past = turns[-1].calls[-1].action_ids if turns else None
                ids = chat.between(past, asked) if turns else chat.opening(asked)
                action = chat.response(answered)  # its log-probabilities are unknown
                turns.append(Turn(asked, [Call(ids, action, [0.0] * len(action))], action=answered))
            self.episodes.append(Trajectory(f"talk {number}", 0, turns, score=1.0, success=True))

    def next(self, plan):
        """Returns the conversations of this process for a step."""
        first, count = plan.step * len(self.context.groups), len(self.episodes)
        return [
            Group(number, [self.episodes[(first + place) % count]], from_dataset=True)
            for number, place in self.context.mine.items()
            if number in plan.groups
        ]


def exchanges(file):
    """Returns the pairs of messages of each line; user and assistant alternate."""
    try:
        talks = [json.loads(line)["messages"] for line in Path(file).read_text().splitlines()]
        texts = [[message["content"] for message in talk] for talk in talks]
        roles = [message["role"] for talk in talks for message in talk]
        if not roles or roles != ["user", "assistant"] * (len(roles) // 2):
            raise ValueError(f"the roles are {roles[:9]}, not user and assistant in turn")
        return [list(zip(talk[::2], talk[1::2], strict=True)) for talk in texts]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"source.file={file!r} cannot be used: {error!r}") from error
