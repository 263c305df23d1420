"""Horizon curricula: how many turns an episode may take at each step."""
