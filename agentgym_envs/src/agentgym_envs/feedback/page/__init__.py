"""The page on which episodes are compared."""
