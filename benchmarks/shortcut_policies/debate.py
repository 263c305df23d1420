"""Policies for Debate that ignore the question: constants, copies, fixed parts of passages."""

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from agentgym_envs.envs.debate.tasks import tasks

Policy = Callable[[str, Mapping[str, Any], random.Random], str]

NUMBERS = " ".join(map(str, range(20_001)))
CAPITAL, DOMAIN = r"Its capital is (.*?) and its", r"internet domain (\.\w+)"
INHABITANTS = r"GeoNames counts (\d+) inhabitants"


def passages(text: str) -> list[str]:
    """Returns the passages of an observation: those of the opening and those that others shared."""
    return re.findall(r"^(?:You know: |  )(.*\w.*)$", text, re.MULTILINE)


class Sharer:
    """Shares its passages in each round and answers from all passages that it has seen.

    Args:
        answer: returns the answer from the passages and a random generator; None means no answer.
    """

    def __init__(self, answer: Callable[[list[str], random.Random], str | None]):
        self.answer, self.own, self.heard = answer, list[str](), list[str]()

    def __call__(self, observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        """Returns the message of a round."""
        if info["turn"] == 0:
            self.own, self.heard = passages(observation), []
        self.heard += [p for p in passages(observation) if p not in self.heard]
        answer = self.answer(self.heard, rng)
        return "\n".join(self.own + ([] if answer is None else [f"answer: {answer}"]))


def field(pattern: str) -> Sharer:
    """Returns a policy that answers with one attribute of a random passage that has it."""

    def read(heard: list[str], rng: random.Random) -> str:
        found = re.findall(pattern, "\n".join(heard))
        return rng.choice(found) if found else "0"

    return Sharer(read)


def numbered(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Answers with a random number of the question."""
    return f"answer: {rng.choice(re.findall(r'[0-9]+', info['goal']) or ['0'])}"


def opening_then(answer: str) -> Policy:
    """Returns a policy that copies the observation and adds an answer."""
    return lambda observation, info, rng: f"{observation}\nanswer: {answer}"


def common(prefix: str) -> Policy:
    """Returns a policy that shares its passages and gives the most common answer.

    The answers are counted over the train tasks whose id has the prefix.
    """
    of_train = (tasks().get(i) for i in tasks().ids("train") if i.startswith(prefix))
    answer = Counter(task.data["problem"].answer for task in of_train).most_common(1)[0][0]
    return Sharer(lambda heard, rng: answer)


POLICIES: dict[str, dict[str, Policy]] = {
    "agentgym/Debate-v1": {
        "own passages, the constant 0": Sharer(lambda heard, rng: "0"),
        "all numbers to 20000": lambda observation, info, rng: NUMBERS,
        "all numbers to 20000, then 0": lambda observation, info, rng: f"{NUMBERS}\nanswer: 0",
        "copy of the observation, then 0": opening_then("0"),
        "a number of the question": numbered,
        "own passages, the most common sum": common("arithmetic"),
        "own passages without an answer": Sharer(lambda heard, rng: None),
        "own passages, the most common answer of two hops": common("hop2"),
        "own passages, the most common answer of three hops": common("hop3"),
        "own passages, any capital heard": field(CAPITAL),
        "own passages, any domain heard": field(DOMAIN),
        "own passages, any number of inhabitants heard": field(INHABITANTS),
    }
}
