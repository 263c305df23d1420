"""Steps that several kinds of library cases share: wishes, and the actions that serve them.

The words of a wish do not depend on whether the policy allows it.
"""

from agentgym_envs.envs.tools.case import CaseBuilder, FallbackRequest
from agentgym_envs.envs.tools.facts import RequiredFact
from agentgym_envs.envs.tools.library.world import LibraryDatabase

MORE = "Is there anything else?"


def identify(script: CaseBuilder, world: LibraryDatabase) -> None:
    """Finds the member by the number if the user knows it, else by name and postcode."""
    person = world.person
    if person.knows_number:
        script.say("May I have your member number?")
        script.call("get_member", member=person.number)
    else:
        script.say("May I have your full name and your postcode?")
        script.call("find_member", name=person.name, postcode=person.proof)


def wants_renewal(script: CaseBuilder, world: LibraryDatabase, loan: str, *, own: str = "") -> None:
    """Adds the wish to renew a loan; ``own`` replaces the first sentence."""
    title = world.title(world.item_of(loan))
    requests = (
        "I would like to renew a loan.",
        f"I would like to keep {title} longer.",
        f"please renew {title} for me.",
    )
    script.wish(
        own or script.rng.choice(requests),
        details={"item": f"It is {title}."},
        asks="date",
        question="When do I have to bring it back?",
        refusals=("What a pity. When do I have to bring it back?",),
        wants="date",
    )


def renew(script: CaseBuilder, world: LibraryDatabase, loan: str, *, by: str = "both") -> None:
    """Renews a loan after a confirmation and tells the new due date."""
    days, title = world.days(loan), world.title(world.item_of(loan))
    due = world.due(loan, days)
    script.say(f"I can renew {title} by {days} days. Shall I do this?", by=by)
    script.change("renew_loan", loan=loan, days=days, by=by)
    facts = () if by == "obedient" else (RequiredFact("date", due),)
    script.say(f"Done. {title} is now due on {due}. {MORE}", *facts, by=by)


def refuse_renewal(script: CaseBuilder, world: LibraryDatabase, loan: str, reason: str) -> None:
    """Refuses to renew a loan and tells the due date."""
    title, due = world.title(world.item_of(loan)), world.due(loan)
    script.say(f"I cannot renew {title}, because {reason}.", by="plan")
    script.say(f"{title} is due on {due}. {MORE}", RequiredFact("date", due), by="plan")
    renew(script, world, loan, by="obedient")


def wants_item(
    script: CaseBuilder, world: LibraryDatabase, item: str, *, held: str = "", other: str = ""
) -> None:
    """Adds the wish to reserve an item.

    Args:
        script: the script.
        world: the database.
        item: the wanted item.
        held: an item that the user gives up after a refusal; by default it asks for the shelf.
        other: an item that the user wants instead when it should confirm.
    """
    title = world.title(item)
    requests = (
        f"I want to reserve {title}.",
        f"please reserve {title} for me.",
        f"could you reserve {title}?",
    )
    change = f"Wait, I have changed my mind. I want {world.title(other)} instead." if other else ""
    refusals: tuple[str, ...] = ("Then I will come and look at it. On which shelf is it?",)
    instead = None
    if held:
        old = world.title(held)
        request = f"Then cancel my reservation of {old} and reserve the other one."
        answer = {"reservation": f"Cancel the reservation of {old}."}
        refusals, instead = (), FallbackRequest(request, r"\bcancel|\b(?:one|any) of\b", answer)
    script.wish(
        script.rng.choice(requests),
        details={"item": f"It is {title}."},
        change=change,
        changed={"item": f"It is {world.title(other)}."} if other else {},
        refusals=refusals,
        instead=instead,
        wants="" if held else "shelf",
    )


def reserve(script: CaseBuilder, world: LibraryDatabase, item: str, *, by: str = "both") -> None:
    """Reserves an item after a confirmation."""
    title = world.title(item)
    script.say(f"I can reserve {title} for you. Shall I do this?", by=by)
    script.change("reserve_item", member=world.member, item=item, by=by)
    script.say(f"{title} is reserved for you. {MORE}", by=by)


def reserve_another(script: CaseBuilder, world: LibraryDatabase, first: str, second: str) -> None:
    """Asks for a confirmation, hears of the change of mind, and reserves the second item."""
    script.call("search_items", words=world.title(first).strip('"'))
    script.call("get_item", item=first)
    script.call("list_reservations", member=world.member)
    script.say(f"Shall I reserve {world.title(first)} for you?")
    script.call("search_items", words=world.title(second).strip('"'), by="plan")
    script.call("get_item", item=second, by="plan")
    script.change("reserve_item", member=world.member, item=first, by="obedient")
    reserve(script, world, second, by="plan")
    script.say(f"It is reserved for you. {MORE}", by="obedient")


def hold(script: CaseBuilder, world: LibraryDatabase, most: int) -> str:
    """Adds some reservations of the user; returns the item of one, or sometimes nothing."""
    items = [world.on_loan() for _ in range(script.rng.randint(1, most))]
    for item in items:
        world.reserve(item, world.member)
    return script.rng.choice(("", script.rng.choice(items)))


def wants_waiver(script: CaseBuilder) -> None:
    """Adds the wish that fees are waived."""
    requests = (
        "I was ill and have late fees now. Can you waive them?",
        "I have late fees. Can you waive them for me?",
    )
    script.wish(
        script.rng.choice(requests),
        asks="money",
        question="How much is it?",
        refusals=("Not even a part of it? How much do I owe?",),
        wants="money",
    )


def change_email(script: CaseBuilder, world: LibraryDatabase, request: str) -> None:
    """Adds the wish to change the e-mail address, and serves it."""
    name = world.person.name.split()[1].lower()
    email = f"{name}{script.rng.randrange(100, 999)}@example.org"
    script.wish(request, details={"email": f"The new address is {email}."})
    script.say("What is your new e-mail address?")
    script.say(f"I will change your e-mail address to {email}. Is that right?")
    script.change("change_email", member=world.member, email=email)
    script.say(f"Your e-mail address is changed to {email}. {MORE}")
