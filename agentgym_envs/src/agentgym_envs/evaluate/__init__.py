"""Evaluation: an agent plays a suite, and what came of it."""
