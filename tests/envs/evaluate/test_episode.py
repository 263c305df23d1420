"""One episode over results that a test lists."""

import asyncio
from types import SimpleNamespace

import pytest

from agentgym_envs.evaluate.episode import EnvSlot, play
from agentgym_envs.evaluate.packing import thought
from agentgym_envs.evaluate.plan import EvalEnv, PlannedEpisode
from agentgym_envs.pool import PoolResult


def played(first, *results):
    """Returns the row of an episode and its turns; ``first`` is the info of the reset."""
    waiting = iter(results)

    class Pool:
        async def reset(self, slot, **start):
            return PoolResult(slot, "begin", info=first)

        async def send(self, slot, action):
            return next(waiting)

    turns = []
    item = PlannedEpisode("", "", "Maze", "task", 0, 0, EvalEnv("agentgym/Maze-v1", {}, "", {}))
    agent = SimpleNamespace(act=lambda observation, info: "x")
    row = asyncio.run(
        play(item, lambda: agent, EnvSlot(Pool(), 0), form=None, memory=[], turns=turns)
    )
    assert next(waiting, None) is None
    return row, turns


@pytest.mark.parametrize(
    ("reward", "ends", "info", "expected"),
    [
        (1.0, {"terminated": True}, {}, (True, 1.0, "terminated")),
        (0.0, {"terminated": True}, {}, (False, 0.0, "terminated")),
        (-1.0, {"terminated": True}, {}, (False, -1.0, "terminated")),
        (1.0, {"truncated": True}, {}, (False, 1.0, "truncated")),
        (1.0, {"terminated": True, "truncated": True}, {}, (True, 1.0, "terminated")),
        (0.5, {"truncated": True}, {"success": True, "score": 0.75}, (True, 0.75, "truncated")),
        (1.0, {"terminated": True}, {"success": False, "score": 0.0}, (False, 0.0, "terminated")),
    ],
)
def test_what_comes_of_an_episode(reward, ends, info, expected):
    """An environment that says nothing of success succeeds where it ends with a positive return."""
    row, _ = played(
        {}, PoolResult(0, "on", info={}), PoolResult(0, "end", reward, info=info, **ends)
    )
    assert (row["success"], row["score"], row["end"]) == expected


def test_a_turn_that_was_not_understood_stays_marked():
    """Seats a and b speak at once: both are heard after b's words."""
    one = PoolResult(0, "", info={"seat": "b", "invalids": {"a": False, "b": False}})
    both = PoolResult(0, "", info={"seat": "b", "invalids": {"a": True, "b": False}})
    last = PoolResult(
        0, "", info={"seat": "b", "invalids": {"a": False, "b": True}}, terminated=True
    )
    _, turns = played({"seat": "a"}, one, both, last)
    assert [(turn["seat"], turn["invalid"]) for turn in turns] == [
        ("a", True),
        ("b", False),
        ("b", True),
    ]


@pytest.mark.parametrize(
    ("response", "action", "expected"),
    [
        ("Thought: I could look, so\nAction: look", "look", "I could look, so"),
        ("<think>to look</think><action>look</action>", "look", "to look"),
        ("look", "look", ""),
        ("Hm.", "", "Hm."),
        ("Hm.", "look", ""),
        (
            'So.\n<tool_call>\n{"name": "act", "arguments": {"action": "So."}}\n</tool_call>',
            "So.",
            "So.",
        ),
    ],
)
def test_a_thought_is_all_before_the_action(response, action, expected):
    assert thought(response, action) == expected
