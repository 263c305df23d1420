"""Curricula: how many turns an episode may take at each step, and which tasks are played."""
