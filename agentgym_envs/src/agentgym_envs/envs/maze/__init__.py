"""Mazes: the embedded default, cheap enough to train on from random weights."""
