"""Parses questions, and explains values that no thing has."""

import re

from agentgym_envs.core import command, echo
from agentgym_envs.envs.twenty_questions import words
from agentgym_envs.envs.twenty_questions.things import ThingTopic, YesNoQuestion

FEW = 8  # an error message lists all words of an attribute up to this number
_QUESTION = re.compile(
    r"ask (?:the )?([a-z ]{1,30}?) (?:is )?(above|begins with|is) (.{1,60})", re.IGNORECASE
)
_NUMBER = re.compile(
    r"([0-9]{1,3}(?:[, '][0-9]{3})+|[0-9]{1,12})(\.[0-9]{1,6})? ?(?:(thousand|million|k)\b)? ?(.*)",
    re.IGNORECASE,
)
_SCALES = {"": 1, "k": 10**3, "thousand": 10**3, "million": 10**6}
_LETTERS = re.compile(r"(?:(?:the )?letters? )?[\"'“‘]?(.*?)[\"'”’]?", re.IGNORECASE)


class UnclearQuestion(ValueError):
    """The text is not a question about the topic; the message explains why and how to ask."""


def read(topic: ThingTopic, action: str) -> YesNoQuestion:
    """Parses a question.

    Args:
        topic: The topic of the question.
        action: Any text.

    Raises:
        UnclearQuestion: The text is not a question, the attribute does not exist, or no thing has
            the value.
    """
    found = _QUESTION.fullmatch(command(action).rstrip("? "))
    if not found:
        raise UnclearQuestion(f"Not an action: {echo(action)}")
    attribute, relation, value = found[1].lower(), found[2].lower(), found[3].strip()
    attribute = words.ATTRIBUTES.get(attribute, attribute)
    if attribute not in topic.attributes:
        raise UnclearQuestion(f"There is no attribute {attribute!r}.")
    if topic.range(attribute):
        return YesNoQuestion(attribute, relation, _number(topic, attribute, relation, value))
    if relation == "above":
        raise UnclearQuestion(
            f"The values of {attribute} are words, and above compares numbers: ask {attribute} is"
            " VALUE."
        )
    return YesNoQuestion(
        attribute, relation, (_word if relation == "is" else _letters)(topic, attribute, value)
    )


def _number(topic: ThingTopic, attribute: str, relation: str, value: str) -> str:
    """Returns a number in the attribute's unit, as digits.

    Raises:
        UnclearQuestion: No thing has this value.
    """
    low, high = topic.range(attribute) or (0, 0)
    number = None if relation == "begins with" else _whole(value, topic.attributes[attribute].units)
    if number is not None and (0 if relation == "above" else low) <= number <= high - (
        relation == "above"
    ):
        return str(number)
    raise UnclearQuestion(
        f"No {topic.name} has such a value: {attribute} {relation} {echo(value)}. The values of"
        f" {attribute} are whole numbers from {low} to {high},"
        f" {topic.attributes[attribute].meaning}: ask {attribute} above NUMBER, or ask {attribute}"
        " is NUMBER."
    )


def _whole(text: str, units: tuple[str, ...]) -> int | None:
    """Returns a whole number written with separators, a scale and a unit, or None."""
    found = _NUMBER.fullmatch(words.folded(text))
    if not found or (found[4] and found[4].replace(".", "") not in units):
        return None
    digits, decimals, scale = (
        re.sub("[, ']", "", found[1]),
        (found[2] or ".")[1:],
        _SCALES[found[3] or ""],
    )
    if decimals and scale == 1:
        return None  # 5.000 is ambiguous: five thousand or five
    whole, rest = divmod(int(digits + decimals) * scale, 10 ** len(decimals))
    return None if rest else whole


def _word(topic: ThingTopic, attribute: str, value: str) -> str:
    """Returns a word as the facts spell it. A plural is read as its singular.

    Raises:
        UnclearQuestion: No thing has this word.
    """
    known = topic.words(attribute)
    wanted = words.key(value)
    if found := known.get(wanted) or known.get(wanted.removesuffix("s")):
        return found
    raise UnclearQuestion(
        f"No {topic.name} has such a value: {attribute} is {echo(value)}."
        f" {_possible(topic, attribute, value)}"
    )


def _letters(topic: ThingTopic, attribute: str, value: str) -> str:
    """Returns the first letters of a question, with a capital.

    Raises:
        UnclearQuestion: No word of the attribute begins with them.
    """
    found = _LETTERS.fullmatch(value)
    letters = found[1] if found else value
    begin = words.folded(letters)
    if begin and any(
        words.folded(word).startswith(begin) for word in topic.words(attribute).values()
    ):
        return begin[0].upper() + begin[1:]
    raise UnclearQuestion(
        f"No {topic.name} has such a value: {attribute} begins with {echo(letters)}."
    )


def _possible(topic: ThingTopic, attribute: str, value: str) -> str:
    """Returns a hint: all words of the attribute, or similar words, or its meaning."""
    known = list(dict.fromkeys(topic.words(attribute).values()))
    if len(known) <= FEW:
        return f"Possible are {', '.join(known)}."
    near = words.similar(value, topic.words(attribute))
    return (
        f"Did you mean {' or '.join(near)}?"
        if near
        else f"The value of {attribute} is {topic.attributes[attribute].meaning}."
    )
