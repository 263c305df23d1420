"""Rollouts: the policy acts in environments, with token ids in and out."""
