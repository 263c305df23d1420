"""Parsing that all formats share; it begins at the end of the thought."""

import json
import re
from typing import Any

_BEGIN, _END = (
    re.compile(tag, re.IGNORECASE) for tag in (r"\s*<think(?:ing)?>", "</think(?:ing)?>")
)
# Asterisks after the colon belong to the mark only if they close those before the word; otherwise
# they belong to the action.
_MARK = r"(\*\*)?{word}(\*\*)?[ \t]*:[ \t]*(?(2)|(?(1)(\*\*)?))"
_LINE = r"^[ \t]*(?:#{1,6}[ \t]+)?" + _MARK
_ACTION_LINE = re.compile(_LINE.replace("{word}", "Action"), re.IGNORECASE | re.MULTILINE)
_ACTION_AFTER_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+" + _MARK.format(word="Action"))
_OBSERVATION_LINE = re.compile(_LINE.replace("{word}", "Observation"), re.IGNORECASE | re.MULTILINE)
_THOUGHT_LINE = re.compile(_LINE.replace("{word}", "Thought"), re.IGNORECASE)


class FormatError(ValueError):
    """A response is not in the format; the message has the correct form for the agent."""


def split_thought(response: str) -> tuple[bool, str]:
    """Returns whether the response has a ``<think>`` block, and the text after it.

    The last ``</think>`` ends the thought, because a thought can mention the tag. Many chat
    templates open the block in the prompt; then the response has only its end. ``<think>`` opens a
    block only at the beginning of a response or directly after a block.

    Raises:
        FormatError: the thought does not end, for example at the token limit.
    """
    end = max((tag.end() for tag in _END.finditer(response)), default=0)
    if _BEGIN.match(response, end):
        raise FormatError(
            "The thought does not end. Write </think> after it, and then the action; think less if"
            " there is no room."
        )
    return end > 0, response[end:]


def begins_with_thought(text: str) -> bool:
    """Returns whether the text begins with ``Thought:``."""
    return _THOUGHT_LINE.match(text.lstrip()) is not None


def marked_action(text: str) -> tuple[int, str]:
    """Returns the number of ``Action:`` marks, and the text after the only one.

    Marks begin a line. If none does, marks after a sentence on its line count. The text ends at the
    first line after a mark that begins with ``Observation:``, because some models go on with turns
    that they invent.
    """
    form = _ACTION_LINE if _ACTION_LINE.search(text) else _ACTION_AFTER_SENTENCE
    if (first := form.search(text)) and (invented := _OBSERVATION_LINE.search(text, first.end())):
        text = text[: invented.start()]
    marks = list(form.finditer(text))
    return len(marks), _after(marks[0], text) if len(marks) == 1 else ""


def unmarked(text: str) -> str:
    """Returns the text without ``Action:`` or ``**Action:**``, bold and outer white space."""
    text = text.strip()
    mark = _ACTION_LINE.match(text)
    return _after(mark, text) if mark else unbold(text)


def unbold(text: str) -> str:
    """Returns the text without outer white space, and without asterisks if all of it is bold."""
    text = text.strip()
    bold = (
        len(text) > 4 and text.startswith("**") and text.endswith("**") and "**" not in text[2:-2]
    )
    return text[2:-2].strip() if bold else text


def _after(mark: re.Match[str], text: str) -> str:
    """Returns the text after a mark.

    The asterisks of ``**Action: text**`` and ``Action: **text**`` are removed.
    """
    rest = text[mark.end() :].strip()
    return (
        rest.removesuffix("**").rstrip() if mark[1] and not (mark[2] or mark[3]) else unbold(rest)
    )


def tagged(text: str, tag: str) -> tuple[int, list[str]]:
    """Returns the number of opening tags, and the texts between the pairs.

    The time is linear; with a single regular expression it would not be.
    """
    close = re.compile(f"</{tag}>", re.IGNORECASE)
    pieces = re.split(f"<{tag}>", text, flags=re.IGNORECASE)[1:]
    return len(pieces), [piece[: end.start()] for piece in pieces if (end := close.search(piece))]


def unfenced(text: str) -> str:
    """Returns the text between the only two code fences, without the language's name.

    Any other text is returned unchanged.
    """
    parts = text.split("```")
    return re.sub(r"\A\w*\s*", "", parts[1]) if len(parts) == 3 else text


def read_arguments(written: Any) -> Any:
    """Returns the arguments of a function call as JSON data.

    Servers write them as an object, as JSON in a text, or as a text that is encoded twice. Calls
    without arguments have ``""``, blanks, ``null``, ``[]`` or nothing; all of them are ``{}``.

    Raises:
        ValueError: a text is not JSON.
        RecursionError: the data is nested too deep.
    """
    for _ in range(2):
        if isinstance(written, str):
            written = json.loads(written) if written.strip() else None
    return {} if written in (None, "", []) else written
