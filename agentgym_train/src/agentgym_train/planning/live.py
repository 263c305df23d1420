"""The bytes of tensors that are alive, counted while code runs."""

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):
    """Counts the storage of every tensor that an operation returns, until it is freed.

    It works with real and with fake tensors. Storage inside of a kernel is not seen. Tensors that
    exist before the mode starts must be passed to :meth:`see`, since an operation that changes one
    in place returns it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        """Bytes alive."""
        self.peak = 0
        """Largest value of ``now`` since the start or the latest :meth:`restart`."""
        self._seen: weakref.WeakKeyDictionary[torch.UntypedStorage, int] = (
            weakref.WeakKeyDictionary()
        )

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Runs an operation and counts its results."""
        out = func(*args, **(kwargs or {}))
        self.see(out)
        return out

    def see(self, tree: Any) -> None:
        """Counts all tensors of a nested structure that are not counted yet."""
        for leaf in tree_leaves(tree):
            # A tensor on the meta device has a size but no memory.
            if isinstance(leaf, Tensor) and leaf.device.type != "meta":
                self._add(leaf.untyped_storage())

    def restart(self) -> None:
        """Starts a new peak."""
        self.peak = self.now

    def _add(self, storage: torch.UntypedStorage) -> None:
        if storage in self._seen:
            return
        self._seen[storage] = size = storage.nbytes()
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._free, size).atexit = False

    def _free(self, size: int) -> None:
        self.now -= size
