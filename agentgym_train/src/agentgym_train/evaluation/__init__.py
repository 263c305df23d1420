"""Evaluation: held-out tasks, played with the sampled policy."""
