"""``agentgym/TwentyQuestions-v1``: one seat finds what the other has in mind, by questions that are answered with yes or no."""

import random
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from agentgym_envs.core import Outcome, echo
from agentgym_envs.envs.twenty_questions.things import Question, Thing, Topic, best_question, topics
from agentgym_envs.multi.game import TextGame
from agentgym_envs.tasks import Task, TaskSet, split_of

QUESTIONS = 20
ASKER, ANSWERER = "asker_0", "answerer_0"
_GUESS = re.compile(r"guess\s+(.{1,60}?)[.?]?", re.IGNORECASE)


class TwentyQuestions(TextGame):
    """The asker has twenty questions and guesses; the answers are checked against the facts. Both win or lose together."""

    instructions = (
        "Twenty Questions. asker_0 has to find the thing that answerer_0 knows, with at most 20 questions and guesses.\n"
        "asker_0 answers with one action and nothing else: ask ATTRIBUTE is VALUE, ask ATTRIBUTE above NUMBER, "
        "ask ATTRIBUTE begins with LETTERS, or guess NAME.\n"
        "answerer_0 answers with yes or no and nothing else; what is unknown or has no value is no. A wrong answer does not count."
    )
    tools = MappingProxyType({"ask": "ask {question}", "guess": "guess {name}", "answer": "{answer}"})
    cooperative = True
    seats = (ASKER, ANSWERER)

    def make_tasks(self) -> TaskSet:
        """Returns a task for each thing of each topic; the difficulty is the number of bits that tell the topic's things apart."""
        return TaskSet(_tasks())

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        """Tells the asker the attributes, and the answerer the thing and its facts."""
        self.topic: Topic = topics()[task.data["topic"]]
        self.thing: Thing = self.topic.things[task.data["number"]]
        self._left, self._asked = QUESTIONS, list[tuple[Question, bool]]()
        self._wrong: list[Thing] = []
        self._open: Question | None = None
        known = [f"- {attribute}: {_written(value)}" for attribute, value in self.thing.facts.items()]
        return {
            ASKER: f"You are {ASKER}. Find the {self.topic.name}. Attributes: {', '.join(self.topic.attributes)}.",
            ANSWERER: "\n".join([f"You are {ANSWERER}. {self._secret()} Its facts:", *known]),
        }

    def goal(self, seat: str) -> str:
        """Returns the asker's, or the answerer's."""
        find = f"find the {self.topic.name} with at most {QUESTIONS} questions and guesses"
        return find if seat == ASKER else f"answer truly, so that {ASKER} can {find}"

    def acting(self) -> tuple[str, ...]:
        """Returns the asker, or the answerer while a question is open."""
        return (ASKER,) if self._open is None else (ANSWERER,)

    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        """Takes a question, a guess or an answer."""
        ((seat, action),) = said.items()
        words = action.strip()
        if seat == ANSWERER:
            return self._answer(words.rstrip(".!").lower())
        if question := self.topic.read(words):
            self._open = question
            return self._tell("", f"{ASKER}: {question}\nAnswer yes or no.")
        guess = _GUESS.fullmatch(words)
        if guess and (thing := self.topic.find(guess[1])):
            return self._guess(thing)
        return self._refuse(ASKER, f"Not an action, or no {self.topic.name} of that name: {echo(action)}\n{self._grammar()}")

    def actions(self, seat: str) -> list[str]:
        """Returns questions and all guesses, or the true answer."""
        if self._open is not None:
            return [self._truth(self._open)]
        return list(_listed(self.topic.name))

    def oracle(self, seat: str) -> str:
        """Returns the truth, or the question that halves best what is left, or the guess if one thing is left."""
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
            "Possible are ask ATTRIBUTE is VALUE, ask ATTRIBUTE above NUMBER for numbers, ask ATTRIBUTE begins with LETTERS, "
            f"and guess NAME. Attributes: {', '.join(self.topic.attributes)}."
        )

    def _secret(self) -> str:
        return f"The {self.topic.name} is {self.thing.name}."

    def _truth(self, question: Question) -> str:
        return "yes" if question.holds(self.thing) else "no"

    def _candidates(self) -> list[Thing]:
        """Returns the things that all answers allow and that were not guessed."""
        asked, wrong = self._asked, self._wrong
        return [t for t in self.topic.things if t not in wrong and all(q.holds(t) == yes for q, yes in asked)]

    def _answer(self, word: str) -> Mapping[str, Outcome]:
        assert self._open is not None
        question, truth = self._open, self._truth(self._open)
        if word != truth:
            why = f"That is inconsistent with the facts: {question}." if word in ("yes", "no") else f"Not an answer: {echo(word)}"
            return self._refuse(ANSWERER, f"{why}\nAnswer yes or no.")
        self._open = None
        self._asked.append((question, truth == "yes"))
        return self._count(f"{ANSWERER}: {truth}.")

    def _guess(self, thing: Thing) -> Mapping[str, Outcome]:
        if thing is self.thing:
            text = f"{ASKER} guesses {thing.name}: right."
            return {seat: Outcome(text, 1.0, done=True, success=True) for seat in self.seats}
        self._wrong.append(thing)
        return self._count(f"No, it is not {thing.name}.")

    def _count(self, text: str) -> Mapping[str, Outcome]:
        """Takes one of the questions away, and ends the game with the last."""
        self._left -= 1
        if self._left == 0:
            return {seat: Outcome(f"{text} That was the last question. {self._secret()}", 0.0, done=True) for seat in self.seats}
        return self._tell(f"{text} Questions left: {self._left}.", "")

    def _tell(self, asker: str, answerer: str) -> Mapping[str, Outcome]:
        return {ASKER: Outcome(asker, 0.0), ANSWERER: Outcome(answerer, 0.0)}

    def _refuse(self, seat: str, text: str) -> Mapping[str, Outcome]:
        return {s: Outcome(text if s == seat else "", 0.0, invalid=s == seat) for s in self.seats}


@cache
def _listed(topic: str) -> tuple[str, ...]:
    """Returns questions about a topic, and all guesses."""
    things = topics()[topic].things
    return (*map(str, topics()[topic].offered(things)), *(f"guess {thing.name}" for thing in things))


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


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "unknown" if value is None else str(value)
