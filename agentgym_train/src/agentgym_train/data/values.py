"""Values on their way between processes: JSON, then the bytes of tensors and arrays.

Reading a value runs no code, in contrast to a pickle. Only the types of this file travel. Numbers
arrive exactly.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
import torch

from agentgym_envs.errors import AgentGymError
from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Call, EpisodeFailure, EpisodeStatus, Group, Trajectory, Turn
from agentgym_train.errors import TrainingError

LENGTH = struct.Struct("!Q")  # of the JSON text
PLAIN = frozenset({NoneType, bool, int, float, str})
SERIES: dict[str, Any] = {each.__name__: each for each in (tuple, set, frozenset)}
CLASSES: dict[str, Any] = {
    each.__name__: each for each in (Trajectory, Turn, Call, Group, EpisodeFailure, Batch)
}
DTYPES = {str(each): each for each in vars(torch).values() if isinstance(each, torch.dtype)}
NUMBERS = "biufc"  # numpy's letters of booleans, integers, floats and complex numbers


def pack(value: Any) -> bytes:
    """Returns a value as bytes.

    Args:
        value: texts, bytes, numbers, tensors, numpy's numbers and arrays, paths, errors, the
            dataclasses of ``agentgym_train.data``, and lists, tuples, sets and dictionaries of
            these.

    Raises:
        TypeError: the value is or holds something else.
    """
    blobs: list[bytes] = []
    text = json.dumps(_described(value, blobs)).encode("ascii")
    return b"".join([LENGTH.pack(len(text)), text, *blobs])


def unpack(data: bytes) -> Any:
    """Returns the value of :func:`pack`; tensors are on the CPU.

    An ``AgentGymError`` arrives with its class, another error as a ``TrainingError``.

    Raises:
        TrainingError: the bytes are not a value.
    """
    try:
        (length,) = LENGTH.unpack_from(data)
        described = json.loads(data[LENGTH.size : LENGTH.size + length])
        return _Reader(data, LENGTH.size + length).value(described)
    except Exception as error:  # of bytes that another program has sent
        raise TrainingError(
            f"{len(data)} bytes of another process cannot be read: {error}"
        ) from error


def _described(value: Any, blobs: list[bytes]) -> Any:
    """Returns the JSON-able form of a value: {type: contents}, except for lists and plain values.

    Args:
        value: see :func:`pack`.
        blobs: gets the bytes that follow the JSON text.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list:
        # Most lists are token ids.
        return value if PLAIN.issuperset(map(type, value)) else _all(value, blobs)
    if kind.__name__ in SERIES and kind is SERIES[kind.__name__]:
        return {kind.__name__: _all(value, blobs)}
    if kind is dict:
        return {"dict": [_all(pair, blobs) for pair in value.items()]}
    if kind is EpisodeStatus:
        return {"EpisodeStatus": str(value)}
    if CLASSES.get(kind.__name__) is kind:
        return {kind.__name__: _all((getattr(value, f.name) for f in fields(value)), blobs)}
    if isinstance(value, Path):
        return {"Path": str(value)}
    if isinstance(value, Exception):
        name = kind.__name__ if isinstance(value, AgentGymError) else ""
        return {"error": [name, str(value) if name else f"{kind.__name__}: {value}"]}
    if isinstance(value, bytes):
        return {"bytes": _kept(value, blobs)}
    if isinstance(value, torch.Tensor):
        flat = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        shape = list(value.shape)
        return {"tensor": [str(value.dtype), shape, _kept(flat.numpy().tobytes(), blobs)]}
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in NUMBERS:
        name = "array" if isinstance(value, np.ndarray) else "number"
        return {name: [value.dtype.str, list(value.shape), _kept(value.tobytes(), blobs)]}
    if isinstance(value, int | float | str):  # of a subclass
        return value
    raise TypeError(
        f"a {kind.__module__}.{kind.__qualname__} cannot go to another process: send its numbers,"
        " texts, lists or tensors"
    )


def _all(values: Any, blobs: list[bytes]) -> list[Any]:
    return [_described(each, blobs) for each in values]


def _kept(data: bytes, blobs: list[bytes]) -> int:
    """Keeps bytes for the end; returns their number."""
    blobs.append(data)
    return len(data)


class _Reader:
    """Reads values in the order in which they were described.

    Args:
        data: all bytes.
        place: where the bytes after the JSON text begin.
    """

    def __init__(self, data: bytes, place: int):
        self._data, self._place = data, place

    def value(self, described: Any) -> Any:
        """Returns the value of a JSON-able form."""
        if isinstance(described, list):
            return described if PLAIN.issuperset(map(type, described)) else self._each(described)
        if not isinstance(described, dict):
            return described
        ((name, body),) = described.items()
        if name in SERIES:
            return SERIES[name](self._each(body))
        if name == "dict":
            return dict(map(self._each, body))
        if name in CLASSES:
            return CLASSES[name](*self._each(body))
        if name == "bytes":
            return self._taken(body)
        if name in {"tensor", "array", "number"}:
            return self._numbers(name, *body)
        if name == "error":
            return _error(*body)
        return {"EpisodeStatus": EpisodeStatus, "Path": Path}[name](body)

    def _each(self, values: list[Any]) -> list[Any]:
        return [self.value(each) for each in values]

    def _taken(self, size: int) -> bytes:
        start, self._place = self._place, self._place + size
        return self._data[start : self._place]

    def _numbers(self, name: str, dtype: str, shape: list[int], size: int) -> Any:
        data = bytearray(self._taken(size))
        if name == "tensor":
            flat = torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0).byte()
            return flat.view(DTYPES[dtype]).reshape(shape)
        if np.dtype(dtype).kind not in NUMBERS:
            raise ValueError(f"an array of {dtype}")
        array = np.frombuffer(data, dtype).reshape(shape)
        return array if name == "array" else array[()]


def _error(name: str, text: str) -> Exception:
    """Returns an error of its class, without calling the constructor of the class."""
    kind = next((each for each in _subclasses(AgentGymError) if each.__name__ == name), None)
    error: Exception = kind.__new__(kind, text) if kind else TrainingError(text)
    return error


def _subclasses(kind: type[AgentGymError]) -> Iterator[type[AgentGymError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _subclasses(each)
