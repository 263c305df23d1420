"""Policies for Twenty Questions that ignore the answers. They read the topic from the goal."""

import random
from collections.abc import Mapping
from typing import Any

from agentgym_envs.envs.twenty_questions.things import ThingTopic, topics


def _topic(info: Mapping[str, Any]) -> ThingTopic:
    return topics()["country" if "country" in info["goal"] else "element"]


def random_guess(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Guesses a random thing of the topic."""
    return f"guess {rng.choice(_topic(info).things).name}"


def same_guesses(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Guesses the things of the topic in their order."""
    return f"guess {_topic(info).things[info['turn']].name}"


def names_in_order(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Asks for seventeen names, then makes three random guesses."""
    return (
        same_guesses(observation, info, rng).replace("guess", "ask name is")
        if info["turn"] < 17
        else random_guess("", info, rng)
    )


def questions_unread(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Asks seventeen random listed questions, then makes three random guesses."""
    topic = _topic(info)
    return (
        str(rng.choice(topic.offered(topic.things)))
        if info["turn"] < 17
        else random_guess("", info, rng)
    )


POLICIES = {
    "agentgym/TwentyQuestions-v1": {
        "random guesses": random_guess,
        "the same three guesses": same_guesses,
        "17 names asked for, then random guesses": names_in_order,
        "17 random questions, then random guesses": questions_unread,
    }
}
