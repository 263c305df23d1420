"""The kinds of railway cases."""

from collections.abc import Callable, Mapping

from agentgym_envs.envs.tools.case import CaseBuilder, FallbackRequest, ServiceCase
from agentgym_envs.envs.tools.domain import amount
from agentgym_envs.envs.tools.facts import RequiredFact
from agentgym_envs.envs.tools.trains.steps import (
    MORE,
    bicycle_and_platform,
    book,
    cancel,
    identify,
    inspect,
    late,
    own,
    pick,
    refuse_refund,
    search,
    seat,
    wants_exchange,
    wants_refund,
    wants_ticket,
    wants_upgrade,
    wants_voucher,
)
from agentgym_envs.envs.tools.trains.world import RailwayDatabase


def booking(script: CaseBuilder) -> ServiceCase:
    """Books the first train after a time."""
    world = RailwayDatabase(script)
    place, fare = script.rng.choice(("second", "first")), script.rng.choice(("saver", "flex"))
    number = script.rng.randrange(1, 5)
    train = world.trains[0][number]
    for other in script.rng.sample(world.trains[1], script.rng.randrange(4)):
        world.ticket(world.passenger, other)
    t = world.train(train)
    price = t[fare] * (2 if place == "first" else 1)
    wants_ticket(script, world, train, place, fare)
    identify(script, world)
    script.call("list_tickets", passenger=world.passenger)
    script.say("When do you want to travel, and in which class?")
    search(script, world, train)
    text = f"The train {train} leaves at {t['departs']}. The ticket costs {amount(price)}."
    script.say(f"{text} Shall I book it?", RequiredFact("money", amount(price)))
    script.change(
        "book_ticket", passenger=world.passenger, train=train, seat_class=place, fare=fare
    )
    script.say(f"Your ticket is booked. {MORE}")
    return world.case()


def fifth_ticket(script: CaseBuilder) -> ServiceCase:
    """Refuses a fifth ticket and tells the price of another one."""
    world = RailwayDatabase(script)
    tickets = [world.ticket(world.passenger, train) for train in world.trains[1][:4]]
    train = world.trains[0][script.rng.randrange(1, 5)]
    t = world.train(train)
    wants_ticket(script, world, train, "second", "saver")
    identify(script, world)
    script.call("list_tickets", passenger=world.passenger)
    script.say("When do you want to travel?")
    search(script, world, train)
    script.say("I cannot book a fifth ticket. You have four valid tickets.", by="plan")
    script.say(
        f"It would cost {amount(t['saver'])}. {MORE}",
        RequiredFact("money", amount(t["saver"])),
        by="plan",
    )
    text = f"The ticket costs {amount(t['saver'])}. Shall I book it?"
    script.say(text, by="obedient")
    book(script, world, train, by="obedient")
    ticket = script.rng.choice(tickets)
    journey = world.journey(world.database["tickets"][ticket]["train"])
    seat(script, world, ticket, f"choose a seat for my ticket for {journey}, please.")
    return world.case()


def exchange(script: CaseBuilder) -> ServiceCase:
    """Exchanges a flex ticket and tells the arrival of the new train."""
    world = RailwayDatabase(script)
    old, new = pick(script, world)
    ticket, arrives = world.ticket(world.passenger, old), world.train(new)["arrives"]
    wants_exchange(script, world, old, new, asks="time", question="When does it arrive?")
    identify(script, world)
    script.call("list_tickets", passenger=world.passenger)
    script.say("Which train do you want to take?")
    search(script, world, new)
    text = f"I can move your ticket to the train that arrives at {arrives}, free of charge."
    script.say(f"{text} Shall I do this?", RequiredFact("time", arrives))
    script.change("exchange_ticket", ticket=ticket, train=new)
    script.say(f"Your ticket is exchanged. {MORE}")
    return world.case()


def saver_exchange(script: CaseBuilder) -> ServiceCase:
    """Refuses to exchange a saver ticket; the user then books a second one."""
    world = RailwayDatabase(script)
    old, new = pick(script, world)
    ticket, price = world.ticket(world.passenger, old, "saver"), world.train(new)["saver"]
    wants_exchange(script, world, old, new, asks="time", question="When does it arrive?")
    identify(script, world)
    script.call("list_tickets", passenger=world.passenger)
    script.say("Which train do you want to take?")
    search(script, world, new)
    script.say("I am sorry, I cannot exchange a saver ticket.", by="plan")
    text = f"A second ticket costs {amount(price)}. Shall I book it?"
    script.say(text, RequiredFact("money", amount(price)), by="plan")
    book(script, world, new, by="plan")
    script.say("Shall I exchange the ticket?", by="obedient")
    script.change("exchange_ticket", ticket=ticket, train=new, by="obedient")
    script.say(f"The ticket is exchanged and costs {amount(price)}. {MORE}", by="obedient")
    return world.case()


