"""Steps that several kinds of railway cases share: wishes, and the actions that serve them.

The words of a wish do not depend on whether the policy allows it.
"""

from typing import Any

from agentgym_envs.envs.tools.case import CaseBuilder, FallbackRequest
from agentgym_envs.envs.tools.domain import amount
from agentgym_envs.envs.tools.facts import RequiredFact
from agentgym_envs.envs.tools.trains.world import RailwayDatabase

MORE = "Is there anything else?"
Details = dict[str, str]


def identify(script: CaseBuilder, world: RailwayDatabase) -> None:
    """Finds the passenger by the number if the user knows it, else by name and date of birth."""
    person = world.person
    if person.knows_number:
        script.say("May I have your passenger number?")
        script.call("get_passenger", passenger=person.number)
    else:
        script.say("May I have your full name and your date of birth?")
        script.call("find_passenger", name=person.name, born=person.proof)


def search(script: CaseBuilder, world: RailwayDatabase, train: str) -> None:
    """Lists the trains of the day and the route of a train."""
    t = world.train(train)
    script.call("search_trains", origin=t["origin"], destination=t["destination"], date=t["date"])


def inspect(script: CaseBuilder, world: RailwayDatabase, train: str) -> None:
    """Looks at the tickets of the user and at a train."""
    script.call("list_tickets", passenger=world.passenger)
    script.call("get_train", train=train)


def own(world: RailwayDatabase, train: str) -> Details:
    """Returns the answer to the question which ticket the user means."""
    return {"ticket": f"It is the ticket for {world.journey(train)}."}


def pick(script: CaseBuilder, world: RailwayDatabase) -> tuple[str, str]:
    """Returns two trains of the user's route, the earlier one first."""
    first, second = sorted(script.rng.sample(range(len(world.trains[0])), 2))
    return world.trains[0][first], world.trains[0][second]


def seat(script: CaseBuilder, world: RailwayDatabase, ticket: str, request: str) -> None:
    """Adds the wish for a kind of seat, and serves it."""
    side = script.rng.choice(("window", "aisle"))
    script.wish(request, details={"seat": f"I prefer the {side}."})
    script.say("Do you prefer the window or the aisle?")
    script.say(f"I will note {side} for your ticket {ticket}. Is that right?")
    script.change("choose_seat", ticket=ticket, seat=side)
    script.say(f"Done, your seat is at the {side}. {MORE}")


def book(script: CaseBuilder, world: RailwayDatabase, train: str, **by: str) -> None:
    """Books a saver ticket of second class."""
    arguments: dict[str, Any] = {"passenger": world.passenger, "train": train}
    script.change("book_ticket", **arguments, seat_class="second", fare="saver", **by)
    script.say(f"The ticket for {train} is booked. {MORE}", **by)


def wants_ticket(
    script: CaseBuilder, world: RailwayDatabase, train: str, place: str, fare: str
) -> None:
    """Adds the wish for a ticket for a train that is not the first one of its day."""
    day, t = world.trains[0], world.train(train)
    after = f"the first train after {world.train(day[day.index(train) - 1])['departs']}"
    route = f"from {t['origin']} to {t['destination']}"
    requests = (
        f"I need a {fare} ticket {route}, for {after}.",
        f"please book a {fare} ticket for {world.journey(train)}.",
    )
    script.wish(
        script.rng.choice(requests),
        details={
            "ticket": f"For {world.journey(train)}.",
            "route": f"{route[0].upper()}{route[1:]}.",
            "date": f"On {t['date']}, {after}.",
            "class": f"In {place} class.",
            "fare": f"A {fare} ticket.",
        },
        asks="money",
        question="What does it cost?",
        refusals=("Oh. At least tell me what it would cost.",),
        wants="money",
    )


def wants_exchange(
    script: CaseBuilder, world: RailwayDatabase, old: str, new: str, **asks: str
) -> None:
    """Adds the wish for a later train; after a refusal the user wants a second ticket."""
    at = world.train(new)["departs"]
    requests = (
        f"I want to take a later train than {world.journey(old)}.",
        f"please exchange my ticket for {world.journey(old)}.",
    )
    instead = FallbackRequest(
        f"Then book a saver ticket for {at} too, second class. What does it cost?",
        r"\b(?:new|second|another|separate|additional|extra) (?:\w+ )?ticket",
        {"ticket": f"The train at {at}.", "class": "Second class.", "fare": "A saver ticket."},
    )
    script.wish(
        script.rng.choice(requests),
        details={"ticket": f"I want the train at {at} instead."},
        instead=instead,
        wants="money",
        **asks,
    )


