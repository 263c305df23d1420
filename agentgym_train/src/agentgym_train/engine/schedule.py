"""The learning rate as a pure function of the optimizer steps taken.

A checkpoint therefore needs no state of a scheduler.
"""

from agentgym_train.config import EngineConfig

FLOOR = 0.1  # share of the learning rate at the end of the decay


def learning_rate(config: EngineConfig, steps: int) -> float:
    """Returns the learning rate of the step after ``steps`` earlier steps.

    The rate is the product of a linear warm-up and a linear decay to a tenth. Both begin at the
    first step.
    """
    warm = min(1.0, (steps + 1) / config.warmup) if config.warmup else 1.0
    decayed = min(1.0, steps / config.decay) if config.decay else 0.0
    return config.lr * warm * (1.0 - (1.0 - FLOOR) * decayed)