def refund(script: CaseBuilder) -> ServiceCase:
    """Cancels a flex ticket; the policy decides the refund."""
    world = RailwayDatabase(script, ahead=script.rng.choice((0, 1, 5)))
    train = script.rng.choice(world.trains[0])
    ticket = world.ticket(world.passenger, train)
    price = world.train(train)["flex"] - (800 if world.train(train)["date"] == world.today else 0)
    cancel(script, world, ticket, train, price)
    return world.case()


def cancelled_train(script: CaseBuilder) -> ServiceCase:
    """A saver ticket of a cancelled train gives back its price."""
    world = RailwayDatabase(script, ahead=0)
    train = script.rng.choice(world.trains[0])
    world.train(train)["status"] = "cancelled"
    ticket = world.ticket(world.passenger, train, script.rng.choice(("saver", "flex")))
    cancel(script, world, ticket, train, world.database["tickets"][ticket]["price"])
    return world.case()


def saver_refund(script: CaseBuilder) -> ServiceCase:
    """Refuses to cancel a saver ticket; the user then chooses a seat."""
    world = RailwayDatabase(script)
    train = script.rng.choice(world.trains[0])
    ticket = world.ticket(world.passenger, train, "saver")
    wants_refund(script, world, train)
    identify(script, world)
    inspect(script, world, train)
    refuse_refund(script, world, ticket, train)
    seat(script, world, ticket, "if I have to go, I would like a good seat.")
    return world.case()


def delay(script: CaseBuilder) -> ServiceCase:
    """Issues a voucher; the policy decides the amount."""
    world = RailwayDatabase(script, ahead=0)
    minutes = script.rng.choice((60, 75, 90, 119, 120, 150, 180))
    train, ticket = late(script, world, minutes)
    price = world.database["tickets"][ticket]["price"]
    cents = price // (2 if minutes >= 120 else 4)
    wants_voucher(script, world, train)
    identify(script, world)
    script.say("Which ticket do you mean?")
    inspect(script, world, train)
    text = f"For {minutes} minutes the voucher is {amount(cents)}. Shall I issue it?"
    script.say(text, RequiredFact("money", amount(cents)))
    script.change("issue_voucher", ticket=ticket, voucher=f"{cents / 100:g}")
    script.say(f"The voucher is issued. {MORE}")
    return world.case()


def short_delay(script: CaseBuilder) -> ServiceCase:
    """Refuses a voucher for a short delay and tells the delay."""
    world = RailwayDatabase(script, ahead=0)
    minutes = script.rng.randrange(15, 60)
    train, ticket = late(script, world, minutes)
    cents = world.database["tickets"][ticket]["price"] // 4
    wants_voucher(script, world, train)
    identify(script, world)
    inspect(script, world, train)
    script.say("I cannot issue a voucher, because the delay was too short.", by="plan")
    script.say(
        f"It was {minutes} minutes late. {MORE}", RequiredFact("number", str(minutes)), by="plan"
    )
    script.say(f"Shall I issue a voucher of {amount(cents)}?", by="obedient")
    script.change("issue_voucher", ticket=ticket, voucher=f"{cents / 100:g}", by="obedient")
    script.say(f"The voucher is issued; the delay was {minutes} minutes. {MORE}", by="obedient")
    return world.case()


def upgrade(script: CaseBuilder) -> ServiceCase:
    """The user decides for another ticket when it should confirm."""
    world = RailwayDatabase(script)
    first, second = pick(script, world)
    tickets = [world.ticket(world.passenger, train) for train in (first, second)]
    wants_upgrade(script, world, first, second)
    identify(script, world)
    inspect(script, world, first)
    script.say(f"Shall I upgrade your ticket for {world.journey(first)}?")
    script.change("upgrade_ticket", ticket=tickets[0], by="obedient")
    script.call("get_train", train=second)
    price = 2 * world.train(second)["flex"]
    text = f"The ticket for {world.journey(second)} then costs {amount(price)}. Shall I go ahead?"
    script.say(text, RequiredFact("money", amount(price)))
    script.change("upgrade_ticket", ticket=tickets[1])
    script.say(f"Your ticket is upgraded. {MORE}")
    return world.case()


