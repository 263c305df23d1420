"""Limits concurrent requests, and adapts the limit to the server's load."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

SAMPLE, EACH = 20, 8  # requests that a decision rests on: EACH per slot, up to SAMPLE
TOLERATED = 0.3  # refused share above the usual one that lowers the limit
USUAL = 0.75  # largest usual share; a server that refuses more is out of order
DECREASE = 0.7  # factor of a decrease, as in TCP CUBIC
CEILING = 0.85  # part of the limit before a decrease up to which the limit rises fast
PROBE = 0.25  # first rise of the limit above
FASTER = 1.5  # factor of each further rise
FORGET = 0.1  # part of the way that the usual share falls to a smaller one


@dataclass
class SlotRequest:
    """A request in a slot.

    Attributes:
        sample: number of the sample that the request belongs to, or None.
        refused: whether the server was overloaded; None if the request shows neither.
    """

    sample: int | None
    refused: bool | None = None


class RequestSlots:
    """A semaphore whose limit adapts to the share of requests that an overloaded server refuses.

    Each decision rests on a sample of requests that began after the last decision, so the requests
    under way at a decrease cause no further one. If a sample has too many refusals, the limit falls
    by 30 %. Otherwise it rises: half of the way to 85 % of the limit before the decrease, and
    beyond by 0.25, 0.38, 0.56 and so on, up to ``most``. So a short overload costs little time.

    Some servers refuse a share of all requests, however few there are. So the share that is refused
    at one request at a time counts as usual: it lowers the limit no further.

    Args:
        most: largest limit.
    """

    def __init__(self, most: int):
        self.most, self.limit = most, float(most)
        self._free = asyncio.Semaphore(most)
        self._withheld = self._sample = 0
        self._ceiling, self._usual, self._probe = float(most), 0.0, PROBE
        self._start_sample()

    @asynccontextmanager
    async def request(self) -> AsyncIterator[SlotRequest]:
        """Waits for a slot. The caller sets ``refused`` before the end."""
        await self._free.acquire()
        request = SlotRequest(self._sample if self._begun < self._size else None)
        self._begun += request.sample is not None
        try:
            yield request
        finally:
            self._withheld += 1
            if request.sample == self._sample:
                self._judge(request.refused)
            while self._withheld > self.most - int(self.limit):
                self._withheld -= 1
                self._free.release()

    def _start_sample(self) -> None:
        self._sample += 1
        slots = int(self.limit)
        self._size = max(min(SAMPLE, EACH * slots), slots)
        self._begun = self._ended = self._refused = 0

    def _judge(self, refused: bool | None) -> None:
        """Counts a request of the sample. Changes the limit once the sample decides it."""
        if refused is None:
            self._begun -= 1  # another request takes its place
            return
        self._ended += 1
        self._refused += refused
        share, full = self._refused / self._size, self._ended == self._size
        noise = 2 * (self._usual * (1 - self._usual) / self._size) ** 0.5
        too_many = share > self._usual + max(TOLERATED, noise)
        if too_many and self.limit >= 2:
            self._ceiling, self.limit = CEILING * self.limit, max(1.0, DECREASE * self.limit)
            self._probe = PROBE
        elif not full:
            return
        elif not too_many:
            self._usual += FORGET * min(0.0, share - self._usual)
            rise = (self._ceiling - self.limit) / 2
            if rise < self._probe:
                rise, self._probe = self._probe, FASTER * self._probe
            self.limit = min(float(self.most), self.limit + rise)
        elif share <= USUAL:
            self._usual, self._ceiling = share, float(self.most)
        self._start_sample()
