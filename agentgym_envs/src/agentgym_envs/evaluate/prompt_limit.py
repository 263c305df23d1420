"""Finds servers that cut long prompts without an error.

Ollama drops the oldest messages of a conversation that is longer than its ``num_ctx``. Only its
count of prompt tokens shows that: the count stops growing while the conversation grows.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import median
from typing import Any

NEAR = 0.9  # share of the largest count from which on a request can be at the limit
GROWTH = 4 / 3  # of the conversation at the limit
CLEAR = 500  # characters; a smaller growth shows nothing
STILL = 3  # longer requests at the limit with no larger count than the one before

PromptRow = Mapping[str, Any]
PromptSizes = tuple[int, int]
"""The characters that were sent, and the prompt tokens that the server counted."""


def prompt_limit(requests: Sequence[PromptSizes]) -> int:
    """Returns the prompt tokens at which a server seems to cut a conversation; 0 if it does not.

    Args:
        requests: those of one conversation; each has all messages of the one before.
    """
    if not requests:
        return 0
    most = max(tokens for _, tokens in requests)
    begin = next(n for n, (_, tokens) in enumerate(requests) if tokens >= NEAR * most)
    there = requests[begin:]
    first, last = there[0][0], there[-1][0]
    still = sum(
        longer > before and counted <= tokens
        for (before, tokens), (longer, counted) in pairwise(there)
    )
    # Many much smaller counts are those of a server that leaves out cached tokens.
    steady = median(tokens for _, tokens in there) >= most / 2
    grown = last >= max(GROWTH * first, first + CLEAR)
    return most if steady and grown and still >= STILL else 0


def limit_of_calls(
    calls: Sequence[PromptRow],
    turns: Sequence[PromptRow],
    messages: Sequence[PromptRow],
    sizes: Sequence[int],
) -> int:
    """Returns the largest limit of an episode's conversations; 0 if none was cut.

    Args:
        calls: of :class:`.Transcript`.
        turns: of the episode.
        messages: of the episode.
        sizes: the characters of each message.
    """
    before = [0, *accumulate(sizes)]

    def request(call: PromptRow) -> PromptSizes:
        return sum(before[end] - before[start] for start, end in call["messages"]), call["prompt"]

    found = _conversations(calls, turns, messages)
    return max((prompt_limit(list(map(request, each))) for each in found), default=0)


def warning(limit: int) -> str:
    """Returns what a reader must know of a limit."""
    return (
        f"the server's count of prompt tokens stays at about {limit:,} while the conversation"
        " grows, so the server seems to cut prompts without an error. With Ollama, raise num_ctx"
        " (OLLAMA_CONTEXT_LENGTH); with other servers, the context length"
    )


def _conversations(
    calls: Sequence[PromptRow], turns: Sequence[PromptRow], messages: Sequence[PromptRow]
) -> Iterator[list[PromptRow]]:
    """Yields requests of which each extends the one before. Each seat has its own conversation."""
    conversations: dict[Any, list[PromptRow]] = {}
    for call in calls:
        if "prompt" not in call or not call["messages"]:
            continue
        seat = turns[call["turn"]].get("seat") if call["turn"] < len(turns) else None
        known = conversations.setdefault(seat, [])
        again = _user_after_tools(call, messages)
        if known and (again or not _extends(call, known[-1])):
            yield list(known)
            while known and (again or not _extends(call, known[-1])):
                known.pop()
        known.append(call)
    yield from conversations.values()


def _user_after_tools(call: PromptRow, messages: Sequence[PromptRow]) -> bool:
    """Returns whether the user speaks after results of tools.

    Chat templates then drop the model's thoughts since the user's last message.
    """
    if messages[call["messages"][-1][1] - 1].get("role") != "user":
        return False
    sent = (messages[start:end] for start, end in call["messages"])
    return any(message.get("role") == "tool" for part in sent for message in part)


def _extends(call: PromptRow, earlier: PromptRow) -> bool:
    """Returns whether a request begins with the messages of an earlier one."""
    *whole, (start, end) = earlier["messages"]
    rest = call["messages"][len(whole) :]
    return (
        call["messages"][: len(whole)] == whole
        and bool(rest)
        and rest[0][0] == start
        and rest[0][1] >= end
    )
