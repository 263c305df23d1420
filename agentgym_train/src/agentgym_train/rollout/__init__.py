"""Rollouts: the policy acts in environments, token in, token out."""
