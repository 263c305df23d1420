"""A DeepSpeed ZeRO trainer for multi-turn reinforcement learning over any Gymnasium text environment."""

__version__ = "0.1.0"
