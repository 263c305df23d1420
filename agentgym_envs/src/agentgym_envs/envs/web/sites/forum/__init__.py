"""The forum."""
