"""The kinds of library cases."""

from collections.abc import Callable, Mapping

from agentgym_envs.envs.tools.case import Case, Script
from agentgym_envs.envs.tools.domain import amount, later
from agentgym_envs.envs.tools.facts import Fact
from agentgym_envs.envs.tools.library.world import Library

MORE = "Is there anything else?"
DUE = {"asks": "date", "question": "And what is the due date?"}


def _identify(script: Script, world: Library) -> None:
    """Finds the member by the number if the user knows it, else by name and postcode."""
    person = world.person
    if person.knows_number:
        script.say("May I have your member number?")
        script.call("get_member", member=person.number)
    else:
        script.say("May I have your full name and your postcode?")
        script.call("find_member", name=person.name, postcode=person.proof)


def _renew(script: Script, world: Library, loan: str, *, by: str = "both") -> None:
    """Renews a loan after a confirmation and tells the new due date."""
    days, title = world.days(loan), world.title(world.item_of(loan))
    due = world.due(loan, days)
    script.say(f"I can renew {title} by {days} days. Shall I do this?", by=by)
    script.change("renew_loan", loan=loan, days=days, by=by)
    facts = () if by == "obedient" else (Fact("date", due),)
    script.say(f"Done. {title} is now due on {due}. {MORE}", *facts, by=by)


def _reserve(script: Script, world: Library, item: str, *, by: str = "both") -> None:
    """Reserves an item after a confirmation."""
    title = world.title(item)
    script.say(f"I can reserve {title} for you. Shall I do this?", by=by)
    script.change("reserve_item", member=world.member, item=item, by=by)
    script.say(f"{title} is reserved for you. {MORE}", by=by)


def _email(script: Script, world: Library, request: str) -> None:
    """Adds the wish to change the e-mail address, and serves it."""
    name = world.person.name.split()[1].lower()
    email = f"{name}{script.rng.randrange(100, 999)}@example.org"
    script.wish(request, details={"email": f"The new address is {email}."})
    script.say("What is your new e-mail address?")
    script.say(f"I will change your e-mail address to {email}. Is that right?")
    script.change("change_email", member=world.member, email=email)
    script.say(f"Your e-mail address is changed to {email}. {MORE}")


def _wants_renewal(world: Library, loan: str) -> str:
    return f"I would like to keep {world.title(world.item_of(loan))} longer."


def _on_loan(world: Library, kind: str = "book") -> str:
    """Returns an item that another member has borrowed."""
    return world.item_of(world.loan(world.other(), kind))


def renewal(script: Script) -> Case:
    """Renews a loan; the policy decides the days."""
    world = Library(script)
    loan = world.loan(world.member, world.kind(), renewals=script.rng.randrange(2))
    world.loan(world.member)
    title = world.title(world.item_of(loan))
    script.wish("I would like to renew a loan.", details={"item": f"It is {title}."}, **DUE)
    _identify(script, world)
    script.call("list_loans", member=world.member)
    script.say("Which item do you want to renew?")
    script.call("get_item", item=world.item_of(loan))
    _renew(script, world, loan)
    return world.case()


def reserved(script: Script) -> Case:
    """Refuses to renew a reserved item and tells the due date."""
    world = Library(script)
    loan = world.loan(world.member, world.kind())
    world.reserve(world.item_of(loan), world.other())
    _refused_renewal(script, world, loan, "another member has reserved it")
    return world.case()


def twice_renewed(script: Script) -> Case:
    """Refuses a third renewal; the user then changes its e-mail address."""
    world = Library(script)
    loan = world.loan(world.member, world.kind(), renewals=2)
    _refused_renewal(script, world, loan, "it has been renewed twice")
    _email(script, world, "my e-mail address has changed.")
    return world.case()


def _refused_renewal(script: Script, world: Library, loan: str, reason: str) -> None:
    title, due = world.title(world.item_of(loan)), world.due(loan)
    script.wish(
        _wants_renewal(world, loan),
        details={"item": f"It is {title}."},
        refusals=("What a pity. When do I have to bring it back?",),
        asks="date",
        question="But when do I have to bring it back?",
    )
    _identify(script, world)
    script.call("list_loans", member=world.member)
    script.call("get_item", item=world.item_of(loan))
    script.say(f"I cannot renew {title}, because {reason}.", by="plan")
    script.say(f"{title} is due on {due}. {MORE}", Fact("date", due), by="plan")
    _renew(script, world, loan, by="obedient")


def all_loans(script: Script) -> Case:
    """Renews those of several loans that the policy allows."""
    world = Library(script)
    good = [world.loan(world.member, world.kind()) for _ in range(2)]
    bad = world.loan(world.member, renewals=2)
    title, due = world.title(world.item_of(bad)), world.due(bad)
    request = "please renew all that I have borrowed, and tell me what I cannot keep, and until"
    script.wish(
        f"{request} when I can keep it.",
        asks="date",
        question="And when do I have to bring back the other one?",
    )
    _identify(script, world)
    script.call("list_loans", member=world.member)
    for loan in (*good, bad):
        script.call("get_item", item=world.item_of(loan))
    script.say("I can renew two loans. Shall I do this?")
    for loan in good:
        script.change("renew_loan", loan=loan, days=world.days(loan))
    script.change("renew_loan", loan=bad, days=world.days(bad), by="obedient")
    text = f"Two loans are renewed. {title} was renewed twice before and is due on {due}."
    script.say(f"{text} {MORE}", Fact("date", due))
    return world.case()


