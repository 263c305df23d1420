"""The functions and the policy of the library."""

import re
from functools import partial

from agentgym_envs.envs.tools.domain import (
    Database,
    DatabaseRecord,
    DomainFunction,
    ServiceDomain,
    ToolError,
    add,
    find,
    identified,
    later,
    listed,
    owned,
    show,
)
from agentgym_envs.envs.tools.parameters import ChoiceType, IdType, IntegerType, MoneyType, TextType

POLICY = """
You are the agent of a library. Today is {today}.

Policy:
1. Find the member first: by member number, or by full name and postcode. Serve only this member, \
and only this member's own account.
2. Before you change the database, tell the member what you will change, and wait for a yes.
3. Say only what the tools say. If the system is busy, call the tool again.
4. Renewal: a film is renewed by 7 days, a book by 21 days, a book of a student by 28 days. A loan \
that has been renewed twice is not renewed. A loan is not renewed if another member has reserved \
the item.
5. Reservation: only items that are out on loan are reserved, never a reference work. A member has \
at most 3 reservations.
6. Card: a member with an expired card gets no renewal and no reservation. If the member agrees, \
extend the card first. The fee is 10.00, for students 0.00.
7. Fees: all fees of a member are waived together if they are at most 5.00 and none were waived in \
the last 365 days. Otherwise nothing is waived, not even a part.
8. Lost or damaged items go to a librarian. Nothing else does.
"""
MEMBER = IdType("member number", "M", 4)
ITEM = IdType("item number", "B", 3)
LOAN = IdType("loan number", "L", 4)
RESERVATION = IdType("reservation number", "R", 4)
TRANSFER = IdType("transfer number", "T", 1)


def find_member(database: Database, name: str, postcode: str) -> str:
    """Finds a member by name and postcode."""
    return identified(database, "member", "postcode", "postcode", name, postcode)


def get_member(database: Database, member: str) -> str:
    """Returns a member."""
    return show(member, find(database, "members", member))


def list_loans(database: Database, member: str) -> str:
    """Returns the loans of a member with the titles of the items."""
    return owned(database, "loans", "member", member, partial(_title, database))


def list_reservations(database: Database, member: str) -> str:
    """Returns the reservations of a member with the titles of the items."""
    return owned(database, "reservations", "member", member, partial(_title, database))


def get_item(database: Database, item: str) -> str:
    """Returns an item, its loan and its reservations."""
    record = find(database, "items", item)
    loans = [f"out until {v['due']}" for v in database["loans"].values() if v["item"] == item]
    held = sum(v["item"] == item for v in database["reservations"].values())
    return f"{show(item, record)}, {(loans or ['on the shelf'])[0]}, reservations {held}"


def search_items(database: Database, words: str) -> str:
    """Returns the items whose title or author contains all words."""
    wanted = re.findall(r"\w+", words)
    found = {
        key: record
        for key, record in database["items"].items()
        if all(w in f"{record['title']} {record['author']}".casefold() for w in wanted)
    }
    return listed(found, "No items.")


def renew_loan(database: Database, loan: str, days: int) -> str:
    """Moves the due date of a loan."""
    record = find(database, "loans", loan)
    record.update(due=later(record["due"], days), renewals=record["renewals"] + 1)
    return show(loan, record)


def reserve_item(database: Database, member: str, item: str) -> str:
    """Adds a reservation."""
    find(database, "members", member)
    find(database, "items", item)
    record = {"member": member, "item": item}
    if record in database["reservations"].values():
        raise ToolError("Error: the member has reserved this item already.")
    return show(add(database, "reservations", RESERVATION, record), record)


def cancel_reservation(database: Database, reservation: str) -> str:
    """Removes a reservation."""
    find(database, "reservations", reservation)
    del database["reservations"][reservation]
    return f"{reservation} is cancelled."


def extend_card(database: Database, member: str, fee: int) -> str:
    """Extends a card by a year and adds a fee."""
    record = find(database, "members", member)
    record.update(card_until=later(record["card_until"], 365), fees=record["fees"] + fee)
    return show(member, record)


