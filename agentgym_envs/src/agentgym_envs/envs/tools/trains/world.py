"""The database of one railway case: few routes, a day of trains on each."""

from itertools import product

from agentgym_envs.envs.tools.case import CaseBuilder, ServiceCase, UserIdentity
from agentgym_envs.envs.tools.domain import Database, DatabaseRecord, add_anywhere, later
from agentgym_envs.envs.tools.parameters import IdType
from agentgym_envs.envs.tools.people import names
from agentgym_envs.envs.tools.trains import functions

STATIONS = [
    first + last
    for first, last in product(
        ("Alder", "Birk", "Corn", "Dun", "Elm", "Fern", "Hazel", "Linden"),
        ("bridge", "field", "haven", "moor", "stead", "wick"),
    )
]
HOURS = (6, 9, 12, 15, 18)
OTHERS = 4  # passengers beside the user
ROUTES = 3


class RailwayDatabase:
    """A database under construction.

    Attributes:
        database: the tables.
        today: the date.
        passenger: the number of the user.
        person: the user's identity.
        trains: the trains of each route, by departure; the first route is the user's.
    """

    def __init__(self, script: CaseBuilder, *, ahead: int | None = None):
        """Creates trains that travel in ``ahead`` days, by default in 2 to 30."""
        self._script, self._rng = script, script.rng
        self.today = later("2031-01-10", self._rng.randrange(700))
        self.database: Database = {t: {} for t in ("passengers", "trains", "tickets", "transfers")}
        people = names(self._rng)
        passengers = [self._passenger(next(people)) for _ in range(OTHERS + 1)]
        self.passenger = self._rng.choice(passengers)
        self._others = [key for key in passengers if key != self.passenger]
        date = later(self.today, self._rng.randint(2, 30) if ahead is None else ahead)
        stations = iter(self._rng.sample(STATIONS, 2 * ROUTES))
        self.trains = [self._day(next(stations), next(stations), date) for _ in range(ROUTES)]
        for route in self.trains[1:]:
            self.ticket(self.other(), self._rng.choice(route))
        record = self.database["passengers"][self.passenger]
        self.person = UserIdentity(
            record["name"], record["born"], self.passenger, self._rng.random() < 0.5
        )

    def other(self) -> str:
        """Returns another passenger."""
        return self._rng.choice(self._others)

    def train(self, key: str) -> DatabaseRecord:
        """Returns a train."""
        return self.database["trains"][key]

    def ticket(self, passenger: str, train: str, fare: str = "flex", place: str = "second") -> str:
        """Adds a ticket and returns its number."""
        record = {
            "passenger": passenger,
            "train": train,
            "class": place,
            "fare": fare,
            "price": self.train(train)[fare] * (2 if place == "first" else 1),
            "status": "valid",
            "seat": "any",
            "bicycle": "no",
            "voucher": 0,
        }
        return self._add("tickets", functions.TICKET, record)

    def journey(self, train: str) -> str:
        """Returns the words of a user for a train."""
        t = self.train(train)
        return f"the train from {t['origin']} to {t['destination']} at {t['departs']}"

    def case(self) -> ServiceCase:
        """Returns the case."""
        return self._script.case(self.today, self.database, self.person)

    def _passenger(self, name: str) -> str:
        rng = self._rng
        born = later("1950-01-01", rng.randrange(20000))
        return self._add("passengers", functions.PASSENGER, {"name": name, "born": born})

    def _day(self, origin: str, destination: str, date: str) -> list[str]:
        """Adds the trains of a route and returns their numbers."""
        minutes = self._rng.randint(60, 200)
        return [self._train(origin, destination, date, hour, minutes) for hour in HOURS]

    def _train(self, origin: str, destination: str, date: str, hour: int, minutes: int) -> str:
        rng = self._rng
        departs = 60 * hour + rng.randrange(0, 60, 5)
        arrives = departs + minutes + rng.randrange(0, 30)
        saver = rng.randrange(12, 64, 4) * 100  # a quarter of each price is a whole number
        record = {
            "origin": origin,
            "destination": destination,
            "date": date,
            "departs": _clock(departs),
            "arrives": _clock(arrives),
            "platform": rng.randint(1, 12),
            "saver": saver,
            "flex": saver + saver // 2,
            "free_second": rng.randint(3, 40),
            "free_first": rng.randint(1, 9),
            "free_bicycles": rng.randint(1, 6),
            "status": "on time",
        }
        return self._add("trains", functions.TRAIN, record)

    def _add(self, table: str, form: IdType, record: DatabaseRecord) -> str:
        return add_anywhere(self.database, table, form, record, self._rng)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
