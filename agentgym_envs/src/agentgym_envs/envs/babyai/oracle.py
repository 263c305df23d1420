"""Solutions: minigrid's bot from the start of an episode, a planner from its middle.

The bot sees what the agent sees, so it explores. It fails in many states that it did not reach
itself, and some of its searches do not end. The planner knows the whole map.
"""

from contextlib import suppress
from copy import deepcopy
from typing import Any

from minigrid.utils.baby_ai_bot import BabyAIBot

from agentgym_envs.envs.babyai.planner import NoPlan, plan

LONGEST = 240  # moves of the bot; the step limit of 256 turns leaves some for other actions
SEARCH = 60_000  # cells; the bot's searches visit so many in about half a second


class Bot(BabyAIBot):  # type: ignore[misc]
    """minigrid's bot with a limit on its searches."""

    def _breadth_first_search(self, *args: Any, **kwargs: Any) -> Any:
        if self.bfs_step_counter > SEARCH:
            raise NoPlan("the bot searches for too long")
        return super()._breadth_first_search(*args, **kwargs)


def solve(level: Any) -> list[str]:
    """Returns the names of minigrid actions that solve a level from its current state.

    The solution was played on a copy. The result is empty if no solution fits into the moves left.
    """
    if level.step_count == 0 and (played := _bot(deepcopy(level))):
        return played
    for careful in (True, False):
        with suppress(NoPlan):
            return plan(deepcopy(level), careful=careful)
    return []


def _bot(level: Any) -> list[str]:
    """Returns the bot's solution, or an empty list if the bot has no short one."""
    played = list[str]()
    try:
        bot = Bot(level)
        while len(played) < LONGEST:
            if (action := bot.replan()) == level.actions.done:
                break
            _, reward, terminated, truncated, _ = level.step(action)
            played.append(action.name)
            if terminated or truncated:
                return played if reward > 0 else []
    except Exception:  # in states without a plan the bot raises errors of many kinds
        pass
    return []