def waive_fees(database: Database, member: str, fees: int) -> str:
    """Reduces the fees of a member."""
    record = find(database, "members", member)
    if fees > record["fees"]:
        raise ToolError("Error: the member owes less.")
    record.update(fees=record["fees"] - fees, waived_on="today")
    return show(member, record)


def change_email(database: Database, member: str, email: str) -> str:
    """Changes the e-mail address of a member."""
    record = find(database, "members", member)
    record["email"] = email
    return show(member, record)


def transfer_to_librarian(database: Database, member: str, topic: str) -> str:
    """Hands the conversation to a person."""
    find(database, "members", member)
    add(database, "transfers", TRANSFER, {"member": member, "topic": topic})
    return "A librarian takes over. The conversation ends."


def _title(database: Database, record: DatabaseRecord) -> str:
    return f"title {database['items'][record['item']]['title']}"


_MEMBER = {"member": MEMBER}
_NAME = TextType("the full name", r"(?<=name is )\w+ \w+")
_POSTCODE = TextType("the postcode, five digits", r"(?<=postcode )(?:is )?\b[0-9]{5}\b")
_WORDS = TextType("words of the title or of the author", r'(?<=")[^"\n]+(?=")')
_EMAIL = TextType("the new address", r"\b[\w.]+@[\w.]+\w")
_TOPIC = ChoiceType("the reason", ("lost_item", "damaged_item"))
_FUNCTIONS = (
    DomainFunction(find_member, "Finds a member.", {"name": _NAME, "postcode": _POSTCODE}),
    DomainFunction(get_member, "Shows a member.", _MEMBER),
    DomainFunction(list_loans, "Lists the loans of a member.", _MEMBER),
    DomainFunction(list_reservations, "Lists the reservations of a member.", _MEMBER),
    DomainFunction(get_item, "Shows an item, its due date and its reservations.", {"item": ITEM}),
    DomainFunction(
        search_items,
        "Lists the items with all words in title and author.",
        {"words": _WORDS},
    ),
    DomainFunction(
        renew_loan,
        "Moves the due date of a loan.",
        {"loan": LOAN, "days": IntegerType("number of days", 1, 60)},
        changes=True,
    ),
    DomainFunction(reserve_item, "Reserves an item.", {**_MEMBER, "item": ITEM}, changes=True),
    DomainFunction(
        cancel_reservation, "Cancels a reservation.", {"reservation": RESERVATION}, changes=True
    ),
    DomainFunction(
        extend_card,
        "Extends the card of a member by a year and adds a fee to the account.",
        {**_MEMBER, "fee": MoneyType("the fee")},
        changes=True,
    ),
    DomainFunction(
        waive_fees,
        "Waives fees of a member.",
        {**_MEMBER, "fees": MoneyType("the waived amount")},
        changes=True,
    ),
    DomainFunction(
        change_email,
        "Changes the e-mail address of a member.",
        {**_MEMBER, "email": _EMAIL},
        changes=True,
    ),
    DomainFunction(
        transfer_to_librarian,
        "Hands the conversation to a librarian and ends it.",
        {**_MEMBER, "topic": _TOPIC},
        changes=True,
    ),
)
LIBRARY = ServiceDomain(
    name="library",
    title="library",
    policy=POLICY,
    functions={function.name: function for function in _FUNCTIONS},
    topics={
        "item": r"\b(?:which|what)(?: of (?:your|the))? (?:book|film|item|loan|one|title)"
        r"|\btitle\b|\bauthor\b|\bloan number\b|\bdetails\b",
        "reservation": r"\b(?:which|what) reservation|\breservation number\b|\bcancel\b.*\?",
        "email": r"\bnew (?:e-?mail|address)|\bwhich (?:e-?mail|address)|\bwhat\b.*\be-?mail\b",
    },
    transfer="transfer_to_librarian",
    proof="postcode",
)
