"""Types with value ranges, for the fields of configurations and of plugin options.

A value outside its range raises an error with its key when the configuration is read. Types are
strict: ``true`` and ``1.0`` are not integers. Every number is finite.
"""

from datetime import date
from typing import Annotated

from pydantic import AfterValidator, Field

_INT32, _INT64 = 2**31 - 1, 2**63 - 1
_MONTH = 2_592_000  # seconds; system calls that wait do not accept much longer times

Count = Annotated[int, Field(ge=1, le=_INT32)]
"""An integer of at least 1."""
Counts = Annotated[tuple[Count, ...], Field(min_length=1)]
"""One or more integers of at least 1, such as the horizons of stages."""
Whole = Annotated[int, Field(ge=0, le=_INT32)]
"""An integer of at least 0."""
Seed = Annotated[int, Field(ge=0, le=_INT64)]
"""A seed for any random number generator: an integer from 0 to 2^63 − 1."""
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""A number above 0, such as a learning rate or a norm."""
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""A number of at least 0, such as a coefficient or a decay."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1, such as a discount or a lower clip range."""
Temperature = Annotated[float, Field(ge=0.01, le=100, allow_inf_nan=False)]
"""A sampling temperature, from 0.01 to 100.

0 would be greedy decoding, which has no log-probabilities to train on."""
Seconds = Annotated[float, Field(gt=0, le=_MONTH, allow_inf_nan=False)]
"""A time limit in seconds, above 0 and at most 30 days."""
Wait = Annotated[float, Field(ge=0, le=_MONTH, allow_inf_nan=False)]
"""A waiting time in seconds, from 0 to 30 days."""
Name = Annotated[str, Field(min_length=1)]
"""A non-empty string."""


def _day(text: str) -> str:
    try:
        return text and date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise ValueError(f"must be a date such as '2026-01-31', not {text!r}") from error


Day = Annotated[str, AfterValidator(_day)]
"""A date as YYYY-MM-DD, or an empty string."""
