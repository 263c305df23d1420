"""Limits concurrent requests, and adapts the limit to the server's load."""

import asyncio


class Slots:
    """A semaphore whose limit halves when the server is overloaded, and grows with each success.

    The limit grows by about one for each round of successful requests, up to ``most``. Requests
    that were under way at the last decrease cause no further one.

    Args:
        most: largest limit.
    """

    def __init__(self, most: int):
        self.most, self.limit = most, float(most)
        self._free = asyncio.Semaphore(most)
        self._withheld = self._decreases = 0

    async def __aenter__(self) -> int:
        """Waits for a slot. Returns the number of decreases so far, for :meth:`overloaded`."""
        await self._free.acquire()
        return self._decreases

    async def __aexit__(self, *error: object) -> None:
        self._withheld += 1
        self._release()

    def succeeded(self) -> None:
        """Raises the limit a little."""
        self.limit = min(float(self.most), self.limit + 1 / self.limit)
        self._release()

    def overloaded(self, began: int) -> None:
        """Halves the limit, unless it was decreased since the request began."""
        if began == self._decreases:
            self._decreases += 1
            self.limit = max(1.0, self.limit / 2)

    def _release(self) -> None:
        while self._withheld > self.most - int(self.limit):
            self._withheld -= 1
            self._free.release()
