"""Negotiation: two divide items that are worth different things to them."""