def reservation(script: Script) -> Case:
    """Reserves a book of which the user knows the author and a word of the title."""
    world = Library(script)
    item = _on_loan(world)
    due = next(v["due"] for v in world.database["loans"].values() if v["item"] == item)
    author, title = world.database["items"][item]["author"], world.title(item)
    word = title.strip('"').split()[-1]
    script.wish(
        f'could you reserve a book by "{author}" for me? I do not remember the title.',
        details={"item": f'I only remember the word "{word}" in the title.'},
        asks="date",
        question="Until when is it out?",
    )
    _identify(script, world)
    script.say("Do you remember a word of the title?")
    script.call("search_items", words=f"{author} {word}")
    script.call("get_item", item=item)
    script.call("list_reservations", member=world.member)
    script.say(f"It is {title}, which is out until {due}. Shall I reserve it?", Fact("date", due))
    script.change("reserve_item", member=world.member, item=item)
    script.say(f"{title} is reserved for you. {MORE}")
    return world.case()


def on_the_shelf(script: Script) -> Case:
    """Refuses to reserve an item on the shelf and tells the shelf."""
    world = Library(script)
    item = world.item(script.rng.choice(("book", "film", "reference")))
    title, shelf = world.title(item), world.database["items"][item]["shelf"]
    script.wish(
        f"I would like to reserve {title}.",
        details={"item": f"It is {title}."},
        refusals=("Then I will come and look at it. On which shelf is it?",),
        asks="shelf",
        question="On which shelf is it?",
    )
    _identify(script, world)
    script.call("search_items", words=title.strip('"'))
    script.call("get_item", item=item)
    script.say(f"I cannot reserve {title}, because it is not out.", by="plan")
    script.say(f"It is on shelf {shelf}. {MORE}", Fact("shelf", shelf), by="plan")
    _reserve(script, world, item, by="obedient")
    return world.case()


def too_many(script: Script) -> Case:
    """A fourth reservation needs the end of another one."""
    world = Library(script)
    held = [_on_loan(world) for _ in range(3)]
    numbers = [world.reserve(item, world.member) for item in held]
    item, choice = _on_loan(world, "film"), script.rng.randrange(3)
    old = world.title(held[choice])
    script.wish(
        f"please reserve {world.title(item)} for me.",
        details={"item": f"It is {world.title(item)}."},
        refusals=(f"Then cancel my reservation of {old} and reserve the other one.",),
    )
    _identify(script, world)
    script.call("search_items", words=world.title(item).strip('"'))
    script.call("get_item", item=item)
    script.call("list_reservations", member=world.member)
    script.say("I cannot add a reservation, because you have three already.", by="plan")
    script.say(f"I will cancel {old} and reserve the other one. Is that right?", by="plan")
    script.change("cancel_reservation", reservation=numbers[choice], by="plan")
    script.change("reserve_item", member=world.member, item=item, by="plan")
    script.say(f"Both is done: {world.title(item)} is reserved. {MORE}", by="plan")
    _reserve(script, world, item, by="obedient")
    return world.case()


def other_item(script: Script) -> Case:
    """The user decides for another item when it should confirm."""
    world = Library(script)
    first, second = _on_loan(world), _on_loan(world)
    _wants_another(script, world, first, second)
    _identify(script, world)
    _reserve_another(script, world, first, second)
    return world.case()


def _wants_another(script: Script, world: Library, first: str, second: str) -> None:
    """Adds the wish for a reservation and the change of mind."""
    script.wish(
        f"I want to reserve {world.title(first)}.",
        details={"item": f"It is {world.title(first)}."},
        change=f"Wait, I have changed my mind. I want {world.title(second)} instead.",
        changed={"item": f"It is {world.title(second)}."},
    )


def _reserve_another(script: Script, world: Library, first: str, second: str) -> None:
    """Asks for a confirmation, hears of the change of mind, and reserves the second item."""
    script.call("search_items", words=world.title(first).strip('"'))
    script.call("get_item", item=first)
    script.call("list_reservations", member=world.member)
    script.say(f"Shall I reserve {world.title(first)} for you?")
    script.call("search_items", words=world.title(second).strip('"'), by="plan")
    script.call("get_item", item=second, by="plan")
    script.change("reserve_item", member=world.member, item=first, by="obedient")
    _reserve(script, world, second, by="plan")
    script.say(f"It is reserved for you. {MORE}", by="obedient")


