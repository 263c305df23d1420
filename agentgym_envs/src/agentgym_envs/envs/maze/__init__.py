"""Mazes: the default environments, cheap enough to train a model from random weights."""
