"""Trackers: a run shown by other programs while it lasts."""
