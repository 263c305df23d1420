"""Types of parameters: a JSON schema for the model, and a reader for the text of a call."""

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol


class BadCall(ValueError):
    """A malformed call; the message explains the form."""


class ParameterType(Protocol):
    """A parameter of a function."""

    def schema(self) -> dict[str, Any]:
        """Returns the JSON schema."""

    @property
    def usage(self) -> str:
        """The form of a value."""

    def read(self, text: str) -> Any:
        """Returns the value of a text.

        Raises:
            BadCall: the text has another form.
        """


@dataclass(frozen=True)
class IdType:
    """An id such as M-4821."""

    description: str
    letter: str
    digits: int

    def schema(self) -> dict[str, Any]:
        """Returns the schema of a string."""
        return {"type": "string", "description": f"{self.description}, such as {self.usage}"}

    @property
    def usage(self) -> str:
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
        raise BadCall(f"must look like {self.usage}")


@dataclass(frozen=True)
class ChoiceType:
    """One of several words."""

    description: str
    options: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        """Returns the schema of an enumeration."""
        return {"type": "string", "enum": list(self.options), "description": self.description}

    @property
    def usage(self) -> str:
        """The options."""
        return "|".join(self.options)

    def read(self, text: str) -> str:
        """Returns the word in small letters."""
        if text.lower() in self.options:
            return text.lower()
        raise BadCall(f"must be one of {', '.join(self.options)}")


@dataclass(frozen=True)
class IntegerType:
    """A whole number in a range."""

    description: str
    low: int
    high: int

    usage = "NUMBER"

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
class MoneyType:
    """An amount with at most two decimals; its value is in cents."""

    description: str

    usage = "AMOUNT"

    def schema(self) -> dict[str, Any]:
        """Returns the schema of a number."""
        return {"type": "number", "minimum": 0, "description": self.description}

    def read(self, text: str) -> int:
        """Returns the amount in cents."""
        if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,2})?", text):
            return int(Decimal(text) * 100)
        raise BadCall("must be an amount such as 12.50")


@dataclass(frozen=True)
class DateType:
    """A date."""

    description: str

    usage = "YYYY-MM-DD"

    def schema(self) -> dict[str, Any]:
        """Returns the schema of a string."""
        return {"type": "string", "description": f"{self.description}, such as 2031-05-14"}

    def read(self, text: str) -> str:
        """Returns the date in ISO form."""
        try:
            return datetime.strptime(text, "%Y-%m-%d").date().isoformat()
        except ValueError as error:
            raise BadCall("must be a date such as 2031-05-14") from error


@dataclass(frozen=True)
class TextType:
    """A text; small and capital letters are equal.

    Attributes:
        description: a noun phrase.
        pattern: regular expression of such texts in a conversation.
    """

    description: str
    pattern: str

    usage = "TEXT"

    def schema(self) -> dict[str, Any]:
        """Returns the schema of a string."""
        return {"type": "string", "description": self.description}

    def read(self, text: str) -> str:
        """Returns the text in small letters."""
        return text.casefold()
