"""What all formats share: a response is read from where its thought ends, whatever the thought mentions."""

import re

_BEGIN, _END = (
    re.compile(tag, re.IGNORECASE) for tag in (r"\s*<think(?:ing)?>", "</think(?:ing)?>")
)
# Asterisks after the colon are the mark's only where they close the ones before the word; others
# are the action's.
_MARK = r"(\*\*)?{word}(\*\*)?[ \t]*:[ \t]*(?(2)|(?(1)(\*\*)?))"
_LINE = r"^[ \t]*(?:#{1,6}[ \t]+)?" + _MARK
_ACTION_LINE = re.compile(_LINE.replace("{word}", "Action"), re.IGNORECASE | re.MULTILINE)
_ACTION_AFTER_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+" + _MARK.format(word="Action"))
_THOUGHT_LINE = re.compile(_LINE.replace("{word}", "Thought"), re.IGNORECASE)


class FormatError(ValueError):
    """A response that is not in the format; the message tells the agent what to do."""


def split_thought(response: str) -> tuple[bool, str]:
    """Returns whether the response has a ``<think>`` block, and what follows it.

    The last ``</think>`` ends the thought: a thought may mention the tag, and many chat templates
    open the block in the prompt, so that the response holds only its end. ``<think>`` opens a block
    where a response or what follows a block begins; elsewhere it is only mentioned.

    Raises:
        FormatError: the thought does not end, as when the limit of tokens cuts it off.
    """
    end = max((tag.end() for tag in _END.finditer(response)), default=0)
    if _BEGIN.match(response, end):
        raise FormatError(
            "The thought does not end. Write </think> after it, and then the action; think less if"
            " there is no room."
        )
    return end > 0, response[end:]


def begins_with_thought(text: str) -> bool:
    """Says whether the text begins with ``Thought:``."""
    return _THOUGHT_LINE.match(text.lstrip()) is not None


def marked_action(text: str) -> tuple[int, str]:
    """Returns how many ``Action:`` begin a line, or else follow a sentence on its line, and what follows the only one."""
    marks = list(_ACTION_LINE.finditer(text)) or list(_ACTION_AFTER_SENTENCE.finditer(text))
    return len(marks), _after(marks[0], text) if len(marks) == 1 else ""


def unmarked(text: str) -> str:
    """Returns the text without ``Action:`` or ``**Action:**`` before it, and without bold and white space around it."""
    text = text.strip()
    mark = _ACTION_LINE.match(text)
    return _after(mark, text) if mark else unbold(text)


def unbold(text: str) -> str:
    """Returns the text without white space around it, and without the asterisks where it is bold as a whole."""
    text = text.strip()
    bold = (
        len(text) > 4 and text.startswith("**") and text.endswith("**") and "**" not in text[2:-2]
    )
    return text[2:-2].strip() if bold else text


def _after(mark: re.Match[str], text: str) -> str:
    """Returns what follows a mark, without the asterisks of ``**Action: text**`` and ``Action: **text**``."""
    rest = text[mark.end() :].strip()
    return (
        rest.removesuffix("**").rstrip() if mark[1] and not (mark[2] or mark[3]) else unbold(rest)
    )


def tagged(text: str, tag: str) -> tuple[int, list[str]]:
    """Returns how often a tag is opened, and what stands in its pairs; the time is linear, as it is not for one expression."""
    close = re.compile(f"</{tag}>", re.IGNORECASE)
    pieces = re.split(f"<{tag}>", text, flags=re.IGNORECASE)[1:]
    return len(pieces), [piece[: end.start()] for piece in pieces if (end := close.search(piece))]


def unfenced(text: str) -> str:
    """Returns what stands between the only two code fences of a text, without the language's name; without fences, the text."""
    parts = text.split("```")
    return re.sub(r"\A\w*\s*", "", parts[1]) if len(parts) == 3 else text
