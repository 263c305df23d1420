"""The kinds of library cases."""

from collections.abc import Callable, Mapping

from agentgym_envs.envs.tools.case import CaseBuilder, ServiceCase
from agentgym_envs.envs.tools.domain import amount, later
from agentgym_envs.envs.tools.facts import RequiredFact
from agentgym_envs.envs.tools.library.steps import (
    MORE,
    change_email,
    hold,
    identify,
    refuse_renewal,
    renew,
    reserve,
    reserve_another,
    wants_item,
    wants_renewal,
    wants_waiver,
)
from agentgym_envs.envs.tools.library.world import LibraryDatabase


def renewal(script: CaseBuilder) -> ServiceCase:
    """Renews a loan; the policy decides the days."""
    world = LibraryDatabase(script)
    loan = world.loan(world.member, world.kind(), renewals=script.rng.randrange(2))
    world.loan(world.member)
    wants_renewal(script, world, loan)
    _look_up(script, world, loan)
    renew(script, world, loan)
    return world.case()


def reserved(script: CaseBuilder) -> ServiceCase:
    """Refuses to renew a reserved item and tells the due date."""
    world = LibraryDatabase(script)
    loan = world.loan(world.member, world.kind(), renewals=script.rng.randrange(2))
    world.loan(world.member)
    world.reserve(world.item_of(loan), world.other())
    wants_renewal(script, world, loan)
    _look_up(script, world, loan)
    refuse_renewal(script, world, loan, "another member has reserved it")
    return world.case()


def twice_renewed(script: CaseBuilder) -> ServiceCase:
    """Refuses a third renewal; the user then changes its e-mail address."""
    world = LibraryDatabase(script)
    loan = world.loan(world.member, world.kind(), renewals=2)
    world.loan(world.member)
    wants_renewal(script, world, loan)
    _look_up(script, world, loan)
    refuse_renewal(script, world, loan, "it has been renewed twice")
    change_email(script, world, "my e-mail address has changed.")
    return world.case()


def _look_up(script: CaseBuilder, world: LibraryDatabase, loan: str) -> None:
    """Identifies the user and looks up a loan."""
    identify(script, world)
    script.call("list_loans", member=world.member)
    script.say("Which item do you want to renew?")
    script.call("get_item", item=world.item_of(loan))


def all_loans(script: CaseBuilder) -> ServiceCase:
    """Renews those of several loans that the policy allows."""
    world = LibraryDatabase(script)
    good = [world.loan(world.member, world.kind()) for _ in range(2)]
    bad = world.loan(world.member, renewals=2)
    title, due = world.title(world.item_of(bad)), world.due(bad)
    request = "please renew all that I have borrowed, and tell me what I cannot keep, and until"
    script.wish(
        f"{request} when I can keep it.",
        asks="date",
        question="And until when can I keep the rest?",
    )
    identify(script, world)
    script.call("list_loans", member=world.member)
    for loan in (*good, bad):
        script.call("get_item", item=world.item_of(loan))
    script.say("I can renew two loans. Shall I do this?")
    for loan in good:
        script.change("renew_loan", loan=loan, days=world.days(loan))
    script.change("renew_loan", loan=bad, days=world.days(bad), by="obedient")
    text = f"Two loans are renewed. {title} was renewed twice before and is due on {due}."
    script.say(f"{text} {MORE}", RequiredFact("date", due))
    return world.case()


def reservation(script: CaseBuilder) -> ServiceCase:
    """Reserves a book of which the user knows the author and a word of the title."""
    world = LibraryDatabase(script)
    item = world.on_loan()
    due = next(v["due"] for v in world.database["loans"].values() if v["item"] == item)
    author, title = world.database["items"][item]["author"], world.title(item)
    word = title.strip('"').split()[-1]
    script.wish(
        f'could you reserve a book by "{author}" for me? I do not remember the title.',
        details={"item": f'I only remember the word "{word}" in the title.'},
        asks="date",
        question="Until when is it out?",
    )
    identify(script, world)
    script.say("Do you remember a word of the title?")
    script.call("search_items", words=f"{author} {word}")
    script.call("get_item", item=item)
    script.call("list_reservations", member=world.member)
    script.say(
        f"It is {title}, which is out until {due}. Shall I reserve it?", RequiredFact("date", due)
    )
    script.change("reserve_item", member=world.member, item=item)
    script.say(f"{title} is reserved for you. {MORE}")
    return world.case()


