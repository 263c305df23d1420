"""What the values of a configuration can be: types for the fields of configurations and of plugins' options.

A value outside them is refused when the configuration is read, with its key. Types are strict (``true`` and ``1.0`` are no
integers) and no number is infinite or NaN.
"""

from typing import Annotated

from pydantic import Field

_INT32, _INT64 = 2**31 - 1, 2**63 - 1
_MONTH = 2_592_000  # seconds; the system calls that wait cannot take much more

Count = Annotated[int, Field(ge=1, le=_INT32)]
"""At least one."""
Counts = Annotated[tuple[Count, ...], Field(min_length=1)]
"""One or more of them, such as stages of turns."""
Whole = Annotated[int, Field(ge=0, le=_INT32)]
"""Zero or more."""
Seed = Annotated[int, Field(ge=0, le=_INT64)]
"""A seed of any generator."""
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""Above zero: a learning rate, a norm."""
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""Zero or more: a coefficient, a decay."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""From 0 to 1: a discount, a clip range below 1."""
Temperature = Annotated[float, Field(ge=0.01, le=100, allow_inf_nan=False)]
"""Of sampling. Greedy choice, the limit 0, has no log-probability to train on."""
Seconds = Annotated[float, Field(gt=0, le=_MONTH, allow_inf_nan=False)]
"""A time limit, at most a month."""
Wait = Annotated[float, Field(ge=0, le=_MONTH, allow_inf_nan=False)]
"""A time to wait, which may be none."""
Name = Annotated[str, Field(min_length=1)]
"""Not empty."""
