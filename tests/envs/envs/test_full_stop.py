"""One rule for commands: a full stop at the end changes nothing.

Messages and answers keep theirs.
"""

import random
import zlib

import gymnasium
import pytest

from agentgym_envs.core import command

GRAMMARS = {
    "agentgym/Maze-v1": [{}],
    "agentgym/LockedMaze-v1": [{}],
    "agentgym/TieredMaze-v0": [{}],
    "agentgym/LMRLMaze-v0": [{}],
    "agentgym/LMRLWordle-v0": [{}],
    "agentgym/Tools-v0": [{}],
    "agentgym/Shop-v0": [{}],
    "agentgym/TextCraft-v2": [{}],
    "agentgym/Household-v0": [{}],
    "agentgym/BabyAI-v2": [{}],
    "agentgym/Connect4-v1": [{"seats": "all"}],
    "agentgym/Negotiation-v1": [{"seats": "all"}, {}],
    "agentgym/TwentyQuestions-v1": [{"seats": "all"}, {"seats": "answerer_0"}],
}


def hashed(action):
    """Chooses the form of an action: the same in every process."""
    return zlib.crc32(action.encode()) % 3


@pytest.mark.parametrize(
    ("env_id", "keywords"),
    [(env_id, keywords) for env_id, kinds in GRAMMARS.items() for keywords in kinds],
    ids=str,
)
def test_a_listed_action_with_a_full_stop_does_the_same(env_id, keywords):
    plain, stopped = (
        gymnasium.make(env_id, split="test", max_episode_steps=-1, **keywords) for _ in range(2)
    )
    for seed in range(3):
        rng = random.Random(seed)
        assert plain.reset(seed=seed) == stopped.reset(seed=seed)
        for _ in range(12):
            action = rng.choice(plain.unwrapped.actions())
            step = plain.step(action)
            form = (f"{action}.", f" {action} . ", f"{action.upper()}.")[hashed(action)]
            assert stopped.step(form) == step, form
            assert not step[4]["invalid"]
            if step[2]:
                break


@pytest.mark.parametrize(
    ("action", "read"),
    [
        ("go east.", "go east"),
        (" go \t east . ", "go east"),
        (".", ""),
        ("", ""),
        ("a.b.", "a.b"),
        ("go..", "go."),
    ],
)
def test_commands_are_read_on_one_line_without_one_full_stop(action, read):
    assert command(action) == read
    assert command("x" * 9 + action, 5) == "xxxxx"
