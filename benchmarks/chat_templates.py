"""Prints what the trainer makes of the chat templates of models, as a Markdown table.

    python benchmarks/chat_templates.py "Llama 3.2=FOLDER" "Gemma 3=FOLDER" …

A folder holds the files of a tokenizer. ``docs/guides/chat_templates.md`` shows the table.
"""

import sys

from runs import table
from transformers import PreTrainedTokenizerBase

from agentgym_train.errors import TemplateError
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.loading import load_tokenizer

HEAD = ["model", "before the first action", "stop tokens", "between two actions"]
DATE = "2026-01-02"  # for templates that read the date


def row(name: str, tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Returns the row of a model, with RULES for the rules and SEEN for an observation."""
    try:
        chat = ChatTokens(tokenizer, "RULES", date=DATE)
    except TemplateError as error:
        rewrites = "prefix-preserving" in str(error)
        return [name, f"refused: {'changes earlier messages' if rewrites else error}", "", ""]
    stops = sorted(tokenizer.convert_ids_to_tokens(list(chat.stop_ids)))
    opening, between = chat.opening("SEEN"), chat.between([], "SEEN")
    return [
        name,
        code(tokenizer.decode(opening)),
        " ".join(map(code, stops)),
        code(tokenizer.decode(between)),
    ]


def code(text: str) -> str:
    """Returns text as code in a cell, with a sign for each newline."""
    return f"`{text.replace(chr(10), '⏎').replace('|', chr(92) + '|')}`"


def main(arguments: list[str]) -> None:
    """Prints the table of ``NAME=FOLDER`` arguments."""
    named = [argument.partition("=") for argument in arguments]
    print(table(HEAD, [row(name, load_tokenizer(folder)) for name, _, folder in named]))


if __name__ == "__main__":
    main(sys.argv[1:])
