"""Negotiation: two sides divide items that have different values for each side."""
