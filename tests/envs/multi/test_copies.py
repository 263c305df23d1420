"""Games and their environments can be pickled and copied during an episode.

The copy continues like the original.
"""

import copy
import pickle
import random

import gymnasium
import pytest

from agentgym_envs.multi import make_game
from agentgym_envs.multi.match import GameMatch
from agentgym_envs.plugins import ENVIRONMENTS, discover
from agentgym_envs.registry import is_game

GAMES = [name for name, plugin in discover(ENVIRONMENTS).items() if is_game(plugin)]
WAYS = {"pickle": lambda thing: pickle.loads(pickle.dumps(thing)), "deepcopy": copy.deepcopy}


def go_on(match, turns):
    """Plays listed actions at random; returns the texts and scores of all seats."""
    rng, seen = random.Random(1), []
    while not match.over and len(seen) < turns:
        seat = match.waiting[0]
        action = rng.choice(match.game.actions(seat))
        match.say(seat, action)
        seen.append(
            (seat, action, {s: (match.see(s), match.outcomes[s]) for s in match.game.seats})
        )
    return seen


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game_id", GAMES)
def test_a_copied_game_goes_on_in_the_same_way(game_id, way):
    game = make_game(game_id)
    tasks = game.make_tasks()
    for task_id in tasks.ids("test")[:2]:
        for turns in (0, 1, 3):
            match = GameMatch(game, tasks.get(task_id), random.Random(0))
            go_on(match, turns)
            other = WAYS[way](match)
            assert other.game is not game
            before = repr(vars(other.game))
            played = go_on(match, 30)
            assert repr(vars(other.game)) == before, "the copy shares state with the original"
            assert go_on(other, 30) == played
            assert other.over == match.over


def listed(env, turns):
    """Plays listed actions; returns all results of the steps."""
    rng, steps = random.Random(2), []
    while len(steps) < turns and not (steps and (steps[-1][2] or steps[-1][3])):
        steps.append(env.step(rng.choice(env.unwrapped.actions())))
    return steps


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game_id", GAMES)
def test_a_copied_environment_of_a_game_goes_on_in_the_same_way(game_id, way):
    for keywords in (
        {"seats": "all"},
        *({"opponents": name} for name in ("random", "oracle", *make_game(game_id).players)),
    ):
        env = gymnasium.make(game_id, split="test", **keywords)
        seeds = iter(range(100))
        while True:
            env.reset(seed=next(seeds))
            if not env.unwrapped.match.over and not listed(env, 1)[0][2]:
                break
        other = WAYS[way](env)
        assert listed(env, 20) == listed(other, 20)
        assert env.reset(seed=6) == other.reset(seed=6)
        assert listed(env, 3) == listed(other, 3)


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_pair_of_attempts_goes_on_in_the_same_way(way):
    env = gymnasium.make("agentgym/TwoAttempts-v0", rooms=[4], turns=3)
    env.reset(seed=1)
    listed(env, 2)
    other = WAYS[way](env)
    assert listed(env, 20) == listed(other, 20)
