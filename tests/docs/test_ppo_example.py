"""The loop in one file of the guide: it learns, and a failure is not trained on."""

import math
from functools import partial
from pathlib import Path

import pytest
from scripts import load

from agentgym_envs.vector import TextVectorEnv

EXAMPLE = Path(__file__).parents[2] / "docs/examples/ppo.py"


@pytest.fixture(scope="module")
def ppo():
    return load(EXAMPLE)


def test_it_is_short():
    assert len(EXAMPLE.read_text().splitlines()) <= 150


def test_it_learns_on_the_maze(ppo):
    """Smaller mazes than by default; random play solves about 0.6 of them."""
    args = ppo.Args(rooms=(4,), max_turns=8, iterations=8, num_steps=16)
    history = ppo.train(args)
    assert sum(history[-2:]) / 2 > sum(history[:2]) / 2 + 0.2, history


@pytest.mark.parametrize(
    ("env_id", "whole"), [("agentgym/Maze-v1", True), ("seventh_env:support/SeventhMaze-v0", False)]
)
def test_a_failure_is_not_trained_on(ppo, monkeypatch, env_id, whole):
    """Each failed episode has at least the step that failed, and the loss has none of them."""
    trained, errors, forward = [], [], ppo.Agent.get_action_and_value

    def watched(agent, obs, choices, action=None):
        if action is not None:
            trained.append(len(action))
        return forward(agent, obs, choices, action)

    class Watched(TextVectorEnv):
        def step(self, actions):
            *rest, infos = super().step(actions)
            errors.append(sum(infos.get("final_info", {}).get("_error", [])))
            return *rest, infos

    monkeypatch.setattr(ppo.Agent, "get_action_and_value", watched)
    monkeypatch.setattr(ppo.gym, "make_vec", partial(Watched, workers=1))
    args = ppo.Args(env_id=env_id, rooms=(4,), iterations=1, num_envs=4, num_steps=21)
    ppo.train(args)
    left_out = 4 * 21 - sum(trained) / args.update_epochs
    assert sum(errors) == (0 if whole else 12)
    assert left_out >= sum(errors)
    assert (left_out == 0) == whole


def test_a_minibatch_of_one_step_is_no_warning(ppo):
    args = ppo.Args(rooms=(4,), max_turns=8, iterations=1, num_envs=1, num_steps=21)
    args.num_minibatches = 20  # ten of two steps, and one
    ppo.train(args)


def test_an_iteration_without_a_whole_episode_has_no_success(ppo):
    args = ppo.Args(rooms=(4,), max_turns=40, iterations=1, num_envs=1, num_steps=2)
    assert math.isnan(ppo.train(args)[0])
