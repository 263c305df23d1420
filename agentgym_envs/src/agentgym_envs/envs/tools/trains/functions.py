"""The functions and the policy of the railway."""

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
    listed,
    owned,
    show,
)
from agentgym_envs.envs.tools.parameters import ChoiceType, DateType, IdType, MoneyType, TextType

POLICY = """
You are the agent of a railway. Today is {today}.

Policy:
1. Find the passenger first: by passenger number, or by full name and date of birth. Serve only \
this passenger, and only this passenger's own tickets.
2. Before you change the database, tell the passenger what you will change, and wait for a yes.
3. Say only what the tools say. If the system is busy, call the tool again.
4. Booking: a saver ticket costs the saver price of the train, a flex ticket the flex price. In \
first class both prices are double. A passenger has at most 4 valid tickets.
5. Exchange: a flex ticket is exchanged for a train on the same route, free of charge. A saver \
ticket is exchanged only if its own train is cancelled. The class stays the same, and the new \
train needs a free seat in it.
6. Refund: a cancelled flex ticket gives back its price; on the day of travel 8.00 less. A saver \
ticket is not cancelled, unless its train is cancelled. A ticket of a cancelled train gives back \
its whole price.
7. Delay: from 60 minutes the voucher is 25 % of the price of the ticket, from 120 minutes 50 %. \
There is one voucher per ticket, and none for a shorter delay.
8. Upgrade to first class: only flex tickets, and only if first class has a free seat.
9. Bicycle: only if the train has a free bicycle space.
10. Lost property and injuries go to a clerk. Nothing else does.
"""
PASSENGER = IdType("passenger number", "P", 4)
TRAIN = IdType("train number", "T", 3)
TICKET = IdType("ticket number", "K", 5)
TRANSFER = IdType("transfer number", "X", 1)
CLASSES = ("second", "first")
FARES = ("saver", "flex")


def find_passenger(database: Database, name: str, born: str) -> str:
    """Finds a passenger by name and date of birth."""
    return identified(database, "passenger", "born", "date of birth", name, born)


def get_passenger(database: Database, passenger: str) -> str:
    """Returns a passenger."""
    return show(passenger, find(database, "passengers", passenger))


def list_tickets(database: Database, passenger: str) -> str:
    """Returns the tickets of a passenger with the routes of the trains."""
    return owned(database, "tickets", "passenger", passenger, partial(_route, database))


def get_train(database: Database, train: str) -> str:
    """Returns a train."""
    return show(train, find(database, "trains", train))


def search_trains(database: Database, origin: str, destination: str, date: str) -> str:
    """Returns the trains of a day from one station to another."""
    wanted = (origin, destination, date)
    found = {
        key: train
        for key, train in database["trains"].items()
        if (train["origin"].casefold(), train["destination"].casefold(), train["date"]) == wanted
    }
    return listed(found, "No trains.")


def book_ticket(database: Database, passenger: str, train: str, seat_class: str, fare: str) -> str:
    """Adds a ticket and takes a seat."""
    find(database, "passengers", passenger)
    record = find(database, "trains", train)
    _take(record, f"free_{seat_class}")
    ticket = {
        "passenger": passenger,
        "train": train,
        "class": seat_class,
        "fare": fare,
        "price": record[fare] * (2 if seat_class == "first" else 1),
        "status": "valid",
        "seat": "any",
        "bicycle": "no",
        "voucher": 0,
    }
    return show(add(database, "tickets", TICKET, ticket), ticket)


def exchange_ticket(database: Database, ticket: str, train: str) -> str:
    """Moves a ticket to another train; its bicycle space is given up."""
    record = _valid(database, ticket)
    _take(find(database, "trains", train), f"free_{record['class']}")
    _leave(database, record)
    record.update(train=train, bicycle="no")
    return show(ticket, record)


def cancel_ticket(database: Database, ticket: str, refund: int) -> str:
    """Cancels a ticket and pays a refund."""
    record = _valid(database, ticket)
    if refund > record["price"]:
        raise ToolError("Error: the price was lower.")
    _leave(database, record)
    record.update(status="cancelled", bicycle="no", refund=refund)
    return show(ticket, record)


def upgrade_ticket(database: Database, ticket: str) -> str:
    """Moves a ticket to first class at the double price."""
    record = _valid(database, ticket)
    if record["class"] == "first":
        raise ToolError("Error: it is a ticket of first class.")
    train = database["trains"][record["train"]]
    _take(train, "free_first")
    train["free_second"] += 1
    record.update({"class": "first", "price": record["price"] * 2})
    return show(ticket, record)


def choose_seat(database: Database, ticket: str, seat: str) -> str:
    """Changes the kind of seat."""
    record = _valid(database, ticket)
    record["seat"] = seat
    return show(ticket, record)


def add_bicycle(database: Database, ticket: str) -> str:
    """Adds a bicycle to a ticket."""
    record = _valid(database, ticket)
    if record["bicycle"] == "yes":
        raise ToolError("Error: the ticket has a bicycle.")
    _take(database["trains"][record["train"]], "free_bicycles")
    record["bicycle"] = "yes"
    return show(ticket, record)


