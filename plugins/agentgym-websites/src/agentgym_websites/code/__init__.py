"""The code host."""