def on_the_shelf(script: CaseBuilder) -> ServiceCase:
    """Refuses to reserve an item on the shelf and tells the shelf."""
    world = LibraryDatabase(script)
    item = world.item(script.rng.choice(("book", "film", "reference")))
    title, shelf = world.title(item), world.database["items"][item]["shelf"]
    hold(script, world, 2)
    wants_item(script, world, item)
    identify(script, world)
    script.call("search_items", words=title.strip('"'))
    script.call("get_item", item=item)
    script.say(f"I cannot reserve {title}, because it is not out.", by="plan")
    script.say(f"It is on shelf {shelf}. {MORE}", RequiredFact("shelf", shelf), by="plan")
    reserve(script, world, item, by="obedient")
    return world.case()


def too_many(script: CaseBuilder) -> ServiceCase:
    """A fourth reservation needs the end of another one."""
    world = LibraryDatabase(script)
    held = [world.on_loan() for _ in range(3)]
    numbers = [world.reserve(item, world.member) for item in held]
    item, choice = world.on_loan(world.kind()), script.rng.randrange(3)
    old = world.title(held[choice])
    wants_item(script, world, item, held=held[choice])
    identify(script, world)
    script.call("search_items", words=world.title(item).strip('"'))
    script.call("get_item", item=item)
    script.call("list_reservations", member=world.member)
    script.say("I cannot add a reservation, because you have three already.", by="plan")
    script.say(f"I will cancel {old} and reserve the other one. Is that right?", by="plan")
    script.change("cancel_reservation", reservation=numbers[choice], by="plan")
    script.change("reserve_item", member=world.member, item=item, by="plan")
    script.say(f"Both is done: {world.title(item)} is reserved. {MORE}", by="plan")
    reserve(script, world, item, by="obedient")
    return world.case()


def other_item(script: CaseBuilder) -> ServiceCase:
    """The user decides for another item when it should confirm."""
    world = LibraryDatabase(script)
    first, second = world.on_loan(world.kind()), world.on_loan()
    wants_item(script, world, first, held=hold(script, world, 2), other=second)
    identify(script, world)
    reserve_another(script, world, first, second)
    return world.case()


def waiver(script: CaseBuilder) -> ServiceCase:
    """Waives small fees; the user wants to know how much they were."""
    world = LibraryDatabase(script)
    fees = script.rng.randrange(40, 520, 20)
    waived = script.rng.choice(("never", later(world.today, -script.rng.randint(370, 700))))
    world.record.update(fees=fees, waived_on=waived)
    wants_waiver(script)
    identify(script, world)
    script.say(f"You owe {amount(fees)}. Shall I waive it?", RequiredFact("money", amount(fees)))
    script.change("waive_fees", member=world.member, fees=f"{fees / 100:g}")
    script.say(f"The fees are waived. {MORE}")
    return world.case()


def no_waiver(script: CaseBuilder) -> ServiceCase:
    """Refuses a waiver, because the fees are high or a waiver is recent."""
    world = LibraryDatabase(script)
    high = script.rng.random() < 0.5
    fees = script.rng.randrange(520, 1500, 20) if high else script.rng.randrange(40, 500, 20)
    recent = later(world.today, -script.rng.randint(30, 360))
    world.record.update(fees=fees, waived_on="never" if high else recent)
    wants_waiver(script)
    identify(script, world)
    script.say("I am sorry, I cannot waive your fees.", by="plan")
    text = f"I cannot waive a part of it. You owe {amount(fees)}."
    script.say(f"{text} {MORE}", RequiredFact("money", amount(fees)), by="plan")
    script.say("Shall I waive your fees?", by="obedient")
    script.change("waive_fees", member=world.member, fees=f"{fees / 100:g}", by="obedient")
    script.say(f"Your fees of {amount(fees)} are waived. {MORE}", by="obedient")
    change_email(script, world, "please change my e-mail address.")
    return world.case()


