import asyncio

from stub_model import StubModel, ok, status

from agentgym_envs.models.client import Client, Endpoint
from agentgym_envs.models.slots import Slots


def free(slots):
    """Returns how many tasks can enter at once."""

    async def main():
        entered = []

        async def enter():
            async with slots:
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
    """Lets requests end together, each with success or overload."""
    began = [await slots.__aenter__() for _ in outcomes]
    for start, outcome in zip(began, outcomes, strict=True):
        slots.succeeded() if outcome else slots.overloaded(start)
        await slots.__aexit__()


def test_one_burst_of_overload_halves_the_limit_once():
    slots = Slots(8)
    assert free(slots) == 8
    asyncio.run(busy(slots, [False] * 8))
    assert free(slots) == 4
    asyncio.run(busy(slots, [False] * 4))
    assert free(slots) == 2
    for _ in range(5):
        asyncio.run(busy(slots, [False]))
    assert free(slots) == 1


def test_successes_raise_the_limit_by_one_a_round_up_to_the_most():
    slots = Slots(8)
    asyncio.run(busy(slots, [False] * 8))
    asyncio.run(busy(slots, [True] * 4))
    assert free(slots) == 4  # 4 × 1/4, less what the growing limit takes off
    asyncio.run(busy(slots, [True]))
    assert free(slots) == 5
    for _ in range(100):
        asyncio.run(busy(slots, [True]))
    assert free(slots) == 8
    assert slots.limit == 8


def test_a_cancelled_wait_takes_no_slot():
    slots = Slots(2)
    for _ in range(5):
        assert free(slots) == 2


def test_a_client_sends_fewer_requests_at_once_after_an_overload():
    """Four calls meet 429; the repeated ones come in twos, and all of them are answered."""

    async def main(model):
        async def sleep(seconds):
            await asyncio.sleep(0)

        endpoint = Endpoint(model="stub", base_url=model.url)
        async with Client(endpoint, connections=4, sleep=sleep) as client:
            calls = [{"role": "user", "content": "go"}]
            await asyncio.gather(*(client.complete(calls) for _ in range(4)))
            return client

    with StubModel([status(429), status(529), status(503), ok()]) as model:
        client = asyncio.run(main(model))
    assert len(model.requests) == 7
    assert client._retry.slots.limit < 4
