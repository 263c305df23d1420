"""The listed actions: messages, and calls with values that the agent has seen."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice, product

from agentgym_envs.envs.tools.case import written
from agentgym_envs.envs.tools.domain import ServiceDomain
from agentgym_envs.envs.tools.parameters import (
    ChoiceType,
    DateType,
    IdType,
    IntegerType,
    MoneyType,
    ParameterType,
    TextType,
)

MESSAGES = (
    "say May I have your number?",
    "say May I have your full name?",
    "say Could you give me the details?",
    "say Is that right?",
    "say It is done. Is there anything else?",
    "say I cannot do that. Is there anything else?",
)
MOST = 8  # calls per function
WHOLE = (7, 14, 21, 28)
_DAY = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")
_TIME = re.compile(r"\b[0-9]{2}:[0-9]{2}\b")
_MONEY = re.compile(r"\b[0-9]+\.[0-9]{2}\b")


def listed(domain: ServiceDomain, seen: str) -> list[str]:
    """Returns the actions that are listed after some observations.

    Args:
        domain: the domain of the task.
        seen: the text of the user and of the tools so far.
    """
    calls = (
        written(name, **dict(zip(function.parameters, values, strict=True)))
        for name, function in domain.functions.items()
        for values in islice(product(*_choices(function.parameters, seen)), MOST)
    )
    return [*MESSAGES, *_facts(seen), *dict.fromkeys(calls)]


def _facts(seen: str) -> list[str]:
    """Returns messages with the dates, times and amounts of the last line."""
    last = seen.rpartition("\n")[2]
    found = [*_DAY.findall(last), *_TIME.findall(last), *_MONEY.findall(last)]
    return [f"say It is {value}." for value in dict.fromkeys(found[:MOST])]


def _choices(parameters: Mapping[str, ParameterType], seen: str) -> Iterator[list[str]]:
    """Yields the values of each parameter; the values seen last come first."""
    for parameter in parameters.values():
        if isinstance(parameter, IdType):
            found = re.findall(rf"\b{parameter.pattern}\b", seen)
        elif isinstance(parameter, DateType):
            found = _DAY.findall(seen)
        elif isinstance(parameter, MoneyType):
            found = [f"{float(text):g}" for text in ["0.00", *_MONEY.findall(seen)]]
        elif isinstance(parameter, ChoiceType):
            found = list(parameter.options)
        elif isinstance(parameter, TextType):
            found = re.findall(parameter.pattern, seen)
        else:
            found = [str(n) for n in WHOLE] if isinstance(parameter, IntegerType) else []
        yield list(dict.fromkeys(reversed(found)))
