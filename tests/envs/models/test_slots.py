import asyncio
from contextlib import AsyncExitStack

import pytest
from concurrency import Case, measure
from some import full
from stub_model import StubModel, ok, status

from agentgym_envs.models.client import ChatClient, ModelEndpoint
from agentgym_envs.models.slots import RequestSlots


def free(slots):
    """Returns how many tasks can enter at once."""

    async def main():
        entered = []

        async def enter():
            async with slots.request():
                entered.append(1)
                await asyncio.Event().wait()

        tasks = [asyncio.create_task(enter()) for _ in range(2 * slots.most)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        count = len(entered)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return count

    return asyncio.run(main())


async def busy(slots, outcomes):
    """Lets requests end together: refused, answered or unknown."""
    async with AsyncExitStack() as stack:
        for outcome in outcomes:
            request = await stack.enter_async_context(slots.request())
            request.refused = outcome


def samples(slots, share, count=1):
    """Fills samples of which a share is refused, one request at a time."""
    for _ in range(count * 20):
        refused = slots._refused < share * slots._size
        asyncio.run(busy(slots, [refused]))


def test_a_sample_with_many_refusals_lowers_the_limit_once_and_one_with_few_does_not():
    slots = RequestSlots(10)
    samples(slots, 0.3)
    assert free(slots) == 10
    asyncio.run(busy(slots, [True] * 10))  # more than 0.3 of 20 at the seventh
    assert free(slots) == 7
    asyncio.run(busy(slots, [True] * 7))
    asyncio.run(busy(slots, [None] * 6))  # slots that were free are withheld at their next end
    assert free(slots) == 4
    for _ in range(30):
        asyncio.run(busy(slots, [True]))
    assert free(slots) == 1


def test_samples_without_refusals_raise_the_limit_to_the_most():
    slots = RequestSlots(8)
    for _ in range(5):
        asyncio.run(busy(slots, [True] * int(slots.limit)))
    lowest = slots.limit
    samples(slots, 0.0)
    assert slots.limit > lowest
    samples(slots, 0.0, 40)
    assert slots.limit == free(slots) == 8


def test_after_a_short_overload_the_limit_soon_reaches_the_most():
    slots = RequestSlots(32)
    while slots.limit > 2:
        asyncio.run(busy(slots, [True]))
    replies = 0
    while slots.limit < 32 and replies < 300:
        asyncio.run(busy(slots, [False]))
        replies += 1
    assert slots.limit == 32, "earlier, it took more than 1000 replies"


def test_a_share_that_one_request_at_a_time_meets_lowers_the_limit_no_further():
    slots = RequestSlots(8)
    samples(slots, 0.5, 12)
    assert slots.limit > 4
    broken = RequestSlots(8)
    samples(broken, 1.0, 40)
    assert broken.limit < 2, "a server that refuses everything is asked once at a time"


def test_requests_of_unknown_outcome_do_not_stop_the_samples():
    slots = RequestSlots(4)
    for _ in range(50):
        asyncio.run(busy(slots, [None] * 4))
    assert slots.limit == 4
    for _ in range(3):
        asyncio.run(busy(slots, [True] * int(slots.limit)))
    assert slots.limit < 4


@pytest.mark.parametrize(
    ("share", "least"), [(0.2, 0.5), *full((0.05, 0.85), (0.5, 0.35))], ids=["20 %", "5 %", "50 %"]
)
def test_random_refusals_leave_a_part_of_the_throughput(share, least):
    """The earlier rule kept 0.67, 0.31 and 0.17."""
    case = Case(8, share=share)
    found = measure(case, seed=1)
    assert found.rate > least * case.possible
    assert found.limit > 5
    assert found.failed <= 2


@pytest.mark.parametrize("capacity", [1, 8])
def test_the_limit_settles_near_the_number_that_the_server_accepts(capacity):
    found = measure(Case(32, capacity=capacity), seed=2)
    assert found.rate > 0.8 * capacity
    assert 0.7 * capacity <= found.limit <= capacity + 1
    assert found.refused < (0.15 if capacity > 1 else 0.6)
    assert found.failed == 0


def test_a_cancelled_wait_takes_no_slot():
    slots = RequestSlots(2)
    for _ in range(5):
        assert free(slots) == 2


def test_a_client_sends_fewer_requests_at_once_after_an_overload():
    """All of eight calls meet an overload, and their repetitions are answered."""

    async def main(model):
        async def sleep(seconds):
            await asyncio.sleep(0)

        endpoint = ModelEndpoint(model="stub", base_url=model.url)
        async with ChatClient(endpoint, connections=8, sleep=sleep) as client:
            calls = [{"role": "user", "content": "go"}]
            await asyncio.gather(*(client.complete(calls) for _ in range(8)))
            return client

    with StubModel([*[status(429), status(529), status(503)] * 3, ok()]) as model:
        client = asyncio.run(main(model))
    assert len(model.requests) == 17
    assert client._retry.slots.limit < 8
