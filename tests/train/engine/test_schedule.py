import pytest

from agentgym_train.config import EngineConfig
from agentgym_train.engine.deepspeed import learning_rate


def test_the_rate_warms_up_then_falls_to_a_tenth_and_stays():
    config = EngineConfig(lr=1.0, warmup=4, decay=20)
    assert [learning_rate(config, s) for s in (0, 1, 3)] == pytest.approx(
        [0.25, 0.5 * 0.955, 1 - 0.9 * 3 / 20]
    )
    assert [learning_rate(config, s) for s in (10, 20, 1000)] == pytest.approx([0.55, 0.1, 0.1])


def test_without_both_the_rate_is_constant():
    assert {learning_rate(EngineConfig(lr=3e-4), s) for s in (0, 7, 10**6)} == {3e-4}
