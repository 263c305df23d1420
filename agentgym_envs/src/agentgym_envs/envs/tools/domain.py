"""Domains: a policy, and functions on a database."""

import json
import random
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from agentgym_envs.core import Tool
from agentgym_envs.envs.tools.parameters import BadCall, IdType, ParameterType

DatabaseRecord = dict[str, Any]
Database = dict[str, dict[str, DatabaseRecord]]
"""Records by table and id."""
MONEY = frozenset({"fees", "saver", "flex", "price", "refund", "voucher"})
"""Keys of records whose values are amounts in cents."""
_KEY = re.compile(r"(?:^|\s)([a-z_]+)=", re.IGNORECASE)


class ToolError(Exception):
    """A call that the function rejects; the message is the observation."""


@dataclass(frozen=True)
class DomainFunction:
    """A function on the database.

    Attributes:
        run: takes the database and the parameters by name, and returns the result as text.
        description: one sentence.
        parameters: by name.
        changes: whether it changes the database.
    """

    run: Callable[..., str]
    description: str
    parameters: Mapping[str, ParameterType]
    changes: bool = False

    @property
    def name(self) -> str:
        """The name in calls."""
        return self.run.__name__

    @property
    def template(self) -> str:
        """The form of a call."""
        return " ".join([self.name, *(f"{name}={{{name}}}" for name in self.parameters)])

    @property
    def tool(self) -> Tool:
        """The function as a tool of an environment."""
        schemas = {name: parameter.schema() for name, parameter in self.parameters.items()}
        return {
            "template": self.template,
            "description": self.description,
            "parameters": schemas,
        }

    def read(self, text: str) -> dict[str, Any]:
        """Returns the arguments in the text after the name.

        Raises:
            BadCall: arguments are missing, unknown or malformed.
        """
        _, *parts = _KEY.split(f" {text}")
        pairs = zip(parts[::2], parts[1::2], strict=True)
        given = {key.lower(): _unquoted(value.strip()) for key, value in pairs}
        if sorted(given) != sorted(self.parameters) or 2 * len(given) != len(parts):
            raise BadCall(f"Write the call in this form: {self.usage}")
        values = {}
        for name, parameter in self.parameters.items():
            try:
                values[name] = parameter.read(given[name])
            except BadCall as error:
                raise BadCall(f"{name} {error}.") from error
        return values

    @property
    def usage(self) -> str:
        """The template with the forms of the values."""
        return self.template.format(**{n: p.usage for n, p in self.parameters.items()})


@dataclass(frozen=True)
class ServiceDomain:
    """A place where an agent serves users.

    Attributes:
        name: begins the ids of the tasks.
        title: the name of the place in sentences.
        policy: the rules; "{today}" stands for the date.
        functions: by name.
        topics: regular expressions of questions by topic, which the user understands.
        transfer: name of the function that ends the conversation.
        proof: the detail that identifies a user beside the name: "postcode" or "date of birth".
    """

    name: str
    title: str
    policy: str
    functions: Mapping[str, DomainFunction]
    topics: Mapping[str, str]
    transfer: str
    proof: str

    def call(self, database: Database, action: str) -> str:
        """Runs a call and returns its result.

        Raises:
            BadCall: no function of this domain has such a call.
            ToolError: the function rejects the call.
        """
        function, arguments = self.read(action)
        return function.run(database, **arguments)

    def read(self, action: str) -> tuple[DomainFunction, dict[str, Any]]:
        """Returns the function and the arguments of a call.

        Raises:
            BadCall: no function of this domain has such a call.
        """
        name, _, rest = action.partition(" ")
        function = self.functions.get(name.lower())
        if function is None:
            raise BadCall(
                f"There is no such tool. The tools are: say, {', '.join(self.functions)}."
            )
        return function, function.read(rest)

    def after(self, database: Database, actions: tuple[str, ...]) -> Database:
        """Returns a copy of a database after some calls."""
        copy = deepcopy(database)
        for action in actions:
            self.call(copy, action)
        return copy


def content(database: Database) -> dict[str, list[str]]:
    """Returns the records of each table without their ids, in a fixed order.

    New records have ids that depend on the order of the calls.
    """
    return {
        table: sorted(json.dumps(record, sort_keys=True) for record in records.values())
        for table, records in database.items()
    }


def find(database: Database, table: str, key: str) -> DatabaseRecord:
    """Returns a record.

    Raises:
        ToolError: no record has this id.
    """
    if key in database[table]:
        return database[table][key]
    raise ToolError(f"Error: there is no {table.removesuffix('s')} {key}.")


def identified(database: Database, who: str, field: str, proof: str, name: str, value: str) -> str:
    """Returns the person with a name and a detail, as one line.

    Args:
        database: the records.
        who: the role, such as "member"; the table has its plural.
        field: the key of the detail.
        proof: the detail in words.
        name: the name in small letters.
        value: the detail.

    Raises:
        ToolError: no person has this name and this detail.
    """
    for key, record in database[f"{who}s"].items():
        if (record["name"].casefold(), record[field]) == (name, value):
            return show(key, record)
    raise ToolError(f"Error: no {who} has this name and this {proof}.")


def owned(
    database: Database, table: str, who: str, key: str, more: Callable[[DatabaseRecord], str]
) -> str:
    """Returns the records of a person as lines, or a sentence if there are none.

    Args:
        database: the records.
        table: the table of the records.
        who: the role, such as "member".
        key: the person's id.
        more: returns the end of a record's line.

    Raises:
        ToolError: no person has this id.
    """
    find(database, f"{who}s", key)
    lines = [
        f"{show(one, record)}, {more(record)}"
        for one, record in database[table].items()
        if record[who] == key
    ]
    return "\n".join(lines) or f"No {table}."


def add(database: Database, table: str, form: IdType, record: DatabaseRecord) -> str:
    """Adds a record and returns its id, the next free number."""
    numbers = [int(key.partition("-")[2]) for key in database[table]]
    low = 10 ** (form.digits - 1)
    key = f"{form.letter}-{max(numbers, default=low) + 1}"
    database[table][key] = record
    return key


def add_anywhere(
    database: Database, table: str, form: IdType, record: DatabaseRecord, rng: random.Random
) -> str:
    """Adds a record under a free random number and returns its id."""
    low = 10 ** (form.digits - 1)
    while True:
        key = f"{form.letter}-{rng.randrange(low, 9 * low)}"
        if key not in database[table]:
            database[table][key] = record
            return key


def show(key: str, record: DatabaseRecord) -> str:
    """Returns a record as one line."""
    fields = (f"{name.replace('_', ' ')} {_value(name, value)}" for name, value in record.items())
    return f"{key}: {', '.join(fields)}"


def listed(records: Mapping[str, DatabaseRecord], nothing: str) -> str:
    """Returns records as lines, or a sentence if there are none."""
    return "\n".join(show(key, record) for key, record in records.items()) or nothing


def amount(cents: int) -> str:
    """Returns an amount as text.

    >>> amount(1250)
    '12.50'
    """
    return f"{cents // 100}.{cents % 100:02}"


def later(day: str, days: int) -> str:
    """Returns the date some days after another.

    >>> later("2031-05-30", 3)
    '2031-06-02'
    """
    return (date.fromisoformat(day) + timedelta(days)).isoformat()


def _unquoted(text: str) -> str:
    """Returns a value without the quotation marks around it."""
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1].strip() if quoted else text


def _value(name: str, value: Any) -> str:
    return amount(value) if name in MONEY else str(value)
