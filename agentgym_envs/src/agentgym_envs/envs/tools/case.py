"""Cases: the content of a task, and the script that solves it."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentgym_envs.envs.tools.domain import Database
from agentgym_envs.envs.tools.facts import RequiredFact

MOODS = ("friendly", "terse", "chatty", "impatient")


@dataclass(frozen=True)
class UserIdentity:
    """The identity of the user.

    Attributes:
        name: the full name.
        proof: the postcode or the date of birth.
        number: the id in the database.
        knows_number: whether the user has its number at hand.
    """

    name: str
    proof: str
    number: str
    knows_number: bool


@dataclass(frozen=True)
class FallbackRequest:
    """Another request, which a user makes after a refusal.

    Attributes:
        request: the sentence.
        offers: regular expression of questions that offer it.
        details: answers to questions after the request, by topic.
    """

    request: str
    offers: str
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class UserWish:
    """One thing that the user wants.

    Wishes of one form occur with a database in which the policy allows them, and with one in which
    it forbids them. Their words do not say which one it is, neither before nor after a refusal.

    Attributes:
        request: the first sentence.
        details: answers to questions, by topic.
        change: another request, which replaces the first one before it is confirmed.
        changed: answers after the change.
        asks: the kind of the fact that the user wants to hear.
        question: the question about that fact.
        refusals: sentences after refusals, in order.
        instead: the request after the other refusals.
        wants: the kind of the fact that the user asks for after its last refusal.
    """

    request: str
    details: Mapping[str, str] = field(default_factory=dict)
    change: str = ""
    changed: Mapping[str, str] = field(default_factory=dict)
    asks: str = ""
    question: str = ""
    refusals: tuple[str, ...] = ()
    instead: FallbackRequest | None = None
    wants: str = ""


@dataclass(frozen=True)
class ServiceCase:
    """The content of a task.

    Attributes:
        today: the date.
        database: at the start; it never changes.
        person: the user's identity.
        mood: one of ``MOODS``.
        wishes: in the order in which the user mentions them.
        plan: actions that solve the task.
        gold: the actions of the plan that change the database.
        facts: the values that the user must learn.
        obedient: actions of an agent that ignores the policy.
        busy: whether the first change of the database fails once.
    """

    today: str
    database: Database
    person: UserIdentity
    mood: str
    wishes: tuple[UserWish, ...]
    plan: tuple[str, ...]
    gold: tuple[str, ...]
    facts: tuple[RequiredFact, ...]
    obedient: tuple[str, ...]
    busy: bool


class CaseBuilder:
    """Collects a case: the user's wishes, and the actions that serve them.

    Attributes:
        rng: the random generator of the task.
        mood: of the user.
        busy: see :class:`ServiceCase`.
    """

    def __init__(self, rng: random.Random, mood: str, busy: bool):
        self.rng, self.mood, self.busy = rng, mood, busy
        self.wishes: list[UserWish] = []
        self.facts: list[RequiredFact] = []
        self._steps: list[tuple[str, str]] = []
        self._gold: list[str] = []

    def wish(self, request: str, **more: object) -> None:
        """Adds a wish; see :class:`UserWish` for the keywords."""
        self.wishes.append(UserWish(request, **more))  # type: ignore[arg-type]

    def say(self, text: str, *facts: RequiredFact, by: str = "both") -> None:
        """Adds a message that tells some required facts.

        Args:
            text: the message.
            facts: the values in it that the user must learn.
            by: "plan", "obedient" or "both".
        """
        self._steps.append((by, f"say {text}"))
        self.facts += facts

    def call(self, name: str, /, *, by: str = "both", **arguments: object) -> None:
        """Adds a call that reads the database."""
        self._steps.append((by, written(name, **arguments)))

    def change(self, name: str, /, *, by: str = "both", **arguments: object) -> None:
        """Adds a call that changes the database."""
        action = written(name, **arguments)
        self._steps.append((by, action))
        if by != "obedient":
            self._gold.append(action)

    def case(self, today: str, database: Database, person: UserIdentity) -> ServiceCase:
        """Returns the case."""
        return ServiceCase(
            today=today,
            database=database,
            person=person,
            mood=self.mood,
            wishes=tuple(self.wishes),
            plan=tuple(step for by, step in self._steps if by != "obedient"),
            gold=tuple(self._gold),
            facts=tuple(self.facts),
            obedient=tuple(step for by, step in self._steps if by != "plan"),
            busy=self.busy,
        )


def written(name: str, /, **arguments: object) -> str:
    """Returns a call as text.

    >>> written("renew_loan", loan="L-4821", days=21)
    'renew_loan loan=L-4821 days=21'
    """
    return " ".join([name, *(f"{key}={value}" for key, value in arguments.items())])
