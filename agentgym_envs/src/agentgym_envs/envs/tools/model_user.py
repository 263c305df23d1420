"""A user that is a model behind an OpenAI-compatible server."""

import random

from agentgym_envs.envs.tools.case import ServiceCase, UserWish
from agentgym_envs.envs.tools.user import UserReply
from agentgym_envs.multi.model import ModelPlayer

END = "[END]"
BEGIN = "(Write your first message.)"


class ModelUser:
    """A model that plays the user of a case.

    Args:
        case: the wishes and the knowledge of the user.
        proof: the name of ``case.person.proof``.
        model: its name at the server; see :class:`.ModelPlayer` for the errors.
    """

    def __init__(self, case: ServiceCase, proof: str, model: str):
        self._player = ModelPlayer(rules(case, proof), model)

    @staticmethod
    def check(model: str) -> None:
        """Checks the settings of the server.

        Raises:
            ArgumentError: the key is missing.
        """
        ModelPlayer("", model)

    def opening(self) -> str:
        """Returns the first message."""
        return self.reply(BEGIN).text

    def reply(self, message: str) -> UserReply:
        """Returns the answer to a message of the agent."""
        said = self._player(message or "…", random.Random(0))
        text = " ".join(said.replace(END, "").split())
        return UserReply(text or "…", END in said)


def rules(case: ServiceCase, proof: str) -> str:
    """Returns the system prompt of the user."""
    person = case.person
    number = (
        f"your number is {person.number}"
        if person.knows_number
        else "you do not have your number at hand"
    )
    return "\n".join(
        [
            "You are a person who talks to an agent of a service. You are not the agent."
            " Write one short message at a time, and nothing else.",
            f"Your name is {person.name}, your {proof} is {person.proof}, and {number}. Say this"
            " only if the agent asks. You know nothing that is not written here.",
            f"Your mood: {case.mood}.",
            "You have these wishes, one after the other. Mention the next one only after the agent"
            " has served or finally refused the one before.",
            *(f"{n}. {_told(wish)}" for n, wish in enumerate(case.wishes, 1)),
            f"After the last wish say goodbye, and write {END} at the end of that message.",
        ]
    )


def _told(wish: UserWish) -> str:
    """Returns the instructions about a wish."""
    parts = [f'You say: "{wish.request}"']
    parts += [f'If asked about the {t}: "{text}"' for t, text in wish.details.items()]
    if wish.change:
        parts.append(f'When the agent asks you to confirm, change your mind: "{wish.change}"')
        parts += [f'Then, if asked about the {t}: "{x}"' for t, x in wish.changed.items()]
    parts += [f'If the agent refuses, say: "{text}"' for text in wish.refusals]
    if wish.instead:
        parts.append(
            f'If the agent refuses and you have nothing else to say: "{wish.instead.request}"'
        )
        parts += [f'Then, if asked about the {t}: "{x}"' for t, x in wish.instead.details.items()]
    if wish.question:
        parts.append(f'If the agent did not say it, ask: "{wish.question}"')
    return " ".join(parts)
