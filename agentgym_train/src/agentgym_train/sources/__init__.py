"""Sources: where the episodes of a step come from."""
