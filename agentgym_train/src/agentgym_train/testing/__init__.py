"""Checks for the tests of plugin authors."""

from agentgym_train.testing.algorithms import check_algorithm
from agentgym_train.testing.curricula import check_curriculum
from agentgym_train.testing.generators import check_generator
from agentgym_train.testing.sources import check_source

__all__ = ["check_algorithm", "check_curriculum", "check_generator", "check_source"]
