"""Reward models from comparisons: Bradley–Terry (1952) on the trunk of a causal LM.

config.py has the configuration, comparisons.py turns lines into tokens, and trainer.py trains.
"""
