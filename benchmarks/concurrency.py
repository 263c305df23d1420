"""Calls per second of a client whose server answers 429, under a virtual clock.

    python benchmarks/concurrency.py

Writes ``benchmarks/results/concurrency.md``. Only the clock and the server are
simulated; ``RetryPolicy`` and ``RequestSlots`` are those of the package.
"""

import asyncio
import random
import selectors
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import httpx2
import long_tables

from agentgym_envs.errors import ProviderError
from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.models.retry import RetryPolicy
from agentgym_envs.models.slots import RequestSlots, SlotRequest

RESULT = Path(__file__).parent / "results" / "concurrency.md"
EPISODES, CALLS = 60, 20  # calls of an episode follow each other
LATENCY = 1.0  # seconds until a reply
SEEDS = 5
HEAD = f"""# Concurrency of a client whose server answers 429

`python benchmarks/concurrency.py`: {EPISODES} episodes of {CALLS} calls; a reply takes
{LATENCY:g} s. Means of {SEEDS} seeds. The clock and the server are simulated; the retries and the
limit are the real ones.

Earlier, the limit halved at a refusal, and grew by about one for each round of replies.
A rate is the number of replies per second until half of the episodes are over. It includes the
time in which the client learns the share of refusals. "Best" is the largest possible rate. A limit
is the mean over the last three quarters of the calls. "Refused" is the share of all requests.

| 429 | connections | best | rate, earlier | limit | refused | rate, now | limit | refused |
|---|---|---|---|---|---|---|---|---|"""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__(selectors.SelectSelector())
        self.now = 0.0
        select = self._selector.select  # type: ignore[attr-defined]

        def jump(timeout: float | None) -> Any:
            self.now += timeout or 0.0
            return select(0)

        self._selector.select = jump  # type: ignore[attr-defined]

    def time(self) -> float:
        """Returns the virtual time in seconds."""
        return self.now


class Server:
    """A server of a case."""

    def __init__(self, case: "Case", seed: int):
        self.case, self.random = case, random.Random(seed)
        self.served = self.refused = self.active = 0

    async def send(self) -> str:
        """Answers a request."""
        if self.active >= self.case.capacity or self.random.random() < self.case.share:
            self.refused += 1
            await asyncio.sleep(self.case.refusal)
            request = httpx2.Request("POST", "http://stub")
            answer = httpx2.Response(429, request=request, text="{}")
            raise httpx2.HTTPStatusError("429", request=request, response=answer)
        self.active += 1
        await asyncio.sleep(LATENCY)
        self.active -= 1
        self.served += 1
        return "reply"


class Halving:
    """The earlier rule: the limit halves at a refusal, and grows by about one for each round."""

    def __init__(self, most: int):
        self.most, self.limit = most, float(most)
        self._free = asyncio.Semaphore(most)
        self._withheld = self._decreases = 0

    @asynccontextmanager
    async def request(self) -> AsyncIterator[SlotRequest]:
        """Waits for a slot."""
        await self._free.acquire()
        request, began = SlotRequest(None), self._decreases
        yield request
        if not request.refused:
            self.limit = min(float(self.most), self.limit + 1 / self.limit)
        elif began == self._decreases:
            self._decreases += 1
            self.limit = max(1.0, self.limit / 2)
        self._withheld += 1
        while self._withheld > self.most - int(self.limit):
            self._withheld -= 1
            self._free.release()


class Case(NamedTuple):
    """A server and its client.

    Attributes:
        connections: largest number of requests at a time.
        share: share of the requests that the server refuses.
        capacity: number of requests that the server accepts at a time.
        refusal: seconds until a refusal.
    """

    connections: int
    share: float = 0.0
    capacity: int = 10**9
    refusal: float = 0.05

    @property
    def possible(self) -> float:
        """The most replies per second."""
        each = LATENCY + self.refusal * self.share / (1 - self.share)
        return min(self.connections / each, self.capacity / LATENCY)


class Measured(NamedTuple):
    """Results of a run.

    Attributes:
        rate: replies per second until half of the episodes are over.
        refused: share of the requests that were refused.
        failed: calls without a reply after all retries.
        limit: mean limit in the last three quarters of the calls.
    """

    rate: float
    refused: float
    failed: int
    limit: float


def measure(case: Case, seed: int, slots: Callable[[int], Any] = RequestSlots) -> Measured:
    """Plays episodes against a server, under a virtual clock."""
    server = Server(case, seed)

    async def play() -> Measured:
        endpoint = ModelEndpoint(model="stub", base_url="http://stub")
        retry = RetryPolicy(endpoint, "", connections=case.connections, sleep=asyncio.sleep)
        retry.slots, retry._random = slots(case.connections), random.Random(seed)
        failed, limits, rates = 0, list[float](), list[float]()

        async def episode() -> None:
            nonlocal failed
            for _ in range(CALLS):
                try:
                    await retry.ask(server.send, endpoint.retries)
                except ProviderError:
                    failed += 1
                limits.append(retry.slots.limit)
            rates.append(server.served / asyncio.get_running_loop().time())

        await asyncio.gather(*(episode() for _ in range(EPISODES)))
        refused = server.refused / (server.served + server.refused)
        return Measured(rates[EPISODES // 2], refused, failed, fmean(limits[len(limits) // 4 :]))

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(play())


def _row(case: Case) -> str:
    cells = []
    for slots in (Halving, RequestSlots):
        runs = [measure(case, seed, slots) for seed in range(SEEDS)]
        rate, refused, limit = (fmean(run[n] for run in runs) for n in (0, 1, 3))
        cells.append(f"{rate:.1f} | {limit:.1f} | {refused:.0%}")
    kind = f"{case.share:.0%} at random" if case.share else f"above {case.capacity} at a time"
    return (
        f"| {kind}, after {case.refusal:g} s | {case.connections} | {case.possible:.1f} |"
        f" {' | '.join(cells)} |"
    )


def main() -> None:
    """Measures all cases and writes the table."""
    cases = [Case(c, share=p) for p in (0.05, 0.2, 0.5) for c in (8, 32)]
    cases += [Case(32, capacity=8), Case(32, capacity=8, refusal=1.0), Case(32, capacity=1)]
    long_tables.write(RESULT, "\n".join([HEAD, *map(_row, cases)]), lambda cells: cells[1] == "32")


if __name__ == "__main__":
    main()
