"""Prints what the trainer makes of the chat templates of models, as a Markdown table.

    python benchmarks/chat_templates.py "Llama 3.2=FOLDER" "Gemma 3=FOLDER" …

A folder holds the files of a tokenizer. ``docs/guides/chat_templates.md`` shows the table.
"""

import sys

from runs import table
from transformers import PreTrainedTokenizerBase

from agentgym_envs.agents import EpisodeOpening
from agentgym_envs.agents.chat import THOUGHTS, ChatAgent
from agentgym_train.errors import TemplateError
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.conversation import Conversation
from agentgym_train.models.loading import load_tokenizer
from agentgym_train.protocols import ActionSample
from agentgym_train.rollout.policy_client import AgentPlayer

HEAD = ["model", "before the first action", "stop tokens", "between two actions", *THOUGHTS]
DATE = "2026-01-02"  # for templates that read the date
TURNS = 3
RESPONSE = "<think>HM</think>ACTS"


def row(name: str, tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Returns the row of a model, with RULES for the rules and SEEN for an observation.

    The last columns have the number of samples of an episode whose responses have thoughts.
    """
    try:
        chat = ChatTokens(tokenizer, "RULES", date=DATE, must_grow=False)
        conversation = Conversation(chat)
    except TemplateError as error:
        return [name, f"refused: {error}", *[""] * (len(HEAD) - 2)]
    stops = sorted(tokenizer.convert_ids_to_tokens(list(chat.stop_ids)))
    played = {thoughts: prompts(conversation, thoughts) for thoughts in THOUGHTS}
    texts = [tokenizer.decode(prompt) for prompt, _ in played["strip"]]
    samples = [str(1 + max(number for _, number in played[thoughts])) for thoughts in THOUGHTS]
    between = texts[1].rpartition("ACTS")[2]
    return [name, code(texts[0]), " ".join(map(code, stops)), code(between), *samples]


def prompts(conversation: Conversation, thoughts: str) -> list[tuple[list[int], int]]:
    """Returns the prompts of an episode and the numbers of their samples."""
    player = AgentPlayer(
        lambda client: ChatAgent(client=client, thoughts=thoughts),
        lambda *_: EpisodeOpening("", 0, "", "RULES", "", tools=[], memory=()),
        conversation,
        max_context=sys.maxsize,
        max_new_tokens=0,
    )
    found, rows = [], dict[int, list[int]]()
    for _ in range(TURNS):
        steps = player.turn("SEEN", {})
        call = next(steps).call
        ids = rows.get(call.sample, []) + list(call.prompt_ids)
        found.append((ids, call.sample))
        action = conversation.written(RESPONSE)
        rows[call.sample] = ids + action
        try:
            steps.send(ActionSample(action, [0.0] * len(action), 0))
        except StopIteration:
            continue
    return found


def code(text: str) -> str:
    """Returns text as code in a cell, with a sign for each newline."""
    return f"`{text.replace(chr(10), '⏎').replace('|', chr(92) + '|')}`"


def main(arguments: list[str]) -> None:
    """Prints the table of ``NAME=FOLDER`` arguments."""
    named = [argument.partition("=") for argument in arguments]
    print(table(HEAD, [row(name, load_tokenizer(folder)) for name, _, folder in named]))


if __name__ == "__main__":
    main(sys.argv[1:])