def issue_voucher(database: Database, ticket: str, voucher: int) -> str:
    """Adds a voucher for a delay."""
    record = find(database, "tickets", ticket)
    record["voucher"] += voucher
    return show(ticket, record)


def transfer_to_clerk(database: Database, passenger: str, topic: str) -> str:
    """Hands the conversation to a person."""
    find(database, "passengers", passenger)
    add(database, "transfers", TRANSFER, {"passenger": passenger, "topic": topic})
    return "A clerk takes over. The conversation ends."


def _route(database: Database, ticket: DatabaseRecord) -> str:
    t = database["trains"][ticket["train"]]
    return f"{t['origin']} to {t['destination']}, {t['date']} {t['departs']}"


def _valid(database: Database, ticket: str) -> DatabaseRecord:
    record = find(database, "tickets", ticket)
    if record["status"] != "valid":
        raise ToolError("Error: the ticket is cancelled.")
    return record


def _take(train: DatabaseRecord, key: str) -> None:
    if train[key] == 0:
        raise ToolError(f"Error: the train has no {key.replace('_', ' ')}.")
    train[key] -= 1


def _leave(database: Database, ticket: DatabaseRecord) -> None:
    """Frees the seat and the bicycle space of a ticket."""
    train = database["trains"][ticket["train"]]
    train[f"free_{ticket['class']}"] += 1
    train["free_bicycles"] += ticket["bicycle"] == "yes"


_PASSENGER = {"passenger": PASSENGER}
_TICKET = {"ticket": TICKET}
_NAME = TextType("the full name", r"(?<=name is )\w+ \w+")
_FROM = TextType("the station of departure", r"(?<=from )\w+(?= to )")
_TO = TextType("the station of arrival", r"(?<= to )\w+")
_TOPIC = ChoiceType("the reason", ("lost_property", "injury"))
_FUNCTIONS = (
    DomainFunction(
        find_passenger, "Finds a passenger.", {"name": _NAME, "born": DateType("the date of birth")}
    ),
    DomainFunction(get_passenger, "Shows a passenger.", _PASSENGER),
    DomainFunction(list_tickets, "Lists the tickets of a passenger.", _PASSENGER),
    DomainFunction(get_train, "Shows a train, its prices and its free places.", {"train": TRAIN}),
    DomainFunction(
        search_trains,
        "Lists the trains of a day on a route.",
        {"origin": _FROM, "destination": _TO, "date": DateType("the date of travel")},
    ),
    DomainFunction(
        book_ticket,
        "Books a ticket.",
        {
            **_PASSENGER,
            "train": TRAIN,
            "seat_class": ChoiceType("the class", CLASSES),
            "fare": ChoiceType("the fare", FARES),
        },
        changes=True,
    ),
    DomainFunction(
        exchange_ticket, "Moves a ticket to another train.", {**_TICKET, "train": TRAIN}, True
    ),
    DomainFunction(
        cancel_ticket,
        "Cancels a ticket and pays a refund.",
        {**_TICKET, "refund": MoneyType("the refund")},
        changes=True,
    ),
    DomainFunction(upgrade_ticket, "Moves a ticket to first class.", _TICKET, changes=True),
    DomainFunction(
        choose_seat,
        "Changes the kind of seat.",
        {**_TICKET, "seat": ChoiceType("the kind of seat", ("window", "aisle"))},
        changes=True,
    ),
    DomainFunction(add_bicycle, "Adds a bicycle to a ticket.", _TICKET, changes=True),
    DomainFunction(
        issue_voucher,
        "Issues a voucher for a ticket.",
        {**_TICKET, "voucher": MoneyType("the amount")},
        changes=True,
    ),
    DomainFunction(
        transfer_to_clerk,
        "Hands the conversation to a clerk and ends it.",
        {**_PASSENGER, "topic": _TOPIC},
        changes=True,
    ),
)
TRAINS = ServiceDomain(
    name="trains",
    title="railway",
    policy=POLICY,
    functions={function.name: function for function in _FUNCTIONS},
    topics={
        "ticket": r"\b(?:which|what)(?: of (?:your|the))? "
        r"(?:ticket|train|one|journey|trip|connection|time|departure)"
        r"|\bticket number\b|\bdetails\b",
        "route": r"\bwhere\b|\bfrom which\b|\bdestination\b|\broute\b|\bstations?\b",
        "date": r"\bwhen\b|\b(?:which|what) (?:day|date)|\bdate of (?:travel|departure)\b"
        r"|\btravel date\b",
        "class": r"\b(?:which|what) class\b|\bfirst or second\b|\bsecond or first\b",
        "fare": r"\b(?:which|what) (?:fare|kind|type)"
        r"|\b(?:saver|flex)(?: ticket)? or (?:a )?(?:saver|flex)\b",
        "seat": r"\bwindow\b.*\baisle\b|\baisle\b.*\bwindow\b|\b(?:which|what) (?:kind of )?seat"
        r"|\bprefer",
    },
    transfer="transfer_to_clerk",
    proof="date of birth",
)
