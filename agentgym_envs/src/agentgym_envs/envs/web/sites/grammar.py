"""Texts that are composed rather than listed, so that hardly two are equal and each fits what it is about."""

import random
import re
from collections.abc import Mapping, Sequence

Rules = Mapping[str, Sequence[str]]
"""What may stand for a name: texts that may name others in braces."""


def compose(rng: random.Random, rules: Rules, text: str, **facts: object) -> str:
    """Fills the blanks of a text until none is left.

    Args:
        rng: chooses among what a rule offers.
        rules: what may stand for a blank.
        text: with blanks, as in ``"The {colour} {thing} {opinion}"``.
        **facts: what stands for blanks of these names, as it is; they go before rules.

    Returns:
        The text; each sentence begins with a capital.

    Raises:
        KeyError: a blank is neither a fact nor a rule.
    """

    def filled(part: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda m: str(facts[m[1]]) if m[1] in facts else filled(rng.choice(rules[m[1]])), part)

    return re.sub(r"(^|[.!?]\s+)([a-z])", lambda m: m[1] + m[2].upper(), filled(text))