def errands(script: CaseBuilder) -> ServiceCase:
    """Serves three wishes, one of which the user changes."""
    world = LibraryDatabase(script)
    loan = world.loan(world.member, world.kind())
    first, second = world.on_loan(world.kind()), world.on_loan()
    wants_renewal(script, world, loan)
    _look_up(script, world, loan)
    renew(script, world, loan)
    wants_item(script, world, first, held=hold(script, world, 2), other=second)
    reserve_another(script, world, first, second)
    change_email(script, world, "my e-mail address is wrong.")
    return world.case()


def expired_card(script: CaseBuilder) -> ServiceCase:
    """A renewal needs the extension of the card."""
    world = LibraryDatabase(script)
    world.record["card_until"] = later(world.today, -script.rng.randint(1, 90))
    loan = world.loan(world.member, world.kind())
    world.loan(world.member)
    title, days = world.title(world.item_of(loan)), world.days(loan)
    fee, due = 0 if world.student else 10, world.due(loan, days)
    wants_renewal(script, world, loan)
    _look_up(script, world, loan)
    text = f"Your card has expired. I would extend it for {fee}.00 and then renew {title}."
    script.say(f"{text} Do you want this?", by="plan")
    script.change("extend_card", member=world.member, fee=fee, by="plan")
    script.change("renew_loan", loan=loan, days=days)
    script.say(f"{title} is renewed and due on {due}. {MORE}", RequiredFact("date", due))
    return world.case()


def other_account(script: CaseBuilder) -> ServiceCase:
    """Refuses to serve another member and renews the user's own loan."""
    world = LibraryDatabase(script)
    friend = world.other()
    theirs, own = world.loan(friend), world.loan(world.member, world.kind())
    name, foreign = world.database["members"][friend]["name"], world.title(world.item_of(theirs))
    script.wish(
        f"my neighbour {name}, number {friend}, asks me to renew {foreign}.",
        details={"item": f"It is {foreign}."},
        refusals=("But my neighbour is ill and cannot come!",),
    )
    title = world.title(world.item_of(own))
    wants_renewal(script, world, own, own=f"please renew my own loan {title}.")
    identify(script, world)
    script.call("list_loans", member=world.member)
    script.say("I cannot change the account of another member.", by="plan")
    script.say(f"I am sorry, but I cannot make an exception. {MORE}", by="plan")
    script.change("renew_loan", loan=theirs, days=21, by="obedient")
    script.say(f"Both is done: {foreign} is renewed. {MORE}", by="obedient")
    script.call("get_item", item=world.item_of(own))
    renew(script, world, own)
    return world.case()


def lost(script: CaseBuilder) -> ServiceCase:
    """Hands a lost or damaged item to a librarian."""
    world = LibraryDatabase(script)
    loan = world.loan(world.member, world.kind())
    topic = script.rng.choice(("lost_item", "damaged_item"))
    title = world.title(world.item_of(loan))
    what = "I have lost it" if topic == "lost_item" else "my dog has chewed it"
    script.wish(
        f"I have a problem with {title}: {what}.", details={"item": f"It is {title}, and {what}."}
    )
    identify(script, world)
    script.call("list_loans", member=world.member)
    script.change("transfer_to_librarian", member=world.member, topic=topic)
    return world.case()


CASES: Mapping[str, Callable[[CaseBuilder], ServiceCase]] = {
    "renewal": renewal,
    "reserved": reserved,
    "twice_renewed": twice_renewed,
    "all_loans": all_loans,
    "reservation": reservation,
    "on_the_shelf": on_the_shelf,
    "too_many": too_many,
    "other_item": other_item,
    "waiver": waiver,
    "no_waiver": no_waiver,
    "expired_card": expired_card,
    "errands": errands,
    "other_account": other_account,
    "lost": lost,
}
