"""Comparisons as rows for other trainers: TRL's RewardTrainer, DPOTrainer and KTOTrainer.

An episode is a conversation that ends with the assistant. The rules are the system's message,
observations the user's, and whole responses the assistant's. Pairs leave out "tie" and "neither",
which have no better side; KTO includes them.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from agentgym_envs.lines import JsonRow

ExportMessages = list[dict[str, str]]
ExportRows = list[dict[str, Any]]
BETTER = {"a": ("a", "b"), "b": ("b", "a")}  # chosen, rejected
GOOD = {"a": {"a"}, "b": {"b"}, "tie": {"a", "b"}, "neither": set[str]()}


class LeftOut(Exception):
    """A comparison does not fit the form; the message is the reason."""


def rewards(comparison: JsonRow) -> ExportRows:
    """Returns ``{"chosen", "rejected"}``: two conversations, for TRL's RewardTrainer.

    Raises:
        LeftOut: neither side is better.
    """
    chosen, rejected = _ranked(comparison)
    return [{"chosen": chosen, "rejected": rejected}]


def dpo(comparison: JsonRow) -> ExportRows:
    """Returns ``{"prompt", "chosen", "rejected"}`` for TRL's DPOTrainer.

    The prompt is the common beginning up to an observation. Both completions begin with a response.

    Raises:
        LeftOut: neither side is better, or both begin with different observations.
    """
    chosen, rejected = _ranked(comparison)
    same = sum(
        1 for _ in takewhile(lambda two: two[0] == two[1], zip(chosen, rejected, strict=False))
    )
    users = [place for place in range(same) if chosen[place]["role"] == "user"]
    if not users:
        raise LeftOut("they begin with different observations")
    cut = users[-1] + 1
    return [{"prompt": chosen[:cut], "chosen": chosen[cut:], "rejected": rejected[cut:]}]


def kto(comparison: JsonRow) -> ExportRows:
    """Returns ``{"prompt", "completion", "label"}`` of each episode, for TRL's KTOTrainer.

    The prompt ends with the first observation. The better episode is good and the other one bad.
    In a tie both are good, with "neither" both are bad.

    Raises:
        LeftOut: an episode does not fit the form.
    """
    made = []
    for side in ("a", "b"):
        messages = conversation(comparison["instructions"], comparison[side])
        cut = 1 + [message["role"] for message in messages].index("user")
        made.append(
            {
                "prompt": messages[:cut],
                "completion": messages[cut:],
                "label": side in GOOD[comparison["choice"]],
            }
        )
    return made


FORMS: Mapping[str, Callable[[JsonRow], ExportRows]] = {"rewards": rewards, "dpo": dpo, "kto": kto}


def exported(comparisons: Sequence[JsonRow], form: str) -> tuple[ExportRows, Counter[str]]:
    """Returns the rows, and the number of omitted comparisons by reason.

    Args:
        comparisons: the valid comparisons (:func:`agentgym_envs.feedback.record.standing`).
        form: a key of ``FORMS``.
    """
    rows: ExportRows = []
    left_out: Counter[str] = Counter()
    for comparison in comparisons:
        try:
            rows += FORMS[form](comparison)
        except LeftOut as reason:
            left_out[str(reason)] += 1
    return rows, left_out


def conversation(instructions: str, episode: JsonRow) -> ExportMessages:
    """Returns an episode as messages.

    Raises:
        LeftOut: the episode has no turn, or several agents with separate conversations.
    """
    turns = episode["turns"]
    if not turns:
        raise LeftOut("an episode has no turn")
    if len({turn.get("seat") for turn in turns}) > 1:
        raise LeftOut("several seats act in an episode")
    return [_message(role, text) for role, text in _said(instructions, turns)]


def written(rows: ExportRows) -> str:
    """Returns rows as JSONL without ASCII escapes."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _ranked(comparison: JsonRow) -> tuple[ExportMessages, ExportMessages]:
    """Returns the better conversation and the worse one."""
    if comparison["choice"] not in BETTER:
        raise LeftOut(
            {"tie": "both are equally good", "neither": "neither is good"}[comparison["choice"]]
        )
    chosen, rejected = (
        conversation(comparison["instructions"], comparison[side])
        for side in BETTER[comparison["choice"]]
    )
    return chosen, rejected


def _said(instructions: str, turns: Sequence[JsonRow]) -> Iterator[tuple[str, str]]:
    if instructions:
        yield "system", instructions
    for turn in turns:
        yield "user", turn["observation"]
        yield "assistant", turn["response"]


def _message(role: str, text: str) -> dict[str, str]:
    """Returns a message.

    UTF-8 cannot encode lone surrogates, so they become the replacement character.
    """
    return {
        "role": role,
        "content": text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
    }
