"""Debate: several agents answer one question together."""
