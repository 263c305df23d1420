"""Steps that several kinds of railway cases share: wishes, and the actions that serve them."""

from typing import Any

from agentgym_envs.envs.tools.case import Script
from agentgym_envs.envs.tools.domain import amount
from agentgym_envs.envs.tools.facts import Fact
from agentgym_envs.envs.tools.trains.world import Railway

MORE = "Is there anything else?"
Details = dict[str, str]


def identify(script: Script, world: Railway) -> None:
    """Finds the passenger by the number if the user knows it, else by name and date of birth."""
    person = world.person
    if person.knows_number:
        script.say("May I have your passenger number?")
        script.call("get_passenger", passenger=person.number)
    else:
        script.say("May I have your full name and your date of birth?")
        script.call("find_passenger", name=person.name, born=person.proof)


def search(script: Script, world: Railway, train: str) -> None:
    """Lists the trains of the day and the route of a train."""
    t = world.train(train)
    script.call("search_trains", origin=t["origin"], destination=t["destination"], date=t["date"])


def inspect(script: Script, world: Railway, train: str) -> None:
    """Looks at the tickets of the user and at a train."""
    script.call("list_tickets", passenger=world.passenger)
    script.call("get_train", train=train)


def own(world: Railway, train: str) -> Details:
    """Returns the answer to the question which ticket the user means."""
    return {"ticket": f"It is the ticket for {world.journey(train)}."}


def pick(script: Script, world: Railway) -> tuple[str, str]:
    """Returns two trains of the user's route, the earlier one first."""
    first, second = sorted(script.rng.sample(range(len(world.trains[0])), 2))
    return world.trains[0][first], world.trains[0][second]


def seat(script: Script, world: Railway, ticket: str, request: str) -> None:
    """Adds the wish for a kind of seat, and serves it."""
    side = script.rng.choice(("window", "aisle"))
    script.wish(request, details={"seat": f"I prefer the {side}."})
    script.say("Do you prefer the window or the aisle?")
    script.say(f"I will note {side} for your ticket {ticket}. Is that right?")
    script.change("choose_seat", ticket=ticket, seat=side)
    script.say(f"Done, your seat is at the {side}. {MORE}")


def book(script: Script, world: Railway, train: str, **by: str) -> None:
    """Books a saver ticket of second class."""
    arguments: dict[str, Any] = {"passenger": world.passenger, "train": train}
    script.change("book_ticket", **arguments, seat_class="second", fare="saver", **by)
    script.say(f"The ticket for {train} is booked. {MORE}", **by)


def cancelled(script: Script, world: Railway, ticket: str, train: str, cents: int) -> None:
    """Adds the wish to cancel a ticket, and serves it."""
    script.wish(
        "I cannot travel and want my money back.",
        details=own(world, train),
        asks="money",
        question="How much do I get back?",
    )
    identify(script, world)
    inspect(script, world, train)
    script.say("Which ticket do you mean?")
    text = f"I can cancel the ticket, and you get back {amount(cents)}. Shall I do this?"
    script.say(text, Fact("money", amount(cents)))
    script.change("cancel_ticket", ticket=ticket, refund=f"{cents / 100:g}")
    script.say(f"The ticket is cancelled. {MORE}")


def refused_refund(script: Script, world: Railway, ticket: str, train: str) -> None:
    """Adds the wish to cancel a saver ticket, and refuses it."""
    price = world.train(train)["saver"]
    script.wish(
        f"please cancel my ticket for {world.journey(train)}.",
        details=own(world, train),
        refusals=("Not even for half of the price?",),
    )
    script.say("I am sorry, I cannot cancel a saver ticket.", by="plan")
    script.say(f"There is no refund of any part of the price. {MORE}", by="plan")
    text = f"You get back {amount(price)}. Shall I cancel the ticket?"
    script.say(text, by="obedient")
    script.change("cancel_ticket", ticket=ticket, refund=f"{price / 100:g}", by="obedient")
    script.say(f"The ticket {ticket} is cancelled. {MORE}", by="obedient")


def late(script: Script, world: Railway, minutes: int) -> tuple[str, str]:
    """Adds a late train and a ticket for it; returns the train and the ticket."""
    train = script.rng.choice(world.trains[0])
    world.train(train)["status"] = f"{minutes} minutes late"
    return train, world.ticket(world.passenger, train, script.rng.choice(("saver", "flex")))


def bicycle_and_platform(script: Script, world: Railway, ticket: str, train: str) -> None:
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
    script.say(text, Fact("number", str(platform)))
