"""The loop in one file of the guide: it learns, and a failure is not trained on."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "docs/examples/ppo.py"


@pytest.fixture(scope="module")
def ppo():
    spec = importlib.util.spec_from_file_location("ppo", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_short():
    assert len(EXAMPLE.read_text().splitlines()) <= 150


def test_it_learns_on_the_maze(ppo):
    """Smaller mazes than by default; random play solves about 0.6 of them."""
    args = ppo.Args(rooms=(4,), max_turns=8, iterations=8, num_steps=16)
    history = ppo.train(args)
    assert sum(history[-2:]) / 2 > sum(history[:2]) / 2 + 0.2, history
