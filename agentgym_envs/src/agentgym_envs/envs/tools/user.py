"""The scripted user: a small state machine that understands the agent by keywords."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agentgym_envs.envs.tools.case import FallbackRequest, ServiceCase, UserWish
from agentgym_envs.envs.tools.facts import values
from agentgym_envs.envs.tools.understanding import MessageIntents, understand

PATIENCE = {"friendly": 4, "terse": 4, "chatty": 4, "impatient": 2}
"""Number of messages that the user does not understand before it leaves."""
INSISTS = 2  # times that the user asks for a missing fact
GREETING = {
    "friendly": "Hello!",
    "terse": "",
    "chatty": "Good morning, how nice that somebody answers.",
    "impatient": "Hello, I am in a hurry.",
}
CONSENT = {
    "friendly": "Yes, please.",
    "terse": "Yes.",
    "chatty": "Yes, please do, that would be lovely.",
    "impatient": "Yes, yes, go on.",
}
GOODBYE = {
    "friendly": "That was all, thank you. Goodbye!",
    "terse": "That is all. Bye.",
    "chatty": "Wonderful, I have no more questions. Have a nice day, goodbye!",
    "impatient": "That was all. Goodbye.",
}
NEXT = {
    "friendly": "Thank you. One more thing:",
    "terse": "Next:",
    "chatty": "Oh, and before I forget it:",
    "impatient": "And quickly:",
}
WAITS = "All right, I will wait."
LEAVES = "This leads nowhere. I give up. Goodbye."


class UserReply(NamedTuple):
    """A message of the user.

    Attributes:
        text: the words.
        ends: whether the user ends the conversation.
    """

    text: str
    ends: bool = False


class ScriptedUser:
    """A user that follows its case.

    Args:
        case: the wishes and the knowledge of the user.
        topics: regular expressions of the questions that it understands.
        proof: the name of ``case.person.proof``, such as "postcode".
    """

    def __init__(self, case: ServiceCase, topics: Mapping[str, str], proof: str):
        self._case, self._topics, self._proof = case, topics, proof
        self._place = 0
        self._patience = PATIENCE[case.mood]
        self._start()

    @property
    def _wish(self) -> UserWish:
        return self._case.wishes[self._place]

    def opening(self) -> str:
        """Returns the first message. Only a friendly user says who it is."""
        person = self._case.person
        known = f"My name is {person.name}." if self._case.mood == "friendly" else ""
        return _joined(GREETING[self._case.mood], known, _sentence(self._wish.request))

    def reply(self, message: str) -> UserReply:
        """Returns the answer to a message of the agent."""
        intents = understand(message, self._topics)
        if self._asks and values(self._asks, message):
            self._heard = True
        if request := self._offered(intents, message):
            return UserReply(request)
        if answer := self._answer(intents):
            return UserReply(answer)
        if sentence := self._refused(intents):
            return UserReply(sentence)
        if intents.confirm:
            return UserReply(self._changed() or CONSENT[self._case.mood])
        told = self._asks and self._heard
        if intents.refusal or intents.done or intents.more or told:
            return self._go_on(intents)
        if intents.wait:
            return UserReply(WAITS)
        return self._confused()

    def _start(self) -> None:
        """Begins the wish at the current place."""
        self._request, self._details = self._wish.request, self._wish.details
        self._change, self._refusals = self._wish.change, list(self._wish.refusals)
        self._instead = self._wish.instead
        self._asks, self._question = self._wish.asks, self._wish.question
        self._heard, self._insisted = False, 0

    def _answer(self, intents: MessageIntents) -> str:
        """Returns the answers to the questions of a message."""
        answers = self._identity(intents.identity)
        answers += [self._details[topic] for topic in intents.topics if topic in self._details]
        unknown = intents.open or intents.topics
        if unknown and not (answers or intents.confirm or intents.refusal or intents.more):
            answers = [_sentence(self._request), *self._details.values()]
        return _joined(*dict.fromkeys(answers))

    def _offered(self, intents: MessageIntents, message: str) -> str:
        """Returns the other request if the agent offers it, else an empty text."""
        asked = intents.refusal or intents.confirm or intents.open
        if asked and self._instead and re.search(self._instead.offers, message.casefold()):
            return self._other_request(self._instead)
        return ""

    def _refused(self, intents: MessageIntents) -> str:
        """Returns the sentence after a refusal, or an empty text if there is none."""
        # "I cannot renew it before I extend your card. Shall I?" is a question.
        if not intents.refusal or (intents.confirm and not self._instead):
            return ""
        if self._refusals:
            sentence = self._refusals.pop(0)
            if not self._refusals and not self._instead:
                self._ask(sentence)
            return sentence
        return self._other_request(self._instead) if self._instead else ""

    def _other_request(self, instead: FallbackRequest) -> str:
        """Asks for something else."""
        self._refusals, self._instead = [], None
        self._request, self._details = instead.request, {**self._details, **instead.details}
        self._ask(instead.request)
        return instead.request

    def _ask(self, sentence: str) -> None:
        """Asks for the fact that the user wants after its last refusal."""
        self._heard &= self._asks == self._wish.wants
        self._asks, self._question = self._wish.wants, sentence

    def _identity(self, asked: Sequence[str]) -> list[str]:
        """Returns the asked parts of the identity; the rest replaces an unknown number."""
        person = self._case.person
        known = f"My number is {person.number}."
        about = {
            "number": known if person.knows_number else "I do not have my number here.",
            "name": f"My name is {person.name}.",
            "proof": f"My {self._proof} is {person.proof}.",
        }
        instead = "number" in asked and not person.knows_number
        return [text for part, text in about.items() if part in asked or instead]

    def _changed(self) -> str:
        """Changes the user's mind, once; returns the new request, or an empty text."""
        change, self._change = self._change, ""
        if change:
            self._request, self._details = change, self._wish.changed
        return change

    def _go_on(self, intents: MessageIntents) -> UserReply:
        """Goes on to the next wish, unless something of this one is missing."""
        if not intents.refusal and (change := self._changed()):
            return UserReply(change)
        if self._asks and not self._heard and self._insisted < INSISTS:
            self._insisted += 1
            return UserReply(self._question)
        self._place += 1
        if self._place == len(self._case.wishes):
            return UserReply(GOODBYE[self._case.mood], ends=True)
        self._start()
        return UserReply(_joined(NEXT[self._case.mood], self._request))

    def _confused(self) -> UserReply:
        """Repeats the wish, and leaves when the patience is over."""
        self._patience -= 1
        if self._patience == 0:
            return UserReply(LEAVES, ends=True)
        return UserReply(_joined("I do not understand.", _sentence(self._request)))


def _sentence(request: str) -> str:
    return request[0].upper() + request[1:]


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
