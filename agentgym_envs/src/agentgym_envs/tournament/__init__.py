"""Tournaments: players of a game of two seats meet each other, and get ratings."""
