"""Domains: a policy, functions on a database, and the parsing of calls."""

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Protocol

from agentgym_envs.core import Tool

Record = dict[str, Any]
Database = dict[str, dict[str, Record]]
"""Records by table and id."""
MONEY = frozenset({"fees", "saver", "flex", "price", "refund", "voucher"})
"""Keys of records whose values are amounts in cents."""
_KEY = re.compile(r"(?:^|\s)([a-z_]+)=", re.IGNORECASE)


class ToolError(Exception):
    """A call that the function rejects; the message is the observation."""


class BadCall(ValueError):
    """A text that is no call; the message explains the form."""


class Parameter(Protocol):
    """A parameter of a function."""

    def schema(self) -> dict[str, Any]:
        """Returns the JSON schema."""

    def read(self, text: str) -> Any:
        """Returns the value of a text.

        Raises:
            BadCall: the text has another form.
        """


@dataclass(frozen=True)
class Id:
    """An id such as M-4821."""

    description: str
    letter: str
    digits: int

    def schema(self) -> dict[str, Any]:
        """Returns the schema of a string."""
        return {"type": "string", "description": f"{self.description}, such as {self.example}"}

    @property
    def example(self) -> str:
        """An id of this form."""
        return f"{self.letter}-{'123456'[: self.digits]}"

    @property
    def pattern(self) -> str:
        """The regular expression of the form."""
        return rf"{self.letter}-[0-9]{{{self.digits}}}"

    def read(self, text: str) -> str:
        """Returns the id in capitals."""
        if re.fullmatch(self.pattern, text.upper()):
            return text.upper()
        raise BadCall(f"must look like {self.example}")


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    description: str
    options: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        """Returns the schema of an enumeration."""
        return {"type": "string", "enum": list(self.options), "description": self.description}

    def read(self, text: str) -> str:
        """Returns the word in small letters."""
        if text.lower() in self.options:
            return text.lower()
        raise BadCall(f"must be one of {', '.join(self.options)}")


@dataclass(frozen=True)
class Whole:
    """A whole number in a range."""

    description: str
    low: int
    high: int

    def schema(self) -> dict[str, Any]:
        """Returns the schema of an integer."""
        limits = {"minimum": self.low, "maximum": self.high}
        return {"type": "integer", **limits, "description": self.description}

    def read(self, text: str) -> int:
        """Returns the number."""
        if re.fullmatch("[0-9]{1,6}", text) and self.low <= int(text) <= self.high:
            return int(text)
        raise BadCall(f"must be a whole number from {self.low} to {self.high}")


@dataclass(frozen=True)
class Money:
    """An amount with at most two decimals; its value is in cents."""

    description: str

    def schema(self) -> dict[str, Any]:
        """Returns the schema of a number."""
        return {"type": "number", "minimum": 0, "description": self.description}

    def read(self, text: str) -> int:
        """Returns the amount in cents."""
        if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,2})?", text):
            return int(Decimal(text) * 100)
        raise BadCall("must be an amount such as 12.50")


@dataclass(frozen=True)
class Day:
    """A date."""

    description: str

    def schema(self) -> dict[str, Any]:
        """Returns the schema of a string."""
        return {"type": "string", "description": f"{self.description}, such as 2031-05-14"}

    def read(self, text: str) -> str:
        """Returns the date in ISO form."""
        try:
            if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
                return date.fromisoformat(text).isoformat()
        except ValueError:
            pass
        raise BadCall("must be a date such as 2031-05-14")


@dataclass(frozen=True)
class Words:
    """A text; small and capital letters are equal.

    Attributes:
        description: what it is.
        pattern: regular expression of such texts in a conversation.
    """

    description: str
    pattern: str

    def schema(self) -> dict[str, Any]:
        """Returns the schema of a string."""
        return {"type": "string", "description": self.description}

    def read(self, text: str) -> str:
        """Returns the text in small letters."""
        return text.casefold()


@dataclass(frozen=True)
class Function:
    """A function on the database.

    Attributes:
        run: takes the database and the parameters by name, and returns the result as text.
        description: one sentence.
        parameters: by name.
        changes: whether it changes the database.
    """

    run: Callable[..., str]
    description: str
    parameters: Mapping[str, Parameter]
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
        given = {k.lower(): v.strip() for k, v in zip(parts[::2], parts[1::2], strict=True)}
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
        """The template with capitals for values."""
        return " ".join([self.name, *(f"{name}={name.upper()}" for name in self.parameters)])


@dataclass(frozen=True)
class Domain:
    """A place where an agent serves users.

    Attributes:
        name: begins the ids of the tasks.
        title: the name of the place in sentences.
        policy: the rules; "{today}" stands for the date.
        functions: by name.
        topics: regular expressions of questions by topic, which the user understands.
        transfer: name of the function that ends the conversation.
        proof: what a user gives beside its name: "postcode" or "date of birth".
    """

    name: str
    title: str
    policy: str
    functions: Mapping[str, Function]
    topics: Mapping[str, str]
    transfer: str
    proof: str

    def call(self, database: Database, action: str) -> str:
        """Runs a call and returns its result.

        Raises:
            BadCall: the text is no call of a function of this domain.
            ToolError: the function rejects the call.
        """
        function, arguments = self.read(action)
        return function.run(database, **arguments)

    def read(self, action: str) -> tuple[Function, dict[str, Any]]:
        """Returns the function and the arguments of a call.

        Raises:
            BadCall: the text is no call of a function of this domain.
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


def find(database: Database, table: str, key: str) -> Record:
    """Returns a record.

    Raises:
        ToolError: no record has this id.
    """
    if key in database[table]:
        return database[table][key]
    raise ToolError(f"Error: there is no {table.removesuffix('s')} {key}.")


def add(database: Database, table: str, form: Id, record: Record) -> str:
    """Adds a record and returns its id, the next free number."""
    numbers = [int(key.partition("-")[2]) for key in database[table]]
    low = 10 ** (form.digits - 1)
    key = f"{form.letter}-{max(numbers, default=low) + 1}"
    database[table][key] = record
    return key


def show(key: str, record: Record) -> str:
    """Returns a record as one line."""
    fields = (f"{name.replace('_', ' ')} {_value(name, value)}" for name, value in record.items())
    return f"{key}: {', '.join(fields)}"


def listed(records: Mapping[str, Record], nothing: str) -> str:
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


def _value(name: str, value: Any) -> str:
    return amount(value) if name in MONEY else str(value)
