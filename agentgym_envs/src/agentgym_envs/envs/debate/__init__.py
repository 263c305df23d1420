"""Debate: several answer one question together."""
