"""What all formats share: a response is read from where its thought ends, whatever the thought mentions."""

import re

_THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_MARK = r"(\*\*)?{word}(\*\*)?[ \t]*:[ \t]*(\*\*)?"
_LINE = r"^[ \t]*(?:#{1,6}[ \t]+)?" + _MARK
_ACTION_LINE = re.compile(_LINE.replace("{word}", "Action"), re.IGNORECASE | re.MULTILINE)
_ACTION_AFTER_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+" + _MARK.format(word="Action"))
_THOUGHT_LINE = re.compile(_LINE.replace("{word}", "Thought"), re.IGNORECASE)


class FormatError(ValueError):
    """A response that is not in the format; the message tells the agent what to do."""


def split_thought(response: str) -> tuple[bool, str]:
    """Returns whether the response has a ``<think>`` block, and what follows it.

    The last ``</think>`` ends the thought: a thought may mention the tag, and many chat templates open the block in the prompt, so
    that the response holds only its end.

    Raises:
        FormatError: the thought does not end, as when the limit of tokens cuts it off.
    """
    end, opened = 0, False
    for tag in _THINK.finditer(response):
        opened = not tag[1]
        end = end if opened else tag.end()
    if opened:
        raise FormatError("The thought does not end. Write </think> after it, and then the action; think less if there is no room.")
    return end > 0, response[end:]


def begins_with_thought(text: str) -> bool:
    """Says whether the text begins with ``Thought:``."""
    return _THOUGHT_LINE.match(text.lstrip()) is not None


def marked_actions(text: str) -> list[str]:
    """Returns what follows each ``Action:`` that begins a line, or else each that follows a sentence on its line."""
    marks = list(_ACTION_LINE.finditer(text)) or list(_ACTION_AFTER_SENTENCE.finditer(text))
    return [_unbold(text[mark.end() :].strip(), mark) for mark in marks]


def unmarked(text: str) -> str:
    """Returns the text without ``Action:`` or ``**Action:**`` before it, and without white space around it."""
    text = text.strip()
    mark = _ACTION_LINE.match(text)
    return _unbold(text[mark.end() :].strip(), mark) if mark else text


def _unbold(text: str, mark: re.Match[str]) -> str:
    """Takes away the asterisks that end ``**Action: text**`` and ``Action: **text**``."""
    return text if len(list(filter(None, mark.groups()))) % 2 == 0 else text.removesuffix("**").rstrip()


def tagged(text: str, tag: str) -> tuple[int, list[str]]:
    """Returns how often a tag is opened, and what stands in its pairs; the time is linear, as it is not for one expression."""
    close = re.compile(f"</{tag}>", re.IGNORECASE)
    pieces = re.split(f"<{tag}>", text, flags=re.IGNORECASE)[1:]
    return len(pieces), [piece[: end.start()] for piece in pieces if (end := close.search(piece))]


def unfenced(text: str) -> str:
    """Returns what stands between the only two code fences of a text, without the language's name; without fences, the text."""
    parts = text.split("```")
    return re.sub(r"\A\w*\s*", "", parts[1]) if len(parts) == 3 else text
