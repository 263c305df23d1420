"""The database of one library case: few members, many items."""

from collections.abc import Iterator
from itertools import product

from agentgym_envs.envs.tools.case import CaseBuilder, ServiceCase, UserIdentity
from agentgym_envs.envs.tools.domain import Database, DatabaseRecord, add_anywhere, later
from agentgym_envs.envs.tools.library import functions
from agentgym_envs.envs.tools.parameters import IdType
from agentgym_envs.envs.tools.people import names

_ADJECTIVES = (
    "Silent Golden Broken Hidden Crooked Wooden Paper Distant Salt Burning Glass Quiet Iron Second"
    " Painted Hollow"
)
_NOUNS = (
    "Harbour Orchard Lantern Bridge Clock Island Letter Meadow Station Mirror Forest Tower Voyage"
    " Kitchen River Compass Garden Market Winter Castle Ladder Violin Desert Canyon Theatre Pigeon"
    " Window Cellar"
)
SHELVES = [f"{letter}{number}" for letter, number in product("ABCDEF", range(1, 10))]
KINDS = ("book",) * 14 + ("film",) * 6 + ("reference",) * 4
OTHERS = 5  # members beside the user


class LibraryDatabase:
    """A database under construction.

    Attributes:
        database: the tables.
        today: the date.
        member: the number of the user.
        student: whether the user is a student.
        person: the user's identity.
    """

    def __init__(self, script: CaseBuilder):
        self._script, self._rng = script, script.rng
        self.today = later("2031-01-10", self._rng.randrange(700))
        self.database: Database = {
            t: {} for t in ("members", "items", "loans", "reservations", "transfers")
        }
        people = names(self._rng)
        authors = [next(people) for _ in range(8)]
        self._fill_shelves(authors)
        members = [self._member(next(people)) for _ in range(OTHERS + 1)]
        self.member = self._rng.choice(members)
        self._others = [key for key in members if key != self.member]
        self._free = {
            kind: [key for key, item in self.database["items"].items() if item["kind"] == kind]
            for kind in dict.fromkeys(KINDS)
        }
        for _ in range(3):
            self.loan(self.other())
            self.reserve(self.item(), self.other())
        record = self.record
        self.person = UserIdentity(
            record["name"], record["postcode"], self.member, self._rng.random() < 0.5
        )

    @property
    def record(self) -> DatabaseRecord:
        """The record of the user."""
        return self.database["members"][self.member]

    @property
    def student(self) -> bool:
        """Whether the user is a student."""
        return bool(self.record["level"] == "student")

    def other(self) -> str:
        """Returns another member."""
        return self._rng.choice(self._others)

    def item(self, kind: str = "book") -> str:
        """Returns an item that nothing refers to so far."""
        return self._free[kind].pop()

    def kind(self) -> str:
        """Returns "book" or "film"."""
        return self._rng.choice(("book", "book", "film"))

    def loan(self, member: str, kind: str = "book", renewals: int = 0) -> str:
        """Adds a loan of a new item and returns its number."""
        due = later(self.today, self._rng.randint(1, 12))
        record = {"member": member, "item": self.item(kind), "due": due, "renewals": renewals}
        return self._add("loans", functions.LOAN, record)

    def on_loan(self, kind: str = "book") -> str:
        """Returns an item that another member has borrowed."""
        return self.item_of(self.loan(self.other(), kind))

    def reserve(self, item: str, member: str) -> str:
        """Adds a reservation and returns its number."""
        record = {"member": member, "item": item}
        return self._add("reservations", functions.RESERVATION, record)

    def item_of(self, loan: str) -> str:
        """Returns the item of a loan."""
        return str(self.database["loans"][loan]["item"])

    def title(self, item: str) -> str:
        """Returns the title of an item in quotation marks."""
        return f'"{self.database["items"][item]["title"]}"'

    def days(self, loan: str) -> int:
        """Returns the number of days of a renewal by the policy."""
        if self.database["items"][self.item_of(loan)]["kind"] == "film":
            return 7
        return 28 if self.student else 21

    def due(self, loan: str, days: int = 0) -> str:
        """Returns the due date of a loan, or the date some days later."""
        return later(self.database["loans"][loan]["due"], days)

    def case(self) -> ServiceCase:
        """Returns the case."""
        return self._script.case(self.today, self.database, self.person)

    def _member(self, name: str) -> str:
        rng = self._rng
        record = {
            "name": name,
            "postcode": f"{rng.randrange(10000, 99999)}",
            "email": f"{name.split()[0].lower()}{rng.randrange(10, 99)}@example.org",
            "level": rng.choice(("standard", "standard", "student")),
            "card_until": later(self.today, rng.randint(20, 300)),
            "fees": 0,
            "waived_on": "never",
        }
        return self._add("members", functions.MEMBER, record)

    def _fill_shelves(self, authors: list[str]) -> None:
        titles = self._titles()
        for kind in self._rng.sample(KINDS, len(KINDS)):
            record = {
                "title": next(titles),
                "author": self._rng.choice(authors),
                "kind": kind,
                "shelf": self._rng.choice(SHELVES),
            }
            self._add("items", functions.ITEM, record)

    def _titles(self) -> Iterator[str]:
        nouns = self._rng.sample(_NOUNS.split(), len(KINDS))
        return (f"The {self._rng.choice(_ADJECTIVES.split())} {noun}" for noun in nouns)

    def _add(self, table: str, form: IdType, record: DatabaseRecord) -> str:
        return add_anywhere(self.database, table, form, record, self._rng)