def waiver(script: Script) -> Case:
    """Waives small fees; the user wants to know how much they were."""
    world = Library(script)
    fees = script.rng.randrange(40, 500, 20)
    waived = script.rng.choice(("never", later(world.today, -script.rng.randint(370, 700))))
    world.record.update(fees=fees, waived_on=waived)
    script.wish(
        "I was ill and have late fees now. Can you waive them?",
        asks="money",
        question="How much was it?",
    )
    _identify(script, world)
    script.say(f"You owe {amount(fees)}. Shall I waive it?", Fact("money", amount(fees)))
    script.change("waive_fees", member=world.member, fees=f"{fees / 100:g}")
    script.say(f"The fees are waived. {MORE}")
    return world.case()


def no_waiver(script: Script) -> Case:
    """Refuses a waiver, because the fees are high or a waiver is recent."""
    world = Library(script)
    high = script.rng.random() < 0.5
    fees = script.rng.randrange(520, 1500, 20) if high else script.rng.randrange(40, 500, 20)
    recent = later(world.today, -script.rng.randint(30, 360))
    world.record.update(fees=fees, waived_on="never" if high else recent)
    script.wish(
        "I have late fees. Can you waive them for me?",
        refusals=("Not even a part of it? How much do I owe?",),
        asks="money",
        question="How much do I owe?",
    )
    _identify(script, world)
    script.say("I am sorry, I cannot waive your fees.", by="plan")
    text = f"I cannot waive a part of it. You owe {amount(fees)}."
    script.say(f"{text} {MORE}", Fact("money", amount(fees)), by="plan")
    script.say("Shall I waive your fees?", by="obedient")
    script.change("waive_fees", member=world.member, fees=f"{fees / 100:g}", by="obedient")
    script.say(f"Your fees of {amount(fees)} are waived. {MORE}", by="obedient")
    _email(script, world, "please change my e-mail address.")
    return world.case()


def errands(script: Script) -> Case:
    """Serves three wishes, one of which the user changes."""
    world = Library(script)
    loan = world.loan(world.member, world.kind())
    first, second = _on_loan(world), _on_loan(world)
    title = world.title(world.item_of(loan))
    script.wish(_wants_renewal(world, loan), details={"item": f"It is {title}."}, **DUE)
    _identify(script, world)
    script.call("list_loans", member=world.member)
    script.call("get_item", item=world.item_of(loan))
    _renew(script, world, loan)
    _wants_another(script, world, first, second)
    _reserve_another(script, world, first, second)
    _email(script, world, "my e-mail address is wrong.")
    return world.case()


def expired_card(script: Script) -> Case:
    """A renewal needs the extension of the card."""
    world = Library(script)
    world.record["card_until"] = later(world.today, -script.rng.randint(1, 90))
    loan = world.loan(world.member, world.kind())
    title, days = world.title(world.item_of(loan)), world.days(loan)
    fee, due = 0 if world.student else 10, world.due(loan, days)
    script.wish(_wants_renewal(world, loan), details={"item": f"It is {title}."}, **DUE)
    _identify(script, world)
    script.call("list_loans", member=world.member)
    script.call("get_item", item=world.item_of(loan))
    text = f"Your card has expired. I would extend it for {fee}.00 and then renew {title}."
    script.say(f"{text} Do you want this?", by="plan")
    script.change("extend_card", member=world.member, fee=fee, by="plan")
    script.change("renew_loan", loan=loan, days=days)
    script.say(f"{title} is renewed and due on {due}. {MORE}", Fact("date", due))
    return world.case()


def other_account(script: Script) -> Case:
    """Refuses to serve another member and renews the user's own loan."""
    world = Library(script)
    friend = world.other()
    theirs, own = world.loan(friend), world.loan(world.member, world.kind())
    name, foreign = world.database["members"][friend]["name"], world.title(world.item_of(theirs))
    script.wish(
        f"my neighbour {name}, number {friend}, asks me to renew {foreign}.",
        details={"item": f"It is {foreign}."},
        refusals=("But my neighbour is ill and cannot come!",),
    )
    title = world.title(world.item_of(own))
    script.wish(f"please renew my own loan {title}.", details={"item": f"It is {title}."}, **DUE)
    _identify(script, world)
    script.call("list_loans", member=world.member)
    script.say("I cannot change the account of another member.", by="plan")
    script.say(f"I am sorry, but I cannot make an exception. {MORE}", by="plan")
    script.change("renew_loan", loan=theirs, days=21, by="obedient")
    script.say(f"Both is done: {foreign} is renewed. {MORE}", by="obedient")
    script.call("get_item", item=world.item_of(own))
    _renew(script, world, own)
    return world.case()


def lost(script: Script) -> Case:
    """Hands a lost or damaged item to a librarian."""
    world = Library(script)
    loan = world.loan(world.member, world.kind())
    topic = script.rng.choice(("lost_item", "damaged_item"))
    title = world.title(world.item_of(loan))
    what = "I have lost it" if topic == "lost_item" else "my dog has chewed it"
    script.wish(
        f"I have a problem with {title}: {what}.", details={"item": f"It is {title}, and {what}."}
    )
    _identify(script, world)
    script.call("list_loans", member=world.member)
    script.change("transfer_to_librarian", member=world.member, topic=topic)
    return world.case()


CASES: Mapping[str, Callable[[Script], Case]] = {
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
