"""Trackers: show a run in other programs while it trains."""
