"""What authors of plugins run in their tests."""

from agentgym_train.testing.algorithms import check_algorithm
from agentgym_train.testing.curricula import check_curriculum

__all__ = ["check_algorithm", "check_curriculum"]