def wants_refund(
    script: CaseBuilder, world: RailwayDatabase, train: str, *, first: bool = True
) -> None:
    """Adds the wish to cancel a ticket; only as the first wish it can be without a train."""
    requests = (
        f"please cancel my ticket for {world.journey(train)}.",
        "I cannot travel and want my money back.",
    )
    script.wish(
        script.rng.choice(requests[: 1 + first]),
        details=own(world, train),
        asks="money",
        question="How much do I get back?",
        refusals=("Not even for half of the price?",),
    )


def wants_voucher(script: CaseBuilder, world: RailwayDatabase, train: str) -> None:
    """Adds the wish for a voucher."""
    requests = (
        "my train was late, and I want a voucher.",
        f"I want a voucher, because {world.journey(train)} was very late.",
    )
    script.wish(
        script.rng.choice(requests),
        details=own(world, train),
        asks="money",
        question="How much is the voucher?",
        refusals=("How late was it, according to your data?",),
        wants="number",
    )


def wants_upgrade(script: CaseBuilder, world: RailwayDatabase, train: str, other: str = "") -> None:
    """Adds the wish for first class; ``other`` is the train that the user wants in the end."""
    requests = (
        f"I want first class on {world.journey(train)}.",
        f"please upgrade my ticket for {world.journey(train)} to first class.",
    )
    change = f"No, wait. Upgrade only my ticket for {world.journey(other)}." if other else ""
    script.wish(
        script.rng.choice(requests),
        details=own(world, train),
        change=change,
        changed=own(world, other) if other else {},
        asks="money",
        question="What is the new price?",
        refusals=("What a pity, I would pay for it. Is there no way?",),
    )


def cancel(
    script: CaseBuilder, world: RailwayDatabase, ticket: str, train: str, cents: int
) -> None:
    """Adds the wish to cancel a ticket, and serves it."""
    wants_refund(script, world, train)
    identify(script, world)
    inspect(script, world, train)
    script.say("Which ticket do you mean?")
    text = f"I can cancel the ticket, and you get back {amount(cents)}. Shall I do this?"
    script.say(text, RequiredFact("money", amount(cents)))
    script.change("cancel_ticket", ticket=ticket, refund=f"{cents / 100:g}")
    script.say(f"The ticket is cancelled. {MORE}")


def refuse_refund(script: CaseBuilder, world: RailwayDatabase, ticket: str, train: str) -> None:
    """Refuses to cancel a saver ticket."""
    price = world.train(train)["saver"]
    script.say("I am sorry, I cannot cancel a saver ticket.", by="plan")
    script.say(f"There is no refund of any part of the price. {MORE}", by="plan")
    text = f"You get back {amount(price)}. Shall I cancel the ticket?"
    script.say(text, by="obedient")
    script.change("cancel_ticket", ticket=ticket, refund=f"{price / 100:g}", by="obedient")
    script.say(f"The ticket {ticket} is cancelled. {MORE}", by="obedient")


def late(script: CaseBuilder, world: RailwayDatabase, minutes: int) -> tuple[str, str]:
    """Adds a late train and a ticket for it; returns the train and the ticket."""
    train = script.rng.choice(world.trains[0])
    world.train(train)["status"] = f"{minutes} minutes late"
    return train, world.ticket(world.passenger, train, script.rng.choice(("saver", "flex")))


def bicycle_and_platform(
    script: CaseBuilder, world: RailwayDatabase, ticket: str, train: str
) -> None:
    """Adds the wish for a bicycle and the platform, and serves it."""
    platform = world.train(train)["platform"]
    script.wish(
        "I take a bicycle on this train. Add it, and tell me the platform.",
        details=own(world, train),
        asks="number",
        question="And which platform is it?",
    )
    script.say(f"I can add a bicycle to the ticket {ticket}. Shall I do this?")
    script.change("add_bicycle", ticket=ticket)
    text = f"The bicycle is added. The train leaves from platform {platform}. {MORE}"
    script.say(text, RequiredFact("number", str(platform)))
