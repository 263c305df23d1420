"""TextWorld games for several tests.

One process makes all games, because the start of a process takes longer than a game.
"""

from itertools import chain

import gymnasium

from agentgym_envs.envs.textworld.games import build
from agentgym_envs.tasks import SPLITS, spread

FAMILIES = {
    "agentgym/TWSimple-v1": {"goal": "brief"},
    "agentgym/TWCoinCollector-v1": {},
    "agentgym/TWTreasureHunter-v1": {},
    "agentgym/TWCooking-v1": {},
}


def made(env_id, count=3):
    """Makes the games of ``count`` tasks of a challenge; returns the task ids.

    The tasks cover all splits and include the first task of each.
    """
    kwargs = FAMILIES[env_id]
    held_out = max(count * 3 // 10, 1)
    shares = (count - 2 * held_out, held_out, held_out)
    worlds = [gymnasium.make(env_id, split=split, **kwargs).unwrapped for split in SPLITS]
    chosen = [
        *chain(
            *(spread(world.task_ids, share) for world, share in zip(worlds, shares, strict=True))
        )
    ]
    build(map(worlds[0].options, chosen), workers=1)
    return chosen
