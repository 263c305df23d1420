"""Libraries that draw from the shared random generators while they start leave no trace."""

import random

import numpy as np

from agentgym_envs.randomness import undisturbed


def test_the_shared_generators_go_on_as_if_nothing_had_been_drawn():
    random.seed(3)
    np.random.seed(3)
    expected = random.random(), np.random.random()
    random.seed(3)
    np.random.seed(3)
    with undisturbed():
        random.random()
        np.random.random()
    assert (random.random(), np.random.random()) == expected
