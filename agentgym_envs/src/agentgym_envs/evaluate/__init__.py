"""Evaluation: agents play tasks, and everything they did is kept, counted and reported."""
