"""SharedPool: environments for episodes that start and end on their own."""

import asyncio

from agentgym_envs.pool import SharedPool

SLOW = "faulty_envs:support/Slow-v0"


async def play(pool, seed):
    async with pool.environment() as (envs, number):
        first = await envs.reset(number, seed=seed)
        return number, first.observation, (await envs.send(number, "x")).observation


def run(episodes, **keywords):
    """Plays in a pool; returns the results of ``episodes(pool)``."""

    async def go():
        pool = SharedPool(SLOW, workers=1, delay=0.0, **keywords)
        try:
            return await episodes(pool)
        finally:
            await pool.close()

    return asyncio.run(go())


def test_episodes_at_the_same_time_have_environments_of_their_own():
    played = run(lambda pool: asyncio.gather(*(play(pool, n) for n in range(5))))
    assert sorted(number for number, _, _ in played) == [0, 1, 2, 3, 4]
    assert {last for _, _, last in played} == {"turn 1"}


def test_environments_are_used_again():
    async def one_after_another(pool):
        return [await play(pool, n) for n in range(5)]

    assert {number for number, _, _ in run(one_after_another)} == {0}


def test_episodes_wait_for_an_environment():
    played = run(lambda pool: asyncio.gather(*(play(pool, n) for n in range(6))), size=2)
    assert {number for number, _, _ in played} == {0, 1}
    assert {last for _, _, last in played} == {"turn 1"}


def test_a_failed_episode_gives_its_environment_back():
    async def fail_and_play(pool):
        try:
            async with pool.environment():
                raise RuntimeError
        except RuntimeError:
            return await play(pool, 0)

    assert run(fail_and_play)[0] == 0
