"""Policies for Wordle that ignore the answers."""

import random
from collections.abc import Mapping
from typing import Any

from agentgym_envs.envs.lmrl.words import WORDS

COMMON = ("arise", "alone", "trail", "stare", "shore", "clean")  # words of frequent letters


def same_guesses(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Guesses the same six words."""
    return COMMON[info["turn"]]


def new_letters(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Guesses a random word with as few letters of the earlier guesses as possible."""
    used = {letter for word, _ in info.get("guesses", ()) for letter in word}
    fewest = min(len(used & set(word)) for word in WORDS)
    return rng.choice([word for word in WORDS if len(used & set(word)) == fewest])


POLICIES = {
    "agentgym/LMRLWordle-v0": {
        "the same six words": same_guesses,
        "random words of new letters": new_letters,
    }
}
