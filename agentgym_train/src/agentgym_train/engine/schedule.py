"""The learning rate as a pure function of the optimizer steps taken: nothing to save, nothing to restore."""

from agentgym_train.config import EngineConfig

FLOOR = 0.1  # share of the learning rate that a decay ends at


def learning_rate(config: EngineConfig, steps: int) -> float:
    """Returns the rate of the step after ``steps`` earlier ones: linear warm-up times linear decay, from the first, to a tenth."""
    warm = min(1.0, (steps + 1) / config.warmup) if config.warmup else 1.0
    fallen = min(1.0, steps / config.decay) if config.decay else 0.0
    return config.lr * warm * (1.0 - (1.0 - FLOOR) * fallen)