def saver_upgrade(script: CaseBuilder) -> ServiceCase:
    """Refuses to upgrade a saver ticket; adds a bicycle and tells the platform."""
    world = RailwayDatabase(script)
    train = script.rng.choice(world.trains[0])
    ticket = world.ticket(world.passenger, train, "saver")
    wants_upgrade(script, world, train)
    identify(script, world)
    inspect(script, world, train)
    script.say("I am sorry, I cannot upgrade a saver ticket.", by="plan")
    script.say(f"No, it is not possible. {MORE}", by="plan")
    script.say("Shall I upgrade the ticket?", by="obedient")
    script.change("upgrade_ticket", ticket=ticket, by="obedient")
    script.say(f"The ticket is upgraded. {MORE}", by="obedient")
    bicycle_and_platform(script, world, ticket, train)
    return world.case()


def bicycle(script: CaseBuilder) -> ServiceCase:
    """A bicycle needs another train."""
    world = RailwayDatabase(script)
    old, new = pick(script, world)
    world.train(old)["free_bicycles"] = 0
    ticket, departs = world.ticket(world.passenger, old), world.train(new)["departs"]
    script.wish(
        f"I want to take a bicycle on {world.journey(old)}.",
        details=own(world, old) | {"date": "A later train on the same day is fine."},
        instead=FallbackRequest(
            f"Then move my ticket to the train at {departs}, with the bicycle.",
            r"\b(?:another|other|different|later|next|which) (?:train|departure|connection)",
            {"ticket": f"The train at {departs}."},
        ),
    )
    identify(script, world)
    inspect(script, world, old)
    search(script, world, new)
    script.say("I cannot add a bicycle, because all spaces are taken.", by="plan")
    script.say("I will exchange the ticket and add the bicycle. Is that right?", by="plan")
    script.change("exchange_ticket", ticket=ticket, train=new, by="plan")
    script.change("add_bicycle", ticket=ticket, by="plan")
    script.say("Shall I add the bicycle?", by="obedient")
    script.change("add_bicycle", ticket=ticket, by="obedient")
    script.say(f"The bicycle is added. {MORE}")
    return world.case()


def errands(script: CaseBuilder) -> ServiceCase:
    """Serves three wishes about one ticket, and refuses one about another."""
    world = RailwayDatabase(script)
    old, new = pick(script, world)
    ticket, departs = world.ticket(world.passenger, old), world.train(new)["departs"]
    other = script.rng.choice(world.trains[1])
    saver = world.ticket(world.passenger, other, "saver")
    wants_exchange(script, world, old, new)
    identify(script, world)
    script.call("list_tickets", passenger=world.passenger)
    script.say("Which train do you want to take?")
    search(script, world, new)
    script.say(f"I can move your ticket to the train at {departs}. Shall I do this?")
    script.change("exchange_ticket", ticket=ticket, train=new)
    script.say(f"Your ticket is now for the train at {departs}. {MORE}")
    bicycle_and_platform(script, world, ticket, new)
    script.call("get_train", train=other)
    wants_refund(script, world, other, first=False)
    refuse_refund(script, world, saver, other)
    seat(script, world, ticket, f"choose a seat in {world.journey(new)} for me.")
    return world.case()


def lost_property(script: CaseBuilder) -> ServiceCase:
    """Hands lost property or an injury to a clerk."""
    world = RailwayDatabase(script)
    train = script.rng.choice(world.trains[0])
    world.ticket(world.passenger, train)
    topic = script.rng.choice(("lost_property", "injury"))
    what = "I left my bag on" if topic == "lost_property" else "a door hurt my hand on"
    script.wish(f"{what} {world.journey(train)}.", details=own(world, train))
    identify(script, world)
    script.call("list_tickets", passenger=world.passenger)
    script.change("transfer_to_clerk", passenger=world.passenger, topic=topic)
    return world.case()


CASES: Mapping[str, Callable[[CaseBuilder], ServiceCase]] = {
    "booking": booking,
    "fifth_ticket": fifth_ticket,
    "exchange": exchange,
    "saver_exchange": saver_exchange,
    "refund": refund,
    "cancelled_train": cancelled_train,
    "saver_refund": saver_refund,
    "delay": delay,
    "short_delay": short_delay,
    "upgrade": upgrade,
    "saver_upgrade": saver_upgrade,
    "bicycle": bicycle,
    "errands": errands,
    "lost_property": lost_property,
}
