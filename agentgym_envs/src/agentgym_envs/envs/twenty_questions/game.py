"""``agentgym/TwentyQuestions-v1``: one seat finds the thing of the other by yes/no questions."""

import random
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from agentgym_envs.core import Outcome, command, echo
from agentgym_envs.envs.twenty_questions.reading import UnclearQuestion, read
from agentgym_envs.envs.twenty_questions.things import (
    HiddenThing,
    ThingTopic,
    YesNoQuestion,
    best_question,
    topics,
)
from agentgym_envs.envs.twenty_questions.words import similar
from agentgym_envs.multi.game import TextGame
from agentgym_envs.tasks import Task, TaskSet, split_of

QUESTIONS = 20
GUESSES = 3  # limit of guesses among the questions: listing names must not work
ASKER, ANSWERER = "asker_0", "answerer_0"
_GUESS = re.compile(r"guess\s+(.{1,60}?)\??", re.IGNORECASE)


class TwentyQuestions(TextGame):
    """The asker guesses what the answerer knows.

    The asker has twenty questions and guesses.

    A false answer ends the game. Both seats win or lose together.
    """

    instructions = (
        f"Twenty Questions. {ANSWERER} knows a country or a chemical element, and {ASKER} has to"
        f" find it with at most {QUESTIONS} questions and guesses. At most {GUESSES} of them can be"
        f" guesses. Both win or lose together.\n{ASKER} answers with one action and nothing else:"
        " ask ATTRIBUTE is VALUE, ask ATTRIBUTE begins with LETTERS, ask ATTRIBUTE above NUMBER,"
        " or guess NAME. Above is for numbers, begins with is for words. A question with a value"
        " that nothing has is refused and does not count as a question.\nCountries have the"
        " attributes name, continent, capital, currency, area (in square kilometres), neighbour"
        " (the name of one country with a common land border) and neighbours (the number of"
        " these). Elements have the attributes name, symbol, number (the atomic number), period"
        " (the row of the periodic table), block (s, p, d or f) and year (of the"
        f" discovery).\n{ANSWERER} answers with yes or no and nothing else. The answer to every"
        " question about an unknown value is no. A false answer ends the game, and both lose."
    )
    tools = MappingProxyType(
        {"ask": "ask {question}", "guess": "guess {name}", "answer": "{answer}"}
    )
    cooperative = True
    opponents = "oracle"
    seats = (ASKER, ANSWERER)

    @property
    def topic(self) -> ThingTopic:
        """The topic of the current task."""
        return topics()[self._topic]

    @property
    def thing(self) -> HiddenThing:
        """The thing that the asker has to find."""
        return self.topic.things[self._number]

    def make_tasks(self) -> TaskSet:
        """Returns one task per thing of each topic.

        The difficulty is the number of bits that distinguish the things of the topic.
        """
        return TaskSet(_tasks())

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        """Returns the attributes for the asker, and the thing and its facts for the answerer."""
        self._topic: str = task.data["topic"]
        self._number: int = task.data["number"]
        self._left, self._asked = QUESTIONS, list[tuple[YesNoQuestion, bool]]()
        self._wrong: list[HiddenThing] = []
        self._open: YesNoQuestion | None = None
        meanings = [f"- {name}: {_meaning(self.topic, name)}" for name in self.topic.attributes]
        known = [
            f"- {attribute}: {_written(value)}" for attribute, value in self.thing.facts.items()
        ]
        return {
            ASKER: "\n".join(
                [f"You are {ASKER}. Find the {self.topic.name}. Its attributes:", *meanings]
            ),
            ANSWERER: "\n".join([f"You are {ANSWERER}. {self._secret()} Its facts:", *known]),
        }

    def goal(self, seat: str) -> str:
        """Returns the goal of the asker or of the answerer."""
        find = f"find the {self.topic.name} with at most {QUESTIONS} questions and guesses"
        return find if seat == ASKER else f"answer truly, so that {ASKER} can {find}"

    def acting(self) -> tuple[str, ...]:
        """Returns the asker, or the answerer while a question is open."""
        return (ASKER,) if self._open is None else (ANSWERER,)

    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        """Takes a question, a guess or an answer."""
        ((seat, action),) = said.items()
        words = command(action)
        if seat == ANSWERER:
            return self._answer(words.rstrip("!").lower())
        if guess := _GUESS.fullmatch(words):
            return self._guess(guess[1])
        try:
            self._open = read(self.topic, words)
        except UnclearQuestion as error:
            return self._refuse(ASKER, f"{error}\n{self._grammar()}")
        return self._tell("", f"{ASKER}: {self._open}\nAnswer yes or no.")

    def actions(self, seat: str) -> list[str]:
        """Returns the offered questions and all guesses; both answers while a question is open."""
        return ["yes", "no"] if self._open is not None else list(_listed(self.topic.name))

    def oracle(self, seat: str) -> str:
        """Returns the true answer, or the next question, or the guess if one thing is left.

        The question is the offered one that splits the remaining things most evenly.
        """
        if self._open is not None:
            return self._truth(self._open)
        left = self._candidates()
        question = best_question(self.topic.name, tuple(thing.name for thing in left))
        return str(question) if question else f"guess {left[0].name}"

    def secrets(self, seat: str) -> tuple[str, ...]:
        """Returns the sentence that names the thing."""
        return (self._secret(),) if seat == ANSWERER else ()

    def _grammar(self) -> str:
        return (
            "Possible are ask ATTRIBUTE is VALUE, ask ATTRIBUTE above NUMBER for numbers, ask"
            " ATTRIBUTE begins with LETTERS for words, and guess NAME. Attributes:"
            f" {', '.join(self.topic.attributes)}."
        )

    def _secret(self) -> str:
        return f"The {self.topic.name} is {self.thing.name}."

    def _truth(self, question: YesNoQuestion) -> str:
        return "yes" if question.holds(self.thing) else "no"

    def _candidates(self) -> list[HiddenThing]:
        """Returns the things that fit all answers and were not guessed."""
        asked, wrong = self._asked, self._wrong
        return [
            t
            for t in self.topic.things
            if t not in wrong and all(q.holds(t) == yes for q, yes in asked)
        ]

    def _answer(self, word: str) -> Mapping[str, Outcome]:
        assert self._open is not None
        question, truth = self._open, self._truth(self._open)
        if word not in ("yes", "no"):
            return self._refuse(ANSWERER, f"Not an answer: {echo(word)}\nAnswer yes or no.")
        if word != truth:
            return self._lose(
                f"{ANSWERER}: {word}. This answer to {question} is false, and both lose."
            )
        self._open = None
        self._asked.append((question, truth == "yes"))
        return self._count(f"{ANSWERER}: {truth}.")

    def _guess(self, name: str) -> Mapping[str, Outcome]:
        thing = self.topic.find(name)
        if thing is None:
            return self._refuse(
                ASKER,
                f"There is no {self.topic.name} of that name:"
                f" {echo(name)}{self._suggestions(name)}",
            )
        if thing is self.thing:
            text = f"{ASKER} guesses {thing.name}: right."
            return {seat: Outcome(text, 1.0, done=True, success=True) for seat in self.seats}
        self._wrong.append(thing)
        text, left = f"No, it is not {thing.name}.", GUESSES - len(self._wrong)
        return (
            self._count(f"{text} Guesses left: {left}.")
            if left
            else self._lose(f"{text} That was the last guess.")
        )

    def _suggestions(self, name: str) -> str:
        """Returns a line that suggests similar names, or an empty text."""
        near = similar(name, self.topic.words("name"))
        return f"\nDid you mean {' or '.join(near)}?" if near else ""

    def _count(self, text: str) -> Mapping[str, Outcome]:
        """Counts a question or guess, and ends the game after the last one."""
        self._left -= 1
        if self._left == 0:
            return self._lose(f"{text} That was the last question.")
        return self._tell(f"{text} Questions left: {self._left}.", "")

    def _lose(self, text: str) -> Mapping[str, Outcome]:
        return {seat: Outcome(f"{text} {self._secret()}", 0.0, done=True) for seat in self.seats}

    def _tell(self, asker: str, answerer: str) -> Mapping[str, Outcome]:
        return {ASKER: Outcome(asker, 0.0), ANSWERER: Outcome(answerer, 0.0)}

    def _refuse(self, seat: str, text: str) -> Mapping[str, Outcome]:
        return {s: Outcome(text if s == seat else "", 0.0, invalid=s == seat) for s in self.seats}


@cache
def _listed(topic: str) -> tuple[str, ...]:
    """Returns the offered questions about a topic, and all guesses."""
    things = topics()[topic].things
    return (
        *map(str, topics()[topic].offered(things)),
        *(f"guess {thing.name}" for thing in things),
    )


@cache
def _tasks() -> tuple[Task, ...]:
    """Returns all tasks."""
    return tuple(
        Task(
            id=f"{topic.name}-{thing.name.casefold().replace(' ', '_')}",
            split=split_of(f"{topic.name} {thing.name}"),
            difficulty=(len(topic.things) - 1).bit_length(),
            data={"topic": topic.name, "number": number},
        )
        for topic in topics().values()
        for number, thing in enumerate(topic.things)
    )


def _meaning(topic: ThingTopic, attribute: str) -> str:
    """Returns the meaning of an attribute, with the range of a number."""
    found = topic.range(attribute)
    return topic.attributes[attribute].meaning + (
        f", from {found[0]} to {found[1]}" if found else ""
    )


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "unknown" if value is None else str(value)
