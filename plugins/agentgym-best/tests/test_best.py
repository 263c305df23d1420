import pytest

from agentgym_train import plugins
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError
from agentgym_train.testing import check_algorithm


def trajectory(*rewards):
    return Trajectory(
        "", 0, [Turn("", [1], [2, 3], [-1.0, -1.0], reward=reward) for reward in rewards]
    )


def chosen(returns, **options):
    groups = [
        Group(number, [trajectory(reward) for reward in row]) for number, row in enumerate(returns)
    ]
    algorithm = plugins.make_algorithm({"name": "best", **options})
    advantage_BT = algorithm.compute_advantages(pack(groups), groups, Distributed()).streams[
        "advantage"
    ]
    assert advantage_BT[:, 0].tolist() == [0.0] * len(advantage_BT), "the observation has none"
    return advantage_BT[:, 1].tolist()


def test_the_best_of_each_group():
    assert chosen([[0.0, 1.0, 0.5], [1.0, 1.0], [0.25, 0.0]]) == [0, 1, 0, 0, 0, 1, 0]
    assert chosen([[0.0, 1.0, 0.5], [0.25, 0.0]], least=0.5) == [0, 1, 0, 0, 0]


def test_with_a_discount_the_faster_of_two_successes_is_the_best():
    groups = [Group(0, [trajectory(0.0, 1.0), trajectory(1.0, 0.0)])]
    for gamma, best in ((1.0, []), (0.5, [1])):
        credited = plugins.make_algorithm({"name": "best", "gamma": gamma}).compute_advantages(
            pack(groups), groups, Distributed()
        )
        assert credited.streams["advantage"].any(1).nonzero().flatten().tolist() == best


def test_it_is_what_the_trainer_relies_on():
    assert check_algorithm({"name": "best", "kl_coef": 0.1})


def test_options_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match=r"algorithm\.least"):
        plugins.make_algorithm({"name": "best", "least": -1.0})
