"""Data: turns, trajectories, groups, and the batches of tokens made of them."""
