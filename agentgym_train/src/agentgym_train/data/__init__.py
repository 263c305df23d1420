"""Data: turns, trajectories, groups, and batches of tokens."""
