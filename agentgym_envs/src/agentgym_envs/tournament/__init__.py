"""Tournaments: players of a game with two seats play each other and get ratings."""
