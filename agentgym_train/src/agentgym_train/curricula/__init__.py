"""Curricula: the horizon of each step, and the choice of its tasks."""
