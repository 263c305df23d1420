"""A limit of requests per second of one client address."""

import asyncio
import time

from agentgym_envs.serve.refusal import RefusedRequest

LONGEST_WAIT = 30.0  # seconds
FORGET = 10_000  # addresses after which those without a debt are forgotten


class RateLimit:
    """Delays requests over the limit; requests that start sessions are refused.

    Args:
        limit: requests per second and address; as many can come at once.
    """

    def __init__(self, limit: float):
        self._limit = limit
        self._paid: dict[str, float] = {}
        """The time up to which an address has used its requests."""

    async def wait(self, address: str, *, patient: bool) -> None:
        """Counts a request, and waits until it is within the limit.

        Args:
            address: the client's address.
            patient: whether the request can wait.

        Raises:
            RefusedRequest: the request cannot wait, or would wait too long.
        """
        due = self.due(address, LONGEST_WAIT if patient else 0.0)
        if due is None:
            raise RefusedRequest(
                429 if patient else 503,
                f"{address}: more than {self._limit:g} requests per second; try again later",
            )
        if due > 0:
            await asyncio.sleep(due)

    def due(self, address: str, longest: float) -> float | None:
        """Counts a request.

        Args:
            address: the client's address.
            longest: longest wait in seconds.

        Returns:
            Seconds until the request is within the limit; None, and the request does not count, if
            these are more than ``longest``.
        """
        now = time.monotonic()
        paid = max(self._paid.get(address, 0.0), now - 1.0)
        due = paid + 1 / self._limit - now
        if due > longest:
            return None
        self._paid[address] = paid + 1 / self._limit
        if len(self._paid) > FORGET:
            self._paid = {key: end for key, end in self._paid.items() if end > now - 1.0}
        return max(due, 0.0)
