"""The curriculum ``adaptive`` on the metrics of recorded runs at fixed horizons.

``recorded.json`` has success, the share cut at the horizon, the share of invalid actions and the
KL divergence of every step of three runs on locked mazes::

    python benchmarks/compare.py start locked_maze_steps 10 WORK
    python benchmarks/compare.py one locked_maze_steps "fixed 10" 10 1500000 WORK WORK/run.json

The metrics are in ``WORK/run.steps``. The other methods are "fixed 10, even" and "fixed 20, even".
"""

import json
from pathlib import Path
from statistics import fmean, stdev

import pytest

from agentgym_train import plugins

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
NAMES = ("success", "truncated_horizon", "invalid", "kl")


def growth_step(rows, **options):
    """Returns the number of steps before the first longer stage; None without one."""
    start = {"name": "adaptive", "start": 10, "limit": 80}
    curriculum = plugins.make_object(plugins.CURRICULUM, start | options)
    for number, row in enumerate(rows, 1):
        curriculum.observe(dict(zip(NAMES, row, strict=True)))
        if curriculum.horizon(number) > 10:
            return number
    return None


def success(rows):
    return [row[0] for row in rows]


@pytest.mark.parametrize("name", ["fixed 10", "fixed 10, even"])
def test_it_stays_until_the_skill_of_ten_turns_is_learned(name):
    """Success doubles in sixty steps and stays there."""
    rows = RECORDED[name]
    before, plateau = fmean(success(rows)[:10]), fmean(success(rows)[-60:])
    assert plateau > 1.8 * before
    grown = growth_step(rows)
    assert 60 <= grown <= 120
    assert fmean(success(rows)[grown - 40 : grown]) > 0.9 * plateau


def test_it_stays_while_twenty_turns_still_teach():
    """Success rises from 0.34 to 0.80 until the end of the run, with a slow part in the middle."""
    rows = RECORDED["fixed 20, even"]
    assert fmean(success(rows)[-20:]) > 2 * fmean(success(rows)[:20])
    assert growth_step(rows) is None


def test_even_difficulties_halve_the_noise_of_a_step():
    """The standard deviation within twenty steps, over the steps after the rise."""
    noise = {
        name: fmean(stdev(success(rows)[n : n + 20]) for n in range(60, len(rows) - 20, 20))
        for name, rows in RECORDED.items()
    }
    assert noise["fixed 10, even"] < 0.5 * noise["fixed 10"]
